"""The units of a growing conversation with running sums, so that the size of any stretch is one subtraction."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from .spans import SpanKind
from .units import Unit


class KindSums:
    """Running sums of tokens by span kind over a growing list, added up when they are asked for.

    Pages of several people read one replay at a time, so the adding up is guarded; `_new` is emptied last, so that
    nobody takes sums for complete while another thread is at it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: dict[SpanKind, list[int]] = {}
        self._count = 0
        self._new: list[dict[SpanKind, int]] = []

    def append(self, kinds: dict[SpanKind, int]) -> None:
        """Add the tokens of one more item, by kind."""
        self._new.append(kinds)

    def between(self, start: int, stop: int) -> Iterator[tuple[SpanKind, int]]:
        """Yield each kind with its tokens in the items from `start` to `stop` (exclusive)."""
        if self._new:
            with self._lock:
                for kinds in self._new:
                    self._add(kinds)
                self._new = []
        for kind, sums in self._sums.items():
            yield kind, sums[stop] - sums[start]

    def _add(self, kinds: dict[SpanKind, int]) -> None:
        for kind in kinds:
            if kind not in self._sums:
                self._sums[kind] = [0] * (self._count + 1)
        for kind, sums in self._sums.items():
            sums.append(sums[-1] + kinds.get(kind, 0))
        self._count += 1


class Log:
    """Units in order; it only grows. `totals[i]` are the tokens of the first i units, `stays` those never cut."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.totals: list[int] = [0]
        self.staying: list[int] = [0]
        """Running sums of the tokens of units that must stay."""
        self.stays: list[int] = []
        self.turns: list[int] = []
        """Units that open a turn."""
        self.steps: list[int] = []
        self.openers: list[int] = []
        """For each unit the opener of its turn; -1 before the first user message."""
        self.last_user = -1
        """The unit that holds the newest user message; -1 if there is none."""
        self.last_message = -1
        """The last unit that is no system message; -1 if there is none."""
        self.first_pinned = -1
        """The first unit that must stay and is no system message; -1 if there is none."""
        self.kinds = KindSums()
        self.span_counts: list[int] = [0]
        self.staying_spans: list[int] = [0]
        """Running counts of spans: of all units, and of those that must stay."""
        self.passing_messages: list[int] = [0]
        """Running count of the messages that need not stay."""
        self._firsts: list[int] = []

    def extend(self, units: Sequence[Unit]) -> None:
        """Add units at the end."""
        for unit in units:
            self._append(unit)

    def _append(self, unit: Unit) -> None:
        index = len(self.units)
        self.units.append(unit)
        self.totals.append(self.totals[-1] + unit.tokens)
        self.staying.append(self.staying[-1] + (unit.tokens if unit.stays else 0))
        if unit.messages[0].role != "system":
            self.last_message = index
            if unit.stays and self.first_pinned < 0:
                self.first_pinned = index
        if unit.stays:
            self.stays.append(index)
        if unit.opens_turn:
            self.turns.append(index)
        if unit.is_step:
            self.steps.append(index)
        if unit.has_user_text:
            self.last_user = index
        self.openers.append(self.turns[-1] if self.turns else -1)
        self.kinds.append(unit.kinds())
        self.span_counts.append(self.span_counts[-1] + len(unit.spans))
        self.staying_spans.append(self.staying_spans[-1] + (len(unit.spans) if unit.stays else 0))
        self.passing_messages.append(self.passing_messages[-1] + (0 if unit.stays else unit.stop - unit.first))
        self._firsts.append(unit.first)

    @property
    def messages(self) -> int:
        """How many messages the units hold."""
        return self.units[-1].stop if self.units else 0

    @property
    def deepest(self) -> int:
        """The last cut that leaves the open unit whole: the start of the last step if no user message follows it.

        A prompt with neither has its last message left: an empty one is refused.
        """
        if self.steps and (not self.turns or self.turns[-1] < self.steps[-1]):
            return self.steps[-1]
        return len(self.units) if self.last_user >= 0 or self.last_message < 0 else self.last_message

    def unit_of_message(self, message: int) -> int:
        """Return the index of the unit that holds a message."""
        return bisect_right(self._firsts, message) - 1
