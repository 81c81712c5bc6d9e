"""The size of a conversation in which some units are kept and runs of others are one stub each, kept up to date."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..decisions import Replacement
from ..spans import SpanKind
from ..units import Unit


@dataclass(slots=True)
class Tally:
    """Tokens by kind of what is sent, and how many spans are stubbed or summarised."""

    kinds: dict[SpanKind, int]
    stubbed: int = 0
    summarised: int = 0

    def add(self, kinds: Mapping[SpanKind, int], sign: int) -> None:
        """Add tokens by kind, or take them away."""
        for kind, tokens in kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + sign * tokens

    def copy(self) -> Tally:
        """Return a copy that later changes leave alone."""
        return Tally(dict(self.kinds), self.stubbed, self.summarised)


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


class StubbedSize:
    """Tokens of all units that may be evicted; each toggle costs a look-up and the count of the stubs it changes."""

    def __init__(self, stub_cost: Callable[[int, int], tuple[int, int]], merge: bool) -> None:
        self._stub_cost, self._merge = stub_cost, merge
        self._units: dict[int, tuple[Unit, Replacement | None]] = {}
        self._starts: list[int] = []
        self._runs: dict[int, tuple[int, int, int]] = {}
        """By start: stop, tokens of the stub's text, tokens of its frame."""
        self._stops: dict[int, int] = {}
        self._owned: set[int] = set()
        """Evicted units that a text of their own stands for."""
        self._touched: dict[int, int | None] = {}
        """What stood at each place that changed since `first_change` was last asked for."""
        self._shifts = BlockSums()
        """By unit: tokens sent in its place beside its own."""
        self.tokens = 0
        self.tally = Tally({})

    def first_change(self) -> int | None:
        """Return the first unit in whose place something else is sent than when this was last asked; None if none."""
        places = (place for place, was in self._touched.items() if self._state(place) != was)
        found = min(places, default=None)
        self._touched.clear()
        return found

    def shift_before(self, index: int) -> int:
        """Return how many more tokens are sent before a unit than the units themselves have."""
        return self._shifts.before(index)

    def _state(self, place: int) -> int | None:
        """Return where the stub at a place ends; -1 for a unit with its own text, None for one sent as it is."""
        run = self._runs.get(place)
        return run[0] if run else -1 if place in self._owned else None

    def _touch(self, place: int) -> None:
        self._touched.setdefault(place, self._state(place))

    def add(self, index: int, unit: Unit, own: Replacement | None, kept: bool) -> None:
        """Take a unit, kept or not. `own` stands for it by itself; without it, it joins the stubs beside it."""
        self._units[index] = (unit, own)
        if kept:
            self.tokens += unit.tokens
            self.tally.add(unit.kinds(), 1)
        else:
            self._out(index)

    def least_with(self, index: int) -> int:
        """Return the least that the size can be with an evicted unit back: as if no stub were left of its run."""
        unit, own = self._units[index]
        if own is not None:
            return self.tokens + unit.tokens - own.tokens
        _, text, frame = self._runs[self._starts[bisect_right(self._starts, index) - 1]]
        return self.tokens + unit.tokens - text - frame

    def keep(self, index: int) -> None:
        """Put an evicted unit back; the stub that stood for it splits."""
        unit, own = self._units[index]
        self.tokens += unit.tokens
        self.tally.add(unit.kinds(), 1)
        self._shifts.add(index, unit.tokens)
        if own is not None:
            self._own(index, unit, own, -1)
            return
        self.tally.stubbed -= len(unit.spans)
        start = self._starts[bisect_right(self._starts, index) - 1]
        stop = self._runs[start][0]
        self._remove(start)
        if start < index:
            self._put(start, index)
        if index + 1 < stop:
            self._put(index + 1, stop)

    def evict(self, index: int) -> None:
        """Take a kept unit away; its stub joins those beside it."""
        unit, _ = self._units[index]
        self.tokens -= unit.tokens
        self.tally.add(unit.kinds(), -1)
        self._out(index)

    def _out(self, index: int) -> None:
        unit, own = self._units[index]
        self._shifts.add(index, -unit.tokens)
        if own is not None:
            self._own(index, unit, own, 1)
            return
        self.tally.stubbed += len(unit.spans)
        start, stop = index, index + 1
        if self._merge and start in self._stops:
            start = self._stops[start]
            self._remove(start)
        if self._merge and stop in self._runs:
            start_after, stop = stop, self._runs[stop][0]
            self._remove(start_after)
        self._put(start, stop)

    def _own(self, index: int, unit: Unit, own: Replacement, sign: int) -> None:
        self._touch(index)
        (self._owned.add if sign > 0 else self._owned.discard)(index)
        self.tokens += sign * own.tokens
        self._shifts.add(index, sign * own.tokens)
        self.tally.add({SpanKind.SUMMARY: own.tokens - own.overhead, SpanKind.OVERHEAD: own.overhead}, sign)
        self.tally.summarised += sign * len(unit.spans)

    def _put(self, start: int, stop: int) -> None:
        self._touch(start)
        text, frame = self._stub_cost(start, stop)
        self._shifts.add(start, text + frame)
        insort(self._starts, start)
        self._runs[start], self._stops[stop] = (stop, text, frame), start
        self.tokens += text + frame
        self.tally.add({SpanKind.OTHER: text, SpanKind.OVERHEAD: frame}, 1)

    def _remove(self, start: int) -> None:
        self._touch(start)
        stop, text, frame = self._runs.pop(start)
        self._shifts.add(start, -text - frame)
        del self._stops[stop]
        del self._starts[bisect_right(self._starts, start) - 1]
        self.tokens -= text + frame
        self.tally.add({SpanKind.OTHER: text, SpanKind.OVERHEAD: frame}, -1)
