"""What strategies share: the log of what was said, and the size of what would be kept behind a cut.

The set kept behind a cut is the same for all strategies: everything from the cut on, the message that opens the cut
turn (an answer without its question is no prompt), the newest user message, and all that rules or roles pin. These
sets are nested, so sizes fall as the cut moves on, and the best cut is found by bisection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from .apart_openers import ApartOpeners
from .decisions import Fate, Run, Status
from .dialects.base import Dialect
from .hints import Hints
from .log import Log
from .plan import Plan
from .spans import FixedPart
from .summaries import Summaries
from .tokens import Counter
from .units import Unit


@dataclass(frozen=True, slots=True)
class Context:
    """What a strategy works with. `budget` is the soft budget in tokens; None is no limit."""

    budget: int | None
    counter: Counter
    dialect: Dialect
    model: str | None = None
    exact_recall: bool = False
    hints: Hints = Hints()
    summaries: Summaries = Summaries()


class Assembler(Protocol):
    """Plans the prompts of one growing conversation. What was planned before never changes a plan."""

    def fix(self, fixed: FixedPart) -> None:
        """Take the fixed part (system, tools) of the coming plans."""

    def hint(self, hints: Hints) -> None:
        """Take the hints of the coming plans, where they differ from those in the context."""

    def extend(self, units: Sequence[Unit]) -> None:
        """Take units appended since the last call."""

    def plan(self) -> Plan:
        """Plan what is sent of everything taken so far."""


class Strategy(Protocol):
    """Decides, for one prompt and one budget, what is sent."""

    def assembler(self, context: Context) -> Assembler:
        """Return an assembler for a new conversation."""


class UnitAssembler:
    """The part of an assembler that all strategies share; each adds `_plan`, called when the input does not fit."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.log = Log()
        self._apart = ApartOpeners(self.log, context.dialect)
        self.fixed: FixedPart

    def fix(self, fixed: FixedPart) -> None:
        """Take the fixed part of the coming plans."""
        self.fixed = fixed

    def hint(self, hints: Hints) -> None:
        """Take the hints of the coming plans."""
        self.context = replace(self.context, hints=hints)

    def extend(self, units: Sequence[Unit]) -> None:
        """Take units appended since the last call."""
        self.log.extend(units)

    def plan(self) -> Plan:
        """Return the input as it is if it fits or must not be touched, else what the strategy makes of it."""
        if self.context.exact_recall and self._over(self.size):
            return self.untouched(Status.SKIPPED_EXACT_RECALL)
        plan = self._plan()
        return self.untouched(Status.SKIPPED_EXACT_RECALL) if self.context.exact_recall and plan.changed else plan

    def _plan(self) -> Plan:
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Tokens of the input."""
        return self.fixed.tokens + self.log.totals[-1]

    @property
    def count(self) -> int:
        """Units so far."""
        return len(self.log.units)

    def _over(self, tokens: int) -> bool:
        return self.context.budget is not None and tokens > self.context.budget

    def untouched(self, status: Status, held: Held | None = None) -> Plan:
        """Return the plan that sends the input as it is. `held` says why if it is over the budget all the same."""
        reason, setting = _UNTOUCHED[status], ""
        if self._over(self.size) and status is Status.FITS:
            status, (reason, setting) = Status.OVER_BUDGET, held or NOTHING_SMALLER
        return self.made((Run(0, self.count, Fate.KEEP, reason, setting),), self.size, status)

    def made(self, runs: tuple[Run, ...], tokens: int, status: Status | None = None, **changes: object) -> Plan:
        """Return a plan with the status that its size asks for."""
        budget = self.context.budget
        excess = max(0, tokens - budget) if budget is not None else 0
        made = status or (Status.OVER_BUDGET if excess else Status.TRIMMED)
        return Plan(self.log, self.count, self.fixed, runs, made, self.size, tokens, excess, **changes)  # type: ignore[arg-type]

    def extras(self, cut: int) -> tuple[int, ...]:
        """Return the units before a cut that stay without a rule: the cut turn's opener, the newest user message.

        So does the opener of the first pinned turn, because a prompt begins with a user message, and that of each
        pinned reply that would go on with the pinned reply before it.
        """
        edges = self._edges(cut)
        apart = self._apart.before(cut) if self.log.stays else ()
        return tuple(sorted({*apart, *edges})) if apart else edges

    def _edges(self, cut: int) -> tuple[int, ...]:
        log = self.log
        if cut == 0:
            return ()
        openers, newest = log.openers, log.last_user
        opener = openers[cut - 1]
        if cut < len(openers) and openers[cut] == cut:
            opener = -1
        found = (opener,) if opener >= 0 and not log.units[opener].stays else ()
        if 0 <= newest < cut and newest != opener and not log.units[newest].stays:
            found = (*found, newest)
        if 0 <= log.first_pinned < cut:
            first = openers[log.first_pinned]
            if first >= 0 and first not in (opener, newest) and not log.units[first].stays:
                found = (first, *found)
        return found

    def kept_tokens(self, cut: int) -> int:
        """Return the tokens of the fixed part and of everything kept behind a cut."""
        log = self.log
        kept = self.fixed.tokens + log.totals[-1] - log.totals[cut] + log.staying[cut]
        edges: Iterable[int] = self._edges(cut)
        if log.stays:
            kept += self._apart.tokens(cut)
            edges = (index for index in edges if not self._apart.holds(index, cut))
        for index in edges:
            kept += log.units[index].tokens
        return kept

    def with_extras(self, runs: Iterable[Run], cut: int) -> tuple[Run, ...]:
        """Return the runs without empty ones, interrupted by the units that stay before the cut."""
        extras = self.extras(cut)
        filled = [run for run in runs if run.start < run.stop]
        return tuple(part for run in filled for part in self._interrupted(run, extras)) if extras else tuple(filled)

    def _interrupted(self, run: Run, extras: Sequence[int]) -> Iterator[Run]:
        if run.fate is Fate.KEEP or not extras:
            yield run
            return
        start = run.start
        for index in extras:
            if start <= index < run.stop:
                if start < index:
                    yield run._replace(start=start, stop=index)
                yield Run(index, index + 1, Fate.KEEP, NEWEST if index == self.log.last_user else OPENER)
                start = index + 1
        if start < run.stop:
            yield run._replace(start=start)


OPENER = "opens the turn that is kept in part"
NEWEST = "the newest user message always stays"
_UNTOUCHED = {
    Status.FITS: "the whole prompt fits",
    Status.SKIPPED_SHORT: "the task is too short to touch",
    Status.SKIPPED_EXACT_RECALL: "exact recall is required",
}


class Held(NamedTuple):
    """Why a strategy changes nothing of a prompt over the budget, and the setting that causes it."""

    reason: str
    setting: str = ""


NOTHING_SMALLER = Held("nothing that may go would make it smaller")
WHOLE_HISTORY = Held("always sent whole, whatever the budget")
NO_TRIGGER = Held("sent whole, as no trigger is set", "strategy.trigger")
BELOW_TRIGGER = Held("below the trigger, so sent whole", "strategy.trigger")


def held_by_trigger(trigger: float | None) -> Held:
    """Return why a strategy does not act that its trigger, a share of the budget, holds back; None never acts."""
    return NO_TRIGGER if trigger is None else BELOW_TRIGGER
