"""What the provider's prompt cache would have read at each call of a replay, and what it reported for the recording.

A figure is a prediction from common prefixes and measured rounding rules. Where the recording cannot decide (a first
call, a pause near the life, a human message after thinking, a provider without a rule) it is a range, and the figure
is None where the range says nothing about which end is likelier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .branch import Branch
from .cache_rules import SLACK, CacheRule, cache_rule
from .common_prefix import Cause, Prefix, common_prefix, head_tokens, inner
from .decisions import Action, Decision
from .output_tokens import output_tokens
from .plan import Plan
from .spans import SpanKind
from .transcript import Call, Fidelity, Transcript
from .wire import Wire

if TYPE_CHECKING:
    from .replay import Replay


@dataclass(frozen=True, slots=True)
class CachedCall:
    """One call: tokens sent, shared with the prompt before, read from the cache and written to it.

    All include `hidden`, the tokens that the recording does not hold: they stand first, so they are read first.
    `low` and `high` bound what is read; `cached` and `written` are None where nothing in between is likelier.
    `unit` is the first unit that differs from the prompt before, -1 if none does.
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

    @property
    def cached_of_window(self) -> int | None:
        """Tokens read of those that the plan sends; None where unknown."""
        return None if self.cached is None else max(0, self.cached - self.hidden)

    @property
    def uncached(self) -> int | None:
        """Tokens that are neither read nor written; None where that is unknown."""
        return None if self.cached is None else self.sent - self.cached - (self.written or 0)

    @property
    def breaks(self) -> bool:
        """Whether less than the whole prompt before was repeated."""
        return self.cause in (Cause.MODEL, Cause.TOOLS, Cause.SYSTEM, Cause.BRANCH, Cause.DECISION)


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

    def writes(self, call: int) -> bool:
        """Return whether a call's provider charges for writing to the cache."""
        rule = self.rules[call]
        return rule is not None and rule.by_marks and self.calls[call].sent >= rule.minimum

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
        """Every break, with the decision on the first span that differs."""
        return [self._break(call, row) for call, row in enumerate(self.calls) if row.breaks]

    def _break(self, call: int, row: CachedCall) -> Break:
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


def cache(replay: Replay) -> Cache:
    """Return what the provider's prompt cache would have read at each call of a replay."""
    walk = _Walk(replay)
    rows = [walk.row(call) for call in range(len(replay.transcript.calls))]
    return Cache(replay, walk.rules, rows)


class _Walk:
    """Follows the prompts from call to call, and the marked places that are still good."""

    def __init__(self, replay: Replay) -> None:
        self._replay, self._transcript = replay, replay.transcript
        self._branch = Branch(replay.transcript)
        self._marks: list[int] = []
        self._marked = has_marks(replay.transcript)
        self._hidden = [tokens or 0 for tokens in replay.calibration.not_recorded]
        self.rules: list[CacheRule | None] = []
        self._models: list[str | None] = []

    def row(self, call: int) -> CachedCall:
        """Predict one call."""
        plan, model = self._replay.plan(call), self._replay.model_of(call)
        rule = cache_rule(model, self._transcript.dialect)
        prefix = self._prefix(call, plan, model)
        self.rules.append(rule)
        self._models.append(model)
        sent, hidden = plan.tokens_after + self._hidden[call], self._hidden[call]
        start = CachedCall(sent, prefix.tokens, None, None, 0, prefix.tokens, prefix.cause, prefix.unit, hidden)
        if rule is None:
            return start
        if rule.by_marks and self._transcript.calls[call].fidelity is Fidelity.CAPTURED and not self._marked:
            return replace(start, cached=0, written=0, high=0, cause=prefix.cause or Cause.NO_MARKS)
        return self._bounded(call, rule, start, plan, self._read(call, rule, start, plan))

    def _prefix(self, call: int, plan: Plan, model: str | None) -> Prefix:
        shared = self._shared(self._replay.last_message(call))
        if call == 0:
            return Prefix(0, Cause.FIRST_CALL)
        if model != self._models[-1]:
            return Prefix(0, Cause.MODEL)
        found = common_prefix(self._replay.plan(call - 1), plan, shared)
        if found.cause in (Cause.TOOLS, Cause.SYSTEM):
            return found
        return found._replace(tokens=found.tokens + self._hidden[call])

    def _shared(self, last: int) -> int:
        """Follow the branch that ends with a message; return how many messages it shares with the one before."""
        node, parents = last, self._transcript.parents
        while node >= 0 and not self._branch.has(node):
            node = parents[node]
        self._branch.to(last)
        return self._transcript.depths[node] + 1 if node >= 0 else 0

    def _read(self, call: int, rule: CacheRule, row: CachedCall, plan: Plan) -> int:
        """Return what is read if everything before is still there, in tokens."""
        if rule.by_marks:
            return self._read_to_mark(rule, row, plan)
        tokens = row.prefix
        if rule.with_output and row.cause is Cause.NONE:
            before = self._transcript.calls[call - 1]
            output = output_tokens(self._transcript, before, self._replay.counter_of(call - 1))
            tokens += output.tokens or 0
        return min(rule.rounded(tokens), row.sent)

    def _read_to_mark(self, rule: CacheRule, row: CachedCall, plan: Plan) -> int:
        """Return the tokens up to the last marked place that is repeated. Marks are kept without what is hidden."""
        if row.cause in (Cause.TOOLS, Cause.SYSTEM, Cause.MODEL, Cause.FIRST_CALL):
            self._marks = []
        while self._marks and self._marks[-1] > row.prefix - row.hidden:
            self._marks.pop()
        read = self._marks[-1] + row.hidden if self._marks else 0
        if not self._marks:
            self._marks.append(head_tokens(plan))
        self._marks.append(plan.tokens_after)
        return read if read >= rule.minimum else 0

    def _bounded(self, call: int, rule: CacheRule, row: CachedCall, plan: Plan, read: int) -> CachedCall:
        """Return the prediction with its range: first call, pause, human message after thinking."""
        head = rule.rounded(min(head_tokens(plan) + row.hidden, row.sent))
        if row.cause is Cause.FIRST_CALL:
            return replace(row, high=head)
        low, high, cause, cached = read, read, row.cause, read
        pause = _pause(self._transcript.calls[call - 1], self._transcript.calls[call])
        if pause is not None and rule.life is not None and pause > rule.life and read:
            low, cause = 0, cause or Cause.PAUSE
            if pause > (rule.longest_life or rule.life) * SLACK:
                cached = high = 0
        elif rule.by_marks and cause is Cause.NONE and read > head and self._is_after_thinking(call, plan):
            low, cause = head, Cause.THINKING
        elif cause is Cause.NONE and not read:
            cause = Cause.TOO_SHORT
        written = row.sent - cached if rule.by_marks and row.sent >= rule.minimum else 0
        return replace(row, cached=cached, written=written, low=low, high=high, cause=cause)

    def _is_after_thinking(self, call: int, plan: Plan) -> bool:
        """Return whether a human message is new and the turn before it held thinking."""
        before, after = inner(self._replay.plan(call - 1)), inner(plan)
        if not any(unit.has_user_text for unit in after.log.units[before.count : after.count]):
            return False
        opener = before.log.openers[before.count - 1] if before.count else -1
        found = after.log.kinds.between(max(0, opener), after.count)
        return any(tokens for kind, tokens in found if kind is SpanKind.THINKING)


def _pause(before: Call, after: Call) -> float | None:
    """Return the seconds between two calls; None where a time is missing or only one has a zone."""
    if before.at is None or after.at is None or (before.at.tzinfo is None) is not (after.at.tzinfo is None):
        return None
    return (after.at - before.at).total_seconds()


def has_marks(transcript: Transcript) -> bool:
    """Return whether a recorded request marks anything for the cache."""
    known: bool | None = transcript.memo.get("cache_marks")
    if known is None:
        variants = (wire for call in transcript.calls for _, wire in call.variants)
        wires = (*transcript.heads, *transcript.messages, *variants)
        known = transcript.memo["cache_marks"] = any(map(_is_marked, wires))
    return known


def _is_marked(wire: Wire) -> bool:
    blocks = (block for key in ("content", "system", "tools", "messages") for block in _list(wire.get(key)))
    return "cache_control" in wire or any(isinstance(block, dict) and _is_marked(block) for block in blocks)


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
