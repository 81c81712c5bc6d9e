"""Counts against the bill: what providers reported for the recorded prompts, beside what was counted for them.

The difference is one visible figure a call, "not recorded": a hidden system prompt, tools, frames. A reported call has
its own, so that parts add up to the bill. For the others it is the newest one that two calls in a row agree on, so
that a single surcharge does not move it, and the median as long as none do. Rows are those of one conversation: each
call is compared with the one that it goes on from, as for the cache. Where the tokenizer is only an estimate
the newest difference serves better, as it follows what the estimate misses. A negative difference says that the count
was too high: then nothing is hidden, the count is corrected, in proportion to what a strategy sends of the prompt. A
difference that grows although the texts are counted exactly says that the recorded prompt is not what was sent.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from statistics import median

from . import wording
from .chains import Link, links_of
from .dialects import dialect
from .drift import Drift, Split, drift
from .tokens import Exactness
from .transcript import ROOT, Call, Transcript

LEAST_CALLS = 3
"""Fewer reported calls are no evidence that a difference grows."""
LEAST_GROWTH = 16
"""Tokens of difference that may come and go with formulas."""
SAME = 0.01
"""Differences closer than this share of the prompt are one floor."""


@dataclass(frozen=True, slots=True)
class CalibratedCall:
    """One call: tokens counted and reported, their difference, and what was expected before the report.

    `floor` is the difference as known up to this call; `total` the best figure for the prompt as sent, marked by
    `exactness`; `counted_as` marks the count. `before` is the call that this one goes on from with the same floor, -1
    where a floor begins. `surcharge` marks a report above the counted prompt that the next call does not confirm.
    """

    counted: int
    reported: int | None
    floor: int | None
    expected: int | None
    total: int
    exactness: Exactness
    before: int
    counted_as: Exactness
    surcharge: bool = False

    @property
    def starts(self) -> bool:
        """Whether nothing of what was known before applies."""
        return self.before < 0

    @property
    def difference(self) -> int | None:
        """Tokens reported beyond those counted; None where nothing was reported."""
        return None if self.reported is None else self.reported - self.counted

    @property
    def not_recorded(self) -> int | None:
        """Tokens of the prompt beyond those counted, negative where the count was too high; None where unknown."""
        return None if self.floor is None else self.total - self.counted

    @property
    def not_recorded_as(self) -> Exactness:
        """How far the tokens beyond those counted can be trusted."""
        return self.counted_as if self.counted_as is Exactness.ESTIMATE else self.exactness

    @property
    def error(self) -> float | None:
        """What was expected short of what was reported, as a share of it; None where either is missing."""
        if not self.reported or self.expected is None:
            return None
        return (self.reported - self.expected) / self.reported


class Calibration:
    """The counts of a transcript's recorded prompts beside the reported ones."""

    def __init__(
        self,
        transcript: Transcript,
        counted: Sequence[int],
        exactness: Sequence[Exactness],
        split: Callable[[], Split | None] = lambda: None,
    ) -> None:
        """`split` tells texts from frames where a factor for texts is to be fitted; it is asked for that alone."""
        self._transcript, self._counted, self._exactness, self._split = transcript, counted, exactness, split
        self.calls: list[CalibratedCall] = _confirmed(list(self._walk()))

    @cached_property
    def not_recorded(self) -> list[int | None]:
        """Tokens of each call beyond those counted, as the recording was sent; None where nothing is known of it.

        Negative where the count was too high: that is a correction of the count.
        """
        return [call.not_recorded for call in self.calls]

    def of_sent(self, sent: Callable[[], Sequence[int]]) -> Calibration:
        """Return this calibration for prompts with other counts, in tokens: a correction shrinks with the prompt.

        What is not recorded is sent whole by every strategy, so `sent` is only asked for where a count was too high.
        """
        if all((tokens or 0) >= 0 for tokens in self.not_recorded):
            return self
        made = copy(self)
        made.not_recorded = [_corrected(row, tokens) for row, tokens in zip(self.calls, sent(), strict=True)]
        return made

    @cached_property
    def hidden(self) -> int | None:
        """About how many tokens of a prompt are not recorded: the median; None where nothing was reported."""
        known = [call.not_recorded for call in self.calls if call.not_recorded is not None]
        return None if not known else max(0, round(median(known)))

    @cached_property
    def growing(self) -> tuple[int, ...]:
        """The reported calls (0-based) of the first conversation whose prompts are not what was sent; () if all are."""
        if Exactness.ESTIMATE in self._exactness:
            return ()
        runs = (run for run in self._runs() if len(run) >= LEAST_CALLS and _grows([self.calls[at] for at in run]))
        return next(runs, ())

    @property
    def growth(self) -> int:
        """By how many tokens the difference changed over these calls."""
        return self._difference(-1) - self._difference(0) if self.growing else 0

    @property
    def problem(self) -> str | None:
        """What the differences say against the recording; None if they say nothing."""
        if not self.growing:
            return None
        return (
            "The recorded prompt is not what was sent: not recorded are"
            f" {wording.counted(self._difference(0), 'token')} at first, {self._difference(-1):,} at the end, and more"
            " with each call."
        )

    def _difference(self, place: int) -> int:
        return self.calls[self.growing[place]].difference or 0

    @cached_property
    def by_model(self) -> dict[str, Drift]:
        """The drift of each model with enough predicted calls."""
        models = dict.fromkeys(call.model for call in self._transcript.calls if call.model)
        drifts = ((model, self._drift(model)) for model in models)
        return {model: found for model, found in drifts if found is not None}

    def _drift(self, model: str) -> Drift | None:
        places = [at for at, call in enumerate(self._transcript.calls) if call.model == model]
        rows = [self.calls[at] for at in places]
        errors = [row.error for row in rows if row.error is not None and not row.surcharge]
        estimated = any(row.counted_as is Exactness.ESTIMATE for row in rows)
        reported = {at: row.reported for at, row in zip(places, rows, strict=True) if row.reported is not None}
        return drift(errors, reported, self._split if estimated else lambda: None)

    def _runs(self) -> Iterator[tuple[int, ...]]:
        """Yield the reported calls of each conversation without a reset between them."""
        firsts: list[int] = []
        runs: dict[int, list[int]] = {}
        for at, call in enumerate(self.calls):
            firsts.append(at if call.starts else firsts[call.before])
            if call.reported is not None:
                runs.setdefault(firsts[at], []).append(at)
        yield from map(tuple, runs.values())

    def _walk(self) -> Iterator[CalibratedCall]:
        floors: list[_Floor] = []
        links = links_of(self._transcript, captured=True)
        for at, (link, counted, exactness) in enumerate(zip(links, self._counted, self._exactness, strict=True)):
            call = self._transcript.calls[at]
            reported, before = call.usage.input or None, -1 if self._resets(link, call) else link.before
            if before >= 0 and floors[before].falls(reported, counted):
                before = -1
            floors.append(_Floor() if before < 0 else floors[before])
            yield floors[at].calibrated(counted, reported, exactness, before)

    def _resets(self, link: Link, call: Call) -> bool:
        """Whether a call has none to go on from, or the tools or what was compacted changed since that one."""
        if link.before < 0:
            return True
        before = self._transcript.calls[link.before]
        if before.head != call.head and self._tools(before) != self._tools(call):
            return True
        return before.captured != ROOT and link.shared <= self._transcript.depths[before.captured]

    def _tools(self, call: Call) -> list[str]:
        transcript = self._transcript
        return [tool.text for tool in dialect(transcript.dialect).tools(transcript.heads[call.head])]


class _Floor:
    """The differences known since the last reset of a conversation, and what they say is not recorded."""

    def __init__(self) -> None:
        self._ordered: list[int] = []
        self._newest = 0
        self._agreed: int | None = None
        self._reported = 0

    def calibrated(self, counted: int, reported: int | None, exactness: Exactness, before: int) -> CalibratedCall:
        """Return the figures of one more call, and take what was reported for it."""
        estimated = exactness is Exactness.ESTIMATE
        floor = self._tokens(estimated)
        expected = None if floor is None else max(0, counted + floor)
        if reported is not None:
            self._reported = reported
            self._add(reported - counted)
        mark = Exactness.REPORTED if reported else _best(exactness, expected is not None)
        total = reported or (counted if expected is None else expected)
        return CalibratedCall(counted, reported, self._tokens(estimated), expected, total, mark, before, exactness)

    def falls(self, reported: int | None, counted: int) -> bool:
        """Whether the reported total fell, and not back to what is known after a surcharge."""
        middle = self._median
        if reported is None or reported >= self._reported or middle is None:
            return False
        return abs(reported - counted - middle) > SAME * reported

    def _add(self, difference: int) -> None:
        if self._ordered and difference == self._newest:
            self._agreed = difference
        self._newest = difference
        insort(self._ordered, difference)

    @property
    def _median(self) -> float | None:
        """The median difference, looked up in their order; None if none is known."""
        known = self._ordered
        return (known[(len(known) - 1) // 2] + known[len(known) // 2]) / 2 if known else None

    def _tokens(self, estimated: bool) -> int | None:
        """Return the tokens that are not recorded; `estimated` says that texts are not counted exactly."""
        middle = self._median
        if middle is None or estimated:
            return self._newest if self._ordered else None
        return round(middle) if self._agreed is None else self._agreed


def _corrected(row: CalibratedCall, sent: int) -> int | None:
    """Return what one call sends beyond its count: all that is hidden, or a share of what was counted too much."""
    tokens = row.not_recorded
    if tokens is None or tokens >= 0 or not row.counted:
        return tokens
    return -(-tokens * sent // row.counted)


def _best(counted: Exactness, is_calibrated: bool) -> Exactness:
    if counted is Exactness.ESTIMATE:
        return counted
    return Exactness.CALIBRATED if is_calibrated else counted


def _grows(rows: Sequence[CalibratedCall]) -> bool:
    """Whether differences rise from call to call, by more than formulas do and not in one leap."""
    differences = [row.difference or 0 for row in rows]
    steps = [after - before for before, after in pairwise(differences)]
    steady = differences[-1] - differences[0] - max(0, *steps)
    rising = sum(step > 0 for step in steps)
    return steady > max(LEAST_GROWTH, SAME * (rows[-1].reported or 0)) and rising >= 0.8 * len(steps)


def _confirmed(rows: list[CalibratedCall]) -> list[CalibratedCall]:
    """Mark the reports above the counted prompt that the next call of the conversation does not confirm."""
    for after in [row for row in rows if not row.starts]:
        row = rows[after.before]
        above = row.difference is not None and row.expected is not None and row.reported != row.expected
        if above and row.exactness is Exactness.REPORTED and after.reported == after.expected:
            rows[after.before] = replace(row, surcharge=(row.reported or 0) > (row.expected or 0))
    return rows
