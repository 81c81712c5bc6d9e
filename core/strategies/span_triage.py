"""Evict what matters least and leave a stub in its place (rule book 1).

Invariants (S-R1 to S-R8): stubs count and stand where the units stood; priority decides, then size, then age; a unit
that rules call reconstructible is replaced by its extract, any other by a stub that names its spans; neighbouring
stubs are one; a stub is used only where it is smaller; what went first comes back where it still fits; pinned units,
the newest user message and the open unit stay. Over budget with only those left is reported.
"""

from __future__ import annotations

from dataclasses import dataclass

from .. import marks
from ..assembler import Context, UnitAssembler
from ..decisions import Replacement, Status
from ..plan import Plan
from ..rules import Eviction, may_become
from ..units import Unit
from .folding import Folds
from .keep_last import too_short
from .triage_order import TriageOrder
from .triage_plan import Stubs, TriagePlan, eviction_of

STUB = f"{marks.STUB} {{id}}, {{messages}} messages, {{tokens}} tokens; {marks.ASK}]"
EVICTABLE = "evictable"


@dataclass(frozen=True, slots=True)
class SpanTriage:
    """The strategy `span_triage`. The stub may name {id}, {messages}, {tokens}, {name} and {class}."""

    stub: str = STUB
    merge_stubs: bool = True
    min_turns: int = 0
    min_steps: int = 0

    def assembler(self, context: Context) -> UnitAssembler:
        """Return an assembler for a new conversation."""
        return _Assembler(context, self)


class _Assembler(UnitAssembler):
    def __init__(self, context: Context, strategy: SpanTriage) -> None:
        super().__init__(context)
        self.strategy = strategy
        self.folds = Folds(self.log, context.dialect, context.counter)
        self.stubs = Stubs(self.log, context, strategy.stub)
        self.order = TriageOrder(self.stubs.cost, strategy.merge_stubs)
        self.priorities: dict[int, int] = {}
        self.own: dict[int, Replacement] = {}
        self._waiting: list[int] = []
        self._looked = 0
        self._taken = 0

    def _plan(self) -> Plan:
        if not self._over(self.size):
            return self.untouched(Status.FITS)
        log, settings = self.log, self.strategy
        if too_short(len(log.turns), len(log.steps), settings.min_turns, settings.min_steps):
            return self.untouched(Status.SKIPPED_SHORT)
        self._take()
        rest = self.size - self._taken
        history = self.order.settle((self.context.budget or 0) - rest)
        tokens = rest + (history.size.tokens if history else 0)
        if tokens >= self.size:
            return self.untouched(Status.FITS)
        excess = max(0, tokens - (self.context.budget or 0))
        return TriagePlan(
            log,
            self.count,
            self.fixed,
            (),
            Status.OVER_BUDGET if excess else Status.TRIMMED,
            self.size,
            tokens,
            excess,
            source=self,
            cutoffs=self.order.cutoffs(),
            deepest=log.deepest,
            newest=log.last_user,
            history=history,
            mark=history.mark() if history else 0,
        )

    def _take(self) -> None:
        """Give the order all units that may be evicted by now: no longer open, no longer the newest user message."""
        self._waiting += range(self._looked, self.count)
        self._looked = self.count
        deepest, newest = self.log.deepest, self.log.last_user
        waiting, self._waiting = self._waiting, []
        for index in waiting:
            if index >= deepest or index == newest:
                self._waiting.append(index)
            elif self._is_evictable(index):
                self._give(index)

    def _is_evictable(self, index: int) -> bool:
        unit = self.log.units[index]
        key = (EVICTABLE, self.stubs.template, self.strategy.merge_stubs)
        if key not in unit.memo:
            known = all(message.role in ("user", "assistant", "tool") for message in unit.messages)
            fresh = known and not any(marks.is_injected(span.text) for span in unit.spans)
            cheaper = fresh and not unit.stays and unit.tokens > sum(self.stubs.cost(index, index + 1))
            unit.memo[key] = cheaper and self._leaves_enough(index)
        return bool(unit.memo[key])

    def _leaves_enough(self, index: int) -> bool:
        """Return whether no span becomes smaller than a rule lets it; of a stub for many spans, the first has all."""
        unit = self.log.units[index]
        if not any(span.rule.min_tokens for span in unit.spans) or self._own(unit) is not None:
            return True
        stub = 0 if self.strategy.merge_stubs else self.stubs.cost(index, index + 1)[0]
        return all(may_become(0 if at else stub, span.rule) for at, span in enumerate(unit.spans))

    def _own(self, unit: Unit) -> Replacement | None:
        """Return the extract that stands for a unit which rules call reconstructible."""
        return self.folds.smaller(unit) if eviction_of(unit) is Eviction.RECONSTRUCTIBLE else None

    def _give(self, index: int) -> None:
        unit = self.log.units[index]
        own = self._own(unit)
        if own is not None:
            self.own[index] = own
        priority = self.priorities[index] = priority_of(unit)
        self.order.add(index, priority, unit, own)
        self._taken += unit.tokens


def priority_of(unit: Unit) -> int:
    """Return the priority of a unit: the highest that rules give one of its spans, 0 if they give none."""
    return max((span.rule.priority for span in unit.spans if span.rule.priority is not None), default=0)
