"""Findings about the fixed part of the prompts: what flickers, what is said twice, and how large it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from .dialects import dialect
from .dialects.content import is_deferred
from .dialects.openai_tokens import parsed
from .engine import soft_budget
from .finding import Finding, Level, calls_before, calls_of
from .plan import Plan
from .replay import Replay
from .sent_sizes import sizes_of
from .shrinkers import DedupeInstructions, shrink_fixed
from .shrinkers.dedupe_instructions import repeated_rules
from .spans import FixedPart, Span, SpanKind
from .strategies.tiers import CORE_SHARE, GROUPS_FROM, core_level, core_limit
from .wording import counted

CORE_KINDS = frozenset({SpanKind.INSTRUCTIONS, SpanKind.EXAMPLES})
CLAIM = (
    "A published claim, without method or sample: from 500 to 3,000 tokens of core, 23% more hallucination and 17% more"
    " tool errors."
)
"""The source's numbers (rule book 4.4), to be shown as what they are."""


def core_tokens(fixed: FixedPart) -> int:
    """Return the tokens of the instruction part, tools apart."""
    return sum(span.tokens for span in fixed.spans if span.kind in CORE_KINDS)


def flickers(replay: Replay) -> Iterator[Finding]:
    """Find sections and tools that stand in a call and not in the next one of the same conversation."""
    names = _ByHead(_names)
    gone: dict[_Key, tuple[int, int]] = {}
    back: dict[_Key, int] = {}
    firsts: list[int] = []
    for call, before in enumerate(calls_before(replay)):
        firsts.append(call if before < 0 else firsts[before])
        now = names.of(replay.plan(call))
        then = names.of(replay.plan(before)) if before >= 0 else now
        if now is then:
            continue
        for name in [name for name in now if name not in then and (firsts[call], name) in gone]:
            back.setdefault((firsts[call], name), call)
        for name in [name for name in then if name not in now]:
            gone.setdefault((firsts[call], name), (before, call))
    if gone:
        yield _flicker(replay, names, gone, back)


_Key = tuple[int, str]
"""The first call of a conversation, and the name of what its prompts had."""


def _flicker(
    replay: Replay, names: _ByHead[dict[str, str]], gone: dict[_Key, tuple[int, int]], back: dict[_Key, int]
) -> Finding:
    key = next(iter(back), next(iter(gone)))
    name, (before, call) = key[1], gone[key]
    returns = f"; it comes back in call {back[key] + 1}" if key in back else ""
    vanished, returned = ({name for _, name in found} for found in (gone, back))
    more = f" So do {len(vanished) - 1:,} more at some call." if len(vanished) > 1 else ""
    return Finding(
        name="flickers",
        level=Level.WARNING if back else Level.NOTICE,
        sentence=f"The {name} is in call {before + 1} and missing in call {call + 1}{returns}.{more}",
        call=before,
        span_ids=(names.of(replay.plan(before))[name],),
        figures={"vanished": len(vanished), "returned": len(returned)},
    )


_Made = TypeVar("_Made")


class _ByHead(Generic[_Made]):
    """What is made of a fixed part and the tools that a plan puts aside, once for each."""

    def __init__(self, make: Callable[[FixedPart, frozenset[int]], _Made]) -> None:
        self._make = make
        self._known: dict[tuple[int, frozenset[int]], tuple[FixedPart, _Made]] = {}

    def of(self, plan: Plan) -> _Made:
        """Return what is made of a plan's fixed part."""
        deferred = frozenset(plan.head.deferred) if plan.head else frozenset()
        key = (id(plan.fixed), deferred)
        if key not in self._known:
            self._known[key] = (plan.fixed, self._make(plan.fixed, deferred))
        return self._known[key][1]


def _names(fixed: FixedPart, deferred: frozenset[int]) -> dict[str, str]:
    """Return the span ids of sections and tools by kind and name."""
    return {
        f"{'tool' if span.kind is SpanKind.TOOL_DEFINITION else 'section'} {span.name!r}": span.id
        for span in fixed.spans
        if span.kind is not SpanKind.TOOL_DEFINITION or span.part not in deferred
    }


def _tools_sent(fixed: FixedPart, deferred: frozenset[int]) -> list[Span]:
    """Return the definitions that stand in a prompt: the provider puts none of them aside either."""
    tools = (span for span in fixed.tools if span.part not in deferred)
    return [span for span in tools if not is_deferred(parsed(span.text))]


def floor_too_large(replay: Replay) -> Iterator[Finding]:
    """Find a core part above 500, 800 or 2,000 tokens, or above 30% of the soft budget (rule book 4.4)."""
    sizes = [core_tokens(replay.plan(call).fixed) for call in calls_of(replay)]
    call = max(calls_of(replay), key=sizes.__getitem__, default=None)
    if call is None:
        return
    fixed, budget = replay.plan(call).fixed, soft_budget(replay.config)
    tokens = core_tokens(fixed)
    above_share = budget is not None and tokens > core_limit(budget)
    if core_level(tokens) == "ok" and not above_share:
        return
    level, why = _floor_level(tokens, above_share)
    lacking = sizes_of(replay, call).lacks_some(replay.calls["in_window"][call])
    as_far = " as far as they are recorded" if lacking else ""
    largest = sorted((span for span in fixed.spans if span.kind in CORE_KINDS), key=lambda span: -span.tokens)
    yield Finding(
        name="floor_too_large",
        level=level,
        sentence=f"The instructions of {_which(call, sizes)} have {counted(tokens, 'token')}{as_far}, {why}. {CLAIM}",
        call=call,
        span_ids=tuple(span.id for span in largest[:3]),
        figures={"core": tokens, "tools": sum(tool.tokens for tool in fixed.tools), "fixed": fixed.tokens},
    )


def many_tools(replay: Replay) -> Iterator[Finding]:
    """Find prompts with so many tool definitions that groups are recommended (rule book 4.4)."""
    known = _ByHead(_tools_sent)
    sent = [known.of(replay.plan(call)) for call in calls_of(replay)]
    call = max(calls_of(replay), key=lambda at: len(sent[at]), default=None)
    if call is None or len(sent[call]) < GROUPS_FROM:
        return
    tools = sorted(sent[call], key=lambda span: -span.tokens)
    tokens = sum(span.tokens for span in tools)
    which = _which(call, [len(spans) for spans in sent])
    yield Finding(
        name="many_tools",
        level=Level.NOTICE,
        sentence=f"{which[0].upper()}{which[1:]} defines {counted(len(tools), 'tool')}, {counted(tokens, 'token')}."
        f" From {GROUPS_FROM} on, groups are recommended: tiered_injection then sends those that are asked for.",
        call=call,
        span_ids=tuple(span.id for span in tools[:3]),
        figures={"tools": len(tools), "tokens": tokens},
    )


def _which(call: int, figures: Sequence[int]) -> str:
    """Return which calls a figure is of: all where they have the same one, else the call that it was taken from."""
    return f"call {call + 1}" if len(set(figures)) > 1 else "every call"


def _floor_level(tokens: int, above_share: bool) -> tuple[Level, str]:
    if above_share:
        return Level.ERROR, f"above {CORE_SHARE:.0%} of the soft budget"
    if core_level(tokens) == "warning":
        return Level.WARNING, "above 2,000"
    if core_level(tokens, "sensitive") == "warning":
        return Level.NOTICE, "above 800, too many where answers must be exact"
    return Level.NOTICE, "above 500"


def duplicate_instructions(replay: Replay) -> Iterator[Finding]:
    """Find rules that a fixed part says more than once."""
    spoken = dialect(replay.transcript.dialect)
    seen: dict[int, tuple[int, int, FixedPart, tuple[str, ...]]] = {}
    for call in calls_of(replay):
        fixed = replay.plan(call).fixed
        if id(fixed) not in seen:
            made = shrink_fixed(fixed, (DedupeInstructions(),), frozenset(), spoken, replay.counter_of(call))
            seen[id(fixed)] = (fixed.tokens - made.tokens, call, fixed, tuple(made.shrunk))
    if not seen:
        return
    saved, call, fixed, shrunk = max(seen.values(), key=lambda found: found[0])
    if saved <= 0:
        return
    repeated = len(repeated_rules(fixed))
    yield Finding(
        name="duplicate_instructions",
        level=Level.NOTICE,
        sentence=f"The instructions say {counted(repeated, 'line')} again that stood before: {counted(saved, 'token')}"
        f" in {_which(call, [tokens for tokens, *_ in seen.values()])}.",
        call=call,
        span_ids=tuple(span_id for span_id in shrunk if any(span.id == span_id for span in fixed.spans)),
        figures={"lines": repeated, "tokens": saved},
    )
