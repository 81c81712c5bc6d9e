"""What the provider's prompt cache would have read at each call of a replay, and what it reported for the recording.

A figure is a prediction from common prefixes and measured rounding rules. Where the recording cannot decide (a first
call, a pause near the life, a human message after thinking, a mark that nobody recorded, usage without any caching, a
provider without a rule) it is a range, and the figure is None where the range says nothing about which end is likelier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from .cache_reads import CacheReads, Mark, Sent
from .cache_rules import CacheRule, cache_rule
from .chains import Link, links_of
from .common_prefix import common_prefix, inner
from .decisions import Action, Decision
from .dialects import Message, dialect
from .plan import Plan
from .prefix import BREAKS, Cause, Prefix
from .unused_cache import unused_caches

if TYPE_CHECKING:
    from .replay import Replay


class CachedCall(NamedTuple):
    """One call: tokens sent, shared with the prompt before, read from the cache and written to it.

    All include tokens that the recording does not hold, `hidden` in number: they stand first, so they are read first.
    `hidden_before` of them were in the prompt before too, and are part of the prefix.
    `low` and `high` bound what is read; `cached` and `written` are None where nothing in between is likelier.
    `unit` is the first unit that differs from the prompt before, -1 if none does; `span_id` the first span of the fixed
    part, and `by_plan` says that the plan changed it. `before` is the call compared with, -1 for a first one.
    """

    sent: int
    prefix: int
    cached: int | None
    written: int | None
    low: int
    high: int
    cause: Cause = Cause.NONE
    unit: int = -1
    hidden: int = 0
    hidden_before: int = 0
    span_id: str = ""
    by_plan: bool = False
    before: int = -1

    @property
    def cached_of_window(self) -> int | None:
        """Tokens read of those that the plan sends; None where unknown."""
        if not self.cached:
            return self.cached
        return max(0, min(self.cached - self.hidden_before, self.sent - self.hidden))

    @property
    def uncached(self) -> int | None:
        """Tokens that are neither read nor written; None where that is unknown."""
        return None if self.cached is None else self.sent - self.cached - (self.written or 0)

    @property
    def breaks(self) -> bool:
        """Whether less than the whole prompt before was repeated."""
        return self.cause in BREAKS

    @property
    def is_decided(self) -> bool:
        """Whether it was the strategy or a shrinker that broke the prefix."""
        return self.cause is Cause.DECISION or (self.by_plan and self.breaks)


@dataclass(frozen=True, slots=True)
class Break:
    """A prompt that does not repeat the one before: at which call, after how many tokens, and why."""

    call: int
    cause: Cause
    tokens: int
    span_id: str
    decision: Decision | None


class Cache:
    """The cache of a replay, one value a call."""

    def __init__(self, replay: Replay, rules: Sequence[CacheRule | None], rows: Sequence[CachedCall]) -> None:
        self._replay, self.rules, self.calls = replay, rules, rows

    @property
    def cached(self) -> list[int | None]:
        """Tokens of the prompt read from the cache; None where unknown."""
        return [row.cached_of_window for row in self.calls]

    def writes(self, call: int, read: int) -> bool:
        """Return whether a call that reads so many tokens is charged for writing the others.

        Nothing is written where a provider's cache was never used, and nothing of it is read.
        """
        rule = self.rules[call]
        if rule is None or not rule.by_marks or self.calls[call].sent < rule.minimum:
            return False
        return bool(read) or rule.provider not in unused_caches(self._replay.transcript)

    @property
    def share(self) -> float | None:
        """Tokens read of those sent, over the calls where that is known; None if it is known for none."""
        known = [row for row in self.calls if row.cached is not None]
        sent = sum(row.sent for row in known)
        return sum(row.cached or 0 for row in known) / sent if sent else None

    @property
    def break_count(self) -> int:
        """How many calls did not repeat the whole prompt before."""
        return sum(row.breaks for row in self.calls)

    @cached_property
    def breaks(self) -> list[Break]:
        """Every break, with the decision on the first span that differs.

        Where that is a text which is no longer put in, it is the decision of the call before.
        """
        return [self.break_at(call) for call, row in enumerate(self.calls) if row.breaks]

    def break_at(self, call: int) -> Break:
        """Return the break of one call that breaks, without making all others."""
        row = self.calls[call]
        if row.span_id:
            return Break(call, row.cause, row.prefix, row.span_id, self._on_fixed(call, row))
        plan = self._replay.plan(call)
        units = plan.log.units
        if not 0 <= row.unit < plan.count or not units[row.unit].spans:
            return Break(call, row.cause, row.prefix, "", None)
        spans = units[row.unit].spans
        if row.cause is Cause.BRANCH:
            return Break(call, row.cause, row.prefix, spans[0].id, None)
        made = [plan.decision(span.message, span.id) for span in spans]
        told = next((one for one in made if one.action is not Action.KEEP), made[0])
        return Break(call, row.cause, row.prefix, told.span_id, told)

    def _on_fixed(self, call: int, row: CachedCall) -> Decision | None:
        plans = (self._replay.plan(at) for at in (call, row.before))
        return next(filter(None, (_on_fixed_span(plan, row.span_id) for plan in plans)), None)

    def totals(self) -> dict[str, Any]:
        """Return all totals as plain values for JSON; the same on every run."""
        causes: dict[str, int] = {}
        for row in self.calls:
            if row.breaks:
                causes[str(row.cause)] = causes.get(str(row.cause), 0) + 1
        return {
            "share": self.share,
            "sent": sum(row.sent for row in self.calls),
            "low": sum(row.low for row in self.calls),
            "high": sum(row.high for row in self.calls),
            "unknown_calls": sum(row.cached is None for row in self.calls),
            "breaks": self.break_count,
            "causes": causes,
        }


def _on_fixed_span(plan: Plan, span_id: str) -> Decision | None:
    """Return the decision on a span of the fixed part; None if the prompt has no such span."""
    is_put_in = any(text.span_id == span_id for text in plan.head.injected) if plan.head else False
    try:
        return (inner(plan) if is_put_in else plan).decision(-1, span_id)
    except KeyError:
        return None


def cache(replay: Replay) -> Cache:
    """Return what the provider's prompt cache would have read at each call of a replay."""
    walk = _Walk(replay)
    return Cache(replay, walk.rules, walk.rows())


class _Walk:
    """Follows the prompts from call to call, each from the one that it goes on from."""

    def __init__(self, replay: Replay) -> None:
        self._replay, self._dialect = replay, dialect(replay.transcript.dialect)
        self._plans = [replay.plan(call) for call in range(len(replay.transcript.calls))]
        self._links = links_of(replay.transcript, replay.of_captured, replay.config.model.name)
        self._hidden = replay.calibration.not_recorded
        self._is_known = any(self._hidden)
        self._reads = CacheReads(replay)
        self.rules = replay.shared("cache rules", lambda: _rules(replay, self._dialect.name))
        self._whole: dict[int, tuple[CachedCall, Mark | None]] = replay.shared(("whole", replay.of_captured), dict)
        """The calls before which every prompt is sent whole, with their marks: strategies share them."""
        self._call = 0

    def rows(self) -> list[CachedCall]:
        """Predict all calls."""
        changed = next((call for call, plan in enumerate(self._plans) if plan.changed), len(self._plans))
        calls = range(len(self._plans))
        return [self.row(call) if call >= changed else self._whole_row(call) for call in calls]

    def _whole_row(self, call: int) -> CachedCall:
        known = self._whole.get(call)
        if known is None:
            row = self.row(call)
            known = self._whole[call] = (row, self._reads.marks.get(call))
        row, mark = known
        if mark is not None:
            self._reads.marks[call] = mark
        return row

    def row(self, call: int) -> CachedCall:
        """Predict one call."""
        self._call, plan, link, hidden = call, self._plans[call], self._links[call], self._hidden[call] or 0
        prefix = self._prefix(plan, link)
        common, cause, unit, span_id, by_plan = prefix
        both = self._hidden_in_both(call, link.before) if self._is_known else 0
        repeated = 0 if cause in _HIDDEN_ANEW else both
        tokens = plan.tokens_after + hidden
        shared = max(0, min(common + repeated, tokens))
        sent = Sent(call, link.before, plan, self.rules[call], tokens, prefix, shared, hidden, both, repeated)
        cached, written, low, high, cause = self._reads.read(sent)
        return CachedCall(
            tokens, shared, cached, written, low, high, cause, unit, hidden, repeated, span_id, by_plan, link.before
        )

    def _prefix(self, plan: Plan, link: Link) -> Prefix:
        if link.before < 0:
            return Prefix(0, Cause.MODEL if self._call else Cause.FIRST_CALL)
        return common_prefix(self._plans[link.before], plan, link.shared, self._count)

    def _count(self, messages: Sequence[Message]) -> int:
        return self._dialect.cost_of_messages(messages, self._replay.counter_of(self._call)).total

    def _hidden_in_both(self, call: int, link: int) -> int:
        """Return how many of the tokens that a prompt is known to have beside those recorded the one before had too.

        Where nothing is known of the one before, it is taken to have had as many. What was counted too much in the one
        before was so in all that is repeated of it.
        """
        after = self._hidden[call]
        if link < 0 or after is None:
            return 0
        before = self._hidden[link]
        if before is None:
            return after
        return before if before < 0 else max(0, min(before, after))


def _rules(replay: Replay, dialect_name: str) -> list[CacheRule | None]:
    return [cache_rule(replay.model_of(call), dialect_name) for call in range(len(replay.transcript.calls))]


_HIDDEN_ANEW = frozenset({Cause.FIRST_CALL, Cause.MODEL, Cause.TOOLS})
"""Causes that end the prefix before what is hidden: where tools are recorded, it is a system part behind them."""
