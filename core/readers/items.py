"""A JSON record as what was exchanged with a provider: a request, a response, or both.

Logs wrap these in many ways: a bare list of messages, a request body, a data set's row around `messages`, a pair
`{"request", "response"}`, a line of a batch file. All of them become items of one shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..dialects import detect
from ..wire import Wire
from .problems import Report, kind_of
from .records import Record
from .responses import ResponseFacts, is_anthropic_response, is_openai_response, response_facts
from .times import parse_time

REQUEST_KEYS = frozenset(
    """
    messages model system tools tool_choice parallel_tool_calls functions function_call max_tokens
    max_completion_tokens max_output_tokens temperature top_p top_k min_p n stop stop_sequences stream stream_options
    seed response_format output_format output_config metadata user thinking reasoning reasoning_effort verbosity
    logprobs top_logprobs logit_bias presence_penalty frequency_penalty repetition_penalty service_tier store
    modalities audio prediction web_search_options extra_body context_management container mcp_servers cache_control
    betas prompt_cache_key prompt_cache_retention safety_identifier
    """.split()  # noqa: SIM905
)
"""What a request body may hold. A record without a model and with other keys is a row around its messages."""

SESSION_KEYS = ("session_id", "session", "conversation_id", "thread_id", "instance_id")
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

    @property
    def model(self) -> str | None:
        """The model that answered, else the one that was asked."""
        asked = self.body.get("model") if self.body is not None else None
        answered = self.facts.model if self.facts is not None else None
        return answered or (asked if isinstance(asked, str) and asked else None)


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
        if is_message_list(value):
            yield from self._request({"messages": value}, {}, place, bare=True)
        elif isinstance(value, list):
            for number, inner in enumerate(value, 1):
                yield from self.of(Record(inner, _within(place, f"item {number}")))
        elif is_message(value) and not is_response(value):
            self._loose.append(value)
        elif isinstance(value, Mapping):
            yield from self._object(value, place)

    def taken(self, record: Record) -> bool:
        """Tell whether a record was kept as one message of a list that is written one message a line."""
        return bool(self._loose) and self._loose[-1] is record.value

    def rest(self) -> Iterator[Item]:
        """Yield the list of the messages that stood one a record."""
        if self._loose:
            yield from self._request({"messages": self._loose}, {}, "", bare=True)

    def _object(self, value: Wire, place: str) -> Iterator[Item]:
        if is_response(value):
            yield self._response(response_facts(value), value, place)
        elif has_messages(value.get("request")):
            yield from self._request(value["request"], value, place)
        elif has_messages(value.get("body")):
            yield from self._request(value["body"], value, place)
        elif has_messages(value):
            body, row = _body_of_row(value)
            yield from self._request(body, row, place, bare="model" not in body)
        elif answer := next(filter(is_response, responses(value)), None):
            yield self._response(response_facts(answer), value, place)

    def _request(self, body: Wire, around: Wire, place: str, bare: bool = False) -> Iterator[Item]:
        numbered = [(n, message) for n, message in enumerate(body["messages"], 1) if isinstance(message, Mapping)]
        if len(numbered) != len(body["messages"]):
            self._not_objects(body["messages"], place)
            body = {**body, "messages": [message for _, message in numbered]}
        if not numbered:
            self.report.add("the request holds no messages", "A list of messages was expected.", place=place)
            return
        facts = self._answer(around["response"], place) if around.get("response") is not None else None
        yield Item(
            place=place,
            dialect=self._dialect_of(body, facts),
            body=body,
            facts=facts,
            bare=bare and facts is None,
            logged=facts is not None or "request" in around,
            session=_session(around, body),
            at=_time(around) or (facts.at if facts else None),
            hints=around["hints"] if isinstance(around.get("hints"), Mapping) else None,
            meta=_rest(around),
            numbers=[number for number, _ in numbered],
        )

    def _not_objects(self, messages: list[Any], place: str) -> None:
        for number, message in enumerate(messages, 1):
            if not isinstance(message, Mapping):
                self.report.add(
                    f"the message is {kind_of(message)}",
                    "An object with a role and content was expected; it was left out.",
                    place=_within(place, f"message {number}"),
                )

    def _response(self, facts: ResponseFacts, around: Wire, place: str) -> Item:
        session, at = _session(around, {}), _time(around) or facts.at
        return Item(place, facts.dialect or self.dialect, facts=facts, logged=True, session=session, at=at)

    def _answer(self, response: Any, place: str) -> ResponseFacts:
        response = _unwrapped(response)
        facts = response_facts(response)
        if facts.dialect is None and isinstance(response, str):
            return ResponseFacts({"role": "assistant", "content": response})
        if facts.dialect is None and isinstance(response, Mapping) and response.get("role") == "assistant":
            return ResponseFacts(response)
        if facts.dialect is None:
            failed = isinstance(response, Mapping) and ("error" in response or response.get("type") == "error")
            self.report.add(
                "the call failed, so there is no response" if failed else "the response is of no known shape",
                "The request was read." if failed else "A chat completion or an Anthropic message was expected.",
                place=place,
                warning=failed,
            )
        return facts

    def _dialect_of(self, body: Wire, facts: ResponseFacts | None) -> str:
        if self.forced:
            return self.dialect
        if facts is not None and facts.dialect is not None:
            return facts.dialect
        seen = detect(body)
        return self.dialect if seen == "openai_chat" and not is_openai_body(body) else seen


def bodies(value: Any) -> list[Any]:
    """Return the places where a record may hold a request body."""
    return [value, value.get("request"), value.get("body")] if isinstance(value, Mapping) else []


def responses(value: Any) -> list[Any]:
    """Return the places where a record may hold a response that can be read with its request, if it has one."""
    if not isinstance(value, Mapping):
        return []
    readable = "request" not in value or has_messages(value["request"])
    return [value, _unwrapped(value.get("response"))] if readable else [value]


def has_messages(value: Any) -> bool:
    """Tell whether a value is an object with a list `messages` that holds messages, or nothing."""
    if not isinstance(value, Mapping) or not isinstance(value.get("messages"), list):
        return False
    return not value["messages"] or any(map(is_message, value["messages"]))


def is_message_list(value: Any) -> bool:
    """Tell whether a value is a bare list of messages."""
    return isinstance(value, list) and any(map(is_message, value)) and not all(map(is_response, value))


def is_message(value: Any) -> bool:
    """Tell whether a value looks like a message: an object with a role and something said or called."""
    if not isinstance(value, Mapping) or not isinstance(value.get("role"), str):
        return False
    return any(key in value for key in ("content", "tool_calls", "function_call", "reasoning_content"))


def is_reply(message: Wire) -> bool:
    """Tell whether a message is the assistant's."""
    return message.get("role") in ("assistant", "model")


def is_response(value: Any) -> bool:
    """Tell whether a value is a response object of a provider."""
    return is_openai_response(value) or is_anthropic_response(value)


def is_openai_body(body: Wire) -> bool:
    """Tell whether something in a body exists in OpenAI chat and not in Anthropic Messages."""
    if any(key in body for key in ("functions", "response_format", "max_completion_tokens", "frequency_penalty")):
        return True
    tools = body.get("tools")
    if isinstance(tools, list) and any(isinstance(tool, Mapping) and "function" in tool for tool in tools):
        return True
    return any(map(is_openai_message, body["messages"]))


def is_openai_message(message: Any) -> bool:
    """Tell whether a message can only be one of OpenAI chat."""
    if not isinstance(message, Mapping):
        return False
    roles = ("system", "developer", "tool", "function")
    return message.get("role") in roles or "tool_calls" in message or "function_call" in message


def _body_of_row(value: Wire) -> tuple[Wire, Wire]:
    """Return the body, and what stands around it: a response beside it, or all that no request holds."""
    beside = {key: value[key] for key in ("response", "hints") if key in value}
    if "model" in value or value.keys() <= REQUEST_KEYS:
        return {key: inner for key, inner in value.items() if key not in beside} if beside else value, beside
    body = {key: inner for key, inner in value.items() if key in REQUEST_KEYS}
    return body, {key: inner for key, inner in value.items() if key not in REQUEST_KEYS}


def _rest(around: Wire) -> dict[str, Any]:
    read = {"request", "body", "response", "hints", "messages", "method", "url"}
    return {key: value for key, value in around.items() if key not in read}


def _unwrapped(response: Any) -> Any:
    """Return the response inside a logged HTTP answer (`{"status_code", "body"}`)."""
    if isinstance(response, Mapping) and isinstance(response.get("body"), Mapping | str) and "choices" not in response:
        return response["body"]
    return response


def _session(around: Wire, body: Wire) -> str:
    metadata = body.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    for owner in (around, metadata):
        for key in SESSION_KEYS:
            if isinstance(owner.get(key), str) and owner[key]:
                return str(owner[key])
    user = metadata.get("user_id")
    return user.rpartition("_session_")[2] if isinstance(user, str) and "_session_" in user else ""


def _time(around: Wire) -> datetime | None:
    return next((found for key in TIME_KEYS if (found := parse_time(around.get(key))) is not None), None)


def _within(place: str, inner: str) -> str:
    return f"{place}, {inner}" if place else inner
