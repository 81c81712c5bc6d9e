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


class StubbedSize:
    """Tokens of all units that may be evicted; each toggle costs a look-up and the count of the stubs it changes."""

    def __init__(self, stub_cost: Callable[[int, int], tuple[int, int]], merge: bool) -> None:
        self._stub_cost, self._merge = stub_cost, merge
        self._units: dict[int, tuple[Unit, Replacement | None]] = {}
        self._starts: list[int] = []
        self._runs: dict[int, tuple[int, int, int]] = {}
        """By start: stop, tokens of the stub's text, tokens of its frame."""
        self._stops: dict[int, int] = {}
        self.tokens = 0
        self.tally = Tally({})

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
        if own is not None:
            self._own(unit, own, -1)
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
        if own is not None:
            self._own(unit, own, 1)
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

    def _own(self, unit: Unit, own: Replacement, sign: int) -> None:
        self.tokens += sign * own.tokens
        self.tally.add({SpanKind.SUMMARY: own.tokens - own.overhead, SpanKind.OVERHEAD: own.overhead}, sign)
        self.tally.summarised += sign * len(unit.spans)

    def _put(self, start: int, stop: int) -> None:
        text, frame = self._stub_cost(start, stop)
        insort(self._starts, start)
        self._runs[start], self._stops[stop] = (stop, text, frame), start
        self.tokens += text + frame
        self.tally.add({SpanKind.OTHER: text, SpanKind.OVERHEAD: frame}, 1)

    def _remove(self, start: int) -> None:
        stop, text, frame = self._runs.pop(start)
        del self._stops[stop]
        del self._starts[bisect_right(self._starts, start) - 1]
        self.tokens -= text + frame
        self.tally.add({SpanKind.OTHER: text, SpanKind.OVERHEAD: frame}, -1)
