"""The soft limit that Compare suggests: what it is, that it can be sent, and the sentence that says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.parts.suggested_limit import LEAST_LIMIT, Room, limit_told, suggested_budget
from storage import Library
from storage.importing import import_path
from tests.pages_app import Open, id_of, page, run, sample_database, shown, store

__all__ = ["page", "sample_database", "store"]


@pytest.mark.parametrize(
    ("peak", "budget"), [(0, 100), (1, 100), (82, 100), (8_966, 4_500), (93_157, 47_000), (1_000_000, 500_000)]
)
def test_the_suggested_budget_of_a_prompt_without_a_floor_is_half_of_the_peak(peak: int, budget: int) -> None:
    assert suggested_budget(peak) == budget


@pytest.mark.parametrize(
    ("peak", "floor", "budget"),
    [
        (26_371, 14_088, 20_200),
        (8_961, 1_293, 5_100),
        (74_965, 5, 37_000),
        (14_500, 14_088, 14_290),
        (14_088, 14_088, 14_088),
        (14_000, 14_088, 14_000),
        (130, 120, 125),
        (60, 50, 100),
    ],
)
def test_the_suggested_budget_can_be_reached_above_the_floor(peak: int, floor: int, budget: int) -> None:
    assert suggested_budget(peak, floor) == budget


@given(st.integers(0, 3_000_000), st.integers(0, 3_000_000))
def test_the_suggested_budget_lies_between_the_floor_and_the_peak(peak: int, floor: int) -> None:
    made = suggested_budget(peak, floor)
    assert made >= LEAST_LIMIT
    assert made == LEAST_LIMIT or min(floor, peak) <= made <= peak


@pytest.mark.parametrize(
    ("soft", "peak", "floor", "said"),
    [
        (
            20_200,
            26_371,
            14_088,
            "About halfway between what every call carries, 14,088, and the largest recorded prompt.",
        ),
        (37_000, 74_965, 5, "About half of the largest recorded prompt."),
        (100, 8, 3, "The least that is suggested: the largest recorded prompt has 8 tokens."),
        (20_300, 26_371, 14_088, ""),
    ],
)
def test_the_sentence_on_a_suggested_budget_says_what_it_is(soft: int, peak: int, floor: int, said: str) -> None:
    assert limit_told(soft, 0, Room(peak, floor), None) == said


START = "About half of the largest recorded prompt"


@pytest.mark.parametrize(
    ("soft", "beside", "said"),
    [
        (4_500, 0, f"{START}."),
        (4_500, 2_000, f"{START}; 2,000 more are left for what is not recorded."),
        (4_501, 0, ""),
        (4_000, 3_000, "Of a budget of 7,000, 3,000 are left for what is not recorded."),
        (4_500, 1, f"{START}; 1 more is left for what is not recorded."),
        (4_000, 1, "Of a budget of 4,001, 1 is left for what is not recorded."),
        (None, 0, ""),
        (None, 3_000, ""),
    ],
)
def test_where_a_soft_limit_comes_from(soft: int | None, beside: int, said: str) -> None:
    assert limit_told(soft, beside, Room(8_961), None) == said
    assert limit_told(soft, beside, Room(8_961), 4_501) == said


@pytest.mark.parametrize(("soft", "beside"), [(1_100_000, 0), (1_100_000, 7), (128_001, 0)])
def test_a_soft_limit_above_the_window_is_not_the_limit(soft: int, beside: int) -> None:
    said = "The window of 128,000 tokens is smaller than the soft limit, and is the limit."
    assert limit_told(soft, beside, Room(2_100_009), 128_000) == said
    assert limit_told(128_000, 0, Room(2_100_009), 128_000) == ""


@pytest.mark.parametrize(
    ("peak", "floor", "most", "budget"),
    [
        (401_544, 0, 116_000, 110_000),
        (5_600_000, 20, 98_815, 98_000),
        (401_544, 100_000, 116_000, 116_000),
        (401_544, 115_990, 116_000, 116_000),
        (401_544, 120_000, 116_000, 116_000),
        (8_961, 1_293, 5_100, 5_100),
        (8_961, 1_293, 5_099, 5_000),
        (8_961, 1_293, None, 5_100),
        (8_961, 1_293, -7, LEAST_LIMIT),
    ],
)
def test_no_more_is_suggested_than_the_window_leaves(peak: int, floor: int, most: int | None, budget: int) -> None:
    assert suggested_budget(peak, floor, most) == budget


@given(st.integers(0, 3_000_000), st.integers(0, 3_000_000), st.integers(LEAST_LIMIT, 3_000_000))
def test_a_window_only_lowers_what_is_suggested(peak: int, floor: int, most: int) -> None:
    made, free = suggested_budget(peak, floor, most), suggested_budget(peak, floor)
    assert LEAST_LIMIT <= made <= min(most, free)
    assert made == free or made > most * 0.9 - 1
    assert most < free or made == free


WINDOW = "What the window of 200,000 leaves after answer"


@pytest.mark.parametrize(
    ("room", "said"),
    [
        (Room(401_544, 0, 0, 200_000, 116_000), f"{WINDOW} and reserve, rounded down."),
        (Room(401_544, 0, 0, 200_000, 110_000), f"{WINDOW} and reserve."),
        (Room(401_544, 0, 6_000, 200_000, 116_000), f"{WINDOW}, reserve and 6,000 not recorded."),
        (Room(401_544, 0, 3_000, 200_000, 116_000), f"{WINDOW}, reserve and 3,000 not recorded, rounded down."),
        (
            Room(401_544, 0, 116_000, 200_000, 116_000),
            "The least that is suggested: the window of 200,000 leaves no more after answer, reserve and 116,000 not"
            " recorded.",
        ),
        (Room(8_961, 0, 0, 200_000, 116_000), f"{START}."),
        (Room(8_961, 0, 9, 200_000, 116_000), f"{START}; 9 more are left for what is not recorded."),
    ],
)
def test_a_limit_that_the_window_keeps_low_says_so(room: Room, said: str) -> None:
    assert limit_told(room.suggested, room.beside, room, room.window) == said
    assert room.most is not None and (room.suggested == LEAST_LIMIT or room.suggested + room.beside <= room.most)


@pytest.mark.parametrize("beside", [0, 2_000])
def test_figures_of_another_model_are_no_reason_for_a_limit(beside: int) -> None:
    """A model that is typed counts other tokens, so what was suggested before is told by no figure of the page."""
    room = Room(8_961, 1_293, beside)
    assert limit_told(room.suggested, beside, room, None).startswith("About halfway between")
    other = f"Of a budget of {room.suggested + beside:,}, {beside:,} are left for what is not recorded."
    assert limit_told(room.suggested, beside, None, None) == (other if beside else "")


def test_compare_begins_with_a_limit_that_the_model_can_take(page: Open, store: Library, tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    said = [{"role": "user", "content": "word " * 300_000}, {"role": "assistant", "content": "Long."}]
    path.write_text(json.dumps({"model": "gpt-4o", "messages": said}), encoding="utf-8")
    [number] = import_path(store, path).ids
    app = page("compare.py", transcript=number)
    assert app.number_input(key="budget").value == 98_000  # 128,000, less a tenth and 16,384 for the answer, is 98,816
    assert "What the window of 128,000 leaves after answer and reserve, rounded down." in shown(app).replace("\\", "")


def test_a_typed_model_ends_what_is_said_of_a_suggested_limit(page: Open, store: Library) -> None:
    app = page("compare.py", transcript=id_of(store))
    assert "About halfway between what every call carries, 1,293" in shown(app)
    app.text_input(key="model").set_value("claude-sonnet-4-5")
    assert "About halfway" not in shown(run(app))
    app.text_input(key="model").set_value("")
    assert "About halfway between what every call carries, 1,293" in shown(run(app))
