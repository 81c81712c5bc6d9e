"""A numbering of a transcript's messages in which all that follows a message is one stretch.

Whether one message follows another, at whatever distance, is then told by comparing numbers, without a walk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .transcript import Transcript


class Intervals(NamedTuple):
    """The number of each message, and the end of the stretch of it and all that follows it; ROOT comes last."""

    starts: Sequence[int]
    stops: Sequence[int]

    def holds(self, node: int, last: int) -> bool:
        """Return whether the branch that ends with message `last` has message `node`; an empty one has none."""
        return self.starts[node] <= self.starts[last] < self.stops[node]


def intervals(transcript: Transcript) -> Intervals:
    """Return the numbering of a transcript's messages, made once."""
    known: Intervals | None = transcript.memo.get("intervals")
    if known is None:
        known = transcript.memo["intervals"] = _numbered(transcript.parents)
    return known


def _numbered(parents: Sequence[int]) -> Intervals:
    sizes = [1] * (len(parents) + 1)
    for node in range(len(parents) - 1, -1, -1):
        sizes[parents[node]] += sizes[node]
    starts, free = [0] * (len(parents) + 1), [1] * (len(parents) + 1)
    free[-1] = 0
    for node, parent in enumerate(parents):
        starts[node] = free[parent]
        free[parent] += sizes[node]
        free[node] = starts[node] + 1
    starts[-1] = -1
    return Intervals(starts, [start + size for start, size in zip(starts, sizes, strict=True)])
