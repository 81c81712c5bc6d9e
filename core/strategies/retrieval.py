"""Which retrieved results are shown: the newest first, as many as their share of the budget holds (M-P8, M-R4).

Results that do not fit are passed over for smaller ones, and a stub in the place of each names the span, so that it
can be asked for. The results of one reply are shown or left out together (X3), and are weighed by what leaving them
out saves, so that what is planned is what is sent.
"""

from __future__ import annotations

from bisect import bisect_left

from .. import marks
from ..assembler import Context
from ..decisions import Edit
from ..edits import edited
from ..log import Log
from ..spans import Span, SpanKind
from ..units import Unit
from .tiers import select_within

LEFT_OUT = "retrieval"


class Retrieval:
    """Follows a log and knows its units with retrieved results, in order, with what each weighs."""

    def __init__(self, log: Log, context: Context) -> None:
        self._log, self._context = log, context
        self._seen = 0
        self._units: list[int] = []
        self._edits: list[Edit] = []
        self._weights: list[int] = []
        self._sums: list[int] = [0]

    def catch_up(self) -> None:
        """Read the units that were added to the log."""
        for index in range(self._seen, len(self._log.units)):
            unit = self._log.units[index]
            if LEFT_OUT not in unit.memo:
                unit.memo[LEFT_OUT] = self._left_out(unit)
            edit: Edit | None = unit.memo[LEFT_OUT]
            if edit is not None:
                self._units.append(index)
                self._edits.append(edit)
                self._weights.append(unit.tokens - edit.tokens)
                self._sums.append(self._sums[-1] + unit.tokens - edit.tokens)
        self._seen = len(self._log.units)

    def _left_out(self, unit: Unit) -> Edit | None:
        """Return the unit without its results, None where it has none or nothing would be smaller."""
        texts = {
            span.id: stub(span)
            for span in unit.spans
            if span.kind is SpanKind.RETRIEVAL and not unit.stays and not marks.is_injected(span.text)
        }
        dialect, counter = self._context.dialect, self._context.counter
        return edited(unit, texts, dialect, counter, "over the share of retrieved results", "budget")

    def _stretch(self, cut: int) -> tuple[int, int]:
        """Return from where to where (exclusive) units with results are kept by a cut and not in the open unit."""
        start = bisect_left(self._units, cut)
        return start, max(start, bisect_left(self._units, self._log.deepest))

    def weight(self, cut: int) -> int:
        """Return the tokens that leaving out all results behind a cut would save."""
        start, stop = self._stretch(cut)
        weight = self._sums[stop] - self._sums[start]
        newest = bisect_left(self._units, self._log.last_user, start, stop)
        if newest < stop and self._units[newest] == self._log.last_user:
            weight -= self._weights[newest]
        return weight

    def edits(self, cut: int, room: int | None) -> dict[int, Edit]:
        """Return the units whose results are left out, as far as `room` tokens do not hold them; None is no limit."""
        if room is None or not self._units:
            return {}
        newest_first = [k for k in reversed(range(*self._stretch(cut))) if self._units[k] != self._log.last_user]
        shown = set(select_within([self._weights[k] for k in newest_first], max(0, room)))
        return {self._units[k]: self._edits[k] for place, k in enumerate(newest_first) if place not in shown}


def stub(span: Span) -> str:
    """Return the text that stands where a result was left out."""
    return f"{marks.STUB} {span.id}, {span.tokens} tokens of {span.name}; {marks.ASK}]"
