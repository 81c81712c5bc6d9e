"""A JSON record as what was exchanged with a provider: a request, a response, or both.

Logs wrap these in many ways: a bare list of messages, a request body, a data set's row around `messages`, a pair
`{"request", "response"}`, a line of a batch file. All of them become items of one shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..dialects import detect
from ..transcript import Fidelity
from ..wire import Wire
from .answers import facts_in, whole_response
from .problems import Report, kind_of
from .records import Record
from .responses import ResponseFacts, response_facts
from .shapes import (
    LISTS,
    REQUEST_KEYS,
    as_rest,
    bodies,
    has_messages,
    is_body,
    is_content,
    is_content_list,
    is_item,
    is_item_list,
    is_message,
    is_message_list,
    is_openai_body,
    is_response,
    list_key,
    responses,
)
from .times import parse_time

__all__ = [
    "Item",
    "Items",
    "bodies",
    "has_messages",
    "is_message",
    "is_message_list",
    "is_openai_body",
    "is_response",
    "responses",
]

REPEATED = ("instructions", "previous_response_id", "tools", "tool_choice", "reasoning", "max_output_tokens")
"""What a response of OpenAI Responses repeats of its request, where it says something about the prompt."""
SESSION_KEYS = ("session_id", "session", "conversation_id", "thread_id", "instance_id")
_MODEL_IN_URL = re.compile(r"/models/([^/:?]+):\w*[gG]enerateContent")
TIME_KEYS = ("at", "timestamp", "time", "created_at", "started_at", "start_time")


@dataclass(frozen=True, slots=True)
class Item:
    """One exchange. `bare`: only the messages were recorded, so what else was sent is not known."""

    place: str
    dialect: str
    body: Wire | None = None
    facts: ResponseFacts | None = None
    bare: bool = False
    logged: bool = False
    """A log of calls holds it, so it is one call, also where the answer is missing."""
    session: str = ""
    at: datetime | None = None
    hints: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    numbers: Sequence[int] = ()
    """The messages' numbers in the file, from 1."""
    asked: str | None = None
    """The model that the request names beside its body."""
    is_completed: bool = False
    """What the provider keeps was put before what was sent."""
    repeated: Mapping[str, Any] = field(default_factory=dict)
    """What a response repeats of its request."""
    thread: str = ""
    """Which agent of the session made the call, where several did: each has conversations of its own."""
    fidelity: Fidelity | None = None
    """Where the recording says how far the prompt is what was sent."""
    notes: Sequence[str] = ()
    """What a reader of the transcript should know about the call."""

    @property
    def model(self) -> str | None:
        """The model that answered, else the one that was asked."""
        asked = self.body.get("model") if self.body is not None else None
        answered = self.facts.model if self.facts is not None else None
        return answered or (asked if isinstance(asked, str) and asked else self.asked)


class Items:
    """Turns records into items of one file. `dialect` is the file's own, taken where a body fits several."""

    def __init__(self, dialect: str, forced: bool, report: Report) -> None:
        self.dialect = dialect
        self.forced = forced
        self.report = report
        self._loose: list[Wire] = []

    def of(self, record: Record) -> Iterator[Item]:
        """Yield what a record holds: nothing if it is no exchange, several for a list of them."""
        value, place = record
        bare = _bare_body(value)
        if bare is not None:
            yield from self._request(bare, {}, place, bare=True)
        elif isinstance(value, list):
            for number, inner in enumerate(value, 1):
                yield from self.of(Record(inner, _within(place, f"item {number}")))
        elif (is_message(value) or is_item(value) or is_content(value)) and not is_response(value):
            self._loose.append(value)
        elif isinstance(value, Mapping):
            yield from self._object(value, place)

    def taken(self, record: Record) -> bool:
        """Tell whether a record was kept as one message of a list that is written one message a line."""
        return bool(self._loose) and self._loose[-1] is record.value

    def rest(self) -> Iterator[Item]:
        """Yield the list of the messages that stood one a record."""
        if self._loose:
            body = _bare_body(self._loose) or {"messages": self._loose}
            yield from self._request(body, {}, "", bare=True)

    def _object(self, value: Wire, place: str) -> Iterator[Item]:
        if is_response(value):
            yield self._response(value, value, place)
        elif is_body(value.get("request")):
            yield from self._request(value["request"], value, place)
        elif is_body(value.get("body")):
            yield from self._request(value["body"], value, place)
        elif has_messages(value):
            body, row = _body_of_row(value)
            yield from self._request(body, row, place, bare="model" not in body)
        elif is_body(value):
            body, row = _body_of_row(value)
            yield from self._request(body, row, place, bare=body.keys() == {list_key(body)})
        elif is_content_list(value.get("history")):
            yield from self._request({"contents": value["history"]}, {}, place, bare=True)
        elif value.get("object") == "list" and is_item_list(value.get("data")):
            yield from self._request({"input": value["data"]}, {}, place, bare=True)
        elif answer := next(filter(is_response, responses(value)), None):
            yield self._response(answer, value, place)

    def _request(self, body: Wire, around: Wire, place: str, bare: bool = False) -> Iterator[Item]:
        body = as_rest(body)
        key = list_key(body)
        listed = body[key] if isinstance(body[key], list) else [{"content": body[key]}]
        numbered = [(n, message) for n, message in enumerate(listed, 1) if isinstance(message, Mapping)]
        if len(numbered) != len(listed):
            self._not_objects(listed, place)
            body = {**body, key: [message for _, message in numbered]}
        if not numbered:
            self.report.add("the request holds no messages", "A list of messages was expected.", place=place)
            return
        answer = whole_response(around.get("response"))
        spoken = self._dialect_of(body, response_facts(answer))
        facts = None if answer is None else self._answer(answer, spoken, place)
        yield Item(
            place=place,
            dialect=spoken,
            body=body,
            facts=facts,
            bare=bare and facts is None,
            logged=facts is not None or "request" in around,
            session=_session(around, body),
            at=_time(around) or (facts.at if facts else None),
            hints=around["hints"] if isinstance(around.get("hints"), Mapping) else None,
            meta=_rest(around),
            numbers=[number for number, _ in numbered],
            asked=_model_beside(around),
        )

    def _not_objects(self, messages: list[Any], place: str) -> None:
        for number, message in enumerate(messages, 1):
            if not isinstance(message, Mapping):
                self.report.add(
                    f"the message is {kind_of(message)}",
                    "An object with a role and content was expected; it was left out.",
                    place=_within(place, f"message {number}"),
                )

    def _response(self, answer: Wire, around: Wire, place: str) -> Item:
        facts = response_facts(answer)
        session, at = _session(around, {}), _time(around) or facts.at
        return Item(
            place=place,
            dialect=facts.dialect or self.dialect,
            facts=facts,
            logged=True,
            session=session,
            at=at,
            repeated={key: answer[key] for key in REPEATED if facts.dialect == "openai_responses" and answer.get(key)},
        )

    def _answer(self, answer: Any, spoken: str, place: str) -> ResponseFacts:
        facts = facts_in(spoken, answer)
        if facts.dialect is None and facts.message is None:
            failed = isinstance(answer, Mapping) and ("error" in answer or answer.get("type") == "error")
            self.report.add(
                "the call failed, so there is no response" if failed else "the response is of no known shape",
                "The request was read." if failed else "A response of one of the known providers was expected.",
                place=place,
                warning=failed,
            )
        return facts

    def _dialect_of(self, body: Wire, facts: ResponseFacts) -> str:
        key = list_key(body)
        if self.forced and LISTS[self.dialect] == key:
            return self.dialect
        if facts.dialect is not None and LISTS[facts.dialect] == key:
            return facts.dialect
        seen = detect(body)
        fits = LISTS[self.dialect] == key and seen == "openai_chat" and not is_openai_body(body)
        return self.dialect if fits else seen


def _bare_body(value: Any) -> Wire | None:
    """Return a bare list of messages, items or contents as a body; None if it is no such list."""
    if is_item_list(value) and any(is_item(item) and not is_response(item) for item in value):
        return {"input": value}
    if is_content_list(value):
        return {"contents": value}
    return {"messages": value} if is_message_list(value) else None


def _body_of_row(value: Wire) -> tuple[Wire, Wire]:
    """Return the body, and what stands around it: a response beside it, or all that no request holds."""
    beside = {key: value[key] for key in ("response", "hints") if key in value}
    if "model" in value or value.keys() <= REQUEST_KEYS or "messages" not in value:
        return {key: inner for key, inner in value.items() if key not in beside} if beside else value, beside
    body = {key: inner for key, inner in value.items() if key in REQUEST_KEYS}
    return body, {key: inner for key, inner in value.items() if key not in REQUEST_KEYS}


def _rest(around: Wire) -> dict[str, Any]:
    read = {"request", "body", "response", "hints", "messages", "method", "url"}
    return {key: value for key, value in around.items() if key not in read}


def _session(around: Wire, body: Wire) -> str:
    metadata = body.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    for owner in (around, metadata):
        for key in SESSION_KEYS:
            if isinstance(owner.get(key), str) and owner[key]:
                return str(owner[key])
    kept = body.get("conversation")
    kept = kept.get("id") if isinstance(kept, Mapping) else kept
    if isinstance(kept, str) and kept:
        return kept
    user = metadata.get("user_id")
    return user.rpartition("_session_")[2] if isinstance(user, str) and "_session_" in user else ""


def _model_beside(around: Wire) -> str | None:
    """Return the model that stands beside a body, or in the address that a Gemini request is sent to."""
    model, url = around.get("model"), around.get("url")
    found = _MODEL_IN_URL.search(url) if isinstance(url, str) else None
    return model if isinstance(model, str) and model else found.group(1) if found else None


def _time(around: Wire) -> datetime | None:
    return next((found for key in TIME_KEYS if (found := parse_time(around.get(key))) is not None), None)


def _within(place: str, inner: str) -> str:
    return f"{place}, {inner}" if place else inner
