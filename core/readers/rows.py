"""Data sets and exports: each row is a recording of its own, one a record or all of them in one list.

A data set of thousands of rows often has one fault in all of them, so rows that give nothing are told of once for
each reason, with their places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from .formats import Reading

ReadRow = Callable[[Wire, str], Iterable[Transcript]]
AsRow = Callable[[list[Any]], Wire | None]
"""Returns a list as one row where it is one recording and no list of rows."""

MOST_PLACES = 5


class Unused(Exception):
    """A row that cannot be read, with the reason and what was expected."""

    def __init__(self, reason: str, expected: str) -> None:
        super().__init__(reason, expected)


def read_rows(
    reading: Reading, read_row: ReadRow, expected: str, as_row: AsRow = lambda value: None
) -> Iterator[Transcript]:
    """Yield the transcripts of all rows. A row that gives none is told of, with what was `expected`."""
    unused: dict[tuple[str, str], list[str]] = {}
    for record in reading.records:
        row = as_row(record.value) if isinstance(record.value, list) else record.value
        rows = record.value if isinstance(record.value, list) and row is None else [row]
        used = False
        for number, row in enumerate(rows, 1):
            place = record.place if rows is not record.value else within(record.place, f"item {number}")
            told, found = reading.report.told, False
            try:
                for transcript in read_row(row, place) if isinstance(row, Mapping) else ():
                    found = used = True
                    yield transcript
                if not found and reading.report.told == told:
                    raise Unused("nothing was found in it to read", f"{expected} It was left out.")
            except Unused as error:
                unused.setdefault(error.args, []).append(place)
        if not rows:
            unused.setdefault(("the list is empty", expected), []).append(record.place)
        reading.report.counts.used += used
        reading.report.counts.broken += not used
    for (reason, wanted), places in unused.items():
        reading.report.add(reason + _others(places), wanted, place=places[0])


def _others(places: list[str]) -> str:
    """Return the other places of one reason, the first ones of many."""
    named = places[1 : 1 + MOST_PLACES]
    more = len(places) - 1 - len(named)
    if not named:
        return ""
    listed = ", ".join(named) + (f" and {more:,} more" if more else "")
    return f" (also {listed})"


def sample_rows(values: Iterable[Any], most: int = 20) -> list[Any]:
    """Return the first rows of some records, for a look at them."""
    rows: list[Any] = []
    for value in values:
        rows += value[:most] if isinstance(value, list) else [value]
    return rows[:most]


def within(place: str, inner: str) -> str:
    """Return a place inside a record."""
    return f"{place}, {inner}" if place else inner
