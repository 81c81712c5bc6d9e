"""One rolling summary for everything before a cut: a line a message, filled from the newest backwards (M-R2, M-R3).

It is a function of the range it covers, never of an earlier summary, so it has one heading however long the run is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .. import marks
from ..log import Log
from ..spans import SpanKind
from ..summaries import NO_ROOM, NOT_SMALLER, TOO_LONG, Summaries, range_hash, unit_digest
from ..tokens import Counter
from ..units import Unit
from ..wire import digest
from .tiers import heading, summary_line


class RollingSummary(NamedTuple):
    """The text for the units before a cut, its tokens, and the oldest unit that has its lines in it."""

    text: str
    tokens: int
    first: int
    why: str = ""


class RollingSummaries:
    """Makes the summary of any range of a log; each unit's lines are made once.

    With `summaries` a model's summary of the range is used where there is one that is smaller than the range.
    """

    def __init__(
        self, log: Log, counter: Counter, characters: int, tokens: int, summaries: Summaries | None = None
    ) -> None:
        self._log, self._counter = log, counter
        self._characters, self._tokens = characters, tokens
        self._summaries = summaries
        self._chain = [b""]
        self._looked = 0
        self._telling: list[int] = []
        """Units that have lines and need not stay, in order."""

    def before(self, cut: int, skipped: Sequence[int], room: int | None = None) -> RollingSummary | None:
        """Return the summary of the units before a cut without those skipped; None if no line fits.

        Whole units are covered, so that no result loses the line of its call. `room` are the tokens that are left
        for it; None is no limit beside its own.
        """
        if next(self._backwards(cut, skipped), None) is None:
            return None
        most = self._tokens if room is None else min(self._tokens, room)
        if self._summaries is None:
            return self._extract(cut, skipped, most)
        written = self._summaries.written(self._hash(cut, skipped), lambda: self._text(cut, skipped), self._tokens)
        if written.text is None:
            return self._with_reason(self._extract(cut, skipped, most), written.why)
        text = f"{heading(0)}\n{written.text}"
        tokens = self._counter.count(text)
        why = self._refusal(tokens, most, self._replaced(cut, skipped))
        if why:
            return self._with_reason(self._extract(cut, skipped, most), why)
        return RollingSummary(text, tokens, 0, written.why)

    def _refusal(self, tokens: int, most: int, replaced: int) -> str:
        """Return why a written summary is not used; an empty text where it is."""
        if tokens >= replaced:
            return NOT_SMALLER
        if tokens > self._tokens:
            return TOO_LONG
        return NO_ROOM if tokens > most else ""

    def _replaced(self, cut: int, skipped: Sequence[int]) -> int:
        log = self._log
        return log.totals[cut] - log.staying[cut] - sum(log.units[index].tokens for index in skipped)

    def _with_reason(self, made: RollingSummary | None, why: str) -> RollingSummary | None:
        return None if made is None else made._replace(why=why)

    def _hash(self, cut: int, skipped: Sequence[int]) -> str:
        for unit in self._log.units[len(self._chain) - 1 : cut]:
            self._chain.append(digest(self._chain[-1].hex() + unit_digest(unit).hex()))
        left_out = b"".join(unit_digest(self._log.units[index]) for index in skipped)
        return range_hash(self._chain[cut], left_out)

    def _text(self, cut: int, skipped: Sequence[int]) -> str:
        units = [self._log.units[index] for index in self._backwards(cut, skipped)][::-1]
        spans = [span for unit in units for span in unit.spans if not marks.is_injected(span.text)]
        return "\n\n".join(f"[{span.role}] {span.name}: {span.text}" for span in spans)

    def _extract(self, cut: int, skipped: Sequence[int], most: int) -> RollingSummary | None:
        units = self._log.units
        covered = self._log.passing_messages[cut] - sum(units[index].stop - units[index].first for index in skipped)
        chosen: list[tuple[int, list[str]]] = []
        length, left_out = 0, covered
        for index in self._backwards(cut, skipped):
            lines, characters = _lines_of(units[index])
            length += characters
            left_out -= len(lines)
            if length + len(heading(left_out)) > self._characters:
                break
            chosen.append((index, lines))
        return self._within_tokens(chosen, covered, most)

    def _backwards(self, cut: int, skipped: Sequence[int]) -> Iterator[int]:
        """Yield the units before a cut that can be told, newest first."""
        for index in range(self._looked, cut):
            if not self._log.units[index].stays and _says(self._log.units[index]):
                self._telling.append(index)
        self._looked = max(self._looked, cut)
        for place in range(bisect_left(self._telling, cut) - 1, -1, -1):
            if self._telling[place] not in skipped:
                yield self._telling[place]

    def _within_tokens(self, chosen: list[tuple[int, list[str]]], covered: int, most: int) -> RollingSummary | None:
        """Return the longest of the drafts that fits: one line less each, at last the newest lines cut short."""
        for told in _drafts(chosen) if most > 0 else ():
            lines = [line for _, lines in reversed(told) for line in lines]
            text = "\n".join([heading(covered - len(lines)), *lines])
            tokens = self._counter.count(text)
            if tokens <= most:
                return RollingSummary(text, tokens, told[-1][0])
        return None


SHORTER = (100, 50)
"""Characters of a line where the newest ones do not fit in full."""


def _drafts(chosen: Sequence[tuple[int, list[str]]]) -> Iterator[Sequence[tuple[int, list[str]]]]:
    yield from (chosen[:count] for count in range(len(chosen), 0, -1))
    for index, lines in chosen[:1]:
        for length in SHORTER:
            yield [(index, [line if len(line) <= length else f"{line[:length]}..." for line in lines])]


LINES = "lines"


def _lines_of(unit: Unit) -> tuple[list[str], int]:
    """Return the lines of a unit, and their characters with line breaks."""
    if LINES not in unit.memo:
        lines = list(unit_lines(unit))
        unit.memo[LINES] = (lines, sum(map(len, lines)) + len(lines))
    known: tuple[list[str], int] = unit.memo[LINES]
    return known


def unit_lines(unit: Unit) -> Iterator[str]:
    """Yield the lines of a unit's messages: role and first words, calls by the tools' names.

    A message that says only what a strategy put in has none: a summary or a stub is never summarised again.
    """
    for offset, message in enumerate(unit.messages):
        spans = [span for span in unit.spans if span.message == unit.first + offset]
        names = [span.tool for span in spans if span.kind is SpanKind.TOOL_CALL]
        texts = [span.text for span in spans if span.kind not in (SpanKind.TOOL_CALL, SpanKind.THINKING)]
        said = [text for text in texts if not marks.is_injected(text)]
        words = " ".join(filter(None, [f"used {', '.join(names)}" if names else "", *said]))
        if words or len(said) == len(texts):
            told_by = "tool" if message.results and not message.is_said else message.role
            yield summary_line(told_by, words)


def _says(unit: Unit) -> bool:
    """Return whether a unit has lines."""
    return not any(marks.is_injected(span.text) for span in unit.spans) or bool(_lines_of(unit)[0])
