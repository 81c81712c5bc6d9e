"""Which units a budget keeps when everything else is a stub: the largest beginning of an order that fits.

The order is importance: higher priority first, then smaller, then newer (S-R4 turned round). Priorities are filled one
after the other; within one, units are kept from the smallest on while the prompt fits (S-R8: what goes first comes
back where it still fits). Keeping one more unit never makes the prompt smaller, because a stub is used only where it
is smaller than its unit; so what is kept is a function of the budget alone, a higher budget never sends less, and the
state may be carried from call to call.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

from ..decisions import Replacement
from ..units import Unit
from .stubbed_size import StubbedSize
from .triage_history import TriageHistory


class Key(NamedTuple):
    """A unit's place in the order of its priority: smaller first, newer first."""

    tokens: int
    newer: int

    @property
    def unit(self) -> int:
        """The unit's index in the log."""
        return -self.newer


class _Level:
    """One priority: its units in order, how many are kept, and the size with all lower priorities evicted."""

    def __init__(self, history: TriageHistory) -> None:
        self.history = history
        self.size = history.size
        self.keys: list[Key] = []
        self.kept = 0

    def add(self, key: Key) -> bool:
        """Take a unit of this priority; return whether it stands among those kept so far."""
        at = bisect_left(self.keys, key)
        self.keys.insert(at, key)
        self.kept += at < self.kept
        return at < self.kept

    @property
    def cutoff(self) -> Key | None:
        """The last key that is kept; None if none is."""
        return self.keys[self.kept - 1] if self.kept else None


class TriageOrder:
    """The kept units of a growing log under a room that may change from call to call."""

    def __init__(self, stub_cost: Callable[[int, int], tuple[int, int]], merge: bool) -> None:
        self._stub_cost, self._merge = stub_cost, merge
        self._levels: dict[int, _Level] = {}
        self._units: list[tuple[int, Key, Unit, Replacement | None]] = []

    def add(self, index: int, priority: int, unit: Unit, own: Replacement | None) -> None:
        """Take a unit that may be evicted; `own` stands for it by itself, if it has such a text."""
        key = Key(unit.tokens, -index)
        if priority not in self._levels:
            self._levels[priority] = self._new_level(priority)
        self._units.append((priority, key, unit, own))
        kept = self._levels[priority].add(key)
        for other, level in self._levels.items():
            level.history.add(index, unit, own, kept and other <= priority)

    def _new_level(self, priority: int) -> _Level:
        """A level of its own sees all higher priorities as they are kept now."""
        history = TriageHistory(StubbedSize(self._stub_cost, self._merge))
        for other, key, unit, own in self._units:
            cutoff = self._levels[other].cutoff
            history.add(key.unit, unit, own, other > priority and cutoff is not None and key <= cutoff)
        return _Level(history)

    def settle(self, room: int) -> TriageHistory | None:
        """Keep what `room` tokens hold; return the history of the size that all units then have, None without any.

        A priority below all others brings a history of its own, in which all that is evicted is new.
        """
        lowest: _Level | None = None
        for priority in sorted(self._levels, reverse=True):
            lowest = self._levels[priority]
            self._fill(priority, lowest, room)
        return lowest.history if lowest else None

    def _fill(self, priority: int, level: _Level, room: int) -> None:
        while level.kept and level.size.tokens > room:
            level.kept -= 1
            self._toggle(priority, level.keys[level.kept].unit, keep=False)
        while level.kept < len(level.keys) and level.size.fits_with(level.keys[level.kept].unit, room):
            self._toggle(priority, level.keys[level.kept].unit, keep=True)
            level.kept += 1

    def _toggle(self, priority: int, index: int, keep: bool) -> None:
        for other, level in self._levels.items():
            if other <= priority:
                level.history.toggle(index, keep)

    def cutoffs(self) -> dict[int, Key | None]:
        """Return the last key kept in each priority."""
        return {priority: level.cutoff for priority, level in self._levels.items()}
