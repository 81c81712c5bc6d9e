"""A task in smaller units: they partition the work, and each is counted as it would be sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.advice_measures import prompt_of
from core.work_units import Work, split_work
from tests.advice_runs import history
from tests.runs import result, run, says, user, uses
from tests.work import counted_work


def test_5a_splits_lists_by_records() -> None:
    records = [{"id": n, "text": "noise of a record " * 4} for n in range(200)]
    text = json.dumps(records, separators=(",", ":"))
    transcript = run([user("Go."), uses("c1", "dump"), result("c1", text), says("Done.")])
    prompt = prompt_of(history(transcript, 700))
    assert prompt is not None
    work = split_work(prompt)
    assert {unit.kind for unit in work.units} == {"records"}
    assert len(work.units) >= 3
    assert "".join(work.text_of(unit) for unit in work.units) == text
    assert all(work.text_of(unit).endswith(("}", "]")) for unit in work.units)
    assert work.fits is (work.aggregator <= 700)


def test_5a_counts_a_unit_as_it_would_be_sent() -> None:
    """A unit's tokens are those that the engine counts for its request."""
    transcript = run(
        [user("Go."), uses("c1", "dump"), result("c1", "noise of a log\n" * 900), says("Done.")], system="Be brief."
    )
    prompt = prompt_of(history(transcript, 800))
    assert prompt is not None
    work = split_work(prompt)
    total = len(work.units)
    for number, unit in enumerate(work.units, start=1):
        asked = f"Go.\n\n[part {number} of {total}: {unit.name}]\n{work.text_of(unit)}"
        alone = history(run([user(asked), says("Fine.")], system="Be brief."), 800)
        assert alone.calls["in_window"] == [unit.tokens]
        assert alone.calls["status"] == ["fits"]


lines = st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=40), min_size=1, max_size=60)


@given(st.lists(lines, min_size=1, max_size=4), st.integers(60, 600))
def test_units_partition_whatever_there_is(texts: list[list[str]], budget: int) -> None:
    said = [
        m
        for n, text in enumerate(texts)
        for m in (uses(f"c{n}", "read", path=str(n % 2)), result(f"c{n}", "\n".join(text)))
    ]
    prompt = prompt_of(history(run([user("Go."), *said, says("Done.")]), budget))
    assert prompt is not None
    work = split_work(prompt)
    held: dict[str, str] = {}
    for unit in work.units:
        for piece in unit.pieces:
            held[piece.span_id] = held.get(piece.span_id, "") + work.texts[piece.span_id][piece.start : piece.stop]
    assert held == work.texts


def looked_at(texts: Sequence[str], budget: int, path: str = "", **config: Any) -> Work:
    """Return the units of a run whose results are these texts, all of one file or of none."""
    named = {"path": path} if path else {}
    said = [m for n, text in enumerate(texts) for m in (uses(f"c{n}", "look", **named), result(f"c{n}", text))]
    prompt = prompt_of(history(run([user("Go."), *said, says("Done.")]), budget, **config))
    assert prompt is not None
    return split_work(prompt)


LONG = "/".join(f"a_long_name_of_a_folder_{n}" for n in range(12))
COUNTERS = [{}, {"counter": {"kind": "chars4"}}, {"counter": {"kind": "cjk_estimate"}}, {"model": {"name": "claude-3"}}]
tiny = st.text(st.sampled_from("ab1 /\n.\u4e2d"), min_size=1, max_size=12)


@given(
    st.lists(tiny, min_size=1, max_size=80),
    st.integers(1, 6),
    st.integers(110, 500),
    st.sampled_from(["", "a.py", LONG]),
    st.sampled_from(COUNTERS),
)
@example([f"{n}" for n in range(80)], 5, 200, "", {})
@example(["1234567"] * 80, 6, 150, "a.py", {"counter": {"kind": "chars4"}})
@example(["/", "\n", " a"] * 20, 6, 150, LONG, {"model": {"name": "claude-3"}})
def test_whatever_is_put_together_fits(texts: list[str], times: int, budget: int, path: str, config: Any) -> None:
    """The line breaks between texts and the label before them count, however small the texts are."""
    work = looked_at(texts * times, budget, path, **config)
    assert [unit.tokens for unit in work.units if len(unit.pieces) > 1 and unit.tokens > budget] == []


@pytest.mark.parametrize(
    ("texts", "units"), [([f"result {n} is fine" for n in range(600)], 3), ([str(n) for n in range(3000)], 6)]
)
def test_many_small_results_are_split_to_fit(texts: list[str], units: int) -> None:
    work = looked_at(texts, 1500)
    assert len(work.units) == units and work.fits
    # None has so much room left that two of them could be one.
    assert all(one.tokens + other.tokens > 1500 for one, other in zip(work.units, work.units[1:], strict=False))


def test_a_label_with_a_long_path_takes_its_room_from_the_texts() -> None:
    texts = [f"line {n} of the text of a file\n" * 60 for n in range(4)]
    assert len(LONG) > 250
    work = looked_at(texts, 500, LONG)
    assert all(unit.fits for unit in work.units)
    assert all(LONG in unit.text for unit in work.units)


def test_what_cannot_be_cut_is_told_and_holds_nothing_else_back() -> None:
    """A text without a place to cut it is over the budget alone; the others are packed as if it was not there."""
    word, lines = "x1Q" * 900, [f"line {n}" for n in range(200)]
    work = looked_at([*lines, word], 600)
    assert [unit.fits for unit in work.units] == [*[True] * (len(work.units) - 1), False]
    assert len(work.units) == len(looked_at(lines, 600).units) + 1


def test_packing_costs_what_the_material_has() -> None:
    def cost(count: int) -> int:
        with counted_work() as work:
            assert len(looked_at([f"{count} has {n}" for n in range(count)], 600).units) >= 3
        return work.calls

    cost(300)  # what is read once
    assert cost(2400) < 10 * cost(400)
