from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.boundaries import Keep, first_true, keep_boundary, on_grid
from core.dialects import dialect
from core.log import Log
from core.tokens import CjkEstimate
from core.units import units

CALL = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": ""}}


def log_of(shape: str) -> Log:
    """A log of plain messages: u user, a assistant, t assistant with a call and its result, s system."""
    wires = []
    for letter in shape:
        if letter == "t":
            wires.append({"role": "assistant", "content": None, "tool_calls": [CALL]})
            wires.append({"role": "tool", "tool_call_id": "c", "content": "found"})
        else:
            role = {"u": "user", "a": "assistant", "s": "system", "o": "critic"}[letter]
            wires.append({"role": role, "content": "four"})
    log = Log()
    log.extend(units(wires, dialect("openai_chat"), CjkEstimate()))
    return log


@pytest.mark.parametrize(
    ("shape", "unit", "number", "cut"),
    [
        ("uauaua", "turns", 1, 4),
        ("uauaua", "turns", 2, 2),
        ("uauaua", "turns", 0, 5),  # never into the open unit
        ("uauau", "turns", 1, 4),
        ("uauau", "turns", 0, 5),
        ("uaaaaa", "turns", 2, 4),  # one turn only: steps
        ("uauaua", "turns", 3, 0),
        ("uttt", "steps", 2, 2),
        ("uttt", "steps", 9, 0),
        ("uttt", "steps", 0, 3),
        ("uttt", "messages", 1, 3),
        ("uttt", "messages", 2, 3),
        ("uttt", "messages", 3, 2),
        ("uttt", "messages", 99, 0),
        ("uaua", "tokens", 5, 3),
        ("uaua", "tokens", 9, 3),
        ("uaua", "tokens", 10, 2),
        ("uaua", "tokens", 999, 0),
        ("", "turns", 4, 0),
        ("", "messages", 4, 0),
        ("sss", "steps", 1, 0),
    ],
)
def test_where_the_kept_part_begins(shape: str, unit: str, number: int, cut: int) -> None:
    assert keep_boundary(log_of(shape), Keep(unit, number)).cut == cut


def test_the_setting_says_what_was_counted() -> None:
    assert keep_boundary(log_of("uaua"), Keep("turns", 1)).setting == "strategy.keep_turns"
    assert keep_boundary(log_of("uaaa"), Keep("turns", 1)).setting == "strategy.keep_turns (as steps: too few turns)"
    assert keep_boundary(log_of("uaaa"), Keep("steps", 1)).setting == "strategy.keep_steps"


@pytest.mark.parametrize(
    ("shape", "deepest"),
    [
        ("ua", 1),
        ("uau", 3),
        ("ut", 1),
        ("uts", 1),  # a system message does not close the step
        ("utso", 1),
        ("utsu", 4),
        ("u", 1),
        ("o", 0),  # something must be left
        ("oso", 2),
        ("s", 1),
        ("", 0),
    ],
)
def test_the_last_legal_cut(shape: str, deepest: int) -> None:
    assert log_of(shape).deepest == deepest


def slow_on_grid(position: int, last: int, step: int, sums: list[int], fits: set[int]) -> int:
    """The rule, word for word: the last legal cut at or before the grid line, else the first one after the next."""
    if step == 0 or position == 0:
        return position
    needed = sums[position]
    back = max(k for k in range(position + 1) if sums[k] <= needed // step * step)
    if back in fits:
        return back
    return min([k for k in range(position, last) if sums[k] >= -(-needed // step) * step], default=last)


@given(st.data())
def test_cuts_on_the_grid(data: st.DataObject) -> None:
    sums = [0, *accumulate(data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=40)))]
    position = data.draw(st.integers(0, len(sums) - 1))
    last = data.draw(st.integers(position, len(sums) - 1))
    step = data.draw(st.integers(0, 30))
    fits = data.draw(st.sets(st.integers(0, len(sums) - 1)))
    assert on_grid(position, last, step, sums, fits.__contains__) == slow_on_grid(position, last, step, sums, fits)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 60), st.none() | st.integers(-5, 60))
def test_a_guess_never_changes_the_answer(low: int, width: int, first: int, near: int | None) -> None:
    high = low + width
    asked = []

    def test(place: int) -> bool:
        asked.append(place)
        return place >= first

    assert first_true(low, high, test, near) == min(max(low, first), high)
    assert all(low <= place < high for place in asked)


def test_a_good_guess_asks_seldom() -> None:
    places = list(range(100_000))
    asked: list[int] = []
    first_true(0, len(places), lambda k: bool(asked.append(k)) or k >= 77_777, near=77_776)
    assert len(asked) < 6
    assert bisect_left(places, 77_777) == 77_777
