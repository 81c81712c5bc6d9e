"""Muse Code sessions: JSON Lines of records, `{"schema_version", "stream", "payload_type", "payload"}`.

A run's events hold what was asked, what the model wrote and which tools it called, each committed as a whole. The
usage of a response is an event of its own, before or after what it committed. System prompt and tools are not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..transcript import Transcript, Usage
from ..wire import Wire
from .chat_wire import assistant, call, decoded, result
from .event_log import EventLog, Ignored
from .fields import inner, objects, text
from .figures import figure
from .formats import Format, Reading, share
from .records import Record
from .times import parse_time

_KNOWN = frozenset(
    """
    terminal user_prompt_display inbox_item_queued tool_result_model_visible_content model_started run task approval
    metadata runtime.session runtime.session.metadata
    """.split()  # noqa: SIM905
)


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are a session of Muse Code."""
    return 0.95 * share(values, lambda value: _is_record(value) or _is_frame(value))


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the session."""
    session = _Session(reading)
    for record in reading.records:
        if _is_frame(record.value):
            _take_frame(session, record, reading)
        else:
            session.take(record)
    yield from session.transcript()


def _take_frame(session: _Session, record: Record, reading: Reading) -> None:
    """Take in the records that a retained frame holds as text; the frame is one record of the file."""
    counts = reading.report.counts
    before = counts.used, counts.ignored, counts.broken
    for child in objects(record.value, "children"):
        session.take(Record(decoded(child.get("record_json")), record.place))
    used = counts.used > before[0]
    counts.used, counts.ignored, counts.broken = before[0] + used, before[1] + (not used), before[2]


@dataclass(slots=True)
class _Reply:
    """What one response committed."""

    response: str
    place: str
    at: datetime | None
    said: list[str] = field(default_factory=list)
    calls: list[Wire] = field(default_factory=list)


class _Session:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.log = EventLog("openai_chat", reading)
        self.ignored = Ignored(reading, _KNOWN)
        self.name = ""
        self._model = ""
        self._usage: Usage | None = None
        self._billed = True
        self._reply: _Reply | None = None

    def take(self, record: Record) -> None:
        """Take a record in, and count it."""
        value, place, report = record.value, record.place, self.reading.report
        if not _is_record(value):
            expected = "A record with `payload_type` and `payload` was expected; it was left out."
            report.broken("this is no record of Muse Code", expected, place=place)
            return
        self.name = self.name or text(inner(value, "stream"), "id")
        at = parse_time(value.get("recorded_at"))
        self.log.started = self.log.started or at
        payload = inner(value, "payload")
        event = inner(payload, "event")
        kind = text(event, "kind") or text(payload, "kind")
        if text(payload, "kind") == "metadata":
            self._model = text(inner(payload, "record"), "model_id") or self._model
            report.used()
        elif text(payload, "kind") == "run" and self._event(kind, event, at, place):
            report.used()
        else:
            self.ignored.add(kind or text(value, "payload_type"), place)

    def _event(self, kind: str, event: Wire, at: datetime | None, place: str) -> bool:
        """Take an event of a run in; return false if it is no part of the conversation."""
        if kind == "started":
            self._end()
            self.log.say({"role": "user", "content": text(event, "prompt")}, place)
        elif kind == "assistant_message_committed":
            self._of(event, at, place).said.append(text(event, "text"))
        elif kind == "assistant_tool_calls_committed":
            told = objects(event, "tool_calls")
            calls = [call(one.get("name"), one.get("args"), one.get("call_id") or one.get("id")) for one in told]
            self._of(event, at, place).calls.extend(calls)
        elif kind == "tool_result_batch_committed":
            self._end()
            for one in objects(event, "results"):
                self.log.say(result(one.get("text"), one.get("tool_call_id")), place)
        elif kind == "model_completed":
            self._completed(event)
        else:
            return False
        return True

    def _of(self, event: Wire, at: datetime | None, place: str) -> _Reply:
        """Return the reply that an event adds to: that of the same response, else a new one."""
        response = text(event, "response_id")
        if self._reply is None or (response and self._reply.response not in ("", response)):
            self._end()
            self._reply = _Reply(response, place, at)
        return self._reply

    def _completed(self, event: Wire) -> None:
        usage = _usage(inner(event, "usage"))
        self._model = text(event, "model") or self._model
        waiting = self._reply is not None and self._usage is None
        if self._reply is None and not self._billed:
            self.log.with_usage(self.log.calls - 1, usage)
            self._billed = True
            return
        if not waiting:
            self._end()
        self._usage = usage

    def _end(self) -> None:
        """Add the reply that is complete as a call."""
        reply, self._reply = self._reply, None
        if reply is None:
            return
        wire = assistant("\n".join(reply.said), reply.calls)
        self.log.reply([wire], reply.place, usage=self._usage, model=self._model, at=reply.at)
        self._billed, self._usage = self._usage is not None, None

    def transcript(self) -> Iterator[Transcript]:
        """Yield the session, if it holds a message."""
        self._end()
        ignored = self.ignored.tell()
        if self.log.builder.messages:
            yield self.log.transcript(session=self.name, meta={"ignored": ignored} if ignored else {})


def _usage(usage: Wire) -> Usage:
    """Return usage; cached tokens and reasoning are parts of input and output."""
    read = usage.get("cache_read_tokens", usage.get("cached_tokens"))
    return Usage(
        input=figure(usage.get("input_tokens")),
        cache_read=figure(read),
        cache_write=figure(usage.get("cache_write_tokens")),
        output=figure(usage.get("output_tokens")),
        reasoning=figure(usage.get("reasoning_tokens")),
    )


def _is_record(value: Any) -> bool:
    if not isinstance(value, Mapping) or not text(value, "payload_type").startswith("runtime."):
        return False
    return isinstance(value.get("payload"), Mapping) and "schema_version" in value


def _is_frame(value: Any) -> bool:
    return not text(value, "payload_type") and any("record_json" in child for child in objects(value, "children"))


FORMAT = Format("muse_code", "Muse Code sessions", sniff, read)
