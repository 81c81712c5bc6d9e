"""Advice on whole transcripts: one for each leaf, what is measured, what is recommended and why."""

from __future__ import annotations

import json
from dataclasses import replace as with_changes
from pathlib import Path
from typing import Any

import pytest

from core.advice import Advised, advised
from core.advice_measures import HARD_CASES, Prompt, plan_alone, prompt_of
from core.advice_tree import Leaf, advise
from core.config import load_config
from core.plan import apply
from core.readers import read
from core.replay import replay
from core.transcript import Transcript, Usage
from core.wire import dump
from tests.advice_runs import DOUBLE, EXAMPLES, advice, agent, chat, giant, history, restated
from tests.runs import result, run, says, tool, user, uses

SAMPLES = Path(__file__).parents[1] / "sample_data"
NAMES = ["coding_agent.jsonl", "long_chat.json", "operations_zh.json", "support_triage.jsonl"]


def passed(found: Advised) -> dict[str, bool | None]:
    return {check.name: check.passed for check in found.checks}


def symptom(found: Advised, begins: str) -> Any:
    return next(row for row in found.symptoms if row.name.startswith(begins))


def test_without_a_limit_or_a_call_there_is_no_advice() -> None:
    assert advised(history(chat(2), None)) is None
    assert advised(history(run([user("Hi.")]), 100)) is None


def test_headroom_is_left_alone() -> None:
    transcript = chat(20)
    peak = max(history(transcript, None).calls["in_window"])
    found = advice(transcript, peak * 2)
    assert (found.advice.leaf, found.leave_alone, found.said, found.checks) == (Leaf.FITS, True, None, ())
    assert found.verdict.startswith("Leave it alone: call 20 leaves 50%")
    assert symptom(found, "fits with more").seen is True


@pytest.mark.parametrize(
    ("hidden", "budget", "alone", "begins"),
    [
        (100, 5354, True, "Leave it alone: call 20 leaves 50%"),
        (2000, 5000, False, "Call 20 fits, but leaves only 8%"),
    ],
)
def test_what_the_provider_reported_beyond_the_recording_counts(
    hidden: int, budget: int, alone: bool, begins: str
) -> None:
    plain = chat(20)
    sent = history(plain, None).calls["in_window"]
    calls = (with_changes(call, usage=Usage(sent[at] + hidden)) for at, call in enumerate(plain.calls))
    found = advice(with_changes(plain, calls=tuple(calls)), budget)
    assert found.advice.leaf is Leaf.FITS
    assert (found.leave_alone, found.verdict[: len(begins)]) == (alone, begins)
    assert f"{hidden:,} tokens" in found.verdict
    percent = symptom(found, "fits with more").evidence.partition(" of the budget is free, with about")[0]
    assert f"{percent} of {budget:,} tokens free" in found.verdict


def test_a_short_task_that_fits_is_left_alone_and_a_long_one_is_watched() -> None:
    for turns, alone in ((10, True), (20, False)):
        transcript = chat(turns)
        peak = max(history(transcript, None).calls["in_window"])
        found = advice(transcript, peak + 10)
        assert (found.advice.leaf, found.leave_alone) == (Leaf.FITS, alone)
    assert "watch the next calls" in found.verdict


@pytest.mark.parametrize("share", [80, 100])
def test_headroom_begins_at_a_fifth_of_the_budget(share: int) -> None:
    transcript = chat(20)
    peak = max(history(transcript, None).calls["in_window"])
    assert advice(transcript, -(-peak * 100 // share)).leave_alone is (share == 80)


def test_the_worst_call_is_looked_at_unless_another_is_chosen() -> None:
    transcript = chat(20)
    assert advice(transcript, 1000).prompt.call == 19
    early = advice(transcript, 1000, call=2)
    assert (early.prompt.call, early.advice.leaf) == (2, Leaf.FITS)


def test_what_the_tree_is_given_is_measured() -> None:
    transcript = read(SAMPLES / "support_triage.jsonl").transcripts[0]
    made = history(transcript, 8_000)
    prompt = prompt_of(made)
    assert prompt is not None
    measured, call = prompt.measured, prompt.call
    kinds = made.plan(call).kinds()
    assert measured.total == made.calls["in_window"][call]
    assert measured.tool_output == kinds["tool_result"]
    assert 0 < measured.old_history < kinds["user"] + kinds["assistant"]
    config = load_config({"shrink": [{"kind": "project_tool_results", "max_tokens": prompt.projection[0]}],
                          "strategy": {"kind": "full_history"}})  # fmt: skip
    assert replay(transcript, config).plan(call).kinds()["tool_result"] == measured.tool_projected
    shrink = [{"kind": "dedupe_instructions", "hard_case_keywords": list(HARD_CASES)}]
    deduped = replay(transcript, {"shrink": shrink, "strategy": {"kind": "full_history"}}).plan(call)
    assert deduped.fixed.tokens == made.plan(call).fixed.tokens - measured.instruction_duplicates


def test_a_plan_alone_is_the_plan_of_the_replay() -> None:
    for name in NAMES:
        transcript = read(SAMPLES / name).transcripts[0]
        made = history(transcript, 5_000)
        for said in ({"strategy": {"kind": "tiered_injection"}}, {"strategy": {"kind": "span_triage"}}):
            config = load_config({"budget": {"soft_limit": 5_000}, **said})
            played = replay(transcript, config)
            for call in (0, len(transcript.calls) // 2, len(transcript.calls) - 1):
                plan = plan_alone(made, config, call)
                prompt = Prompt(made, call, 5_000)
                assert plan.tokens_after == played.plan(call).tokens_after
                assert dump(apply(plan, transcript.history(call), prompt.dialect)) == dump(played.request(call))


def test_2a_keeps_the_newest_part_and_one_summary() -> None:
    found = advice(chat(), 1_500)
    assert (found.advice.leaf, found.advice.then) == (Leaf.SUMMARISE, ())
    assert found.said is not None
    assert found.said["strategy"]["kind"] == "tiered_injection"
    old = f"({found.prompt.measured.old_history:,} older than 4 turns, less a summary of 200)"
    assert found.verdict.endswith(f"old conversation can give back {found.advice.reclaim.history:,} {old}.")
    assert found.safe is True
    assert passed(found)["exactly one summary"] is True
    assert symptom(found, "grows by a steady").seen is True


def test_2a_asks_for_less_where_four_turns_are_too_large() -> None:
    found = advice(chat(12, words=300), 1_600)
    assert found.prompt.keep.number < 4
    assert passed(found)["total within the budget"] is True


def test_2a_fails_where_a_response_needs_what_went() -> None:
    said = [user("My order is HL-203990, remember it."), says("Yes.")]
    said += [m for n in range(20) for m in (user(f"{n} " + "word " * 60), says("reply " * 60))]
    found = advice(run([*said, user("Which order?"), says("HL-203990.")]), 1_500)
    assert found.safe is False
    why = next(check.why for check in found.checks if check.name.startswith("identifiers"))
    assert "HL-203990" in why
    assert symptom(found, "ids, hashes").seen is True or symptom(found, "confident answer").seen is True


def test_exact_strings_needed_forbid_a_summary() -> None:
    found = advice(chat(), 1_500, exact_strings_needed=True)
    assert (found.advice.leaf, found.said) == (Leaf.SMALLER_UNIT, None)


def test_3a_masks_old_results_of_an_agent() -> None:
    found = advice(agent(), 4_000)
    assert found.advice.leaf is Leaf.PROJECT
    assert found.said is not None
    assert found.said["strategy"]["kind"] == "mask_tool_results"
    assert found.said["strategy"]["step"] == 500
    assert found.safe is True
    assert symptom(found, "jumps").seen is True
    assert symptom(found, "“history too long”").seen is True


def test_3a_projects_results_where_a_few_of_them_are_large() -> None:
    said = [user("Go."), uses("c1", "dump"), result("c1", "noise of a log\n" * 2000), says("Done."), user("Thanks.")]
    found = advice(run([*said, says("Welcome.")], tools=[tool("dump")]), 3_000)
    assert found.advice.leaf is Leaf.PROJECT
    assert found.said is not None
    assert found.said["shrink"] == [{"kind": "project_tool_results", "max_tokens": 800}]
    assert found.safe is True


def test_3a_fails_where_a_response_took_from_a_result() -> None:
    said = [user("Go."), uses("c1", "dump"), result("c1", "noise\n" * 1500 + "ORD-55120\n" + "noise\n" * 1500)]
    found = advice(run([*said, says("It is ORD-55120.")]), 1_500)
    assert passed(found)["values that later messages quote remain"] is False
    assert "ORD-55120" in next(check.why for check in found.checks if check.name.startswith("values"))


def test_3a_states_the_records_left_out() -> None:
    records = json.dumps([{"id": n, "text": "noise of a record"} for n in range(600)])
    found = advice(run([user("Go."), uses("c1", "dump"), result("c1", records), says("Done.")]), 2_000)
    assert found.advice.leaf is Leaf.PROJECT
    assert passed(found)["lists of records that are cut say how many they had"] is True


def looks_like_history() -> Transcript:
    """Old text would suffice, but tool results are the larger share."""
    said: list[dict[str, Any]] = []
    for n in range(12):
        said += [
            user(f"{n} " + "word " * 100),
            uses(f"c{n}", "read", path=f"{n}"),
            result(f"c{n}", f"{n} noise\n" * 120),
        ]
        said += [says("reply " * 100)]
    return run(said)


def test_the_published_order_takes_it_for_a_history_problem() -> None:
    transcript = looks_like_history()
    budget = max(history(transcript, None).calls["in_window"]) - 600
    assert advice(transcript, budget).advice.leaf is Leaf.PROJECT
    assert advice(transcript, budget, published=True).advice.leaf is Leaf.SUMMARISE


def test_4a_says_each_rule_once() -> None:
    transcript = restated()
    peak = max(history(transcript, None).calls["in_window"])
    found = advice(transcript, peak - 200)
    assert found.advice.leaf is Leaf.DEDUPLICATE
    assert found.said is not None
    assert found.said["shrink"][0]["kind"] == "dedupe_instructions"
    assert found.safe is True
    assert symptom(found, "same base cost").seen is True


def test_4a_reports_contradictions() -> None:
    system = "# Rules\n- Always answer in English.\n- Never answer in English.\n" + DOUBLE + EXAMPLES
    found = advice(restated(system), max(history(restated(system), None).calls["in_window"]) - 200)
    assert found.advice.leaf is Leaf.DEDUPLICATE
    check = next(check for check in found.checks if check.name.startswith("contradictory"))
    assert check.passed is True
    assert "'Always answer in English.' against 'Never answer in English.'" in check.why


def test_1a_numbers_the_parts_of_a_giant_text() -> None:
    found = advice(giant(), 1_200)
    assert found.advice.leaf is Leaf.CHUNK
    assert found.prompt.largest_pinned is not None
    assert found.prompt.largest_pinned.id == "m2.0"
    assert found.work is not None and len(found.work.units) >= 3
    assert "".join(found.work.text_of(unit) for unit in found.work.units) == found.prompt.largest_pinned.text
    results = passed(found)
    assert results["chunks cover the text without gap or overlap"] is True
    assert results["numbering k of N complete"] is True
    assert results["each unit alone fits"] is True
    assert results["every named field present or null"] is None  # no model has answered
    assert found.said is not None
    assert found.said["shrink"][0]["kind"] == "chunk_pinned"
    assert found.config is not None and found.config.rules[0].evict == "pinned"
    assert symptom(found, "fails from the first call").seen is True


def test_1a_with_exact_strings_is_5a() -> None:
    assert advice(giant(), 1_200, exact_strings_needed=True).advice.leaf is Leaf.SMALLER_UNIT


def test_1a_finds_a_giant_section_of_the_system_part() -> None:
    system = "# Manual [v*]\n" + "\n".join(f"step {n} of the manual" for n in range(500))
    found = advice(run([user("Hi."), says("Ho.")], system=system), 1_000)
    assert found.advice.leaf is Leaf.CHUNK
    assert found.config is not None
    plan = plan_alone(found.prompt.history, found.config, 0)
    assert any(span.rule.stays for span in (plan.fixed.source or plan.fixed).spans)


def test_5a_splits_by_file_and_every_unit_fits() -> None:
    said: list[dict[str, Any]] = [user("Review every file."), says("I read them.")]
    for n in range(4):
        part = {"role": "assistant", "content": "reading " * 150}
        said += [
            uses(f"c{n}", "read", path=f"src/{n % 2}.py"),
            result(f"c{n}", f"{n} text of a file\n" * 15),
            part,
            user("go on " * 150),
        ]
    transcript = run([*said, says("Done.")])
    found = advice(transcript, 700, exact_strings_needed=True)
    assert found.advice.leaf is Leaf.SMALLER_UNIT
    assert found.work is not None
    assert {unit.name for unit in found.work.units if unit.kind == "file"} == {"src/0.py", "src/1.py"}
    assert found.work.fits
    assert found.safe is True


def test_5a_says_where_no_unit_has_room() -> None:
    tools = [tool(f"read_{n}", "y " * 150) for n in range(10)]
    found = advice(run([user("Go."), says("Yes.")], system="x " * 400, tools=tools), 900)
    assert found.advice.leaf is Leaf.SMALLER_UNIT
    assert found.safe is False
    assert symptom(found, "everything left is pinned").seen is True
    assert "leaves no room" in found.checks[0].why


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("share", [2.0, 0.95, 0.6, 0.3, 0.05])
def test_advice_on_the_samples_is_the_tree_and_its_configuration_fits(name: str, share: float) -> None:
    transcript = read(SAMPLES / name).transcripts[0]
    budget = int(share * max(history(transcript, None).calls["in_window"]))
    found = advice(transcript, budget)
    assert found.advice == advise(found.prompt.measured)
    assert len(found.symptoms) == 10
    assert all(made.why for made in found.checks)
    if found.config is not None:
        assert not plan_alone(found.prompt.history, found.config, found.prompt.call).excess
        assert found.said is not None
        assert set(found.said) <= {"rules", "shrink", "strategy"}


def test_rules_of_the_configuration_are_kept() -> None:
    rules = [{"match": {"kind": "user", "pattern": "^0 "}, "evict": "pinned"}]
    found = advised(history(chat(), 1_500, rules=rules))
    assert found is not None and found.said is not None
    assert found.said["rules"][0]["evict"] == "pinned"
    assert found.config is not None and len(found.config.rules) == 1


def test_the_same_advice_on_every_run() -> None:
    one, other = advice(agent(), 4_000), advice(agent(), 4_000)
    assert (one.said, one.checks, one.symptoms, one.verdict) == (
        other.said,
        other.checks,
        other.symptoms,
        other.verdict,
    )
