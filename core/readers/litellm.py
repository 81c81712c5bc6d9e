"""LiteLLM's logs: its standard payload, rows of its spend table, and the completion logs of OpenHands.

In a completion log `messages` is what was sent; `raw_messages`, where they are, are the conversation before tools
were written into it for a model that knows none, and `raw_response` is what such a model answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript, Usage
from ..wire import Wire
from .chat_wire import decoded
from .exchanges import thread_of
from .fields import inner, text
from .figures import figure
from .formats import Format, Reading, share
from .items import Item
from .problems import Report
from .records import Record
from .responses import ResponseFacts, response_facts
from .runs import read_items
from .shapes import LISTS, as_rest, is_body, list_key
from .streams import body_value
from .times import parse_time
from .trace_calls import NO_PROMPT

SETTINGS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "tool_choice", "seed")
SESSIONS = ("session_id", "conversation_id", "thread_id", "trace_id")
FAMILY = ("completion", "responses", "messages", "generate_content")


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are LiteLLM's."""
    return 0.97 * share(values, lambda value: _is_log(value) or (isinstance(value, list) and any(map(_is_log, value))))


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the conversations that the logged calls make up."""
    found = _Calls(reading.report)
    yield from read_items(reading, found.of(reading.records))


class _Calls:
    """Turns records into calls, and counts what is none."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self._seen: set[str] = set()

    def of(self, records: Iterable[Record]) -> Iterator[Item]:
        """Yield the calls of all records; a list counts as many records as it holds."""
        for record in records:
            values = record.value if isinstance(record.value, list) else [record.value]
            self.report.counts.read += len(values) - 1
            if not values:
                self.report.counts.read += 1
                self.report.ignored()
            for number, value in enumerate(values, 1):
                inside = f"item {number}" if isinstance(record.value, list) else ""
                yield from self._one(value, ", ".join(filter(None, (record.place, inside))))

    def _one(self, value: Any, place: str) -> Iterator[Item]:
        if not _is_log(value):
            expected = "An object with `messages` and `response` was expected; it was left out."
            self.report.broken("this is no call that LiteLLM logged", expected, place=place)
        elif not _is_model_call(value) or self._is_copy(value):
            self.report.ignored()
        else:
            self.report.used()
            yield _item(value, place, self.report)

    def _is_copy(self, value: Wire) -> bool:
        """Tell whether a call was logged before: its logger is called for the stream and for the whole answer."""
        name = text(value, "request_id", "id")
        copy = name in self._seen
        self._seen.add(name)
        return bool(name) and copy


def _is_log(value: Any) -> bool:
    if not isinstance(value, Mapping) or "response" not in value:
        return False
    if "call_type" in value and ("startTime" in value or "start_time" in value or "request_id" in value):
        return True
    return "messages" in value and (
        "kwargs" in value or "raw_messages" in value or {"latency_sec", "cost"} <= value.keys()
    )


def _is_model_call(value: Wire) -> bool:
    kind = text(value, "call_type").lower()
    return not kind or any(name in kind for name in FAMILY) or isinstance(decoded(value.get("messages")), list)


def _item(value: Wire, place: str, report: Report) -> Item:
    facts = _facts(value, place, report)
    body = _body(value, facts)
    spoken = facts.dialect if facts.dialect and LISTS[facts.dialect] == list_key(body) else "openai_chat"
    spoken = spoken if LISTS[spoken] == list_key(body) else "openai_responses"
    session = _session(value)
    return Item(
        place=place,
        dialect=spoken,
        body=body,
        facts=facts,
        logged=True,
        session=session,
        at=_time(value) or facts.at,
        numbers=range(1, len(body[list_key(body)]) + 1),
        thread=thread_of(spoken, body) if session else "",
        notes=() if body[list_key(body)] else (NO_PROMPT,),
    )


def _body(value: Wire, facts: ResponseFacts) -> dict[str, Any]:
    """Return the request as it was sent: what the proxy was asked, else model, messages, tools and settings."""
    sent = decoded(value.get("proxy_server_request"))
    sent = inner({"body": decoded(inner({"sent": sent}, "sent").get("body", sent))}, "body")
    if is_body(sent) and all(isinstance(one, Mapping) for one in sent[list_key(sent)]):
        return dict(as_rest(sent))
    asked = inner(value, "kwargs") or inner(value, "model_parameters") or inner(value, "optional_params")
    messages = decoded(value.get("messages"))
    if isinstance(messages, str) and messages:
        messages = [{"role": "user", "content": messages}]
    kept = [one for one in messages if isinstance(one, Mapping)] if isinstance(messages, list) else []
    model = text(value, "model") or facts.model
    named: dict[str, Any] = {"model": model} if model else {}
    key = "input" if "responses" in text(value, "call_type").lower() else "messages"
    body = {**named, **{name: asked[name] for name in SETTINGS if asked.get(name) is not None}, key: kept}
    tools = value.get("tools") or asked.get("tools")
    return {**body, "tools": tools} if isinstance(tools, list) and tools else body


def _facts(value: Wire, place: str, report: Report) -> ResponseFacts:
    """Return what was answered: what the model wrote where the log keeps it beside its translation."""
    raw, answered = response_facts(value.get("raw_response")), response_facts(body_value(value.get("response")))
    message = raw.message or answered.message
    usage = answered.usage if answered.usage != Usage() else raw.usage
    if usage == Usage():
        usage = Usage(input=figure(value.get("prompt_tokens")), output=figure(value.get("completion_tokens")))
    if message is None and (text(value, "status") == "failure" or value.get("error_str")):
        report.add("the call failed, so there is no response", "The request was read.", place=place, warning=True)
    model = answered.model or raw.model or text(value, "model") or None
    at, spoken = answered.at or raw.at, answered.dialect or raw.dialect
    return ResponseFacts(message, usage, model, at, spoken, answered.id, answered.remarks)


def _session(value: Wire) -> str:
    metadata = decoded(value.get("metadata"))
    metadata = metadata if isinstance(metadata, Mapping) else {}
    wanted = inner(metadata, "requester_metadata") or inner(metadata, "spend_logs_metadata")
    return text(value, *SESSIONS) or text(metadata, *SESSIONS) or text(wanted, *SESSIONS)


def _time(value: Wire) -> Any:
    names = ("startTime", "start_time", "timestamp")
    return next((at for name in names if (at := parse_time(value.get(name))) is not None), None)


FORMAT = Format("litellm", "LiteLLM and OpenHands completion logs", sniff, read)
