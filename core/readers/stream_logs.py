"""Streamed responses in a file that holds one event a record: the events of each are joined to one record.

Events name their response only at times, so those without a name belong to the stream of their kind that began last.
A stream that is logged again replaces the first one: its usage is the later one, and nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .problems import Report
from .records import Record
from .streams import join_stream

MOST_OPEN = 64
"""Streams held for events to come; beyond that the oldest is complete."""

DONE = "[DONE]"
WITHIN = ("ping", "error")
"""Events that say nothing outside a stream."""
_ANTHROPIC = ("message_start", "message_delta", "message_stop", "content_block_")
_STARTS = ("message_start", "response.created")


def event_kind(value: Any) -> str:
    """Return the dialect whose streams hold such an event; empty if it is no event of a stream."""
    if not isinstance(value, dict):
        return ""
    kind = value.get("type")
    if isinstance(kind, str):
        return (
            "anthropic" if kind.startswith(_ANTHROPIC) else "openai_responses" if kind.startswith("response.") else ""
        )
    choices = value.get("choices")
    if isinstance(choices, list):
        named = value.get("object") == "chat.completion.chunk"
        parts = any(isinstance(choice, dict) and isinstance(choice.get("delta"), dict) for choice in choices)
        return "openai_chat" if named or parts else ""
    return "gemini" if isinstance(value.get("candidates"), list) or "usageMetadata" in value else ""


def joined_streams(records: Iterable[Record], report: Report) -> Iterator[Record]:
    """Yield records as they are, and one record for all events of a stream. Each event is counted."""
    log = _Log(report)
    for record in records:
        if _is_stream(record.value):
            record = Record(_joined_list(record.value), record.place)
        kind = event_kind(record.value)
        within = not kind and log.open and isinstance(record.value, dict) and record.value.get("type") in WITHIN
        if record.value == DONE:
            report.ignored()
        elif kind or within:
            yield from log.add(kind, record)
        else:
            yield from log.close()
            yield record
    yield from log.close()


def _is_stream(value: Any) -> bool:
    """Tell whether a value is a list of events."""
    if not isinstance(value, list) or not value or not event_kind(value[0]):
        return False
    return all(event_kind(event) or (isinstance(event, dict) and event.get("type") in WITHIN) for event in value)


def _joined_list(events: list[Any]) -> list[Any]:
    """Return the responses whose events stand in one list."""
    log = _Log(Report())
    joined = [made for event in events for made in log.add(event_kind(event), Record(event))]
    return [made.value for made in (*joined, *log.close())]


class _Stream:
    """The events of one response."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.finished = False

    def joined(self) -> Record:
        """Return the response as one record."""
        first, last = self.records[0], self.records[-1]
        if len(self.records) == 1 and event_kind(first.value) == "gemini":
            return first
        place = f"{first.place} to {last.place}" if first.place != last.place else first.place
        return Record(join_stream([record.value for record in self.records]), place)


class _Log:
    def __init__(self, report: Report) -> None:
        self.report = report
        self.open: dict[tuple[str, str], _Stream] = {}
        self._current: dict[str, tuple[str, str]] = {}
        self._last = ""
        self._unnamed = 0

    def add(self, kind: str, record: Record) -> Iterator[Record]:
        """Take in an event; yield a response that is complete because many others began after it."""
        self._last = kind = kind or self._last
        delta = record.value.get("type")
        current = self.open.get(self._current[kind]) if isinstance(delta, str) and kind in self._current else None
        if current is not None and delta not in _STARTS and "response" not in record.value:
            current.records.append(record)
            return
        key = self._key(kind, record.value)
        stream = self.open.setdefault(key, _Stream())
        if stream.records and _restarts(record.value, stream.finished):
            self.report.counts.ignored += len(stream.records)
            stream = self.open[key] = _Stream()
        stream.records.append(record)
        stream.finished = stream.finished or _finishes(record.value)
        self._current[kind] = key
        if len(self.open) > MOST_OPEN:
            yield self._done(next(iter(self.open)))

    def close(self) -> Iterator[Record]:
        """Yield all responses in the order of their first events."""
        while self.open:
            yield self._done(next(iter(self.open)))
        self._current.clear()

    def _done(self, key: tuple[str, str]) -> Record:
        stream = self.open.pop(key)
        self.report.counts.used += len(stream.records) - 1
        return stream.joined()

    def _key(self, kind: str, event: Any) -> tuple[str, str]:
        name = _name(event)
        current = self._current.get(kind)
        starts = event.get("type") in _STARTS or (kind == "gemini" and not name and self._is_finished(current))
        if name:
            return kind, name
        if current in self.open and current is not None and not starts:
            return current
        self._unnamed += 1
        return kind, f"\x00{self._unnamed}"

    def _is_finished(self, key: tuple[str, str] | None) -> bool:
        return key in self.open and key is not None and self.open[key].finished


def _name(event: Any) -> str:
    inner = next((event[key] for key in ("message", "response") if isinstance(event.get(key), dict)), event)
    name = inner.get("id") if inner is not event or "choices" in event else event.get("responseId")
    return name if isinstance(name, str) else ""


def _restarts(event: Any, finished: bool) -> bool:
    if event.get("type") in _STARTS:
        return True
    choices = event.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    delta = first.get("delta") if isinstance(first, dict) else None
    return finished and isinstance(delta, dict) and bool(delta.get("role"))


def _finishes(event: Any) -> bool:
    for key, reason in (("choices", "finish_reason"), ("candidates", "finishReason")):
        found = event.get(key)
        if isinstance(found, list) and any(isinstance(one, dict) and one.get(reason) for one in found):
            return True
    return False
