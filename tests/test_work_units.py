"""A task in smaller units: they partition the work, and each is counted as it would be sent."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from core.advice_measures import prompt_of
from core.work_units import split_work
from tests.advice_runs import history
from tests.runs import result, run, says, user, uses


def test_5a_splits_lists_by_records() -> None:
    records = [{"id": n, "text": "noise of a record " * 4} for n in range(200)]
    text = json.dumps(records, separators=(",", ":"))
    transcript = run([user("Go."), uses("c1", "dump"), result("c1", text), says("Done.")])
    prompt = prompt_of(history(transcript, 700))
    assert prompt is not None
    work = split_work(prompt)
    assert {unit.kind for unit in work.units} == {"records"}
    assert len(work.units) > 3
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
