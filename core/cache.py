"""What the provider's prompt cache would have read at each call of a replay, and what it reported for the recording.

A figure is a prediction from common prefixes and measured rounding rules. Where the recording cannot decide (a first
call, a pause near the life, a human message after thinking, a provider without a rule) it is a range, and the figure
is None where the range says nothing about which end is likelier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from .branch import shared_messages
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


class CachedCall(NamedTuple):
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


class _Read(NamedTuple):
    """What is read from the cache and written to it, with the range and what explains it."""

    cached: int | None
    written: int | None
    low: int
    high: int
    cause: Cause


class _Walk:
    """Follows the prompts from call to call, and the marked places that are still good."""

    def __init__(self, replay: Replay) -> None:
        self._replay, self._transcript = replay, replay.transcript
        self._shared = shared_messages(replay.transcript, captured=replay.of_captured)
        self._marks: list[int] = []
        self._marked = has_marks(replay.transcript)
        self._hidden = [tokens or 0 for tokens in replay.calibration.not_recorded]
        self.rules: list[CacheRule | None] = []
        self._model: str | None = None

    def row(self, call: int) -> CachedCall:
        """Predict one call."""
        plan, model, hidden = self._replay.plan(call), self._replay.model_of(call), self._hidden[call]
        rule = cache_rule(model, self._transcript.dialect)
        tokens, cause, unit = self._prefix(call, plan, model)
        self.rules.append(rule)
        self._model = model
        sent = plan.tokens_after + hidden
        cached, written, low, high, cause = self._read(call, plan, rule, sent, tokens, cause)
        return CachedCall(sent, tokens, cached, written, low, high, cause, unit, hidden)

    def _prefix(self, call: int, plan: Plan, model: str | None) -> Prefix:
        if call == 0:
            return Prefix(0, Cause.FIRST_CALL)
        if model != self._model:
            return Prefix(0, Cause.MODEL)
        found = common_prefix(self._replay.plan(call - 1), plan, self._shared[call])
        if not self._hidden[call] or found.cause in (Cause.TOOLS, Cause.SYSTEM):
            return found
        return found._replace(tokens=found.tokens + self._hidden[call])

    def _read(self, call: int, plan: Plan, rule: CacheRule | None, sent: int, prefix: int, cause: Cause) -> _Read:
        if rule is None:
            return _Read(None, None, 0, prefix, cause)
        captured = self._transcript.calls[call].fidelity is Fidelity.CAPTURED
        if rule.by_marks and captured and not self._marked:
            return _Read(0, 0, 0, 0, cause or Cause.NO_MARKS)
        if rule.by_marks:
            read = self._read_to_mark(call, plan, rule, prefix, cause)
        else:
            read = min(rule.rounded(prefix + self._output_before(call, rule, cause)), sent)
        return self._bounded(call, plan, rule, sent, read, cause)

    def _output_before(self, call: int, rule: CacheRule, cause: Cause) -> int:
        """Return the tokens of the reply before, where it is cached with its prompt and the whole of that repeated."""
        if not rule.with_output or cause is not Cause.NONE:
            return 0
        before = self._transcript.calls[call - 1]
        return output_tokens(self._transcript, before, self._replay.counter_of(call - 1)).tokens or 0

    def _read_to_mark(self, call: int, plan: Plan, rule: CacheRule, prefix: int, cause: Cause) -> int:
        """Return the tokens up to the last marked place that is repeated. Marks are kept without what is hidden."""
        hidden = self._hidden[call]
        if cause in _ANEW:
            self._marks = []
        while self._marks and self._marks[-1] > prefix - hidden:
            self._marks.pop()
        read = self._marks[-1] + hidden if self._marks else 0
        if not self._marks:
            self._marks.append(head_tokens(plan))
        self._marks.append(plan.tokens_after)
        return read if read >= rule.minimum else 0

    def _bounded(self, call: int, plan: Plan, rule: CacheRule, sent: int, read: int, cause: Cause) -> _Read:
        """Return the prediction with its range: first call, pause, human message after thinking."""
        if cause is Cause.FIRST_CALL:
            return _Read(None, None, 0, self._head(call, plan, rule, sent), cause)
        low, high, cached = read, read, read
        pause = _pause(self._transcript.calls[call - 1], self._transcript.calls[call])
        if pause is not None and rule.life is not None and pause > rule.life and read:
            low, cause = 0, cause or Cause.PAUSE
            if pause > (rule.longest_life or rule.life) * SLACK:
                cached = high = 0
        elif cause is Cause.NONE and not read:
            cause = Cause.TOO_SHORT
        elif rule.by_marks and cause is Cause.NONE:
            head = self._head(call, plan, rule, sent)
            if read > head and self._is_after_thinking(call, plan):
                low, cause = head, Cause.THINKING
        written = sent - cached if rule.by_marks and sent >= rule.minimum else 0
        return _Read(cached, written, low, high, cause)

    def _head(self, call: int, plan: Plan, rule: CacheRule, sent: int) -> int:
        """Return the most that is read where only the fixed part is known to be cached."""
        return rule.rounded(min(head_tokens(plan) + self._hidden[call], sent))

    def _is_after_thinking(self, call: int, plan: Plan) -> bool:
        """Return whether a human message is new and the turn before it held thinking."""
        before, after = inner(self._replay.plan(call - 1)), inner(plan)
        if not any(unit.has_user_text for unit in after.log.units[before.count : after.count]):
            return False
        opener = before.log.openers[before.count - 1] if before.count else -1
        found = after.log.kinds.between(max(0, opener), after.count)
        return any(tokens for kind, tokens in found if kind is SpanKind.THINKING)


_ANEW = frozenset({Cause.TOOLS, Cause.SYSTEM, Cause.MODEL, Cause.FIRST_CALL})
"""Causes after which no marked place is repeated."""


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
