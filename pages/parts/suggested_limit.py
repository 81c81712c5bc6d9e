"""The soft limit that Compare sets by itself, and where a limit comes from."""

from __future__ import annotations

from dataclasses import dataclass

from core.config import Configuration
from core.engine import soft_budget
from core.wording import agreeing, counted

from .figures import Figures

LEAST_LIMIT = 100
"""Tokens below which a soft limit leaves no room for the stubs and summaries that strategies put in."""


@dataclass(frozen=True, slots=True)
class Room:
    """What a soft limit is suggested by, in tokens of the transcript's own model.

    `floor` is what every call carries, `beside` what is left beside the limit for what is not recorded. `most` is what
    the window leaves after answer and reserve; like the window, it is None where that is not known.
    """

    peak: int
    floor: int = 0
    beside: int = 0
    window: int | None = None
    most: int | None = None

    @classmethod
    def of(cls, captured: Configuration, own: Figures) -> Room:
        """Return the room of a transcript, from its configuration as captured and its figures."""
        beside = max(0, own.most_missing)
        return cls(own.peak, own.counted_floor, beside, captured.model.window, soft_budget(captured))

    @property
    def suggested(self) -> int:
        """The limit that is suggested."""
        return suggested_budget(self.peak, self.floor, self._left)

    @property
    def is_cut(self) -> bool:
        """Whether the limit would be higher if the window left more."""
        return self.suggested < suggested_budget(self.peak, self.floor)

    @property
    def _left(self) -> int | None:
        return None if self.most is None else self.most - self.beside


def suggested_budget(peak: int, floor: int = 0, most: int | None = None) -> int:
    """Return a soft limit that shows differences: halfway between what every call carries and a peak, in tokens.

    It is rounded to two digits of what lies above the floor, below which no strategy gets. It is `most` at most,
    rounded down like that: nobody could send more. In a run with less than `LEAST_LIMIT` there is nothing to tell
    strategies apart by, and no smaller one is suggested.
    """
    fixed = min(floor, peak)
    half = (peak - fixed) // 2
    made = int(round(fixed + half, -_rounded_off(half)))
    if most is not None and made > most:
        unit = 10 ** _rounded_off(max(0, most - fixed))
        made = most // unit * unit
    return max(LEAST_LIMIT, made)


def _rounded_off(above: int) -> int:
    """Return how many of its digits a number loses when two are left."""
    return max(0, len(str(above)) - 2)


def limit_told(soft: int | None, beside: int, room: Room | None, window: int | None) -> str:
    """Return where a soft limit comes from, as a sentence; "" where a person may have typed it.

    It is the one that is suggested for `room`, or what a budget leaves beside what is not recorded. Nothing above the
    window could be sent, so there the window is the limit. `room` is None where texts are counted for another model
    than the one that it is about: its figures are then not those on the page.
    """
    if soft is None:
        return ""
    if told := window_told(soft, window):
        return told
    if room is not None and soft == room.suggested:
        return f"{_suggested_as(room, beside)}."
    if not beside:
        return ""
    return (
        f"Of a budget of {soft + beside:,}, {beside:,} {agreeing(beside, 'is', 'are')} left for what is not recorded."
    )


def window_told(soft: int | None, window: int | None) -> str:
    """Return that a window takes the place of a soft limit above it, as a sentence; "" where it does not."""
    if soft is None or window is None or soft <= window:
        return ""
    return f"The window of {counted(window, 'token')} is smaller than the soft limit, and is the limit."


def _suggested_as(room: Room, beside: int) -> str:
    """Return what a suggested limit is."""
    if room.is_cut:
        return _left_by_window(room)
    more = f"; {beside:,} more {agreeing(beside, 'is', 'are')} left for what is not recorded" if beside else ""
    if room.suggested == LEAST_LIMIT:
        return f"The least that is suggested: the largest recorded prompt has {counted(room.peak, 'token')}{more}"
    if room.suggested == suggested_budget(room.peak):
        return f"About half of the largest recorded prompt{more}"
    return f"About halfway between what every call carries, {room.floor:,}, and the largest recorded prompt{more}"


def _left_by_window(room: Room) -> str:
    """Return what a limit is that the window keeps below the one that the prompts suggest."""
    others = f"answer, reserve and {room.beside:,} not recorded" if room.beside else "answer and reserve"
    if room.suggested == LEAST_LIMIT:
        return f"The least that is suggested: the window of {room.window:,} leaves no more after {others}"
    rounded = "" if room.most == room.suggested + room.beside else ", rounded down"
    return f"What the window of {room.window:,} leaves after {others}{rounded}"
