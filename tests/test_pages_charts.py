"""Charts as specifications: few marks, limits in scale or named, and columns that take the click."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.replay import replay
from pages.parts import charts, palette
from pages.parts.frames import kinds_used, pointer_columns, segments
from pages.parts.texts import cut_name, file_name, named_column
from pages.parts.turns import MOST_MARKS, Bar, bar_of_call, bars_of_calls, bars_of_turns, edges, turns_of
from tests.pages_app import sample

NOTHING = pd.DataFrame(columns=["place", "tokens", "label"])


def spec(*limits: charts.Limit, dark: bool = False, chosen: int | None = 3) -> dict[str, Any]:
    captured = replay(sample(), {"strategy": {"kind": "as_captured"}})
    bars = bars_of_calls(captured.calls["in_window"], len(kinds_used(captured)))
    frame = segments(captured, bars)
    found: dict[str, Any] = charts.stacked(
        frame, pointer_columns(captured, bars), limits, NOTHING, chosen, "call", dark
    ).to_dict()
    return found


def marks(found: dict[str, Any]) -> list[str]:
    return [layer["mark"]["type"] for layer in found["layer"]]


@pytest.mark.parametrize(("tokens", "drawn"), [(9_000, 1), (20_000, 1), (23_000, 0), (128_000, 0)])
def test_a_limit_far_above_all_bars_is_not_drawn(tokens: int, drawn: int) -> None:
    limit = charts.Limit("soft budget", tokens)
    assert marks(spec(limit)).count("rule") == drawn
    assert len(charts.beyond([limit], 8_966)) == 1 - drawn


def test_what_is_set_aside_below_the_window_is_a_band() -> None:
    plain, banded = spec(charts.Limit("hard window", 9_000)), spec(charts.Limit("hard window", 9_000, 500))
    assert marks(banded).count("rect") == marks(plain).count("rect") + 1


@pytest.mark.parametrize("dark", [False, True])
def test_kinds_have_their_colours_and_the_fixed_part_is_below(dark: bool) -> None:
    scale = spec(dark=dark)["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"][:3] == ["overhead", "instructions", "tool_definition"]
    assert scale["domain"][-1] == "tool_result"
    assert scale["range"] == [palette.kinds(dark)[kind] for kind in scale["domain"]]


def drawn_with(sent: list[int]) -> dict[str, Any]:
    captured = replay(sample(), {"strategy": {"kind": "as_captured"}})
    bars = bars_of_calls(captured.calls["in_window"][:3], 5)
    columns = pointer_columns(captured, bars).assign(sent=sent)
    frame = segments(captured, bars)
    found: dict[str, Any] = charts.stacked(frame, columns, [], NOTHING, 2, "call", False).to_dict()
    return found


def test_a_bar_with_hidden_tokens_is_framed_to_its_top() -> None:
    found = drawn_with([90_000, 91_000, 92_000])
    assert [layer["encoding"]["y2"]["field"] for layer in found["layer"][-2:]] == ["sent", "high"]
    assert found["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0, 1.06 * 92_000]
    assert "rule" not in marks(found)


def test_counts_above_the_report_have_a_line_where_the_report_is() -> None:
    found = drawn_with([900, 91_000, 900])
    line = next(layer for layer in found["layer"] if layer["mark"]["type"] == "rule")
    assert line["encoding"]["y"]["field"] == "sent"
    assert [row["place"] for row in found["datasets"][line["data"]["name"]]] == [1, 3]


def test_a_click_selects_a_call_and_the_tooltip_has_all_kinds() -> None:
    found = spec()
    picked = next(param for param in found["params"] if param["name"] == charts.PICKED)
    assert picked["select"]["fields"] == ["call"]
    tips = [tip["field"] for tip in found["layer"][-1]["encoding"]["tooltip"]]
    assert tips[:3] == ["call", "in_window", "entered"]
    assert {"tool_result", "overhead"} <= set(tips)


def test_one_call_has_one_tick_and_a_visible_point() -> None:
    points = pd.DataFrame({"place": [1, 1], "tokens": [5, 3], "series": ["as captured", "x"]})
    columns = pd.DataFrame({"place": [1], "left": [0.6], "right": [1.4], "call": [1]})
    found = charts.lines(points, columns, {"as captured": "#999999", "x": "#111111"}, [], 1, "call", False).to_dict()
    assert found["layer"][0]["mark"]["point"] is True
    assert found["layer"][0]["encoding"]["x"]["axis"]["values"] == [1]


def test_the_segments_of_a_bar_add_up_to_its_window() -> None:
    captured = replay(sample(), {"strategy": {"kind": "as_captured"}})
    frame = segments(captured, bars_of_calls(captured.calls["in_window"], 10))
    assert frame.groupby("place")["high"].max().tolist() == list(captured.calls["in_window"])


@given(st.lists(st.integers(0, 9), max_size=3000), st.integers(0, 20))
def test_bars_cover_all_calls_once_and_stay_few(tokens: list[int], series: int) -> None:
    bars = bars_of_calls(tokens, series)
    assert [call for bar in bars for call in range(bar.first, bar.last + 1)] == list(range(len(tokens)))
    assert len(bars) * max(1, series) <= MOST_MARKS + max(1, series)
    assert all(tokens[bar.call] == max(tokens[bar.first : bar.last + 1]) for bar in bars)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=60))
def test_turns_cover_all_calls_once(steps: list[int]) -> None:
    turns = [sum(steps[: index + 1]) for index in range(len(steps))]
    bars = bars_of_turns([1] * len(turns), turns)
    assert [call for bar in bars for call in range(bar.first, bar.last + 1)] == list(range(len(turns)))
    assert len(bars) == len(set(turns))
    assert [bar.place for bar in bars] == list(range(1, len(bars) + 1))


def test_turns_are_counted_by_user_messages() -> None:
    transcript = sample()
    assert turns_of(replay(transcript, {"strategy": {"kind": "as_captured"}}))[0] == 1
    users = [message for message in transcript.messages if message["role"] == "user"]
    assert max(turns_of(replay(transcript, {"strategy": {"kind": "as_captured"}}))) == len(users)


def test_bars_stand_beside_each_other_with_a_gap() -> None:
    bars = [Bar(1, 0, 2, 1), Bar(4, 3, 5, 3), Bar(7, 6, 6, 6)]
    found = edges(bars)
    assert found[0] == pytest.approx((0.74, 3.26))
    assert all(right < left for (_, right), (left, _) in pairwise(found))
    assert edges([]) == []
    assert bar_of_call(bars, 4) == bars[1]
    assert bar_of_call(bars, 99) is None


LONG = "support bot, production, summaries of at most 400 tokens, keep 4"


def test_a_long_name_is_cut_in_the_legend_and_whole_in_the_tooltip() -> None:
    points = pd.DataFrame({"place": [1, 1], "tokens": [5, 6], "series": ["as captured", LONG]})
    columns = pd.DataFrame({"place": [1], "left": [0.5], "right": [1.5], "call": [1], "as captured": [5], LONG: [6]})
    colours = {"as captured": "#000000", LONG: "#ff0000"}
    found = charts.lines(points, columns, colours, [], None, "call", False).to_dict()
    colour = found["layer"][0]["encoding"]["color"]
    assert colour["scale"]["domain"] == ["as captured", LONG]
    cut, _, otherwise = colour["legend"]["labelExpr"].partition("[datum.label] || ")
    assert (json.loads(cut), otherwise) == ({LONG: "support bot, product…s, keep 4"}, "datum.label")
    tips = found["layer"][-1]["encoding"]["tooltip"]
    assert [tip["title"] for tip in tips] == ["call", "as captured", LONG]
    short = charts.lines(points, columns, {"as captured": "#000000"}, [], None, "call", False).to_dict()
    assert "labelExpr" not in short["layer"][0]["encoding"]["color"]["legend"]


def test_a_name_with_points_and_brackets_is_still_one_column() -> None:
    name = 'v1.2 [beta]: it\'s "new"'
    columns = pd.DataFrame({"place": [1], "left": [0.5], "right": [1.5], "call": [1], name: [6]})
    points = pd.DataFrame({"place": [1], "tokens": [6], "series": [name]})
    found = charts.lines(points, columns, {name: "#000000"}, [], None, "call", False).to_dict()
    tip = found["layer"][-1]["encoding"]["tooltip"][-1]
    assert (tip["title"], tip["type"]) == (name, "quantitative")
    assert tip["field"] == 'v1\\.2 \\[beta\\]: it\\\'s \\"new\\"'


@pytest.mark.parametrize(
    ("name", "cut"),
    [("", ""), ("x" * 30, "x" * 30), ("x" * 31, "x" * 20 + "…" + "x" * 9), ("a " * 20, "a a a a a a a a a a…a a a a")],
)
def test_names_are_cut_in_their_middle(name: str, cut: str) -> None:
    assert cut_name(name) == cut
    column = named_column(name)
    assert (column["label"], column["help"]) == (cut, None if name == cut else name)


@pytest.mark.parametrize(
    ("name", "file"),
    [("keep_last · 2 turns", "keep-last-2-turns"), ("运维", "configuration"), ("a" * 300, "a" * 80), ("../x", "x")],
)
def test_a_file_is_named_after_its_configuration(name: str, file: str) -> None:
    assert file_name(name) == file


def named(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the mark of each limit's name, by the name; each has a halo below it, which says the same."""
    texts = [layer for layer in found["layer"] if layer["mark"]["type"] == "text"]
    halos = [layer for layer in texts if "stroke" in layer["mark"]]
    plain = [layer for layer in texts if "stroke" not in layer["mark"]]
    assert [layer["data"] for layer in halos] == [layer["data"] for layer in plain]
    said = [found["datasets"][layer["data"]["name"]][0]["label"] for layer in plain]
    return {name: {**layer["mark"], **layer["encoding"]} for name, layer in zip(said, plain, strict=True)}


SOFT, HARD = "soft budget", "hard window"


@pytest.mark.parametrize(
    ("soft", "hard", "baselines"),
    [
        (8_000, 8_900, ["top", "bottom"]),
        (8_900, 8_900, ["top", "bottom"]),
        (8_900, 8_000, ["bottom", "top"]),
        (4_000, 8_900, ["bottom", "bottom"]),
        (1, 8_900, ["bottom", "bottom"]),
        (1, 300, ["bottom", "bottom"]),
    ],
)
def test_no_line_strikes_through_the_name_of_another(soft: int, hard: int, baselines: list[str]) -> None:
    found = named(spec(charts.Limit(SOFT, soft), charts.Limit(HARD, hard)))
    assert [mark["baseline"] for mark in found.values()] == baselines
    assert len({json.dumps(mark["x"]) for mark in found.values()}) == 2


@pytest.mark.parametrize("dark", [False, True])
def test_a_name_over_a_bar_has_the_ground_round_it(dark: bool) -> None:
    found = spec(charts.Limit(SOFT, 1), dark=dark)
    halos = [layer["mark"]["stroke"] for layer in found["layer"] if "stroke" in layer["mark"] and "text" in
             layer["encoding"]]  # fmt: skip
    assert halos == [palette.ground(dark)]
    assert list(named(found)) == ["soft budget 1"]


@pytest.mark.parametrize(
    ("tokens", "align"), [([1, 5, 9], "right"), ([9] * 12, "left"), ([*range(1, 13)], "left"), ([9, 5] * 3, "right")]
)
def test_names_of_limits_stand_where_bars_are_lower(tokens: list[int], align: str) -> None:
    places = range(1, len(tokens) + 1)
    columns = pd.DataFrame({"place": places, "left": [p - 0.4 for p in places], "right": [p + 0.4 for p in places],
                            "call": places, "in_window": tokens})  # fmt: skip
    bars = columns.assign(low=0, high=tokens, kind="user")
    found = charts.stacked(bars, columns, [charts.Limit(SOFT, 5)], NOTHING, 1, "call", False).to_dict()
    assert [mark["align"] for mark in named(found).values()] == [align]


@pytest.mark.parametrize(("sent", "axis", "tip"), [(None, "in window", "in window"), (9_999, "as sent", "recorded")])
def test_the_axis_and_the_tooltip_say_what_is_counted(sent: int | None, axis: str, tip: str) -> None:
    found = spec() if sent is None else drawn_with([sent] * 3)
    titles = {layer["encoding"]["y"]["title"] for layer in found["layer"] if "title" in layer["encoding"]["y"]}
    assert titles == {f"tokens {axis}"}
    assert {"field": "in_window", "title": tip}.items() <= found["layer"][-1]["encoding"]["tooltip"][1].items()
