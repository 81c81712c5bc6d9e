"""Where the kept part begins: counted in turns, steps, messages or tokens, and moved on a grid of tokens.

A cut that moves a little with each call breaks the provider's prompt cache with each call. On a grid of `step` tokens
it stays for many calls and then moves by one step; and as it depends on the prompt alone, a replay, a session and a
stateless service find the same one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .log import Log


class Keep(NamedTuple):
    """How much is kept: a number of turns, steps, messages or tokens."""

    unit: str
    number: int

    @property
    def setting(self) -> str:
        """The configuration key."""
        return f"strategy.keep_{self.unit}"


class Boundary(NamedTuple):
    """A cut (index of the first unit kept) and the setting that caused it."""

    cut: int
    setting: str


def keep_boundary(log: Log, keep: Keep) -> Boundary:
    """Return where the newest `keep` begin, widened to whole units and never inside the open unit.

    With no more turns than asked for, steps are counted instead, and the setting says so.
    """
    cut, setting = _boundary(log, keep)
    return Boundary(min(cut, log.deepest), setting)


def _boundary(log: Log, keep: Keep) -> Boundary:
    count = len(log.units)
    if keep.number == 0:
        return Boundary(count, keep.setting)
    if keep.unit == "turns" and len(log.turns) > keep.number:
        return Boundary(log.turns[-keep.number], keep.setting)
    if keep.unit in ("turns", "steps"):
        setting = keep.setting if keep.unit == "steps" else f"{keep.setting} (as steps: too few turns)"
        return Boundary(log.steps[-keep.number] if len(log.steps) > keep.number else 0, setting)
    if keep.unit == "messages":
        first = log.messages - keep.number
        return Boundary(log.unit_of_message(first) if first > 0 else 0, keep.setting)
    return Boundary(bisect_left(log.totals, log.totals[-1] - keep.number), keep.setting)


def on_grid(position: int, last: int, step: int, sums: Sequence[int], fits: Callable[[int], bool]) -> int:
    """Return a position moved to the grid: back to the step before it if that fits, else on to the next one.

    Positions are ordered legal cuts; `sums[k]` are the tokens of the conversation that stand before the k-th.
    `last` is the position that must not be passed.
    """
    if step <= 0 or position <= 0:
        return position
    needed = sums[position]
    floor, ceiling = needed // step * step, -(-needed // step) * step
    low = _stride(position, 0, lambda k: sums[k] <= floor)
    back = bisect_right(sums, floor, low, position + 1) - 1
    if fits(back):
        return back
    high = _stride(position, last, lambda k: sums[k] >= ceiling)
    return bisect_left(sums, ceiling, position, high)


def _stride(start: int, end: int, test: Callable[[int], bool]) -> int:
    """Return a place that passes a test, or `end`: the answer to a cut is mostly near, so steps begin small."""
    width = 4 if end > start else -4
    place = start + width
    while (place < end if width > 0 else place > end) and not test(place):
        width *= 2
        place += width
    return min(place, end) if width > 0 else max(place, end)


def first_true(low: int, high: int, test: Callable[[int], bool], near: int | None = None) -> int:
    """Return the first index in [low, high) that passes a test which never turns false again, else `high`.

    `near` is where the answer is expected; a good guess saves tests and never changes the answer.
    """
    if near is not None and low <= near < high:
        low, high = _around(low, high, test, near)
    while low < high:
        middle = (low + high) // 2
        if test(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _around(low: int, high: int, test: Callable[[int], bool], near: int) -> tuple[int, int]:
    """Narrow [low, high] down to a stretch beside `near` that holds the answer, by steps that double."""
    width = 1
    if test(near):
        high = near
        while high - width > low and test(high - width):
            high, width = high - width, width * 2
        return max(low, high - width), high
    low = near + 1
    while low + width < high and not test(low + width):
        low, width = low + width + 1, width * 2
    return low, min(high, low + width)
