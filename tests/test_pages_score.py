"""The scorecard as rows: what each cell says, which value is best, and which rows there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.replay import Replay, replay
from core.scorecard import Scorecard, scorecard
from pages.parts.measure import Cell
from pages.parts.score import measures
from pages.parts.score_view import explained
from tests.pages_app import sample

STRATEGIES: list[dict[str, Any]] = [
    {"kind": "full_history"},
    {"kind": "keep_last", "keep_turns": 2},
    {"kind": "summarize_and_keep", "keep_turns": 2, "min_turns": 0, "min_steps": 0},
]


def played(strategy: dict[str, Any]) -> Replay:
    return replay(sample(), {"budget": {"soft_limit": 4500}, "strategy": strategy})


def rows_of(*cards: Scorecard) -> dict[str, tuple[Cell, ...]]:
    return {row.name: row.cells for row in measures(scorecard(played({"kind": "as_captured"})), cards)}


def texts(cells: Sequence[Cell]) -> list[str]:
    return [cell.text for cell in cells]


def test_the_scorecard_compares_with_what_was_captured() -> None:
    replays = [played(strategy) for strategy in STRATEGIES[:2]]
    cut = replace(scorecard(replays[1]), violations=2, violations_checked=5, changed=9)
    rows = rows_of(scorecard(replays[0]), cut)
    peak = rows["Peak in window, tokens"]
    before, after = (f"{max(one.calls['in_window']):,}" for one in replays)
    assert texts(peak) == [before, before, f"{after}  −51%"]
    assert [cell.best for cell in peak] == [False, False, True]
    assert texts(rows["Calls changed"]) == ["—", "did nothing", "9 of 20"]
    assert texts(rows["Violations of the API's rules"]) == ["—", "0", "2 (5 of 9 calls checked)"]
    assert [cell.best for cell in rows["Violations of the API's rules"]] == [False, True, False]


def test_tokens_that_are_not_recorded_add_up_to_the_bill() -> None:
    card = scorecard(played(STRATEGIES[1]))
    plain = {row.name for row in measures(card, [card])}
    assert not plain & {"Not recorded, tokens", "Counted too much, tokens", "Sent in all, tokens"}
    assert "Billed as reported, tokens" not in plain and "Of that not recorded" not in plain
    captured = replace(
        card, sum_tokens=1000, not_recorded_tokens=3000, sent_tokens=4000, billed_tokens=4000, billed_calls=20,
        corrected_tokens=0, not_recorded_unknown_calls=0,
    )  # fmt: skip
    cut = replace(captured, sum_tokens=500, sent_tokens=3500, not_recorded_unknown_calls=2)
    rows = {row.name: texts(row.cells) for row in measures(captured, [cut])}
    assert rows["Sum over calls, tokens"] == ["1,000", "500  −50%"]
    assert rows["Not recorded, tokens"] == ["3,000", "3,000 in 18 of 20 calls"]
    assert rows["Sent in all, tokens"] == ["4,000", "3,500  −12%"]
    assert rows["Billed as reported, tokens"] == ["4,000", "—"]
    unknown = replace(cut, not_recorded_tokens=None)
    assert texts({row.name: row.cells for row in measures(captured, [unknown])}["Not recorded, tokens"])[1] == "unknown"


def test_counts_that_were_too_high_are_taken_off() -> None:
    card = replace(
        scorecard(played(STRATEGIES[1])), sum_tokens=1000, not_recorded_tokens=0, corrected_tokens=-70,
        not_recorded_unknown_calls=0, sent_tokens=930, billed_tokens=900, billed_calls=19,
    )  # fmt: skip
    rows = {row.name: texts(row.cells) for row in measures(card, [card])}
    assert rows["Counted too much, tokens"] == ["−70", "−70"] and "Not recorded, tokens" not in rows
    assert rows["Sent in all, tokens"] == ["930", "930"]
    assert rows["Billed as reported, tokens"] == ["900 in 19 of 20 calls", "—"]


def test_what_is_sent_and_what_is_recorded_are_told_apart_where_they_differ() -> None:
    plain = scorecard(played(STRATEGIES[1]))
    names = [row.name for row in measures(plain, [plain])]
    assert names[:2] == ["Peak in window, tokens", "Sum over calls, tokens"]
    assert names[2:4] == ["Calls over budget", "Largest excess, tokens"]
    captured = replace(
        plain, peak=900, peak_sent=1_500, sum_tokens=1_000, sent_tokens=4_000, over_budget=9, over_budget_recorded=4,
        largest_excess=700,
    )  # fmt: skip
    cut = replace(captured, peak=300, peak_sent=900, over_budget=5, over_budget_recorded=0, largest_excess=100)
    rows = {row.name: texts(row.cells) for row in measures(captured, [cut])}
    assert rows["Peak as recorded, tokens"] == ["900", "300  −67%"]
    assert rows["Peak as sent, tokens"] == ["1,500", "900  −40%"]
    assert rows["Calls over budget, as sent"] == ["9", "5"]
    assert rows["Calls over budget, as recorded"] == ["4", "0"]
    assert rows["Largest excess as sent, tokens"] == ["700", "100"]
    assert not rows.keys() & {"Peak in window, tokens", "Calls over budget", "Largest excess, tokens"}
    beside = {row.name: texts(row.cells) for row in measures(captured, [cut], 51_300, 51_000)}
    assert beside["Calls over budget, as sent (51,300)"] == ["9", "5"]
    assert beside["Calls over soft limit, as recorded (51,000)"] == ["4", "0"]
    assert measures(captured, [cut], 51_300, 51_300)[5].name == "Calls over budget, as recorded (51,300)"
    alike = replace(cut, over_budget=0)
    same = {row.name for row in measures(replace(captured, over_budget=4), [alike])}
    assert "Calls over budget, as sent" in same and "Calls over budget, as recorded" not in same


@given(first=st.floats(1e-5, 50), second=st.floats(1e-5, 50))
def test_the_percentage_of_a_cost_is_that_of_the_amounts_shown(first: float, second: float) -> None:
    captured = replace(scorecard(played(STRATEGIES[1])), cost_known_usd=first, cost_unknown_calls=0)
    rows = {row.name: texts(row.cells) for row in measures(captured, [replace(captured, cost_known_usd=second)])}
    before, after = rows["Cost, predicted, US dollars"]
    amount, _, percent = after.partition("  ")
    shown = [float(text.replace(",", "")) for text in (before, amount)]
    said = float(percent.replace("−", "-").rstrip("%") or 0) / 100
    assert said == pytest.approx((shown[1] - shown[0]) / shown[0], abs=0.0051, rel=0.01)
    assert said == pytest.approx((second - first) / first, abs=0.02, rel=0.02)


@pytest.mark.parametrize(
    ("costs", "shown"),
    [
        ((0.00086, 0.00084), ["0.000860", "0.000840  −2%"]),
        ((0.0009, 0.0008), ["0.000900", "0.000800  −11%"]),
        ((3.3335, 0.01), ["3.3335", "0.0100  −100%"]),
        ((2.0, 2.001), ["2.0000", "2.0010  +0.05%"]),
        ((2.0, 2.00001), ["2.0000", "2.0000"]),
        ((0.0, 0.5), ["0.0000", "0.5000"]),
    ],
)
def test_small_costs_have_the_decimals_that_tell_them(costs: tuple[float, float], shown: list[str]) -> None:
    captured = replace(scorecard(played(STRATEGIES[1])), cost_known_usd=costs[0], cost_unknown_calls=0)
    rows = {row.name: texts(row.cells) for row in measures(captured, [replace(captured, cost_known_usd=costs[1])])}
    assert rows["Cost, predicted, US dollars"] == shown


def test_uses_that_nobody_made_are_said_in_words() -> None:
    card = replace(scorecard(played(STRATEGIES[1])), references_used=0, references_lost=0, lines_copied=0, refetches=0)
    rows = {row.name: texts(row.cells) for row in measures(card, [card])}
    assert rows["References lost"] == ["—", "none used"]
    assert rows["Copied lines lost"] == ["—", "none copied"]
    assert "Refetches made likelier" not in rows
    assert not any("0 of 0" in text for cells in rows.values() for text in cells)


def test_losses_are_counts_with_a_share_where_it_tells() -> None:
    cards = [scorecard(played(strategy)) for strategy in STRATEGIES[:3]]
    few = replace(cards[1], references_lost=3, references_used=9, lost_share=None)
    cells = rows_of(*cards, few)["References lost"]
    kept, summarised = cards[1], cards[2]
    assert texts(cells) == [
        "—",
        "did nothing",
        f"{kept.references_lost} of {kept.references_used}  {kept.lost_share:.1%}",
        f"{summarised.references_lost} of {summarised.references_used}  {summarised.lost_share:.1%}",
        "3 of 9",
    ]
    assert [cell.best for cell in cells] == [False, False, False, False, True]


@pytest.mark.parametrize(("lost", "best"), [((0, 3), (True, False)), ((3, 9), (True, False)), ((3, 3), (False, False))])
def test_the_least_loss_is_best_of_those_that_changed_something(lost: tuple[int, int], best: tuple[bool, bool]) -> None:
    """What did nothing lost nothing, and what was captured cannot: neither is a loss to compare with."""
    whole, cut = (scorecard(played(strategy)) for strategy in STRATEGIES[:2])
    cards = [replace(cut, references_lost=number, references_used=90, lost_share=number / 90) for number in lost]
    cells = rows_of(whole, *cards)["References lost"]
    assert texts(cells)[:2] == ["—", "did nothing"]
    assert tuple(cell.best for cell in cells) == (False, False, *best)


def test_what_is_said_of_colours_holds_in_every_row() -> None:
    captured, cards = scorecard(played({"kind": "as_captured"})), [scorecard(played(one)) for one in STRATEGIES]
    said = explained(captured, sample())
    assert "the best value of a row is coloured where it is no worse than that." in said
    assert "Where what was captured has no value (—), the best of the configurations is coloured" in said
    coloured = {row.name: row.cells for row in measures(captured, cards) if any(cell.best for cell in row.cells)}
    assert {cells[0].number is None for cells in coloured.values()} == {True, False}
    for name, (first, *cells) in coloured.items():
        numbers = [cell.number for cell in cells if cell.number is not None]
        most = name in ("Cached share, predicted", "Called tools that were sent")
        best = (max if most else min)(numbers)
        assert [cell.best for cell in cells] == [cell.number == best for cell in cells], name
        if first.number is not None:
            assert best >= first.number if most else best <= first.number, name


def test_what_is_unknown_is_said_and_never_best() -> None:
    card = replace(scorecard(played(STRATEGIES[1])), cost_unknown_calls=0)
    captured = replace(card, cost_known_usd=1.0, cached_share=0.4)
    unknown = replace(card, cost_known_usd=None, cached_share=None)
    some = [replace(card, cost_known_usd=usd, cached_share=share) for usd, share in ((0.5, 0.25), (0.75, 0.5))]
    rows = {row.name: row.cells for row in measures(captured, [unknown, *some])}
    assert texts(rows["Cost, predicted, US dollars"]) == ["1.0000", "unknown", "0.5000  −50%", "0.7500  −25%"]
    assert [cell.best for cell in rows["Cost, predicted, US dollars"]] == [False, False, True, False]
    assert texts(rows["Cached share, predicted"]) == ["40%", "unknown", "25%", "50%"]
    assert [cell.best for cell in rows["Cached share, predicted"]] == [False, False, False, True]


def test_a_cost_that_is_known_for_some_calls_says_for_how_many() -> None:
    card = replace(scorecard(played(STRATEGIES[1])), cost_known_usd=0.25, cost_unknown_calls=1)
    whole = {row.name: row.cells for row in measures(replace(card, cost_unknown_calls=0), [card])}
    assert texts(whole["Cost, predicted, US dollars"]) == ["0.2500", "0.2500 in 19 of 20 calls"]
    rows = {row.name: texts(row.cells) for row in measures(card, [replace(card, cost_known_usd=0.275)])}
    assert rows["Cost, predicted, USD, 19 of 20 calls"] == ["0.2500", "0.2750  +10%"]
    none = replace(card, cost_known_usd=None, cost_unknown_calls=20)
    assert texts({row.name: row.cells for row in measures(none, [none])}["Cost, predicted, US dollars"])[0] == "unknown"


@pytest.mark.parametrize(
    ("captured", "costs", "best"),
    [
        (3.3335, (3.6433, 3.7774), (False, False)),  # doing nothing is cheapest
        (3.3335, (3.3335, 3.7774), (True, False)),
        (3.3335, (3.1, 3.2), (True, False)),
        (3.3335, (3.10001, 3.1, 3.2), (True, True, False)),  # what reads the same is the same
        (3.3335, (3.1, 3.10001), (False, False)),
        (None, (3.2, 3.1), (False, True)),
    ],
)
def test_no_cost_is_best_where_doing_nothing_costs_less(
    captured: float | None, costs: tuple[float, ...], best: tuple[bool, ...]
) -> None:
    card = replace(scorecard(played(STRATEGIES[1])), cost_unknown_calls=0)
    every = [replace(card, cost_known_usd=usd) for usd in (captured, *costs)]
    rows = {row.name: row.cells for row in measures(every[0], every[1:])}
    assert tuple(cell.best for cell in rows["Cost, predicted, US dollars"][1:]) == best


@pytest.mark.parametrize(
    ("captured", "shares", "best"),
    [
        (0.5, (0.724, 0.716, 0.6), (True, True, False)),
        (0.99, (0.95, 0.94), (False, False)),
        (0.5, (0.721, 0.72), (False, False)),
    ],
)
def test_shares_that_read_the_same_are_both_best_or_none(
    captured: float, shares: tuple[float, ...], best: tuple[bool, ...]
) -> None:
    card = scorecard(played(STRATEGIES[1]))
    every = [replace(card, cached_share=share) for share in (captured, *shares)]
    rows = {row.name: row.cells for row in measures(every[0], every[1:])}
    assert tuple(cell.best for cell in rows["Cached share, predicted"][1:]) == best


def test_more_tokens_than_were_captured_are_never_best() -> None:
    card = scorecard(played(STRATEGIES[1]))
    rows = {row.name: row.cells for row in measures(replace(card, peak=100), [card, replace(card, peak=101)])}
    assert not any(cell.best for cell in rows["Peak in window, tokens"])


def test_the_cost_as_reported_stands_above_the_predicted_one() -> None:
    card = replace(scorecard(played(STRATEGIES[1])), billed_tokens=100, billed_calls=20)
    card = replace(card, cost_reported_usd=4.5202, cost_reported_unknown_calls=0, cost_unknown_calls=0)
    names = [row.name for row in measures(card, [card])]
    assert names.index("Cost, predicted at most, US dollars") == names.index("Cost as reported, US dollars") + 1

    rows = {row.name: texts(row.cells) for row in measures(card, [card])}
    assert rows["Cost as reported, US dollars"] == ["4.5202", "—"]
    part = replace(card, cost_reported_unknown_calls=2)
    assert {row.name: texts(row.cells) for row in measures(part, [card])}["Cost as reported, USD, 18 of 20 calls"] == [
        "4.5202",
        "—",
    ]
    unknown = replace(card, cost_reported_usd=None, cost_reported_unknown_calls=20)
    rows = {row.name: texts(row.cells) for row in measures(unknown, [card])}
    assert rows["Cost as reported, US dollars"] == ["unknown", "—"]
    assert "Cost as reported, US dollars" not in rows_of(card)  # nothing was reported of the sample


def test_the_range_of_a_cost_has_a_row_where_it_is_wide() -> None:
    card = replace(scorecard(played(STRATEGIES[1])), cost_known_usd=3.3335)
    wide = replace(card, cost_low_usd=2.9936, cost_high_usd=9.6187)
    near = replace(card, cost_low_usd=3.31, cost_high_usd=3.34)
    unknown = replace(card, cost_low_usd=None, cost_high_usd=None)
    rows = {row.name: texts(row.cells) for row in measures(near, [wide, unknown])}
    assert rows["Range of the predicted cost"] == ["—", "2.9936 to 9.6187", "—"]
    assert "Range of the predicted cost" not in [row.name for row in measures(near, [near, unknown])]


def test_a_recording_without_responses_has_no_loss() -> None:
    card = scorecard(played(STRATEGIES[1]))
    assert rows_of(replace(card, unknown_responses=card.calls))["References lost"][1].text == "no responses"


def test_rules_and_tools_have_rows_where_there_are_any() -> None:
    card = replace(scorecard(played(STRATEGIES[1])), rules=0, tools_called=0, activation_recall=None)
    names = {"Instruction rules left out", "Called tools that were sent"}
    assert not names & rows_of(card).keys()
    rows = rows_of(
        replace(card, rules_missing=2, rules=31, activation_recall=0.9, tools_called=20, tools_missing=2),
        replace(card, rules_missing=0, rules=31),
    )
    assert texts(rows["Instruction rules left out"]) == ["—", "2 of 31", "0 of 31"]
    assert texts(rows["Called tools that were sent"]) == ["—", "18 of 20  90%", "none called"]


def test_refetches_stand_beside_the_recording_s() -> None:
    card = replace(scorecard(played(STRATEGIES[1])), refetches=7, rereads=2, refetches_likelier=3)
    idle = replace(card, did_nothing=True)
    cells = {row.name: row.cells for row in measures(card, [card, idle])}["Refetches made likelier"]
    assert texts(cells) == ["7 recorded, 2 for the same result", "3 of 7", "did nothing"]
    plain = {row.name: row.cells for row in measures(replace(card, rereads=0), [card])}["Refetches made likelier"]
    assert plain[0].text == "7 recorded"


def test_tokens_by_what_the_cache_does_with_them() -> None:
    card = scorecard(played(STRATEGIES[1]))
    card = replace(card, cached_tokens=9000, written_tokens=0, uncached_tokens=1200, cache_unknown_calls=1)
    paid = replace(card, cached_tokens=8000, written_tokens=700, uncached_tokens=0)
    rows = {row.name: row.cells for row in measures(card, [card, paid])}
    assert texts(rows["Cached tokens, 19 of 20 calls"]) == ["9,000", "9,000", "8,000"]
    assert texts(rows["Written to the cache, 19 of 20 calls"]) == ["0", "0", "700"]
    assert texts(rows["Uncached tokens, 19 of 20 calls"]) == ["1,200", "1,200", "0"]
    assert [cell.best for cell in rows["Uncached tokens, 19 of 20 calls"]] == [False, False, True]
    assert "Of that not recorded" not in rows
    hidden = {row.name: row.cells for row in measures(card, [replace(paid, cached_not_recorded_tokens=5000)])}
    assert texts(hidden["Of that not recorded"]) == ["0", "5,000"]
    assert not any(cell.best for cell in rows["Cached tokens, 19 of 20 calls"])  # a longer prompt has more of them


def test_tokens_that_are_known_for_different_calls_say_for_how_many() -> None:
    card = replace(scorecard(played(STRATEGIES[1])), cached_tokens=9000, written_tokens=0, cache_unknown_calls=0)
    part = replace(card, cached_tokens=10, cache_unknown_calls=18)
    unknown = replace(card, cached_tokens=None, written_tokens=None, uncached_tokens=None, cache_unknown_calls=20)
    rows = {row.name: row.cells for row in measures(card, [part, unknown])}
    assert texts(rows["Cached tokens"]) == ["9,000", "10 in 2 of 20 calls", "unknown"]
    assert "Written to the cache" not in rows
    assert not [row for row in measures(unknown, [unknown]) if row.name.startswith(("Cached tokens", "Uncached"))]


def test_what_the_provider_reported_stands_beside_the_prediction() -> None:
    card = scorecard(played(STRATEGIES[1]))
    told = replace(card, cached_share_reported=0.5)
    assert texts({row.name: row.cells for row in measures(told, [card])}["Cached share, reported"]) == ["50%", "—"]
    nonsense = replace(card, cached_share_reported=1.5)
    said = {row.name: row.cells for row in measures(nonsense, [card])}["Cached share, reported"]
    assert texts(said) == ["not believable", "—"] and said[0].number is None
    silent = replace(card, cached_share_reported=None)
    assert "Cached share, reported" not in [row.name for row in measures(silent, [card])]


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        ({"error": 1, "warning": 2, "notice": 0}, "1 error, 2 warnings"),
        ({"error": 0, "warning": 0, "notice": 1}, "1 notice"),
        ({"error": 0, "warning": 0, "notice": 0}, "none"),
    ],
)
def test_findings_are_counted_by_level(levels: dict[str, int], text: str) -> None:
    card = replace(scorecard(played(STRATEGIES[1])), findings_by_level=levels)
    assert rows_of(card)["Findings"][1].text == text


def test_nothing_is_best_where_all_are_the_same() -> None:
    card = scorecard(played(STRATEGIES[1]))
    assert not any(cell.best for cells in rows_of(card, card).values() for cell in cells)


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ({"summaries": 3, "summaries_estimated": 2, "summaries_usd": 0.25}, "3 summaries, about 0.2500"),
        ({"summaries": 1, "summaries_estimated": 0, "summaries_usd": 0.5}, "1 summary, 0.5000"),
        ({"summaries": 3, "summaries_estimated": 3, "summaries_usd": None}, "3 summaries, unknown"),
    ],
)
def test_summaries_have_a_row_where_a_model_writes_any(known: dict[str, Any], text: str) -> None:
    card = scorecard(played(STRATEGIES[1]))
    assert "Of that for summaries" not in rows_of(card)
    assert texts(rows_of(replace(card, **known), card)["Of that for summaries"]) == ["—", text, "—"]
