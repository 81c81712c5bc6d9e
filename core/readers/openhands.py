"""OpenHands: trajectory exports (lists of events), evaluation rows with a `history`, event files of a conversation.

Which of three generations an event is of is told by its keys: an `action` or `observation` with id and source, the
same without them (resolver outputs, at times as pairs), or a `kind` (agent SDK).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from .fields import inner, listed, text
from .formats import Format, Reading, share
from .openhands_events import read_events
from .openhands_sdk import is_sdk_event, read_sdk_events
from .records import Record
from .rows import Unused, read_rows, sample_rows

EVENT_FILE = re.compile(r"event[-_]\d+[-_.].*json")
EXPECTED = "A list of events, or a row with a `history` of them, was expected."


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are OpenHands trajectories, rows or events."""
    loose = share(values, is_event)
    if loose > 0.5:
        return 0.9 * loose
    rows = [value for value in values if _as_row(value) is not None] if values else []
    return 0.95 * max(share(sample_rows(values), _is_row), len(rows) / len(values) if values else 0.0)


def gather(names: Sequence[str]) -> list[list[str]]:
    """Return the event files of each conversation: those of one folder, in order of their numbers."""
    folders: dict[str, list[str]] = {}
    for name in names:
        folder, _, base = name.rpartition("/")
        if EVENT_FILE.fullmatch(base):
            folders.setdefault(folder, []).append(name)
    return [sorted(found) for found in folders.values() if len(found) > 1]


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the transcripts of each run, those of its sub-agents after it."""
    if len(reading.files) > 1:
        yield from _events(reading, _of_files(reading), {}, "")
    elif any(is_event(record.value) for record in reading.records.peek(20)):
        yield from _events(reading, list(_loose(reading.records, reading)), {}, "")
    else:
        yield from read_rows(reading, partial(_read_row, reading), EXPECTED, _as_row)


def _of_files(reading: Reading) -> list[Any]:
    """Return the events of a conversation that are files of their own."""
    events = list(_loose(reading.records, reading))
    for _, records in reading.others():
        events += _loose(records, reading)
    return events


def _loose(records: Iterable[Record], reading: Reading) -> Iterator[Any]:
    """Yield the records that are events, and count all."""
    for record in records:
        if is_event(record.value):
            reading.report.used()
            yield record.value
        else:
            reading.report.broken("this is no event of OpenHands", "It was left out.", place=record.place)


def _read_row(reading: Reading, row: Wire, place: str) -> Iterator[Transcript]:
    history = listed(row, "history")
    if not history:
        raise Unused(f"the run has no events (error: {text(row, 'error')[:80] or 'none'})", EXPECTED)
    yield from _events(reading, history, row, place)


def _events(reading: Reading, history: Sequence[Any], row: Wire, place: str) -> Iterator[Transcript]:
    events = list(_flat(history))
    take = read_sdk_events if any(map(is_sdk_event, events)) else read_events
    yield from take(reading, events, row, place)


def _flat(history: Sequence[Any]) -> Iterator[Any]:
    """Yield events one by one; old rows hold pairs of an action and its observation."""
    for event in history:
        yield from event if isinstance(event, list) else [event]


def is_event(value: Any) -> bool:
    """Tell whether a value is an event of OpenHands."""
    if is_sdk_event(value):
        return True
    if not isinstance(value, Mapping) or not (isinstance(value.get("action") or value.get("observation"), str)):
        return False
    return "source" in value or "args" in value or "extras" in value or "cause" in value or "content" in value


def _is_row(row: Any) -> bool:
    if not isinstance(row, Mapping) or not isinstance(row.get("history"), list):
        return False
    events = list(_flat(row["history"][:20]))
    return any(map(is_event, events)) or ("instance_id" in row and bool(inner(row, "metadata").get("agent_class")))


def _as_row(value: Any) -> Wire | None:
    """Return a list of events as a row."""
    if not isinstance(value, list) or not any(map(is_event, _flat(value[:20]))):
        return None
    return {"history": value}


FORMAT = Format("openhands", "OpenHands trajectories", sniff, read, gather=gather)
