"""The places of a prompt that are marked for the provider's cache, before the messages begin.

Requests that were recorded whole show their marks. Elsewhere a host is taken to mark the end of the fixed part, as
agents do; and a reported read that is no longer than what is hidden shows a marked place within that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .cache_rules import cache_rule
from .fixed_prefix import head_tokens, kept_of_fixed
from .plan import Plan
from .spans import FixedPart, SpanKind
from .transcript import Transcript


def marks_in(wire: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the cache marks of a wire value: its own, and those in blocks of content, in the system part and tools."""
    if not isinstance(wire, Mapping):
        return
    mark = wire.get("cache_control")
    if isinstance(mark, Mapping):  # null marks nothing
        yield mark
    for key in ("content", "system", "tools", "messages"):
        for block in _list(wire.get(key)):
            yield from marks_in(block)


def has_marks(transcript: Transcript) -> bool:
    """Return whether a recorded request marks anything for the cache."""
    known: bool | None = transcript.memo.get("cache_marks")
    if known is None:
        variants = (wire for call in transcript.calls for _, wire in call.variants)
        wires = (*transcript.heads, *transcript.messages, *variants)
        known = transcript.memo["cache_marks"] = any(map(_is_marked, wires))
    return known


def hidden_mark(transcript: Transcript, hidden: Sequence[int | None]) -> int:
    """Return the longest reported read, in tokens, that ends in what is hidden in its call; 0 if there is none."""
    reads = zip(transcript.calls, hidden, strict=True)
    found = (call.usage.cache_read or 0 for call, most in reads if (call.usage.cache_read or 0) <= (most or 0))
    return max(found, default=0) if _are_by_marks(transcript) else 0


def _are_by_marks(transcript: Transcript) -> bool:
    rules = (cache_rule(model, transcript.dialect) for model in transcript.models or (None,))
    return all(rule is not None and rule.by_marks for rule in rules)


class FixedMarks:
    """The marked places of fixed parts: those recorded, or the end of each where none is."""

    def __init__(self, recorded: bool) -> None:
        self._recorded = recorded
        self._known: dict[int, tuple[FixedPart, list[int]]] = {}

    def places(self, plan: Plan) -> list[int]:
        """Return the marked places of a plan's fixed part as tokens before them, in order."""
        kept = kept_of_fixed(plan)
        if not self._recorded:
            return [kept, head_tokens(plan)]
        fixed = plan.fixed
        whole = fixed.tokens - fixed.overhead
        if id(fixed) not in self._known:
            self._known[id(fixed)] = (fixed, list(_recorded_places(fixed)))
        places = [place - (whole - kept) for place in self._known[id(fixed)][1] if place >= whole - kept]
        ends = places[-1:] == [kept] and not (plan.head and plan.head.injected)
        return [*places, head_tokens(plan)] if ends else places


def _recorded_places(fixed: FixedPart) -> Iterator[int]:
    """Yield the marked places of a request's fixed part, all its tools before its system part."""
    tokens = 0
    tools, system = fixed.head.get("tools"), fixed.head.get("system")
    for tool, span in zip(_list(tools), fixed.tools, strict=False):
        tokens += span.tokens
        if _is_marked(tool):
            yield tokens
    texts = [span for span in fixed.spans if span.kind is not SpanKind.TOOL_DEFINITION]
    for place, block in enumerate(_list(system)):
        tokens += sum(span.tokens for span in texts if span.part == place)
        if _is_marked(block):
            yield tokens
    if any(map(_is_marked, _list(fixed.head.get("messages")))):
        yield fixed.tokens - fixed.overhead


def _is_marked(wire: Any) -> bool:
    return any(True for _ in marks_in(wire))


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
