"""What became of the evicted units from plan to plan: tokens by kind, and where the text that is sent changes first.

Planning needs sizes alone. All else is worked out from the record of what was kept and evicted when it is first asked
for, for one plan after the other, so that a replay does not pay for figures that nobody looks at.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..decisions import Replacement
from ..spans import SpanKind
from ..units import Unit
from .stubbed_size import StubbedSize


@dataclass(slots=True)
class Tally:
    """Tokens of what is sent beside the units, and how many spans are stubbed or summarised."""

    units: dict[SpanKind, int] = field(default_factory=dict)
    """Tokens of units by kind, less those that are evicted."""
    stubs: int = 0
    summaries: int = 0
    frames: int = 0
    """Tokens of the frames of stubs and summaries."""
    stubbed: int = 0
    summarised: int = 0

    def add(self, kinds: Mapping[SpanKind, int], sign: int) -> None:
        """Add tokens of a unit by kind, or take them away."""
        for kind, tokens in kinds.items():
            self.units[kind] = self.units.get(kind, 0) + sign * tokens

    def kinds(self) -> dict[SpanKind, int]:
        """Return all tokens by kind."""
        found = dict(self.units)
        written = (SpanKind.OTHER, self.stubs), (SpanKind.SUMMARY, self.summaries), (SpanKind.OVERHEAD, self.frames)
        for kind, tokens in written:
            found[kind] = found.get(kind, 0) + tokens
        return found


class Settled(NamedTuple):
    """How one plan leaves the units that may be evicted."""

    first_change: int | None
    """The first unit in whose place something else is sent than in the plan before; None if none."""
    shift: int
    """Tokens sent before that unit beside those of the units themselves."""
    kinds: Mapping[SpanKind, int]
    """Tokens by kind of what is sent, less those of the units."""
    stubbed: int
    summarised: int


class TriageHistory:
    """Records what is done to a size, and tells for each plan how it left it."""

    def __init__(self, size: StubbedSize) -> None:
        self.size = size
        self._record: list[tuple[int, bool]] = []
        self._marks: list[int] = []
        self._settled: list[Settled] = []
        self._retold = _Retold(size)
        self._lock = threading.Lock()

    def add(self, index: int, unit: Unit, own: Replacement | None, kept: bool) -> None:
        """Take a unit, kept or not."""
        self._record.append((index, kept))
        self.size.add(index, unit, own, kept)

    def toggle(self, index: int, keep: bool) -> None:
        """Keep an evicted unit, or evict a kept one."""
        self._record.append((index, keep))
        (self.size.keep if keep else self.size.evict)(index)

    def mark(self) -> int:
        """Return a number by which `settled` knows the present state."""
        self._marks.append(len(self._record))
        return len(self._marks) - 1

    def settled(self, mark: int) -> Settled:
        """Return what a plan left, by the number that `mark` gave."""
        if len(self._settled) <= mark:
            with self._lock:  # pages of several people read one replay at a time
                while len(self._settled) <= mark:
                    self._settle_next()
        return self._settled[mark]

    def _settle_next(self) -> None:
        at = len(self._settled)
        start = self._marks[at - 1] if at else 0
        for index, keep in self._record[start : self._marks[at]]:
            self._retold.tell(index, keep, *self.size.units[index])
        self._settled.append(self._retold.settled())


class _Retold(StubbedSize):
    """The same size once more, with tokens by kind and what stands at each place."""

    def __init__(self, size: StubbedSize) -> None:
        super().__init__(size.stub_cost, size.merge)
        self._owned: set[int] = set()
        """Evicted units that a text of their own stands for."""
        self._touched: dict[int, int | None] = {}
        """What stood at each place that changed since the last plan."""
        self._shifts = BlockSums()
        """By unit: tokens sent in its place beside its own."""
        self._tally = Tally()

    def tell(self, index: int, keep: bool, unit: Unit, own: Replacement | None) -> None:
        """Do what was done: take a new unit, or toggle one."""
        if index not in self.units:
            self.add(index, unit, own, keep)
        elif keep:
            self.keep(index)
        else:
            self.evict(index)

    def settled(self) -> Settled:
        """Return what changed since this was last asked, and how it is now."""
        places = (place for place, was in self._touched.items() if self._state(place) != was)
        found = min(places, default=None)
        self._touched.clear()
        shift = self._shifts.before(found) if found is not None else 0
        return Settled(found, shift, self._tally.kinds(), self._tally.stubbed, self._tally.summarised)

    def keep(self, index: int) -> None:
        """Put an evicted unit back."""
        unit, own = self.units[index]
        self._note(unit, index, 1)
        if own is not None:
            self._own(index, unit, own, -1)
        else:
            self._tally.stubbed -= len(unit.spans)
        super().keep(index)

    def _out(self, index: int) -> None:
        unit, own = self.units[index]
        self._note(unit, index, -1)
        if own is not None:
            self._own(index, unit, own, 1)
        else:
            self._tally.stubbed += len(unit.spans)
        super()._out(index)

    def _note(self, unit: Unit, index: int, sign: int) -> None:
        self._tally.add(unit.kinds(), sign)
        self._shifts.add(index, sign * unit.tokens)

    def _own(self, index: int, unit: Unit, own: Replacement, sign: int) -> None:
        self._touch(index)
        (self._owned.add if sign > 0 else self._owned.discard)(index)
        self._shifts.add(index, sign * own.tokens)
        self._tally.summaries += sign * (own.tokens - own.overhead)
        self._tally.frames += sign * own.overhead
        self._tally.summarised += sign * len(unit.spans)

    def _put(self, start: int, stop: int) -> None:
        self._touch(start)
        super()._put(start, stop)
        self._stub(start, 1)

    def _remove(self, start: int) -> None:
        self._touch(start)
        self._stub(start, -1)
        super()._remove(start)

    def _stub(self, start: int, sign: int) -> None:
        _, text, frame = self._runs[start]
        self._shifts.add(start, sign * (text + frame))
        self._tally.stubs += sign * text
        self._tally.frames += sign * frame

    def _state(self, place: int) -> int | None:
        """Return where the stub at a place ends; -1 for a unit with its own text, None for one sent as it is."""
        run = self._runs.get(place)
        return run[0] if run else -1 if place in self._owned else None

    def _touch(self, place: int) -> None:
        self._touched.setdefault(place, self._state(place))


BLOCK = 256


class BlockSums:
    """A growing list of numbers whose beginnings are summed by blocks."""

    def __init__(self) -> None:
        self._values: list[int] = []
        self._blocks: list[int] = []

    def add(self, index: int, value: int) -> None:
        """Add to the number at an index."""
        if index >= len(self._values):
            self._blocks += [0] * (index // BLOCK + 1 - len(self._blocks))
            self._values += [0] * (len(self._blocks) * BLOCK - len(self._values))
        self._values[index] += value
        self._blocks[index // BLOCK] += value

    def before(self, index: int) -> int:
        """Return the sum of all numbers before an index."""
        block = index // BLOCK
        return sum(self._blocks[:block]) + sum(self._values[block * BLOCK : index])
