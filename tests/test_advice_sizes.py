"""Advice on recordings that lack a part of the prompt: what is not recorded counts wherever a size meets the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as with_changes
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.advice import TITLES, Advised
from core.advice_measures import plan_alone
from core.advice_sizes import Sizes, unrecorded_parts
from core.advice_tree import Leaf
from core.replay import replay
from core.transcript import Transcript, Usage
from tests.advice_runs import advice, agent, chat, giant, history, restated
from tests.runs import run, says, user

LACKS = ("system prompt not recorded", "tool definitions not recorded")


def reported(transcript: Transcript, beyond: int | Sequence[int], notes: tuple[str, ...] = ()) -> Transcript:
    """Return a transcript of which the provider reported so many tokens beyond those counted."""
    counted = history(transcript, None).calls["in_window"]
    more = [beyond] * len(counted) if isinstance(beyond, int) else beyond
    calls = (with_changes(call, usage=Usage(counted[at] + more[at])) for at, call in enumerate(transcript.calls))
    return with_changes(transcript, calls=tuple(calls), notes=notes)


def symptom(found: Advised, begins: str) -> Any:
    return next(row for row in found.symptoms if row.name.startswith(begins))


def check(found: Advised, begins: str) -> Any:
    return next(row for row in found.checks if row.name.startswith(begins))


@pytest.mark.parametrize(
    ("sizes", "allowed", "said"),
    [
        (Sizes(30_000), 30_000, "26,975 of 30,000 tokens"),
        (Sizes(30_000, 0, 100), 30_000, "26,975 of 30,000 tokens"),
        (Sizes(30_000, 2_000, 100), 28_000, "26,975 and about 2,000 not recorded of 30,000 tokens"),
        (Sizes(30_000, 35_098, 53_051), -5_098, "26,975 and about 35,098 not recorded of 30,000 tokens"),
        (Sizes(30_000, -10, 100), 33_333, "26,975 of 33,333 tokens as counted here, 30,000 as reported"),
    ],
)
def test_a_size_against_the_budget(sizes: Sizes, allowed: int, said: str) -> None:
    assert (sizes.allowed, sizes.of_budget(26_975)) == (allowed, said)


@given(
    budget=st.integers(0, 10_000),
    counted=st.integers(1, 20_000),
    beyond=st.integers(-20_000, 20_000),
    tokens=st.integers(0, 30_000),
)
def test_what_is_allowed_is_what_fits_as_sent(budget: int, counted: int, beyond: int, tokens: int) -> None:
    beyond = max(beyond, 1 - counted)
    as_sent = tokens + (beyond if beyond >= 0 else -(-beyond * tokens // counted))
    assert Sizes(budget, beyond, counted).fits(tokens) is (as_sent <= budget)


@pytest.mark.parametrize("beyond", [-300, 0, 700])
def test_a_prompt_fits_where_the_replay_says_that_it_is_sent_within_the_budget(beyond: int) -> None:
    transcript = reported(chat(20), beyond)
    made = history(transcript, 2_000)
    for call, sent in enumerate(made.calls["sent"]):
        found = advice(transcript, 2_000, call=call)
        assert (found.advice.leaf is Leaf.FITS) is (sent <= 2_000)


def test_hidden_tokens_put_a_prompt_over_the_budget() -> None:
    found = advice(reported(chat(20), 3_000), 5_000)
    assert found.advice.leaf is Leaf.SUMMARISE
    begins = "Call 20 is 577 tokens over the budget of 5,000, with about 3,000 tokens that are not recorded: old"
    assert found.verdict.startswith(begins)
    assert symptom(found, "fits with more").evidence == "577 tokens over"


def test_the_advised_configuration_leaves_room_for_hidden_tokens() -> None:
    found = advice(reported(agent(), 3_000), 7_000)
    assert found.advice.leaf is Leaf.PROJECT and found.config is not None
    assert found.config.budget.soft_limit == 4_000
    sent = replay(found.prompt.history.transcript, found.config).calls["sent"][found.prompt.call]
    assert sent <= 7_000
    tokens = plan_alone(found.prompt.history, found.config, found.prompt.call).tokens_after
    within = check(found, "total within")
    assert (within.passed, within.why) == (True, f"{tokens:,} and about 3,000 not recorded of 7,000 tokens")


def test_units_of_work_have_room_for_hidden_tokens() -> None:
    found = advice(reported(giant(), 2_000), 3_200)
    plain = advice(giant(), 1_200)
    assert found.advice.leaf is plain.advice.leaf is Leaf.CHUNK
    assert found.work is not None and plain.work is not None
    assert [unit.tokens for unit in found.work.units] == [unit.tokens for unit in plain.work.units]
    assert check(found, "each unit").why.endswith(" and about 2,000 not recorded of 3,200 tokens")


@pytest.mark.parametrize("budget", [3_000, 2_999, 0])
def test_nothing_helps_where_hidden_tokens_take_the_budget(budget: int) -> None:
    found = advice(reported(agent(), 3_000, LACKS), budget)
    assert found.advice.leaf is Leaf.OUT_OF_REACH
    assert (found.said, found.config, found.work, found.checks, found.leave_alone) == (None, None, None, (), False)
    assert TITLES[found.advice.leaf] == "No strategy can make it fit"
    assert found.verdict == (
        "What is not recorded of call 31, about 3,000 tokens with the system prompt and the tool definitions, takes the"
        f" whole budget of {budget:,} alone. It is sent whatever a strategy does: raise the budget above it, or make it"
        " shorter where it is written."
    )
    first = symptom(found, "fails from the first call")
    assert (first.seen, first.leaf) == (True, "no leaf")


def test_a_budget_of_nothing_is_no_matter_of_what_is_hidden() -> None:
    assert advice(agent(), 0).advice.leaf is Leaf.CHUNK


def test_a_count_that_was_too_high_gives_some_of_the_budget_back() -> None:
    counted = history(chat(20), None).calls["in_window"]
    high = reported(chat(20), [-tokens // 10 for tokens in counted])
    peak = counted[-1]
    budget = peak - peak // 20
    assert advice(chat(20), budget).advice.leaf is Leaf.SUMMARISE
    found = advice(high, budget)
    assert found.advice.leaf is Leaf.FITS
    assert f"{found.prompt.allowed:,} of these fit" in found.verdict
    assert advice(high, peak // 2).prompt.sizes.over(peak) == advice(high, peak // 2).advice.overflow > 0


def test_the_worst_call_is_the_largest_as_sent() -> None:
    hidden = [0] * 19 + [0]
    hidden[3] = 9_000
    assert advice(reported(chat(20), hidden), 5_000).prompt.call == 3


ANSWERS = ("fails from the first call", "same base cost", "everything left is pinned")


@pytest.mark.parametrize(
    ("transcript", "why"),
    [
        (with_changes(chat(20), notes=LACKS), "the system prompt and the tool definitions are not recorded"),
        (with_changes(chat(20), notes=LACKS[:1]), "the system prompt is not recorded"),
        (with_changes(chat(20), notes=LACKS[1:]), "the tool definitions are not recorded"),
        (reported(chat(20), 500), "about 500 tokens of the prompt are not recorded"),
    ],
    ids=["both", "system", "tools", "hidden"],
)
def test_what_is_not_recorded_is_not_known(transcript: Transcript, why: str) -> None:
    found = advice(transcript, 2_000)
    assert found.prompt.unseen == why
    for begins in ANSWERS:
        row = symptom(found, begins)
        assert row.seen is None and row.evidence.startswith(why)


@pytest.mark.parametrize(
    "transcript",
    [
        chat(20),
        reported(chat(20), 7),
        reported(restated("Be brief."), 500),
        with_changes(chat(20), notes=("2 requests got no response",)),
    ],
    ids=["all recorded", "frames", "a fixed part", "another note"],
)
def test_what_is_recorded_is_answered(transcript: Transcript) -> None:
    found = advice(transcript, 100_000)
    assert found.prompt.unseen == ""
    assert [symptom(found, begins).seen for begins in ANSWERS] == [False, False, False]


def test_what_is_seen_in_the_recorded_part_is_seen_all_the_same() -> None:
    found = advice(with_changes(giant(), notes=LACKS), 1_200)
    assert symptom(found, "fails from the first call").seen is True


def test_a_trim_that_fits_without_unknown_parts_is_not_called_safe() -> None:
    found = advice(with_changes(agent(), notes=LACKS), 4_000)
    within = check(found, "total within")
    assert within.passed is None and found.safe is None
    assert within.why.endswith("without the system prompt and the tool definitions, which are not recorded")
    assert "which are not recorded" in found.verdict


def test_notes_name_the_parts_that_a_recording_lacks() -> None:
    assert unrecorded_parts(("2 requests got no response", *LACKS)) == ("the system prompt", "the tool definitions")
    assert unrecorded_parts(()) == ()
    assert advice(run([user("a"), says("b")]), 100).prompt.unseen == ""


def test_one_turn_is_one_turn() -> None:
    found = advice(chat(12, words=300), 900)
    assert found.prompt.keep.number == 1
    assert check(found, "last").name == "last 1 turn byte-identical"
