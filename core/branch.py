"""Where things stand along the branch of a transcript's tree that a prompt follows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .transcript import ROOT, Transcript


class Place(NamedTuple):
    """Where a text stands: message `node` of the transcript's tree, and which part of it."""

    node: int
    part: int


class Branch:
    """The branch of a transcript that a prompt follows, kept up from call to call."""

    def __init__(self, transcript: Transcript) -> None:
        self._parents, self._depths = transcript.parents, transcript.depths
        self.path: list[int] = []

    def to(self, last: int) -> None:
        """Make `path` the nodes of the branch that ends with `last`."""
        new = []
        while last != ROOT and not self.has(last):
            new.append(last)
            last = self._parents[last]
        self.path[0 if last == ROOT else self._depths[last] + 1 :] = reversed(new)

    def has(self, node: int) -> bool:
        """Return whether a node is on the branch."""
        depth = self._depths[node]
        return depth < len(self.path) and self.path[depth] == node

    def newest_first(
        self, places: Sequence[Place], last_sent: Callable[[int], int] | None = None
    ) -> Iterator[tuple[int, int]]:
        """Yield message and part of those of some places, given in order, that are on the branch.

        `last_sent` says for a message which one up to it may be sent at all; what stands between is passed over.
        """
        index = self._at_or_before(places, len(self.path) - 1)
        while index >= 0:
            node, part = places[index]
            index -= 1
            if self.has(node):
                message = self._depths[node]
                sent = last_sent(message) if last_sent else message
                if sent == message:
                    yield message, part
                else:
                    index = self._at_or_before(places, sent)

    def _at_or_before(self, places: Sequence[Place], message: int) -> int:
        return bisect_right(places, (self.path[message], _LAST_PART)) - 1 if message >= 0 else -1


_LAST_PART = 1 << 30
