"""A plan whose input went through shrinkers first: the strategy planned what they left, and the user sees both.

Shrinkers work at any size, also on a task that is too short for the strategy. Then the prompt was changed, and its
status says so: it is trimmed, or over its budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from .decisions import Action, Decision, Left, Status, Stretch
from .dialects.base import Dialect
from .edits import edited_wires
from .plan import Plan
from .shrinkers.base import Shrunk
from .spans import OVERHEAD_ID, SpanKind
from .wire import Wire


@dataclass(eq=False)
class ShrunkPlan(Plan):
    """The strategy's plan for a shrunk prompt, told in terms of the prompt as it came."""

    inner: Plan = None  # type: ignore[assignment]

    changed = True

    def sent(self, head: Wire, messages: list[Wire], dialect: Dialect) -> tuple[Wire, list[Wire]]:
        """Return the head and the messages to send: shrunk, then planned."""
        if self.fixed.source is not None:
            head = self.fixed.head
        shrunk = list(messages)
        for unit in self.log.units[: self.count]:
            if unit.shrunk:
                texts = {span_id: made.text for span_id, made in unit.shrunk.items()}
                shrunk[unit.first : unit.stop] = edited_wires(unit, messages[unit.first : unit.stop], texts, dialect)
        return self.inner.sent(head, shrunk, dialect) if self.inner.changed else (head, shrunk)

    def remains(self, message: int, span_id: str) -> str | None:
        """Return the text that stands for a span, whether the strategy or a shrinker put it there."""
        left = self.inner.remains(message, span_id)
        note = self._shrunk(message).get(span_id)
        return note.text if left is None and note is not None else left

    @property
    def whole_from(self) -> int:
        """The message after the last one that a shrinker changed or the strategy may have."""
        changed = next((unit.stop for unit in reversed(self.log.units[: self.count]) if unit.shrunk), 0)
        return max(changed, self.inner.whole_from)

    def stretch_at(self, message: int) -> Stretch:
        """Return the last stretch up to a message of which something may be sent; shrinkers may have changed it."""
        stretch = self.inner.stretch_at(message)
        return stretch._replace(left=Left.CHANGED) if stretch.left is Left.WHOLE else stretch

    @property
    def inserted(self) -> tuple[str, ...]:
        """The texts that the strategy puts in."""
        return self.inner.inserted

    def decision(self, message: int, span_id: str) -> Decision:
        """Return the decision on one span as the user sees it."""
        note = self._shrunk(message).get(span_id)
        try:
            made: Decision | None = self.inner.decision(message, span_id)
        except KeyError:
            if note is None:
                raise
            made = None
        return _told(made, note, span_id, self._source_tokens(message, span_id))

    def _shrunk(self, message: int) -> Mapping[str, Shrunk]:
        return self.fixed.shrunk if message < 0 else self.log.units[self.log.unit_of_message(message)].shrunk

    def _source_tokens(self, message: int, span_id: str) -> int:
        part = self.fixed if message < 0 else self.log.units[self.log.unit_of_message(message)]
        return next(span.tokens for span in (part.source or part).spans if span.id == span_id)

    def kinds(self) -> dict[SpanKind, int]:
        """Return the tokens sent by span kind."""
        return self.inner.kinds()

    def actions(self) -> dict[Action, int]:
        """Return how many spans met each action."""
        found: dict[Action, int] = {}
        for decision in self.decisions:
            found[decision.action] = found.get(decision.action, 0) + 1
        return found

    def _decide(self) -> Iterator[Decision]:
        made: dict[str, list[Decision]] = {}
        for decision in self.inner.decisions:
            made.setdefault(decision.span_id, []).append(decision)
        source = self.fixed.source or self.fixed
        units = self.log.units[: self.count]
        notes: dict[str, Shrunk] = {**self.fixed.shrunk}
        spans = [*source.spans]
        before = source.overhead
        for unit in units:
            notes.update(unit.shrunk)
            spans += (unit.source or unit).spans
            before += (unit.source or unit).overhead
        for span in spans:
            first, *again = made.pop(span.id, [None])
            yield _told(first, notes.get(span.id), span.id, span.tokens)
            yield from (_told(decision, notes.get(span.id), span.id, 0) for decision in again)
        (frames,) = made.pop(OVERHEAD_ID)
        for put_in in made.values():
            yield from put_in
        yield Decision(OVERHEAD_ID, Action.KEEP, frames.reason, "", before, frames.tokens_after)


def _told(decision: Decision | None, note: Shrunk | None, span_id: str, before: int) -> Decision:
    """Return the decision on a span as the user sees it: what the strategy removed is removed, whoever shrank it."""
    if decision is None:
        assert note is not None
        return Decision(span_id, note.action, note.reason, note.setting, before, 0)
    if note is None or decision.action is not Action.KEEP:
        return Decision(
            span_id,
            decision.action,
            decision.reason,
            decision.setting,
            before,
            decision.tokens_after,
            decision.replacement,
        )
    return Decision(span_id, note.action, note.reason, note.setting, before, decision.tokens_after, note.text)


def shrunk_plan(inner: Plan, saved: int) -> Plan:
    """Return the plan of shrinkers and strategy; `saved` are the tokens that shrinkers took from the conversation."""
    source = inner.fixed.source
    if source is not None:
        saved += source.tokens - inner.fixed.tokens
    values = {field.name: getattr(inner, field.name) for field in fields(Plan)}
    values["tokens_before"] = inner.tokens_before + saved
    if inner.status in (Status.FITS, Status.SKIPPED_SHORT):
        values["status"] = Status.OVER_BUDGET if inner.excess else Status.TRIMMED
    return ShrunkPlan(**values, inner=inner)
