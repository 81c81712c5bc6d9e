"""Which messages of a conversation are one reply of the model: in some dialects a reply is several items."""

from __future__ import annotations

from collections.abc import Sequence

from ..dialects import Dialect
from ..dialects.content import type_of
from ..wire import Wire
from .responses import reply_of_items


def reply_spans(dialect: Dialect, wires: Sequence[Wire]) -> list[tuple[int, int]]:
    """Return the first message of each reply, and the one after its last."""
    read = [dialect.message(wire) for wire in wires]
    spans: list[tuple[int, int]] = []
    for at, message in enumerate(read):
        if message.role != "assistant":
            continue
        if spans and spans[-1][1] == at and dialect.continues(read[at - 1], message):
            spans[-1] = (spans[-1][0], at + 1)
        else:
            spans.append((at, at + 1))
    return spans


def last_reply(dialect: Dialect, wires: Sequence[Wire]) -> int:
    """Return the first message of the reply that a conversation ends with; its length if it ends otherwise."""
    start, after = len(wires), None
    while start:
        message = dialect.message(wires[start - 1])
        if message.role != "assistant" or (after is not None and not dialect.continues(message, after)):
            break
        start, after = start - 1, message
    return start


def reply_of(wires: Sequence[Wire]) -> Wire | None:
    """Return the messages of one reply as one wire value; None if there are none."""
    if len(wires) > 1 and all(isinstance(wire.get("parts"), list) for wire in wires):
        return {**wires[0], "parts": [part for wire in wires for part in wire["parts"]]}
    return reply_of_items(wires)


def first_reply(dialect: Dialect, wires: Sequence[Wire]) -> Wire | None:
    """Return the first reply among some messages."""
    return next((reply_of(wires[start:stop]) for start, stop in reply_spans(dialect, wires)), None)


def compacts(reply: Wire | None) -> bool:
    """Tell whether the provider compacted the conversation while it made a reply."""
    lists = [reply.get(key) for key in ("output", "content")] if reply else []
    return any(type_of(part) == "compaction" for found in lists if isinstance(found, list) for part in found)
