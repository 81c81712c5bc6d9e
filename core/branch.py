"""Where things stand along the branch of a transcript's tree that a prompt follows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .decisions import Left, Stretch
from .transcript import ROOT, Transcript


class Place(NamedTuple):
    """Where a text stands: message `node` of the transcript's tree, and which part of it."""

    node: int
    part: int


MOST_BRANCHES = 64
"""Branches that are kept, so that conversations recorded in turns are each gone on with."""


class Branch:
    """The branch of a transcript that a prompt follows, kept up from call to call."""

    def __init__(self, transcript: Transcript) -> None:
        self._parents, self._depths = transcript.parents, transcript.depths
        self._forks = transcript.forks
        self.path: Sequence[int] = ()
        self._kept: dict[int, list[int]] = {}
        """Branches by their last node, those that were gone on with last at the end."""

    def to(self, last: int) -> None:
        """Make `path` the nodes of the branch that ends with `last`."""
        if not self._forks:
            self.path = range(last + 1)
            return
        new, node = [], last
        while node != ROOT and node not in self._kept and not self.has(node):
            new.append(node)
            node = self._parents[node]
        nodes = self._kept.pop(node, None)
        if nodes is None:
            nodes = [] if node == ROOT else [*self.path[: self._depths[node] + 1]]
        nodes += reversed(new)
        self.path = self._kept[last] = nodes
        while len(self._kept) > MOST_BRANCHES:
            self._kept.pop(next(iter(self._kept)))

    def has(self, node: int) -> bool:
        """Return whether a node is on the branch."""
        depth = self._depths[node]
        return depth < len(self.path) and self.path[depth] == node

    def newest_first(self, places: Sequence[Place]) -> Iterator[tuple[int, int]]:
        """Yield message and part of those of some places, given in order, that are on the branch."""
        for index in range(self._at_or_before(places, len(self.path) - 1), -1, -1):
            node, part = places[index]
            if self.has(node):
                yield self._depths[node], part

    def still_sent(
        self, places: Sequence[Place], stretch: Stretch, stretch_at: Callable[[int], Stretch]
    ) -> Iterator[tuple[int, Place, Left]]:
        """Yield those of some places that are on the branch and of which something may be sent, the newest first.

        `stretch` is the newest in which one may be, and `stretch_at` tells the one for any earlier message; what
        stands between stretches is passed over.
        """
        index = self._at_or_before(places, stretch.last)
        while index >= 0:
            place = places[index]
            message = self._depths[place.node]
            if self._forks and not self.has(place.node):
                index -= 1
            elif message > stretch.last:
                index = self._at_or_before(places, stretch.last)
            elif message < stretch.first:
                stretch = stretch_at(message)
            else:
                yield message, place, stretch.left
                index -= 1

    def _at_or_before(self, places: Sequence[Place], message: int) -> int:
        return bisect_right(places, (self.path[message], _LAST_PART)) - 1 if message >= 0 else -1


_LAST_PART = 1 << 30
