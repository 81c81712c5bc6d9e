"""The checks of each leaf where they fail."""

from __future__ import annotations

import json
from dataclasses import replace as with_changes
from typing import Any

import pytest

from core.advice import Advised, advised
from core.advice_checks import CHECKS, checked_leaves
from core.advice_checks_trim import contradictions
from core.advice_measures import prompt_of
from core.advice_symptoms import symptoms
from core.advice_tree import Leaf
from core.advice_trial import Check, Trial
from core.advice_words import configured
from core.readers import read
from core.replay import replay
from core.transcript import Transcript
from tests.advice_runs import agent, chat, history, restated
from tests.runs import result, run, says, user, uses


@pytest.mark.parametrize(
    ("rules", "pairs"),
    [
        (["Always greet the user.", "Never greet the user."], 1),
        (["You must use tabs.", "You must not use tabs."], 1),
        (["Do not guess ids.", "Do not guess ids."], 0),
        (["Use tabs.", "Use spaces."], 0),
    ],
)
def test_contradictions_are_a_rule_and_its_negation(rules: list[str], pairs: int) -> None:
    assert len(list(contradictions(rules))) == pairs


def trial(transcript: Transcript, budget: int, said: dict[str, Any]) -> Trial:
    made = history(transcript, budget)
    prompt = prompt_of(made)
    assert prompt is not None
    return Trial(prompt, replay(transcript, {"budget": {"soft_limit": budget}, **said}), None)


def check(found: Trial, leaf: Leaf, begins: str) -> Check:
    return next(made for made in checked_leaves(found, (leaf,)) if made.name.startswith(begins))


@pytest.mark.parametrize(
    ("leaf", "begins", "strategy"),
    [
        (Leaf.SUMMARISE, "last 16 turns", {"kind": "keep_last", "keep_turns": 16}),
        (Leaf.SUMMARISE, "exactly one", {"kind": "keep_last", "keep_turns": 4}),
        (Leaf.SUMMARISE, "exactly one", {"kind": "summarize_and_keep", "mode": "published"}),
        (Leaf.SUMMARISE, "summary within", {"kind": "tiered_injection", "summary_tokens": 500, "summary_chars": 4000}),
        (Leaf.SUMMARISE, "total within", {"kind": "full_history"}),
    ],
)
def test_a_check_of_2a_that_fails(leaf: Leaf, begins: str, strategy: dict[str, Any]) -> None:
    made = check(trial(chat(), 1_500, {"strategy": strategy}), leaf, begins)
    assert made.passed is False
    assert made.why


def test_less_than_asked_for_is_told() -> None:
    found = trial(chat(), 1_500, {"strategy": {"kind": "keep_last", "keep_turns": 16}})
    made, kept = check(found, Leaf.SUMMARISE, "last 16 turns"), found.plan.actions()["keep"] - 1
    assert made.why == f"keep_turns 16: {31 - kept} of 31 spans are not sent as before, so less is kept than asked for"


@pytest.mark.parametrize("number", [4, 16])
def test_a_strategy_with_summaries_keeps_what_it_says_even_where_that_is_over(number: int) -> None:
    found = trial(chat(), 1_500, {"strategy": {"kind": "tiered_injection", "keep_turns": number}})
    sent = found.replayed.calls["in_window"][19]
    assert (sent > 1_500) is (number == 16)
    assert check(found, Leaf.SUMMARISE, f"last {number} turns").passed is True
    assert configured(found, Leaf.SUMMARISE) == (
        f"The configuration keeps the last {number} turns with one summary of the rest: of call 20 it sends {sent:,} of"
        " 2,577 recorded tokens."
    )


@pytest.mark.parametrize(
    ("strategy", "name"),
    [
        ({"kind": "keep_last", "keep_turns": 1}, "last 1 turn byte-identical"),
        ({"kind": "keep_last", "keep_steps": 3}, "last 3 steps byte-identical"),
        ({"kind": "tiered_injection", "keep_messages": 2}, "last 2 messages byte-identical"),
        ({"kind": "keep_last", "keep_tokens": 1_200}, "last 1,200 tokens byte-identical"),
        ({"kind": "summarize_and_keep", "min_turns": 0, "min_steps": 0}, "last 4 turns byte-identical"),
    ],
)
def test_what_is_checked_as_kept_is_what_the_strategy_keeps(strategy: dict[str, Any], name: str) -> None:
    found = trial(chat(), 1_500, {"strategy": strategy})
    assert check(found, Leaf.SUMMARISE, "last").name == name
    assert check(found, Leaf.SUMMARISE, "last").passed is True


def test_a_strategy_that_does_not_go_by_age_keeps_no_part() -> None:
    made = check(trial(chat(), 1_500, {"strategy": {"kind": "span_triage"}}), Leaf.SUMMARISE, "kept part")
    assert made.passed is None


def records_of(*texts: str) -> Transcript:
    records = json.dumps([{"id": number, "text": text} for number, text in enumerate(texts)])
    return run([user("Go."), uses("c1", "dump"), result("c1", records), says("Done."), user("More."), says("Yes.")])


MASKED: dict[str, Any] = {"strategy": {"kind": "mask_tool_results", "keep": 0}}
CUT: dict[str, Any] = {
    "shrink": [{"kind": "project_tool_results", "max_tokens": 200}],
    "strategy": {"kind": "full_history"},
}


@pytest.mark.parametrize(
    ("texts", "said", "passed", "why"),
    [
        (
            ["noise of a record"] * 1_400,
            CUT,
            True,
            "1 list keeps all its records or states their number, 0 left out whole",
        ),
        (
            ["noise of a record"] * 400,
            MASKED,
            True,
            "0 lists keep all their records or state their number, 1 left out whole",
        ),
        (["word " * 2_000] * 3, CUT, False, "a list of 3 records is cut and does not say so"),
    ],
    ids=["cut between records", "masked", "cut inside a record"],
)
def test_a_list_that_is_cut_says_how_many_records_it_had(
    texts: list[str], said: dict[str, Any], passed: bool, why: str
) -> None:
    made = check(trial(records_of(*texts), 1_000, said), Leaf.PROJECT, "lists of records")
    assert (made.passed, made.why) == (passed, why)


def test_without_ids_none_is_said_to_be_the_same() -> None:
    made = check(trial(chat(), 1_500, {"strategy": {"kind": "keep_last"}}), Leaf.PROJECT, "call ids")
    assert (made.passed, made.why) == (True, "what is sent has no ids")


def unanswered(transcript: Transcript) -> Transcript:
    return with_changes(transcript, calls=tuple(with_changes(call, response=None) for call in transcript.calls))


def test_without_a_response_nobody_knows_what_was_used() -> None:
    found = trial(unanswered(agent()), 4_000, {"strategy": {"kind": "mask_tool_results"}})
    for leaf, begins in ((Leaf.PROJECT, "values that later"), (Leaf.SUMMARISE, "identifiers of old")):
        assert check(found, leaf, begins).passed is None
    row = next(row for row in symptoms(found.prompt, found) if row.name.startswith("confident answer"))
    assert (row.seen, row.evidence) == (None, "no response up to call 31 is in the recording")


def test_references_lost_from_results_count_for_2a_as_well() -> None:
    said = [user("Go."), uses("c1", "dump"), result("c1", "noise ORD-55120 " * 40), says("Read."), *([user("And?")])]
    said += [m for n in range(8) for m in (says(f"{n} reply"), user(f"{n} go on"))]
    transcript = run([*said, says("It is ORD-55120.")])
    found = trial(transcript, 150, {"strategy": {"kind": "keep_last", "keep_turns": 2}})
    assert found.lost_from_results == found.lost and len(found.lost) == 1
    made = check(found, Leaf.SUMMARISE, "identifiers of old")
    assert made.passed is False
    assert made.why == "of 1 reference in the response of call 11, 1 is lost, such as 'ORD-55120'"


def test_a_check_of_3a_fails_where_nothing_shrank_enough() -> None:
    said = {"shrink": [{"kind": "project_tool_results", "max_tokens": 250}], "strategy": {"kind": "full_history"}}
    made = check(trial(agent(6, 80), 1_000, said), Leaf.PROJECT, "size down")
    assert made.passed is False


def test_a_check_of_4a_fails_where_rules_repeat() -> None:
    made = check(trial(restated(), 100, {"strategy": {"kind": "full_history"}}), Leaf.DEDUPLICATE, "no exact duplicate")
    assert made.passed is False


def test_every_leaf_has_its_checks() -> None:
    assert {leaf for leaf, functions in CHECKS.items() if not functions} == {Leaf.FITS, Leaf.OUT_OF_REACH}
    assert set(CHECKS) == set(Leaf)


@pytest.mark.parametrize("text", ["It is due on March 10, 2026", "Pay 37kg of 12,751 by mail to Ann@Shop.example"])
def test_an_exact_string_that_a_summary_repeats_is_not_altered(text: str) -> None:
    """It is looked for in any spelling: the key of a date stands in no text."""
    said = [m for n in range(20) for m in (user(f"{text}. " + "word " * 60), says("Reply. " + "word " * 60))]
    found = trial(run(said), 2_000, {"strategy": {"kind": "tiered_injection", "keep_turns": 4}})
    row = next(row for row in symptoms(found.prompt, found) if "come back altered" in row.name)
    assert row.seen is False and ", 0 are not in the summary" in row.evidence


def told_as_text(result: dict[str, Any]) -> Advised:
    """The advice on a run of twelve calls, each with such a result, whose last prompt ends with the thirteenth."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "find it"}]
    for at in range(13):
        call = {"id": f"c{at}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        messages += [{"role": "assistant", "content": "I look", "tool_calls": [call]}, result]
    (transcript,) = read(json.dumps({"model": "gpt-4o", "messages": messages[:-1]})).transcripts
    found = advised(replay(transcript, {"budget": {"soft_limit": 900}, "strategy": {"kind": "full_history"}}))
    assert found is not None
    return found


@pytest.mark.parametrize(("said", "split"), [("OBSERVATION:\nseen ", 0), ("seen ", 12)])
def test_results_told_as_text_leave_no_call_alone(said: str, split: int) -> None:
    found = told_as_text({"role": "user", "content": said + "it " * 60})
    row = next(row for row in found.symptoms if row.name.startswith("repeats a call"))
    assert row.seen is bool(split)
    assert row.evidence.startswith(f"{split} calls stand without a result" if split else "no call stands without")


def test_pairs_that_the_recording_parted_are_not_said_to_be_whole() -> None:
    found = told_as_text({"role": "user", "content": "seen " + "it " * 60})
    check = next(check for check in found.checks if check.name == "no orphan call or result")
    assert (check.passed, check.why) == (True, "no pair was parted that was whole")
