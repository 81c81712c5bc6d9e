"""A strategy's answer for one prompt, and how it is carried out on a request body.

A plan holds boundaries and a reference to the log of units, not a list of decisions: the log only grows, so 4,000
plans of one conversation cost 4,000 small objects, and the decisions of any of them are made when asked for.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any

from .decisions import (
    NO_REPLACEMENTS,
    NO_STRETCH,
    Action,
    Decision,
    Edit,
    Fate,
    HeadEdit,
    Left,
    Replacement,
    Replacements,
    Run,
    Status,
    Stretch,
)
from .dialects.base import Dialect
from .edits import edited_head, edited_wires
from .log import Log
from .spans import OVERHEAD_ID, FixedPart, SpanKind
from .unit_decisions import kept, replaced
from .units import Unit
from .wire import Wire


@dataclass(eq=False)
class Plan:
    """What is sent of one prompt. `excess` and `blockers` are there exactly when it is over its budget."""

    log: Log
    count: int
    fixed: FixedPart
    runs: tuple[Run, ...]
    status: Status
    tokens_before: int
    tokens_after: int
    excess: int = 0
    replacements: Replacements = NO_REPLACEMENTS
    """A `Replacements`, for runs with the fate REPLACE."""
    edits: Mapping[int, Edit] = field(default_factory=dict)
    head: HeadEdit | None = None

    @property
    def changed(self) -> bool:
        """Whether anything but the input is sent."""
        return self.status in (Status.TRIMMED, Status.OVER_BUDGET) and (
            bool(self.edits) or self.head is not None or any(map(self._gone, self.runs))
        )

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """One decision a span, the fixed part first, injected texts next, the frames of the request last."""
        return tuple(self._decide())

    @property
    def blockers(self) -> tuple[str, ...]:
        """The ids of the spans that are sent and cannot go, when the result is over its budget."""
        if not self.excess:
            return ()
        sent = [made.span_id for made in self.decisions if made.tokens_after > 0 and made.span_id != OVERHEAD_ID]
        return tuple(sent) or (OVERHEAD_ID,)

    def fates(self) -> Iterator[tuple[int, Fate, Run]]:
        """Yield every unit's index with what really happens to it: units that must stay are kept."""
        for run in self.runs:
            for index in range(run.start, run.stop):
                yield index, self.fate_in(run, index), run

    def remains(self, message: int, span_id: str) -> str | None:
        """Return the text that stands for a span: None where it is sent as it is, "" where nothing stands for it.

        `message` is where the span stands in the conversation; -1 is the fixed part.
        """
        if message < 0:
            return "" if self._deferred(span_id) else None
        index = self.log.unit_of_message(message)
        fate, _ = self.fate(index)
        made = self.made(index, fate)
        if isinstance(made, Replacement):
            return "\n".join(text for _, text, _ in made.texts)
        if made is not None:
            return made.texts.get(span_id)
        return None if fate is Fate.KEEP else ""

    @property
    def whole_from(self) -> int:
        """The message from which on everything is sent as it is."""
        last = self.runs[-1] if self.runs else Run(0, 0, Fate.KEEP)
        start = last.start if last.fate is Fate.KEEP else self.count
        start = max(start, 1 + max(self.edits, default=-1))
        return self.log.units[start].first if start < self.count else sys.maxsize

    def stretch_at(self, message: int) -> Stretch:
        """Return the last stretch up to a message of which something may be sent, cut off after that message."""
        index = self.log.unit_of_message(message)
        for run in self.runs[bisect_right(self.runs, index, key=_start) - 1 :: -1]:
            index, first, left = min(index, run.stop - 1), run.start, Left.WHOLE
            if run.fate is Fate.REPLACE:
                left = Left.REPLACED
            elif run.fate is not Fate.KEEP:
                first = index = self._stay_before(index, run)
            elif self.edits:
                first, left = index, Left.CHANGED if index in self.edits else Left.WHOLE
            if index >= run.start:
                units = self.log.units
                return Stretch(units[first].first, min(message, units[index].stop - 1), left)
        return NO_STRETCH

    def _stay_before(self, index: int, run: Run) -> int:
        """Return the last unit of a run up to a place that must stay; one before the run if there is none."""
        place = bisect_right(self.log.stays, index) - 1
        return max(self.log.stays[place], run.start - 1) if place >= 0 else run.start - 1

    @property
    def inserted(self) -> tuple[str, ...]:
        """The texts that the strategy puts in beside those that stand for single spans."""
        return tuple(text.text for text in self.head.injected) if self.head else ()

    def decision(self, message: int, span_id: str) -> Decision:
        """Return the decision on one span, without making all others. KeyError if the prompt has no such span."""
        decisions = self._decide_head() if message < 0 else self._decide_at(self.log.unit_of_message(message))
        for made in decisions:
            if made.span_id == span_id:
                return made
        raise KeyError(span_id)

    def fate(self, index: int) -> tuple[Fate, Run]:
        """Return what really happens to a unit, and the run that it is in."""
        run = self.runs[bisect_right(self.runs, index, key=_start) - 1]
        return self.fate_in(run, index), run

    def fate_in(self, run: Run, index: int) -> Fate:
        """Units that must stay are kept, and so are those that nothing smaller could replace."""
        if run.fate is not Fate.KEEP and self.log.units[index].stays:
            return Fate.KEEP
        if run.fate is Fate.REPLACE and self.replacements[index] is None:
            return Fate.KEEP
        return run.fate

    def _decide_at(self, index: int) -> Iterator[Decision]:
        return self._decide_unit(self.log.units[index], index, *self.fate(index))

    def _deferred(self, span_id: str) -> bool:
        deferred = self.head.deferred if self.head else ()
        return any(f"t{place}" == span_id for place in deferred)

    def kinds(self) -> dict[SpanKind, int]:
        """Return the tokens sent by span kind; they add up to `tokens_after`."""
        found: dict[SpanKind, int] = {}
        for kind, tokens in self._kind_tokens():
            found[kind] = found.get(kind, 0) + tokens
        return {kind: tokens for kind, tokens in found.items() if tokens}

    def sent(self, head: Wire, messages: list[Wire], dialect: Dialect) -> tuple[Wire, list[Wire]]:
        """Return the head and the messages to send, made from those of the current body."""
        if self.head is not None:
            head = edited_head(self.head, self.fixed, head, dialect)
        sent: list[Wire] = []
        for index, fate, _ in self.fates():
            unit = self.log.units[index]
            made = self.made(index, fate)
            if isinstance(made, Replacement):
                sent += [dialect.text_message(role, text) for role, text, _ in made.texts]
            elif fate in (Fate.KEEP, Fate.REPLACE):
                kept = messages[unit.first : unit.stop]
                sent += kept if made is None else edited_wires(unit, kept, made.texts, dialect)
        return head, sent

    def made(self, index: int, fate: Fate) -> Replacement | Edit | None:
        """Return what is sent instead of a unit that is not sent as it is."""
        if fate is Fate.REPLACE:
            return self.replacements[index]
        return self.edits.get(index) if fate is Fate.KEEP else None

    def _kind_tokens(self) -> Iterator[tuple[SpanKind, int]]:
        yield from self._head_kinds()
        for run in self.runs:
            if run.fate is Fate.KEEP:
                yield from self.log.kinds.between(run.start, run.stop)
                continue
            for index in self._stays(run):
                yield from self.log.units[index].kinds().items()
            if run.fate is Fate.REPLACE:
                yield from self.replacements.kinds.between(run.start, run.stop)
        for index, edit in self.edits.items():
            unit = self.log.units[index]
            yield SpanKind.OVERHEAD, edit.overhead - unit.overhead
            yield from ((span.kind, cost - span.tokens) for span, cost in zip(unit.spans, edit.costs, strict=True))

    def _stays(self, run: Run) -> list[int]:
        stays = self.log.stays
        return stays[bisect_left(stays, run.start) : bisect_left(stays, run.stop)]

    def _head_kinds(self) -> Iterator[tuple[SpanKind, int]]:
        head = self.head or HeadEdit(overhead=self.fixed.overhead)
        yield SpanKind.OVERHEAD, head.overhead
        for span in self.fixed.spans:
            if span.kind is not SpanKind.TOOL_DEFINITION or span.part not in head.deferred:
                yield span.kind, span.tokens
        yield from ((text.kind, text.tokens) for text in head.injected)

    def actions(self) -> dict[Action, int]:
        """Return how many spans met each action, the request's frames counted as one span kept."""
        found = dict.fromkeys(Action, 0)
        for run in self.runs:
            gone = self._gone(run)
            found[self._action(run.fate)] += gone
            found[Action.KEEP] += self.log.span_counts[run.stop] - self.log.span_counts[run.start] - gone
        stubs = sum(len(edit.texts) for edit in self.edits.values())
        deferred, injected = (len(self.head.deferred), len(self.head.injected)) if self.head else (0, 0)
        found[Action.STUB] += stubs
        found[Action.DEFER] += deferred
        found[Action.SUMMARISE] += injected
        found[Action.KEEP] += len(self.fixed.spans) + 1 - deferred - stubs
        return {action: count for action, count in found.items() if count}

    def _gone(self, run: Run) -> int:
        """Return how many spans of a run are not sent as they are, edits apart."""
        if run.fate is Fate.KEEP:
            return 0
        if run.fate is Fate.REPLACE:
            return self.replacements.span_counts[run.stop] - self.replacements.span_counts[run.start]
        spans = self.log.span_counts[run.stop] - self.log.span_counts[run.start]
        return spans - (self.log.staying_spans[run.stop] - self.log.staying_spans[run.start])

    def _action(self, fate: Fate) -> Action:
        if fate is Fate.REPLACE:
            return self.replacements.action
        return Action.DROP if fate is Fate.DROP else Action.SUMMARISE

    def _decide(self) -> Iterator[Decision]:
        before = self.fixed.overhead
        after = (self.head or self.fixed).overhead
        yield from self._decide_head()
        for index, fate, run in self.fates():
            unit = self.log.units[index]
            before += unit.overhead
            after += self._overhead_after(index, fate)
            yield from self._decide_unit(unit, index, fate, run)
        yield Decision(OVERHEAD_ID, Action.KEEP, "frames of the messages sent", "", before, after)

    def _overhead_after(self, index: int, fate: Fate) -> int:
        made = self.made(index, fate)
        if made is not None:
            return made.overhead
        return self.log.units[index].overhead if fate is Fate.KEEP else 0

    def _decide_head(self) -> Iterator[Decision]:
        head = self.head or HeadEdit()
        for span in self.fixed.spans:
            if span.kind is SpanKind.TOOL_DEFINITION and span.part in head.deferred:
                yield Decision(span.id, Action.DEFER, head.deferred[span.part], "strategy.groups", span.tokens, 0)
            else:
                yield Decision(span.id, Action.KEEP, "the fixed part always stays", "", span.tokens, span.tokens)
        for text in head.injected:
            yield Decision(
                text.span_id, Action.SUMMARISE, text.reason, text.setting, 0, text.tokens, replacement=text.text
            )

    def _decide_unit(self, unit: Unit, index: int, fate: Fate, run: Run) -> Iterator[Decision]:
        made = self.made(index, fate)
        if isinstance(made, Replacement):
            yield from replaced(unit, made, run)
        elif fate in (Fate.KEEP, Fate.REPLACE):
            yield from kept(unit, made, run)
        else:
            for span in unit.spans:
                yield Decision(span.id, self._action(fate), run.reason, run.setting, span.tokens, 0)


_start = attrgetter("start")


def apply(plan: Plan, body: Wire, dialect: Dialect) -> dict[str, Any]:
    """Return the body to send: the current one with the plan's changes. The body itself is not changed."""
    head, messages = dialect.split(body)
    if plan.changed:
        head, sent = plan.sent(head, messages, dialect)
        messages = dialect.in_turn(sent, messages)
    return dialect.join(head, messages)
