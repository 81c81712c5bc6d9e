"""Whether a call fits is one answer everywhere: by what is sent, with what the recording does not hold."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.advice_tree import Leaf
from core.export import exported
from core.finding import Level
from core.replay import replay
from core.scorecard import scorecard
from core.sent_sizes import fits_as_recorded, sizes_of
from core.transcript import Transcript
from tests.advice_runs import advice, agent, chat, history, restated
from tests.test_advice_sizes import LACKS, reported
from tests.test_findings import found, played, with_changes

BEYOND = [-300, 0, 700, 3_000]
"""Tokens reported beyond those counted: counts that were too high, exact ones, and hidden parts."""


def unreported(transcript: Transcript) -> Transcript:
    """Return a transcript that is known to lack its system prompt, of unknown size."""
    return with_changes(transcript, notes=LACKS[:1])


@settings(max_examples=25, deadline=None)
@given(beyond=st.integers(-60, 4_000), budget=st.integers(0, 6_000), keep=st.integers(1, 8))
def test_a_call_is_over_the_budget_by_what_is_sent_of_it(beyond: int, budget: int, keep: int) -> None:
    made = played(reported(chat(12), beyond), budget, "keep_last", keep_turns=keep)
    for call, sent in enumerate(made.calls["sent"]):
        assert made.calls["sent_excess"][call] == max(0, sent - budget)
        recorded = made.calls["in_window"][call]
        assert sizes_of(made, call).fits(recorded) is (made.calls["sent_excess"][call] == 0)
        assert made.calls["excess"][call] == max(0, recorded - budget)


def test_without_a_limit_nothing_is_over_it() -> None:
    made = played(reported(chat(4), 3_000), None)
    assert made.calls["sent_excess"] == [0] * 4
    assert fits_as_recorded(made) == []


@pytest.mark.parametrize("beyond", BEYOND)
@pytest.mark.parametrize("budget", [400, 1_500, 2_000, 3_500, 9_000])
def test_findings_scorecard_export_and_advice_say_the_same_of_a_budget(beyond: int, budget: int) -> None:
    transcript = reported(chat(20), beyond)
    made = played(transcript, budget, "as_captured")
    over = [call for call, sent in enumerate(made.calls["sent"]) if sent > budget]
    told, card, advised = found(made), scorecard(made), advice(transcript, budget)
    assert (advised.advice.leaf is Leaf.FITS) is not over
    assert ("over_budget" in told) is bool(over)
    assert (card.over_budget, card.largest_excess) == (len(over), max(0, max(made.calls["sent"]) - budget))
    assert card.peak_sent == max(made.calls["sent"])
    measured = exported([made], datetime(2026, 1, 1, tzinfo=UTC))["provenance"]["measured"]
    assert measured["calls_over_budget"] == card.over_budget_recorded == sum(map(bool, made.calls["excess"]))
    assert measured["peak_tokens"] == card.peak
    if over:
        finding = told["over_budget"]
        assert finding.call == advised.prompt.call
        assert (finding.figures["calls"], finding.figures["largest_excess"]) == (len(over), card.largest_excess)
        helpless = told.get("cannot_help")
        out_of_reach = advised.advice.leaf is Leaf.OUT_OF_REACH
        assert not out_of_reach or (helpless is not None and helpless.figures["calls"] == 20)


def test_hidden_tokens_are_told_beside_what_is_over() -> None:
    told = found(played(reported(chat(20), 3_000), 5_000, "as_captured"))["over_budget"]
    assert told.sentence == (
        "5 of 20 calls are over the soft budget as sent, first call 16; the worst, call 20, by 577 tokens, with about"
        " 3,000 tokens that are not recorded. By what is recorded alone, which is all that a strategy sees, all 5 are"
        " within the budget."
    )
    verdict = advice(reported(chat(20), 3_000), 5_000).verdict
    assert "577 tokens over the budget of 5,000, with about 3,000 tokens that are not recorded" in verdict


def test_a_corrected_count_is_told_in_both_measures() -> None:
    transcript = reported(chat(20), [-tokens // 10 for tokens in history(chat(20), None).calls["in_window"]])
    told = found(played(transcript, 1_500, "as_captured"))["over_budget"]
    overflow = advice(transcript, 1_500).advice.overflow
    assert told.sentence.endswith(f" tokens as reported, {overflow:,} as counted here.")
    assert 0 < told.figures["largest_excess"] < overflow


def test_a_prompt_that_a_strategy_made_was_reported_by_nobody() -> None:
    transcript = reported(chat(20), [-tokens // 10 for tokens in history(chat(20), None).calls["in_window"]])
    made = played(transcript, 1_000, "keep_last", keep_turns=2, min_turns=15, min_steps=15)
    told = found(made)["over_budget"]
    over = sizes_of(made, told.call).over(made.calls["in_window"][told.call])
    by = told.figures["largest_excess"]
    assert 0 < by < over
    assert told.sentence.endswith(f"by {by:,} tokens as corrected by the reports, {over:,} as counted here.")


def test_parts_of_unknown_size_are_told_beside_what_is_over() -> None:
    sentence = found(played(unreported(chat(20)), 1_000, "as_captured"))["over_budget"].sentence
    assert sentence.endswith(" tokens, without the system prompt, which is not recorded.")


@pytest.mark.parametrize(
    ("budget", "calls", "ends"),
    [
        (5_000, [15, 16, 17, 18, 19], "sees, all 5 are within the budget."),
        (4_550, list(range(12, 20)), "sees, all 8 are within the budget."),
        (2_500, list(range(19)), "sees, 19 of these are within the budget."),
        (5_570, [19], "sees, it is within the budget."),
        (1_000, list(range(8)), "sees, 8 of these are within the budget."),
    ],
)
def test_where_a_strategy_keeps_to_its_limit_and_the_bill_does_not(budget: int, calls: list[int], ends: str) -> None:
    made = played(reported(chat(20), 3_000), budget, "as_captured")
    assert fits_as_recorded(made) == calls
    finding = found(made)["over_budget"]
    assert finding.sentence.endswith(ends)
    assert finding.figures["fit_as_recorded"] == len(calls)


def test_a_strategy_that_is_within_its_limit_is_not_called_late() -> None:
    made = played(reported(chat(20), 3_000), 5_000, "keep_last", keep_turns=2, min_turns=30, min_steps=30)
    told = found(made)
    assert {"fires_too_late", "cannot_help"}.isdisjoint(told)
    assert (told["did_nothing"].level, told["did_nothing"].sentence) == (
        Level.WARNING,
        "The strategy did nothing: it changed none of 20 calls, though calls are over the budget as sent: what is"
        " recorded keeps to it, and it sees no more.",
    )


def test_a_count_that_was_too_high_is_over_no_budget_that_the_report_is_within() -> None:
    transcript = reported(chat(20), -300)
    peak = max(history(transcript, None).calls["in_window"])
    made = played(transcript, peak - 100, "as_captured")
    assert sum(made.calls["excess"]) == 100
    assert scorecard(made).over_budget == 0
    assert scorecard(made).over_budget_recorded == 1
    assert "over_budget" not in found(made)


def test_what_is_hidden_is_part_of_the_floor() -> None:
    told = found(played(reported(chat(20), 3_000), 3_050, "keep_last"))["cannot_help"]
    assert (told.level, told.figures["calls"]) == (Level.ERROR, 20)
    assert told.sentence.endswith(
        "the newest user message and the open step; about 3,000 more are not recorded) is over the budget of 3,050: no"
        " strategy that cuts history can help any of these."
    )
    assert "cannot_help" not in found(played(reported(chat(20), 3_000), 3_200, "keep_last"))


@pytest.mark.parametrize(
    ("transcript", "said"),
    [
        (restated(), "tokens, above"),
        (reported(restated(), 7), "tokens, above"),
        (reported(restated(), 900), "tokens as far as they are recorded, above"),
        (unreported(restated()), "tokens as far as they are recorded, above"),
    ],
    ids=["all recorded", "frames", "hidden", "unknown"],
)
def test_instructions_are_told_as_far_as_they_are_recorded(transcript: Transcript, said: str) -> None:
    assert said in found(played(transcript, 3_000))["floor_too_large"].sentence


def test_tool_results_are_a_share_of_what_is_recorded() -> None:
    shown = "Tool results are 94% of the largest prompt, call 31;"
    assert found(replay(with_results(0), CAPTURED))["tool_output_share"].sentence.startswith(shown)
    shown = "Tool results are 94% of what is recorded of the largest prompt, call 31;"
    assert found(replay(with_results(3_000), CAPTURED))["tool_output_share"].sentence.startswith(shown)


CAPTURED = {"strategy": {"kind": "as_captured"}}


def with_results(beyond: int) -> Transcript:
    return reported(agent(), beyond)
