"""Units with other texts in some of their spans, counted as they would be sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .decisions import Edit
from .dialects.base import Dialect, Message
from .spans import SpanKind
from .tokens import Counter
from .units import Unit
from .wire import Wire


def edited(unit: Unit, texts: dict[str, str], dialect: Dialect, counter: Counter, reason: str, setting: str) -> Edit:
    """Return the edit that puts other texts into some spans of a unit."""
    cost = dialect.cost_of_messages(edited_messages(unit, texts), counter)
    return Edit(texts, cost.spans, cost.overhead, reason, setting)


def edited_messages(unit: Unit, texts: Mapping[str, str]) -> list[Message]:
    """Return a unit's messages with other texts in some spans."""
    places = {(span.message, span.part): texts[span.id] for span in unit.spans if span.id in texts}
    return [
        replace(
            message,
            parts=tuple(
                replace(part, text=places.get((index, place), part.text)) for place, part in enumerate(message.parts)
            ),
        )
        for index, message in enumerate(unit.messages, start=unit.first)
    ]


def edited_kinds(unit: Unit, edit: Edit) -> dict[SpanKind, int]:
    """Return the tokens of an edited unit by span kind."""
    found: dict[SpanKind, int] = {SpanKind.OVERHEAD: edit.overhead}
    for span, tokens in zip(unit.spans, edit.costs, strict=True):
        found[span.kind] = found.get(span.kind, 0) + tokens
    return found


def edited_wires(unit: Unit, wires: list[Wire], texts: Mapping[str, str], dialect: Dialect) -> list[Wire]:
    """Return a unit's wire messages with other texts in some spans; the messages given are not changed."""
    sent = list(wires)
    for span in unit.spans:
        if span.id in texts:
            at = span.message - unit.first
            sent[at] = dialect.with_result_text(sent[at], unit.messages[at].parts[span.part], texts[span.id])
    return sent
