"""The size of a conversation in which some units are kept and runs of others are one stub each, kept up to date."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable

from ..decisions import Replacement
from ..units import Unit


class StubbedSize:
    """Tokens of all units that may be evicted; each toggle costs a look-up and the count of the stubs it changes."""

    def __init__(self, stub_cost: Callable[[int, int], tuple[int, int]], merge: bool) -> None:
        self.stub_cost, self.merge = stub_cost, merge
        self.units: dict[int, tuple[Unit, Replacement | None]] = {}
        self._starts: list[int] = []
        self._runs: dict[int, tuple[int, int, int]] = {}
        """By start: stop, tokens of the stub's text, tokens of its frame."""
        self._stops: dict[int, int] = {}
        self.tokens = 0

    def add(self, index: int, unit: Unit, own: Replacement | None, kept: bool) -> None:
        """Take a unit, kept or not. `own` stands for it by itself; without it, it joins the stubs beside it."""
        self.units[index] = (unit, own)
        if kept:
            self.tokens += unit.tokens
        else:
            self._out(index)

    def fits_with(self, index: int, room: int) -> bool:
        """Return whether the size is at most `room` tokens with an evicted unit back."""
        unit, own = self.units[index]
        if own is not None:
            return self.tokens + unit.tokens - own.tokens <= room
        start = self._starts[bisect_right(self._starts, index) - 1]
        stop, text, frame = self._runs[start]
        size = self.tokens + unit.tokens - text - frame
        if size <= room and start < index:
            size += sum(self.stub_cost(start, index))
        if size <= room and index + 1 < stop:
            size += sum(self.stub_cost(index + 1, stop))
        return size <= room

    def keep(self, index: int) -> None:
        """Put an evicted unit back; the stub that stood for it splits."""
        unit, own = self.units[index]
        self.tokens += unit.tokens
        if own is not None:
            self.tokens -= own.tokens
            return
        start = self._starts[bisect_right(self._starts, index) - 1]
        stop = self._runs[start][0]
        self._remove(start)
        if start < index:
            self._put(start, index)
        if index + 1 < stop:
            self._put(index + 1, stop)

    def evict(self, index: int) -> None:
        """Take a kept unit away; its stub joins those beside it."""
        self.tokens -= self.units[index][0].tokens
        self._out(index)

    def _out(self, index: int) -> None:
        own = self.units[index][1]
        if own is not None:
            self.tokens += own.tokens
            return
        start, stop = index, index + 1
        if self.merge and start in self._stops:
            start = self._stops[start]
            self._remove(start)
        if self.merge and stop in self._runs:
            start_after, stop = stop, self._runs[stop][0]
            self._remove(start_after)
        self._put(start, stop)

    def _put(self, start: int, stop: int) -> None:
        text, frame = self.stub_cost(start, stop)
        insort(self._starts, start)
        self._runs[start], self._stops[stop] = (stop, text, frame), start
        self.tokens += text + frame

    def _remove(self, start: int) -> None:
        stop, text, frame = self._runs.pop(start)
        del self._stops[stop]
        del self._starts[bisect_right(self._starts, start) - 1]
        self.tokens -= text + frame
