"""The bars of a chart over a transcript: one a call, one a turn, or one a stretch of calls where there are too many.

A chart stays below about 2,000 marks, so that each can be clicked and a page stays light. A bar for several calls
shows the one with the largest prompt, and says so.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from core.replay import Replay

MOST_MARKS = 2000
GAP = 0.08
"""Share of a bar's width that is left free on each side."""


class Bar(NamedTuple):
    """Calls `first` to `last` (0-based, inclusive), shown by `call`. `place` is the bar's number on the axis."""

    place: int
    first: int
    last: int
    call: int


def turns_of(replay: Replay) -> list[int]:
    """Return the turn of each call, counted from 1; 0 before the first user message."""
    plans = (replay.plan(call) for call in range(len(replay.transcript.calls)))
    return [bisect_left(plan.log.turns, plan.count) for plan in plans]


def turn_count(replay: Replay) -> int:
    """Return how many turns a transcript has, also where a compaction made the count begin anew."""
    turns = turns_of(replay)
    return sum(bool(turn) and (not call or turn != turns[call - 1]) for call, turn in enumerate(turns))


def bars_of_calls(tokens: Sequence[int], series: int) -> list[Bar]:
    """Return the bars over calls, few enough for `series` marks in each. A bar's place is its first call."""
    calls = len(tokens)
    width = max(1, -(-calls * max(1, series) // MOST_MARKS))
    return [
        Bar(first + 1, first, last, _largest(tokens, first, last))
        for first in range(0, calls, width)
        for last in [min(first + width, calls) - 1]
    ]


def bars_of_turns(tokens: Sequence[int], turns: Sequence[int]) -> list[Bar]:
    """Return a bar for each stretch of calls of one turn, shown by the call with the largest prompt."""
    starts = [call for call in range(len(turns)) if call == 0 or turns[call] != turns[call - 1]]
    ends = [*(start - 1 for start in starts[1:]), len(turns) - 1]
    found = enumerate(zip(starts, ends, strict=True), start=1) if starts else ()
    return [Bar(place, first, last, _largest(tokens, first, last)) for place, (first, last) in found]


def bar_of_call(bars: Sequence[Bar], call: int) -> Bar | None:
    """Return the bar that holds a call."""
    return next((bar for bar in bars if bar.first <= call <= bar.last), None)


def edges(bars: Sequence[Bar]) -> list[tuple[float, float]]:
    """Return where bars begin and end on the axis, with a gap between them."""
    starts = [bar.place for bar in bars]
    width = starts[1] - starts[0] if len(starts) > 1 else 1
    ends = [*starts[1:], starts[-1] + width] if starts else []
    return [
        (start - 0.5 + GAP * (end - start), end - 0.5 - GAP * (end - start))
        for start, end in zip(starts, ends, strict=True)
    ]


def _largest(tokens: Sequence[int], first: int, last: int) -> int:
    return max(range(first, last + 1), key=tokens.__getitem__)
