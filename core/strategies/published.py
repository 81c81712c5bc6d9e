"""The published summarise-and-keep program as it really works, faults included (rule book 3.1, B-P1 to B-P6).

It always summarises everything but the last N messages, moves system messages to the front, splits calls from their
results, and with fewer than N messages sends some twice (a negative slice end). It is here because its figures are
well known; nothing that DESIGN promises for the other modes holds, except that what is reported is what is sent.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any, NamedTuple

from ..assembler import Context, UnitAssembler
from ..boundaries import first_true
from ..decisions import Action, Decision, Left, Status, Stretch
from ..dialects.base import Dialect, Message, PartKind
from ..excerpt import head as first_words
from ..excerpt import summary_text
from ..plan import Plan
from ..spans import OVERHEAD_ID, Span, SpanKind
from ..units import Grouper, Unit
from ..wire import Wire

PUBLISHED = "published"


class _Entry(NamedTuple):
    """A message of the conversation, with the cost of it and of its summary as plain messages."""

    message: int
    unit: Unit
    summary: str
    summary_tokens: int
    summary_overhead: int


class PublishedAssembler(UnitAssembler):
    """Plans as the published program does, with `keep` messages kept."""

    def __init__(self, context: Context, keep: int) -> None:
        super().__init__(context)
        self.keep = keep
        self.entries: list[_Entry] = []
        self.systems: list[int] = []
        self.totals: list[int] = [0]

    def extend(self, units: Sequence[Unit]) -> None:
        """Take units, and look at their messages one by one."""
        super().extend(units)
        for unit in units:
            for index, message in enumerate(unit.messages, start=unit.first):
                if message.role == "system":
                    self.systems.append(index)
                else:
                    self._add(index, message, unit)

    def _add(self, index: int, message: Message, unit: Unit) -> None:
        known: dict[int, _Entry] = unit.memo.setdefault(PUBLISHED, {})
        if index not in known:
            known[index] = self._entry(index, message, unit)
        self.entries.append(known[index])
        self.totals.append(self.totals[-1] + known[index].summary_tokens + known[index].summary_overhead)

    def _entry(self, index: int, message: Message, unit: Unit) -> _Entry:
        text = "".join(p.text for p in message.parts if p.kind in (PartKind.TEXT, PartKind.TOOL_RESULT))
        estimate = self.context.counter.count(text) if text else 0
        summary = summary_text(first_words(text), estimate)
        dialect = self.context.dialect
        cost = self._cost([dialect.message(dialect.text_message(message.role, summary))])
        return _Entry(index, unit, summary, cost[0], cost[1])

    def _cost(self, messages: Sequence[Message]) -> tuple[int, int]:
        cost = self.context.dialect.cost_of_messages(messages, self.context.counter)
        return sum(map(sum, cost.parts)), cost.overhead

    def _plan(self) -> Plan:
        count, keep = len(self.entries), self.keep
        middle = range(count)[: count - keep if keep else count]
        tail = range(count)[-keep:] if keep else range(count)
        rest = self.size - self.log.totals[-1] + self.verbatim(self.systems) + self.verbatim(self._places(tail))
        dropped = first_true(0, len(middle), lambda k: not self._over(rest + self.summaries(middle, k)))
        tokens = rest + self.summaries(middle, dropped)
        systems = len(self.systems)
        if not middle and len(tail) == count and self.systems == list(range(systems)):
            return self.untouched(Status.FITS)
        made = self.made((), tokens)
        return PublishedPlan(**vars(made), source=self, systems=systems, dropped=dropped, middle=middle, tail=tail)

    def summaries(self, middle: range, dropped: int) -> int:
        """Return the tokens of the summaries of these entries without the first `dropped`."""
        return self.totals[len(middle)] - self.totals[dropped]

    def _places(self, entries: range) -> list[int]:
        return [self.entries[k].message for k in entries]

    def verbatim(self, places: Sequence[int]) -> int:
        """Return the tokens of messages sent one after the other, in the units that they then make."""
        grouper = Grouper(self.context.dialect, results=())  # what is told as text was marked when it was read
        groups = grouper.push([self.message(place) for place in places]) or []
        return sum(self._group_cost(places[group.first], group.messages) for group in groups)

    def _group_cost(self, place: int, messages: Sequence[Message]) -> int:
        unit = self.log.units[self.log.unit_of_message(place)]
        whole = len(messages) == len(unit.messages) and all(map(is_, messages, unit.messages))
        return unit.tokens if whole else sum(self._cost(messages))

    def message(self, place: int) -> Message:
        """Return the message at a place of the conversation."""
        unit = self.log.units[self.log.unit_of_message(place)]
        return unit.messages[place - unit.first]


@dataclass(eq=False)
class PublishedPlan(Plan):
    """A plan message by message: systems first, summaries of `middle` from `dropped` on, then `tail`."""

    source: PublishedAssembler = None  # type: ignore[assignment]
    systems: int = 0
    """How many of the source's system messages there were; later plans may see more."""
    dropped: int = 0
    middle: range = range(0)
    tail: range = range(0)

    changed = True

    def sent(self, head: Wire, messages: list[Wire], dialect: Dialect) -> tuple[Wire, list[Wire]]:
        """Return the head and the messages to send."""
        summaries = [self.source.entries[k] for k in self.middle[self.dropped :]]
        return head, [
            *(messages[place] for place in self._systems),
            *(dialect.text_message(_role(entry), entry.summary) for entry in summaries),
            *(messages[self.source.entries[k].message] for k in self.tail),
        ]

    def first_difference(self, before: PublishedPlan) -> tuple[int, int] | None:
        """Return the message from which on a prompt differs from the one before, and the tokens of those sent ahead.

        None if the prompt before is repeated whole. The fixed part is not counted.
        """
        if self.systems != before.systems:
            common = self._systems[: before.systems]
            return self._systems[len(common)], self.source.verbatim(common)
        tokens = self.source.verbatim(self._systems)
        if self.dropped != before.dropped:
            return self._place(min(self.dropped, before.dropped)), tokens
        ends = len(self.middle), len(before.middle)
        if ends[0] == ends[1] and self.tail.start == before.tail.start:
            return None
        return self._place(min(ends)), tokens + self.source.summaries(range(min(ends)), self.dropped)

    def _place(self, entry: int) -> int:
        return self.source.entries[min(entry, len(self.source.entries) - 1)].message

    def pieces(self) -> Iterator[tuple[int, Any, int]]:
        """Yield what is sent: the message's place, the message or its summary, and its tokens."""
        for place in self._systems:
            yield place, self.source.message(place), self.source.verbatim([place])
        for k in self.middle[self.dropped :]:
            entry = self.source.entries[k]
            yield entry.message, entry.summary, entry.summary_tokens + entry.summary_overhead
        for k in self.tail:
            place = self.source.entries[k].message
            yield place, self.source.message(place), self.source.verbatim([place])

    def remains(self, message: int, span_id: str) -> str | None:
        """Return the text that stands for a span; None where its message is sent as it is."""
        if message < 0 or message in self._systems:
            return super().remains(message, span_id) if message < 0 else None
        k = self._entry_at(message)
        if k in self.tail:
            return None
        return self.source.entries[k].summary if k in self.middle[self.dropped :] else ""

    @property
    def whole_from(self) -> int:
        """The first message of the tail."""
        return self.source.entries[self.tail[0]].message if self.tail else sys.maxsize

    def stretch_at(self, message: int) -> Stretch:
        """Return all messages up to one: what is dropped is found one by one."""
        return Stretch(0, message, Left.CHANGED)

    def decision(self, message: int, span_id: str) -> Decision:
        """Return the decision on one span; where its message is sent twice, the one that keeps it."""
        if message < 0:
            return super().decision(message, span_id)
        spans = [span for span in _spans(self, message) if span.id == span_id]
        if message in self._systems:
            made = [_kept(span, "a system message") for span in spans]
        elif (k := self._entry_at(message)) in self.tail:
            made = [_kept(span, "one of the last messages") for span in spans]
        elif k in self.middle[self.dropped :]:
            made = [*_summarised(_spans(self, message), self.source.entries[k])]
        else:
            made = [_dropped(span) for span in spans]
        found = next((one for one in made if one.span_id == span_id), None)
        if found is None:
            raise KeyError(span_id)
        return found

    def _entry_at(self, message: int) -> int:
        return bisect_left(self.source.entries, message, key=lambda entry: entry.message)

    @property
    def _systems(self) -> list[int]:
        return self.source.systems[: self.systems]

    def _kind_tokens(self) -> Iterator[tuple[SpanKind, int]]:
        known = sum(self.source.entries[k].summary_tokens for k in self.middle[self.dropped :])
        yield SpanKind.SUMMARY, known
        for kind, tokens in [*self._head_kinds(), *self._tail_kinds()]:
            known += tokens
            yield kind, tokens
        yield SpanKind.OVERHEAD, self.tokens_after - known

    def actions(self) -> dict[Action, int]:
        """Return how many spans met each action; a message that is sent twice counts twice."""
        found: dict[Action, int] = {}
        for decision in self.decisions:
            found[decision.action] = found.get(decision.action, 0) + 1
        return found

    def _tail_kinds(self) -> Iterator[tuple[SpanKind, int]]:
        for place in [*self._systems, *(self.source.entries[k].message for k in self.tail)]:
            yield from ((span.kind, span.tokens) for span in _spans(self, place))

    def _decide(self) -> Iterator[Decision]:
        yield from self._decide_head()
        tail, middle = set(self.tail), set(self.middle)
        for place in self._systems:
            yield from (_kept(span, "a system message") for span in _spans(self, place))
        for k, entry in enumerate(self.source.entries[: self.tail.stop]):
            spans = _spans(self, entry.message)
            if k in middle:
                yield from _summarised(spans, entry) if k >= self.dropped else map(_dropped, spans)
            if k in tail:
                again = k in middle
                yield from (_kept(span, "one of the last messages", again) for span in spans)
        before = self.fixed.overhead + sum(unit.overhead for unit in self.log.units[: self.count])
        after = self.kinds().get(SpanKind.OVERHEAD, 0)
        yield Decision(OVERHEAD_ID, Action.KEEP, "frames of the messages sent", "", before, after)


def _role(entry: _Entry) -> str:
    return entry.unit.messages[entry.message - entry.unit.first].role


def _spans(plan: PublishedPlan, place: int) -> list[Span]:
    unit: Any = plan.log.units[plan.log.unit_of_message(place)]
    return [span for span in unit.spans if span.message == place]


def _kept(span: Span, reason: str, again: bool = False) -> Decision:
    """Keep a span; one that is sent `again`, beside its summary, was counted before."""
    before = 0 if again else span.tokens
    return Decision(span.id, Action.KEEP, reason, "strategy.keep_messages", before, span.tokens)


def _dropped(span: Span) -> Decision:
    return Decision(span.id, Action.DROP, "oldest first, until the rest fits", "budget", span.tokens, 0)


def _summarised(spans: Sequence[Span], entry: _Entry) -> Iterator[Decision]:
    for at, span in enumerate(spans):
        tokens, text = (entry.summary_tokens, entry.summary) if at == 0 else (0, None)
        reason = "older than the last messages"
        yield Decision(span.id, Action.SUMMARISE, reason, "strategy.keep_messages", span.tokens, tokens, text)
