"""The placeholders that `mask_tool_results` would put for each unit's results, made once and only where asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from ..decisions import Action, Edit
from ..dialects.base import Dialect
from ..edits import edited, edited_kinds, is_rewritable
from ..log import KindSums, Log
from ..marks import is_injected
from ..spans import Span, SpanKind
from ..tokens import Counter
from ..units import Unit
from ..wording import filled

FIELDS = ("id", "lines", "tokens", "tool")


class Masks:
    """For each unit of a log the edit that masks all its results, or None where nothing would be smaller (X6).

    `totals` are running sums of the smaller of both, in tokens; `results` the running count of results that can be
    masked, by which the newest are told from the older ones.
    """

    action = Action.STUB

    def __init__(self, log: Log, dialect: Dialect, counter: Counter, placeholder: str, exclude: Sequence[str]) -> None:
        self._log, self._dialect, self._counter = log, dialect, counter
        self._placeholder, self._exclude = placeholder, tuple(exclude)
        self._own = _pattern(placeholder)
        self._key = f"mask {placeholder} {self._exclude}"
        self._made: list[Edit | None] = []
        self.totals: list[int] = [0]
        self.kinds = KindSums()
        self.span_counts: list[int] = [0]
        self.results: list[int] = [0]

    def __getitem__(self, index: int) -> Edit | None:
        """Return the edit of a unit."""
        return self._made[index]

    def catch_up(self) -> None:
        """Look at the units that were added to the log."""
        for unit in self._log.units[len(self._made) :]:
            if self._key not in unit.memo:
                spans = self.maskable(unit)
                unit.memo[self._key] = (self.edit(unit, spans), len(_by_result(unit, spans)))
            self._append(unit, *unit.memo[self._key])

    def _append(self, unit: Unit, made: Edit | None, results: int) -> None:
        self._made.append(made)
        self.totals.append(self.totals[-1] + (made or unit).tokens)
        self.span_counts.append(self.span_counts[-1] + (len(made.texts) if made else 0))
        self.results.append(self.results[-1] + results)
        self.kinds.append({} if unit.stays else edited_kinds(unit, made) if made else unit.kinds())

    def oldest(self, unit: Unit, number: int) -> Edit | None:
        """Return the unit with only so many of its results masked, the first ones."""
        key = f"{number} of {self._key}"
        if key not in unit.memo:
            first = _by_result(unit, self.maskable(unit))[:number]
            unit.memo[key] = self.edit(unit, [span for spans in first for span in spans])
        made: Edit | None = unit.memo[key]
        return made

    def maskable(self, unit: Unit) -> list[Span]:
        """Return the results of a unit that a strategy may mask: not excluded, not pinned, not masked already."""
        if unit.stays:
            return []
        return [
            span
            for span in unit.spans
            if span.kind in (SpanKind.TOOL_RESULT, SpanKind.RETRIEVAL)
            and is_rewritable(unit, span)
            and not any(fnmatchcase(span.tool, glob) for glob in self._exclude)
            and not is_injected(span.text)
            and not self._own.fullmatch(span.text)
        ]

    def edit(self, unit: Unit, spans: Sequence[Span]) -> Edit | None:
        """Return the unit with placeholders for these results, each only where it is smaller; None if none is."""
        texts = {span.id: text for span in spans if self._counter.count(text := self._text(span)) < span.tokens}
        return edited(unit, texts, self._dialect, self._counter, REASON, "strategy.keep")

    def _text(self, span: Span) -> str:
        values = {
            "id": span.id,
            "lines": str(len(span.text.splitlines())),
            "tokens": str(span.tokens),
            "tool": span.tool,
        }
        return filled(self._placeholder, values)


REASON = "an older tool result"


def _by_result(unit: Unit, spans: Sequence[Span]) -> list[list[Span]]:
    """Return spans by the result that they are of: the texts of one message tell one result."""
    found: dict[object, list[Span]] = {}
    for span in spans:
        told = unit.messages[span.message - unit.first].parts[span.part].told
        found.setdefault(span.message if told else span.id, []).append(span)
    return list(found.values())


def _pattern(placeholder: str) -> re.Pattern[str]:
    """Return a pattern that recognises the texts made from a placeholder; a noun behind a field may be singular."""
    parts = re.split(r"\{(?:id|lines|tokens|tool)\}", placeholder)
    literal = [re.sub(r"^(\\ (?:line|message|token)s)\b", r"\1?", re.escape(part)) for part in parts]
    return re.compile(r"[^\n]{0,200}?".join(literal))
