"""The user messages that keep pinned replies apart.

Where a reply is several items, two pinned replies that come to stand side by side read as one: a provider may refuse
the second one's call, and its frames count otherwise. So the message that opened the second one's turn stays too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from .dialects.base import Dialect
from .log import Log


class ApartOpeners:
    """Follows a log and remembers the openers in question, in order, with running sums of their tokens."""

    def __init__(self, log: Log, dialect: Dialect) -> None:
        self._log, self._dialect = log, dialect
        self._seen = 0
        self._replies: list[int] = []
        self._openers: list[int] = []
        self._totals: list[int] = [0]

    def before(self, cut: int) -> Sequence[int]:
        """Return the openers of the replies that stand before a cut."""
        return self._openers[: self._count(cut)]

    def tokens(self, cut: int) -> int:
        """Return the tokens of the openers of the replies that stand before a cut."""
        return self._totals[self._count(cut)]

    def holds(self, index: int, cut: int) -> bool:
        """Return whether a unit is one of these openers."""
        at = bisect_left(self._openers, index)
        return at < self._count(cut) and self._openers[at] == index

    def _count(self, cut: int) -> int:
        stays = self._log.stays
        for at in range(max(1, self._seen), len(stays)):
            self._look_at(stays[at - 1], stays[at])
        self._seen = len(stays)
        return bisect_left(self._replies, cut) if self._replies else 0

    def _look_at(self, before: int, index: int) -> None:
        units, opener = self._log.units, self._log.openers[index]
        if not before < opener or units[opener].stays or self._openers[-1:] == [opener]:
            return
        if self._dialect.continues(units[before].messages[-1], units[index].messages[0]):
            self._replies.append(index)
            self._openers.append(opener)
            self._totals.append(self._totals[-1] + units[opener].tokens)
