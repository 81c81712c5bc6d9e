"""The plan of span triage: kept units by the cutoff of their priority, and stubs for the runs of all others."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..assembler import NEWEST, Context
from ..decisions import Action, Decision, Fate, Left, Run, Stretch
from ..dialects.base import Dialect
from ..log import Log
from ..plan import Plan
from ..rules import Eviction
from ..spans import OVERHEAD_ID, SpanKind
from ..unit_decisions import NOT_SMALLER, STAYS, kept, replaced
from ..units import Unit
from ..wire import Wire
from ..wording import filled
from .triage_history import Settled, TriageHistory
from .triage_order import Key


def eviction_of(unit: Unit) -> Eviction:
    """Return the class of a unit: reconstructible if a rule says so of one of its spans, else recoverable."""
    named = any(span.rule.evict is Eviction.RECONSTRUCTIBLE for span in unit.spans)
    return Eviction.RECONSTRUCTIBLE if named else Eviction.RECOVERABLE


class Stubs:
    """The stub for any run of units of a log, and what it costs as a message."""

    def __init__(self, log: Log, context: Context, template: str) -> None:
        self._log, self._context, self.template = log, context, template
        self._known: dict[tuple[int, int], tuple[int, int]] = {}
        self._names_class = "{class}" in template
        self._reconstructible = [0]
        """Running count of the units that rules call reconstructible."""
        messages = {role: context.dialect.message(context.dialect.text_message(role, template)) for role in ROLES}
        self._frames = {
            role: context.dialect.cost_of_messages([message], context.counter).overhead
            for role, message in messages.items()
        }
        # Without a mark the text would count as the beginning of the reply that follows it.
        stub = messages["assistant"]
        self._joins = context.dialect.continues(stub, stub) and not stub.is_stand_in

    def text(self, start: int, stop: int) -> str:
        """Return the stub for units `start` to `stop` (exclusive)."""
        first, last = self._log.units[start], self._log.units[stop - 1]
        ids = (first.spans[0].id, last.spans[-1].id)
        values = {
            "id": ids[0] if ids[0] == ids[1] else f"{ids[0]} to {ids[1]}",
            "messages": str(last.stop - first.first),
            "tokens": str(self._log.totals[stop] - self._log.totals[start]),
            "name": first.spans[0].name,
            "class": self._class(start, stop) if self._names_class else "",
        }
        return filled(self.template, values)

    def _class(self, start: int, stop: int) -> Eviction:
        """Return the class of a run: reconstructible only where all of it is; all of it can be recovered."""
        for unit in self._log.units[len(self._reconstructible) - 1 : stop]:
            self._reconstructible.append(self._reconstructible[-1] + (eviction_of(unit) is Eviction.RECONSTRUCTIBLE))
        whole = self._reconstructible[stop] - self._reconstructible[start] == stop - start
        return Eviction.RECONSTRUCTIBLE if whole else Eviction.RECOVERABLE

    def role(self, start: int) -> str:
        """Return whose message the stub is: the user's where it opens a turn, or else would join the next reply."""
        return "user" if self._joins or self._log.units[start].opens_turn else "assistant"

    def cost(self, start: int, stop: int) -> tuple[int, int]:
        """Return the tokens of a run's stub: of its text, and of its frame."""
        known = self._known.get((start, stop))
        if known is None:
            if len(self._known) > MOST_STUBS:
                self._known.clear()
            tokens = self._context.counter.count(self.text(start, stop))
            known = self._known[start, stop] = (tokens, self._frames[self.role(start)])
        return known


ROLES = ("user", "assistant")
IMPORTANT = "important enough for the budget"
OPEN_STEP = "the step in progress always stays"
MOST_STUBS = 100_000
NONE_EVICTABLE = Settled(None, 0, {}, 0, 0)


@dataclass(eq=False)
class TriagePlan(Plan):
    """A plan by cutoffs. `deepest` and `newest` tell which units could be evicted when it was made."""

    source: Any = None
    cutoffs: Mapping[int, Key | None] = field(default_factory=dict)
    deepest: int = 0
    newest: int = -1
    history: TriageHistory | None = None
    mark: int = 0
    """The number by which the history knows this plan."""

    changed = True

    @property
    def settled(self) -> Settled:
        """How this plan leaves the units that may be evicted."""
        return self.history.settled(self.mark) if self.history else NONE_EVICTABLE

    @property
    def changed_from(self) -> int:
        """The first unit that is not sent as in the triaged plan before."""
        found = self.settled.first_change
        return self.count if found is None else found

    @property
    def sent_before_change(self) -> int:
        """Tokens of what is sent of the conversation before that unit."""
        return self.log.totals[self.changed_from] + (0 if self.settled.first_change is None else self.settled.shift)

    @property
    def first_evicted(self) -> int:
        """The first unit that is not sent as it is."""
        return next((index for index in range(self.count) if self.is_evicted(index)), self.count)

    def stand_in(self, start: int, stop: int) -> tuple[Any, int]:
        """Return what stands for an evicted stretch, and its tokens."""
        own = self.source.own.get(start)
        if own is not None:
            return own, own.tokens
        return self.source.stubs.text(start, stop), sum(self.source.stubs.cost(start, stop))

    def is_evicted(self, index: int) -> bool:
        """Return whether a unit is not sent as it is."""
        priority = self.source.priorities.get(index)
        if priority is None or index >= self.deepest or index == self.newest:
            return False
        cutoff = self.cutoffs.get(priority)
        return cutoff is None or (self.log.units[index].tokens, -index) > cutoff

    def parts(self) -> Iterator[tuple[int, int, bool]]:
        """Yield stretches of units: (start, stop, whether a stub stands for them). Extracts stand by themselves."""
        start, merge = 0, self.source.strategy.merge_stubs
        while start < self.count:
            stop = start + 1
            if not self.is_evicted(start):
                yield start, stop, False
            elif start in self.source.own:
                yield start, stop, True
            else:
                while merge and stop < self.count and self._joins(stop):
                    stop += 1
                yield start, stop, True
            start = stop

    def remains(self, message: int, span_id: str) -> str | None:
        """Return the text that stands for a span: an extract, or the stub as it would name this unit alone."""
        index = self.log.unit_of_message(message) if message >= 0 else -1
        if index < 0 or not self.is_evicted(index):
            return super().remains(message, span_id) if index < 0 else None
        own = self.source.own.get(index)
        stub: str = self.source.stubs.text(index, index + 1)
        return stub if own is None else "\n".join(text for _, text, _ in own.texts)

    @property
    def whole_from(self) -> int:
        """The message from which on nothing may be evicted."""
        return self.log.units[self.deepest].first if self.deepest < self.count else sys.maxsize

    def stretch_at(self, message: int) -> Stretch:
        """Return the message alone, for evicted units have stubs, and whether it is evicted."""
        evicted = self.is_evicted(self.log.unit_of_message(message))
        return Stretch(message, message, Left.REPLACED if evicted else Left.WHOLE)

    def _decide_at(self, index: int) -> Iterator[Decision]:
        start, stop, evicted = self._part_of(index)
        units = self.log.units[start:stop]
        yield from self._decide_part(units, start, stop, evicted)

    def _part_of(self, index: int) -> tuple[int, int, bool]:
        """Return the stretch that a unit is in, as `parts` yields it."""
        if not self.is_evicted(index) or index in self.source.own or not self.source.strategy.merge_stubs:
            return index, index + 1, self.is_evicted(index)
        start, stop = index, index + 1
        while start > 0 and self._joins(start - 1):
            start -= 1
        while stop < self.count and self._joins(stop):
            stop += 1
        return start, stop, True

    def _joins(self, index: int) -> bool:
        return self.is_evicted(index) and index not in self.source.own

    def sent(self, head: Wire, messages: list[Wire], dialect: Dialect) -> tuple[Wire, list[Wire]]:
        """Return the head and the messages to send."""
        sent: list[Wire] = []
        for start, stop, evicted in self.parts():
            units = self.log.units
            if not evicted:
                sent += messages[units[start].first : units[stop - 1].stop]
            elif start in self.source.own:
                sent += [dialect.text_message(role, text) for role, text, _ in self.source.own[start].texts]
            else:
                stubs: Stubs = self.source.stubs
                sent.append(dialect.text_message(stubs.role(start), stubs.text(start, stop)))
        return head, sent

    def kinds(self) -> dict[SpanKind, int]:
        """Return the tokens sent by span kind."""
        found: dict[SpanKind, int] = {}
        pairs = [*self._head_kinds(), *self.log.kinds.between(0, self.count), *self.settled.kinds.items()]
        for kind, tokens in pairs:
            found[kind] = found.get(kind, 0) + tokens
        return {kind: tokens for kind, tokens in found.items() if tokens}

    def actions(self) -> dict[Action, int]:
        """Return how many spans met each action."""
        settled = self.settled
        kept = len(self.fixed.spans) + 1 + self.log.span_counts[self.count] - settled.stubbed - settled.summarised
        found = {Action.KEEP: kept, Action.STUB: settled.stubbed, Action.SUMMARISE: settled.summarised}
        return {action: count for action, count in found.items() if count}

    def _decide(self) -> Iterator[Decision]:
        yield from self._decide_head()
        before, after = self.fixed.overhead, self.fixed.overhead
        for start, stop, evicted in self.parts():
            units = self.log.units[start:stop]
            before += sum(unit.overhead for unit in units)
            after += self._frames(start, stop, evicted)
            yield from self._decide_part(units, start, stop, evicted)
        yield Decision(OVERHEAD_ID, Action.KEEP, "frames of the messages sent", "", before, after)

    def _why_kept(self, index: int) -> tuple[str, str]:
        """Return why a unit is sent as it is, and the setting that says so."""
        if self.log.units[index].stays:
            return STAYS, "rules"
        if index == self.newest:
            return NEWEST, ""
        if index >= self.deepest:
            return OPEN_STEP, ""
        return (IMPORTANT, "rules") if index in self.source.priorities else (NOT_SMALLER, "strategy.stub")

    def _frames(self, start: int, stop: int, evicted: bool) -> int:
        if not evicted:
            return self.log.units[start].overhead
        own = self.source.own.get(start)
        return int(own.overhead if own is not None else self.source.stubs.cost(start, stop)[1])

    def _decide_part(self, units: list[Unit], start: int, stop: int, evicted: bool) -> Iterator[Decision]:
        if not evicted:
            yield from kept(units[0], None, Run(start, stop, Fate.KEEP, *self._why_kept(start)))
        elif start in self.source.own:
            run = Run(start, stop, Fate.REPLACE, "reconstructible: an extract stands for it", "rules")
            yield from replaced(units[0], self.source.own[start], run)
        else:
            text: str | None = self.source.stubs.text(start, stop)
            tokens = self.source.stubs.cost(start, stop)[0]
            for span in (span for unit in units for span in unit.spans):
                yield Decision(span.id, Action.STUB, "least important first", "rules", span.tokens, tokens, text)
                text, tokens = None, 0
