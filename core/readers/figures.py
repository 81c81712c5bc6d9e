"""Token figures as providers report them, and which of them are believed.

A figure that cannot be a number of tokens is neither zero nor missing: it is carried as `Doubtful` through the sums
that readers make of it, so that no sum of it looks sound, and where a call is made it becomes None and is told of.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..transcript import Usage
from ..wording import counted
from .problems import Report

MOST_TOKENS = 2**31 - 1
"""The largest figure that is believed: no window of any model holds a hundredth of it, and an integer column of
PostgreSQL holds no more."""
LONGEST = 30
"""Characters of a figure in a sentence."""
_NAMES = {
    "input": "input",
    "cache_read": "read from the cache",
    "cache_write": "written to the cache",
    "output": "output",
    "reasoning": "reasoning",
}
_EXPECTED = f"A whole number from 0 to {MOST_TOKENS:,} was expected; the figure was ignored."


class Doubtful(int):
    """A reported figure that is no number of tokens. What is added to it or taken from it is doubtful too."""

    said: str

    def __new__(cls, said: str) -> Doubtful:
        """Return the figure; as a number it is 1, so that usage with it does not pass for empty."""
        made = super().__new__(cls, 1)
        made.said = said
        return made

    def __add__(self, other: int) -> Doubtful:
        """Return itself."""
        return self

    __radd__ = __sub__ = __rsub__ = __add__


def figure(value: Any) -> int | None:
    """Return a reported number of tokens, `Doubtful` for a number that cannot be one, None for what is no number."""
    if isinstance(value, Doubtful) or value is None:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if 0 <= value <= MOST_TOKENS and value == int(value):
        return int(value)
    return Doubtful(_short(value))


def count(value: Any) -> int | None:
    """Return a number of things, or None for what cannot be one: text, a fraction, a negative number, a flag."""
    found = figure(value)
    return None if isinstance(found, Doubtful) else found


def believed(usage: Usage) -> Usage:
    """Return usage without the figures that cannot be true."""
    sound = Usage(*map(count, _values(usage)))
    return replace(sound, **dict.fromkeys(_above_input(sound)))


def doubts(usage: Usage) -> Iterator[tuple[str, str]]:
    """Yield what cannot be true of a call's usage, and what was expected."""
    named: dict[str, list[str]] = {}
    sound: dict[str, int | None] = {}
    for (name, words), value in zip(_NAMES.items(), map(figure, _values(usage)), strict=True):
        if isinstance(value, Doubtful):
            named.setdefault(value.said, []).append(words)
        else:
            sound[name] = value
    for said, places in named.items():
        yield f"the usage has {said}, which is no number of tokens ({', '.join(places)})", _EXPECTED
    known = Usage(**sound)
    if above := _above_input(known):
        told = " and ".join(f"{counted(getattr(known, name), 'token')} {_NAMES[name]}" for name in above)
        figures = "this figure was" if len(above) == 1 else "these figures were"
        problem = f"the usage contradicts itself: {told}, of an input of {counted(known.input or 0, 'token')}"
        yield problem, f"Cached tokens are a part of the input, so {figures} ignored."


def checked(usage: Usage, report: Report, place: str = "") -> Usage:
    """Return the believed part of a call's usage; what is not believed becomes a remark of the file."""
    for problem, expected in doubts(usage):
        report.add(problem, expected, place=place, warning=True)
    return believed(usage)


def _values(usage: Usage) -> tuple[int | None, ...]:
    return usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning


def _above_input(usage: Usage) -> list[str]:
    """Return the cached figures that do not fit into the input: each that is above it, or both if only their sum is."""
    if usage.input is None:
        return []
    cached = {name: value for name in ("cache_read", "cache_write") if (value := getattr(usage, name)) is not None}
    above = [name for name, value in cached.items() if value > usage.input]
    return above or (list(cached) if sum(cached.values()) > usage.input else [])


def _short(value: float) -> str:
    """Return a number for a sentence, in Python's or JSON's spelling, cut where it is long."""
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(value)
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value.bit_length() > 10_000:  # Python writes out no number of thousands of digits
        return "a number of thousands of digits"
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
