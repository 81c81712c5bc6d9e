"""Advice in words: what the sentences, the cards and the checks say of one configuration is one thing."""

from __future__ import annotations

from dataclasses import replace as with_changes
from pathlib import Path
from typing import Any

import pytest

from core.advice import Advised
from core.advice_tree import Leaf
from core.decisions import Action
from core.readers import read
from core.replay import replay
from core.transcript import ROOT
from pages.parts.advice_tree_view import folded
from tests.advice_runs import DOUBLE, EXAMPLES, advice, agent, chat, history, restated
from tests.runs import result, run, says, user, uses
from tests.test_advice_agrees import check, played, symptom

SAMPLE = Path(__file__).parents[1] / "sample_data" / "support_triage.jsonl"


def test_the_kept_part_is_that_of_the_configuration() -> None:
    found = advice(chat(40), 2_500)
    assert found.said is not None and found.said["strategy"]["keep_turns"] > found.prompt.keep.number == 4
    number = found.said["strategy"]["keep_turns"]
    kept = check(found, f"last {number} turns")
    assert kept is not None and kept.passed is True
    sent = played(found).request(found.prompt.call)["messages"]
    recorded = found.prompt.history.prompt(found.prompt.call)["messages"]
    assert sent[1 - 2 * number :] == recorded[1 - 2 * number :]
    assert len(sent) - 1 == 2 * number - 1, "beside the summary, nothing but what is kept is sent"


def test_results_that_are_cut_in_the_kept_part_are_told() -> None:
    found = composite()
    assert (found.advice.leaf, found.advice.then) == (Leaf.PROJECT, (Leaf.SUMMARISE,))
    kept = check(found, "last ")
    assert kept is not None and kept.passed is True
    assert kept.name.endswith(" byte-identical but for cut results")
    assert found.said is not None
    cut = [d for d in played(found).plan(found.prompt.call).decisions if d.action is Action.PROJECT]
    assert kept.why.endswith(f", {len(cut)} results are cut")


def composite() -> Advised:
    """Old text and results, neither of which covers the overflow alone."""
    said: list[dict[str, Any]] = []
    for n in range(16):
        said += [user(f"{n} " + "word " * 60), uses(f"c{n}", "read", path=f"{n}"), result(f"c{n}", f"{n} noise\n" * 60)]
        said += [says("reply " * 60)]
    transcript = run(said)
    return advice(transcript, max(history(transcript, None).calls["in_window"]) * 2 // 3)


def test_masking_and_cutting_are_told_apart() -> None:
    masked = advice(agent(), 4_000)
    assert masked.advice.leaf is Leaf.PROJECT and masked.said is not None
    assert masked.said["strategy"]["kind"] == "mask_tool_results"
    assert "can give back" in masked.verdict and masked.verdict.endswith(" if each is cut to 100.")
    assert masked.configured.startswith(
        "The configuration puts placeholders for all tool results but the newest 5 instead of cutting each: of call 31"
    )
    said = [user("Go."), uses("c1", "dump"), result("c1", "noise of a log\n" * 2000), says("Done."), user("Thanks.")]
    cut = advice(run([*said, says("Welcome.")]), 3_000)
    assert cut.said is not None and cut.said["shrink"][0]["max_tokens"] == 800
    assert cut.verdict.endswith(" if each is cut to 800.")
    assert cut.configured.startswith("The configuration cuts each tool result to 800 tokens and drops what is older")


@pytest.mark.parametrize(("system", "rules", "examples"), [(DOUBLE, True, False), (EXAMPLES, False, True)])
def test_restated_rules_are_told_apart_from_examples(system: str, rules: bool, examples: bool) -> None:
    found = advice(restated("# Rules\n- Be brief and always polite.\n" + system), 100_000)
    assert (found.prompt.restated > 0, found.prompt.examples > 0) == (rules, examples)
    assert symptom(found, "same base cost").evidence.endswith("; 49 lines repeat" if rules else "; no line repeats")
    assert f"restated rules {found.prompt.restated:,}, examples {found.prompt.examples:,}" in folded(found)


def test_examples_that_a_user_asked_for_give_nothing_back() -> None:
    said = [user("Show me an example, please."), says("Here."), user("More."), says("Yes.")]
    asked = advice(run(said, system=DOUBLE + EXAMPLES), 100_000)
    assert asked.prompt.examples == 0 < advice(restated(), 100_000).prompt.examples
    shrink = [{"kind": "dedupe_instructions", "hard_case_keywords": ["example"]}]
    made = replay(asked.prompt.history.transcript, {"shrink": shrink, "strategy": {"kind": "full_history"}})
    assert made.calls["in_window"][1] == asked.prompt.total - asked.prompt.measured.instruction_duplicates


def test_a_compaction_makes_the_whole_history_another_prompt() -> None:
    plain = chat(20)
    last = plain.calls[-1]
    branch = plain.path(last.history)
    compacted = with_changes(last, captured=branch[0])
    found = advice(with_changes(plain, calls=(*plain.calls[:-1], compacted)), 1_500, call=19)
    assert found.verdict.startswith("Call 20 with its whole history is ")
    assert branch[0] != ROOT and advice(plain, 1_500, call=19).verdict.startswith("Call 20 is ")


def test_the_call_that_fits_is_named() -> None:
    assert advice(chat(20), 1_000, call=2).verdict.startswith("Leave it alone: call 3 leaves 67% of 1,000 tokens")


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (3_000, "2 of 20 calls stay over the budget with it, the worst by 277 tokens."),
        (3_100, "1 of 20 calls stays over the budget with it, by 177 tokens."),
        (4_600, "No call stays over the budget with it."),
    ],
)
def test_calls_that_stay_over_the_budget_are_told(budget: int, said: str) -> None:
    """The configuration makes one call fit; "Use this" then leads to a comparison of all calls."""
    transcript = read(SAMPLE).transcripts[0]
    found = advice(transcript, budget)
    assert found.config is not None and found.stay_over == said
    assert advice(transcript, 100_000).stay_over == ""
