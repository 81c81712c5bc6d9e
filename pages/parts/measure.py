"""A row of the scorecard, and how its cells are written: a measure's value as captured, then of each configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.scorecard import Scorecard
from core.wording import counted


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of the scorecard: its number (None is unknown), how it is written, and whether it is the best."""

    number: float | None
    text: str
    best: bool = False


NONE = Cell(None, "—")
PERCENT_DECIMALS = 2
"""The most decimals of a percentage that would read as 0% although there is a difference."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A row: the first cell is what was captured, the others are the configurations."""

    name: str
    cells: tuple[Cell, ...]


def token_row(name: str, numbers: Sequence[int]) -> Measure:
    """Return a row of tokens, each with its difference to what was captured; the fewest are best."""
    first = numbers[0]
    cells = [Cell(first, f"{first:,}"), *(Cell(n, f"{n:,}  {difference(n, first)}".rstrip()) for n in numbers[1:])]
    return best_of(name, cells)


def count_row(name: str, numbers: Sequence[int]) -> Measure:
    """Return a row of plain numbers; the least is best."""
    return best_of(name, [Cell(number, f"{number:,}") for number in numbers])


def part_of(number: int, total: int) -> Cell:
    """Return a number of a total."""
    return Cell(number, f"{number:,} of {total:,}")


def difference(number: float, first: float) -> str:
    """Return by how many percent a number differs from the first one; "" where it does not."""
    if not first or number == first:
        return ""
    shares = (f"{(number - first) / first:+.{decimals}%}" for decimals in range(PERCENT_DECIMALS + 1))
    return next((share for share in shares if share.strip("+-0.%")), "").replace("-", "−")


def in_calls(card: Scorecard, unknown: int) -> str:
    """Return in how many calls a figure is known; nothing where it is known for all."""
    return f" in {card.calls - unknown:,} of {counted(card.calls, 'call')}" if unknown else ""


def best_of(name: str, cells: Sequence[Cell], most: bool = False) -> Measure:
    """Mark the best of the configurations' values, the least unless `most`.

    None is marked where all are the same, nor where what was captured is better: then doing nothing is best.
    """
    first, *rest = cells
    numbers = [cell.number for cell in rest if cell.number is not None]
    if len(set(numbers)) < 2:
        return Measure(name, tuple(cells))
    of_all, captured = (max if most else min), [] if first.number is None else [first.number]
    best = of_all([*numbers, *captured])
    return Measure(name, (first, *(Cell(cell.number, cell.text, cell.number == best) for cell in rest)))
