"""Units and heads with other texts in some of their spans, counted as they would be sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from .decisions import Edit, HeadEdit
from .dialects.base import Cost, Dialect, Message, PartKind
from .rules import may_become
from .spans import FixedPart, Span, SpanKind
from .tokens import Counter
from .units import Unit
from .wire import Wire


class Smaller(NamedTuple):
    """The texts of a unit that may be used, by span id, and what the unit then costs."""

    texts: dict[str, str]
    cost: Cost


def edited(
    unit: Unit, texts: Mapping[str, str], dialect: Dialect, counter: Counter, reason: str, setting: str
) -> Edit | None:
    """Return the edit that puts other texts into some spans of a unit, where they are smaller; None if nowhere."""
    made = smaller(unit, texts, dialect, counter)
    return Edit(made.texts, made.cost.spans, made.cost.overhead, reason, setting) if made else None


def smaller(unit: Unit, texts: Mapping[str, str], dialect: Dialect, counter: Counter) -> Smaller | None:
    """Return those texts that make their spans smaller, as the unit is sent, and no smaller than a rule lets them.

    None if there is none, or if the unit with them is not smaller as a whole (rule X6). A text by itself does not
    tell: what is sent of it depends on what stands beside it.
    """
    left = {span.id: texts[span.id] for span in unit.spans if span.id in texts and is_rewritable(unit, span)}
    while left:
        cost = dialect.cost_of_messages(edited_messages(unit, left), counter)
        pairs = [(span, tokens) for span, tokens in zip(unit.spans, cost.spans, strict=True) if span.id in left]
        good = {span.id for span, tokens in pairs if tokens < span.tokens and may_become(tokens, span.rule)}
        if len(good) == len(left):
            return Smaller(left, cost) if cost.total < unit.tokens else None
        left = {span_id: text for span_id, text in left.items() if span_id in good}
    return None


def is_rewritable(unit: Unit, span: Span) -> bool:
    """Return whether another text may stand in the place of a span's.

    It may not where the text renders a structure that the provider asks for, nor in what the provider's own tools
    answered, which stands in the assistant's message.
    """
    parts = unit.messages[span.message - unit.first].parts
    if not parts:
        return False
    part = parts[span.part]
    if part.kind is PartKind.TOOL_RESULT:
        return not part.fixed and span.role != "assistant"
    return part.kind is PartKind.TEXT and not part.fixed


def edited_messages(unit: Unit, texts: Mapping[str, str]) -> list[Message]:
    """Return a unit's messages with other texts in some spans; those without any are the unit's own."""
    messages = list(unit.messages)
    for span in unit.spans if texts else ():
        if span.id in texts:
            place = span.message - unit.first
            parts = list(messages[place].parts)
            parts[span.part] = replace(parts[span.part], text=texts[span.id])
            messages[place] = replace(messages[place], parts=tuple(parts))
    return messages


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


def edited_head(edit: HeadEdit, fixed: FixedPart, head: Wire, dialect: Dialect) -> Wire:
    """Return a head without the tools that an edit puts aside and with the texts that it puts in."""
    if edit.deferred:
        head = dialect.with_tools(head, [tool.part for tool in fixed.tools if tool.part not in edit.deferred])
    for text in edit.injected:
        head = dialect.with_system_text(head, text.text)
    return head
