"""The scorecard of a comparison: measures as rows, configurations as columns, each beside what was captured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.replay import Replay
from core.replay_violations import Violations


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of the scorecard: its number (None is unknown), how it is written, and whether it is the best."""

    number: float | None
    text: str
    best: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """A row: the first cell is what was captured, the others are the configurations."""

    name: str
    cells: tuple[Cell, ...]


def scorecard(captured: Replay, replays: Sequence[Replay], violations: Sequence[Violations]) -> list[Measure]:
    """Return the measures of a comparison; less is better in all that mark a best value."""
    every = [captured, *replays]
    return [
        _tokens("Peak in window, tokens", [max(replay.calls["in_window"], default=0) for replay in every]),
        _tokens("Sum over calls, tokens", [sum(replay.calls["in_window"]) for replay in every]),
        _counts("Calls over budget", [sum(excess > 0 for excess in replay.calls["excess"]) for replay in every]),
        _counts("Largest excess, tokens", [max(replay.calls["excess"], default=0) for replay in every]),
        Measure("Calls changed", (Cell(None, "—"), *(_changed(replay) for replay in replays))),
        _best_of("Violations of the API's rules", [Cell(None, "—"), *(_violations(found) for found in violations)]),
    ]


def changed_calls(replay: Replay) -> int:
    """Return in how many calls a replay sends anything but its input."""
    return sum(replay.plan(call).changed for call in range(len(replay.transcript.calls)))


def _tokens(name: str, numbers: Sequence[int]) -> Measure:
    first = numbers[0]
    cells = [Cell(first, f"{first:,}"), *(Cell(n, f"{n:,}  {_difference(n, first)}".rstrip()) for n in numbers[1:])]
    return _best_of(name, cells)


def _counts(name: str, numbers: Sequence[int]) -> Measure:
    return _best_of(name, [Cell(number, f"{number:,}") for number in numbers])


def _difference(number: int, first: int) -> str:
    if not first or number == first:
        return ""
    return f"{(number - first) / first:+.0%}".replace("-", "−")


def _changed(replay: Replay) -> Cell:
    changed, calls = changed_calls(replay), len(replay.transcript.calls)
    return Cell(changed, f"{changed:,} of {calls:,}" if changed else "did nothing")


def _violations(found: Violations) -> Cell:
    sample = f" in {found.checked:,} of {found.changed:,} checked" if found.checked < found.changed else ""
    return Cell(found.count, f"{found.count:,}{sample}")


def _best_of(name: str, cells: Sequence[Cell]) -> Measure:
    """Mark the least of the configurations' values, unless all are the same."""
    first, *rest = cells
    numbers = [cell.number for cell in rest if cell.number is not None]
    least = min(numbers, default=None)
    same = len(set(numbers)) < 2
    marked: Callable[[Cell], Cell] = lambda cell: Cell(cell.number, cell.text, not same and cell.number == least)  # noqa: E731
    return Measure(name, (first, *map(marked, rest)))
