"""Which retrieved results are shown: the newest first, as many as their share of the budget holds (M-P8, M-R4).

A result that does not fit is passed over for a smaller one, and a stub in its place names the span, so that it can be
asked for. Results are weighed by what leaving them out saves.
"""

from __future__ import annotations

from .. import marks
from ..assembler import Context
from ..decisions import Edit
from ..log import Log
from ..spans import Span, SpanKind
from ..units import Unit
from .masking import edited
from .tiers import select_within


class Retrieval:
    """Follows a log and knows its retrieved results, in order, with what each weighs."""

    def __init__(self, log: Log, context: Context) -> None:
        self._log, self._context = log, context
        self._seen = 0
        self._found: list[tuple[int, Span, int]] = []

    def catch_up(self) -> None:
        """Read the units that were added to the log."""
        for index in range(self._seen, len(self._log.units)):
            unit = self._log.units[index]
            for span in unit.spans if not unit.stays else ():
                weight = self._weight(span)
                if span.kind is SpanKind.RETRIEVAL and weight > 0:
                    self._found.append((index, span, weight))
        self._seen = len(self._log.units)

    def _weight(self, span: Span) -> int:
        return span.tokens - self._context.counter.count(stub(span)) if span.kind is SpanKind.RETRIEVAL else 0

    def _kept(self, cut: int) -> list[tuple[int, Span, int]]:
        """Results that a cut keeps and that may be left out: not in the newest user message, nor the open unit."""
        log = self._log
        return [found for found in self._found if cut <= found[0] < log.deepest and found[0] != log.last_user]

    def weight(self, cut: int) -> int:
        """Return the tokens that leaving out all results behind a cut would save."""
        if not self._found:
            return 0
        return sum(weight for _, _, weight in self._kept(cut))

    def edits(self, cut: int, room: int | None) -> dict[int, Edit]:
        """Return the units whose results are left out, as far as `room` tokens do not hold them; None is no limit."""
        if room is None or not self._found:
            return {}
        kept = self._kept(cut)
        newest_first = sorted(kept, key=lambda found: -found[0])
        shown = set(select_within([weight for _, _, weight in newest_first], max(0, room)))
        left_out: dict[int, list[Span]] = {}
        for place, (index, span, _) in enumerate(newest_first):
            if place not in shown:
                left_out.setdefault(index, []).append(span)
        return {index: self._edit(self._log.units[index], spans) for index, spans in left_out.items()}

    def _edit(self, unit: Unit, spans: list[Span]) -> Edit:
        texts = {span.id: stub(span) for span in spans}
        dialect, counter = self._context.dialect, self._context.counter
        return edited(unit, texts, dialect, counter, "over the share of retrieved results", "budget")


def stub(span: Span) -> str:
    """Return the text that stands where a result was left out."""
    return f"{marks.STUB} {span.id}, {span.tokens} tokens of {span.name}; the newest results took the room]"
