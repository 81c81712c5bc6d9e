"""How much two prompts share of what stands before the messages: tools, then the system part, as providers order them.

What a strategy puts in stands at the end of the system part, so that all else of the fixed part comes before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from .decisions import NOTHING, Injected
from .plan import Plan
from .prefix import Cause, Prefix
from .spans import FixedPart, SpanKind


def head_tokens(plan: Plan) -> int:
    """Return the tokens of tools, system part and the request's frames, as sent."""
    if plan.head is None:
        return plan.fixed.tokens
    return plan.head.overhead + kept_of_fixed(plan) + sum(text.tokens for text in plan.head.injected)


def kept_of_fixed(plan: Plan) -> int:
    """Return the tokens of the fixed part's texts as sent, without frames and without what a strategy puts in."""
    tokens = plan.fixed.tokens - plan.fixed.overhead
    if plan.head is None or not plan.head.deferred:
        return tokens
    return tokens - sum(tool.tokens for tool in plan.fixed.tools if tool.part in plan.head.deferred)


class _Block(NamedTuple):
    """A part of what stands before the messages, as sent."""

    text: str
    tokens: int
    is_tool: bool
    span_id: str


def fixed_prefix(before: Plan, after: Plan) -> Prefix | None:
    """Return what two fixed parts share if they differ; None if they are the same."""
    if before.fixed is after.fixed or _texts(before.fixed) == _texts(after.fixed):
        if before.head is after.head:
            return None
        if _deferred(before) == _deferred(after):
            return _injected_prefix(_injected(before), _injected(after), kept_of_fixed(after))
    found = _difference(list(_blocks(before)), list(_blocks(after)), _aside(after))
    if found is None:
        return None
    cause = Cause.TOOLS if found.is_tools else Cause.SYSTEM
    by_plan = found.span_id in _touched(before) or found.span_id in _touched(after)
    return Prefix(found.tokens, cause, span_id=found.span_id, by_plan=by_plan)


def _texts(fixed: FixedPart) -> tuple[str, ...]:
    """Return all texts of a fixed part with a mark of each tool, tools first; heads read anew are mostly the same."""
    known: tuple[str, ...] | None = fixed.memo.get(TEXTS)
    if known is None:
        tools = [text for tool in fixed.tools for text in (tool.text, TOOL_MARK)]
        others = [span.text for span in fixed.spans if span.kind is not SpanKind.TOOL_DEFINITION]
        known = fixed.memo[TEXTS] = (*tools, *others)
    return known


TEXTS, TOOL_MARK = "texts", "\0tool"


def _injected_prefix(old: Sequence[Injected], new: Sequence[Injected], tokens: int) -> Prefix | None:
    """Compare what strategies put in; `tokens` stand before it."""
    for mine, theirs in zip(old, new, strict=False):
        if mine.text != theirs.text:
            return Prefix(tokens, Cause.SYSTEM, -1, theirs.span_id, True)
        tokens += theirs.tokens
    if len(old) == len(new):
        return None
    more = (old if len(old) > len(new) else new)[min(len(old), len(new))]
    return Prefix(tokens, Cause.SYSTEM, -1, more.span_id, True)


def _blocks(plan: Plan) -> Iterator[_Block]:
    """Yield all blocks of the fixed part as sent, tools first."""
    deferred = _deferred(plan)
    for tool in plan.fixed.tools:
        if tool.part not in deferred:
            yield _Block(tool.text, tool.tokens, True, tool.id)
    for span in plan.fixed.spans:
        if span.kind is not SpanKind.TOOL_DEFINITION:
            yield _Block(span.text, span.tokens, False, span.id)
    yield from (_Block(text.text, text.tokens, False, text.span_id) for text in _injected(plan))


def _injected(plan: Plan) -> Sequence[Injected]:
    return plan.head.injected if plan.head else ()


def _deferred(plan: Plan) -> Mapping[int, str]:
    return plan.head.deferred if plan.head else NOTHING


def _aside(plan: Plan) -> set[str]:
    """Return the ids of the tools that are put aside."""
    deferred = _deferred(plan)
    return {tool.id for tool in plan.fixed.tools if tool.part in deferred} if deferred else set()


def _touched(plan: Plan) -> set[str]:
    """Return the ids of what a strategy put into the fixed part or aside, and of what a shrinker changed in it."""
    return {*plan.fixed.shrunk, *(text.span_id for text in _injected(plan)), *_aside(plan)}


class _Difference(NamedTuple):
    """Tokens up to the first block that differs, the span that makes the difference, and whether tools differ."""

    tokens: int
    span_id: str
    is_tools: bool


def _difference(old: Sequence[_Block], new: Sequence[_Block], aside: AbstractSet[str]) -> _Difference | None:
    """Return where blocks begin to differ; None if they do not.

    A block that is put aside, or that nothing follows, makes the difference itself; else what stands in its place.
    """
    tokens = 0
    same = 0
    for mine, theirs in zip(old, new, strict=False):
        if mine.text != theirs.text or mine.is_tool != theirs.is_tool:
            break
        tokens += theirs.tokens
        same += 1
    if same == len(old) == len(new):
        return None
    is_gone = same == len(new) or (same < len(old) and old[same].span_id in aside)
    tools = [block.text for block in old if block.is_tool] != [block.text for block in new if block.is_tool]
    return _Difference(tokens, (old if is_gone else new)[same].span_id, tools)
