from __future__ import annotations

import copy
import re
from itertools import pairwise
from typing import Any

import pytest

from core import marks
from core.plan import Action, Status
from core.runtime import Result
from core.tokens import CjkEstimate
from tests.cases import budgeted, case_file, chat, dropped_messages, tool_chat

CASES = case_file("summarise_keep_cases.json")
EXPECTED = case_file("expected.json")
PITFALLS = {pitfall["id"]: pitfall for pitfall in CASES["pitfalls"]}
KIND = "summarize_and_keep"
REDACTED = {(2577, None): 1597, (2000, None): 1597, (900, 16): 860}
"""Tokens of the cases in which a summary lost the number of a result, by budget and turns."""
LONG = "这里是一段足够长的文字，摘要一定比它短得多，所以可以放心地替换掉它，不会有任何损失。" * 4


def right(messages: list[dict[str, Any]], budget: int | None, **settings: Any) -> Result:
    return budgeted(messages, budget, KIND, **settings)


def published(messages: list[dict[str, Any]], budget: int | None, **settings: Any) -> Result:
    return budgeted(messages, budget, KIND, mode="published", **settings)


def turns(messages: list[dict[str, Any]], count: int | None) -> list[dict[str, Any]]:
    """The system message and so many turns of two messages; all where `count` is None."""
    return messages if count is None else messages[: 1 + 2 * count]


def sent(result: Result) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = result.request["messages"]
    return messages


def summarised(result: Result) -> int:
    return result.plan.actions().get(Action.SUMMARISE, 0)


def cost(messages: list[dict[str, Any]]) -> int:
    """Count plain messages by rule B-P2, without the engine."""
    return sum(CjkEstimate().count(message["content"] or "") + 4 for message in messages)


def conversation(roles: list[str], text: str = LONG) -> list[dict[str, Any]]:
    return [{"role": role, "content": f"{text}{at}"} for at, role in enumerate(roles)]


def test_the_fixture_counts_as_expected() -> None:
    original = EXPECTED["original"]
    result = right(chat(), None)
    assert (len(chat()), result.tokens_before) == (original["messages"], original["tokens"])
    for name, tokens in EXPECTED["message_estimates"].items():
        assert CjkEstimate().count(chat()[int(name.split()[0])]["content"]) == tokens


@pytest.mark.parametrize(
    ("row", "keep"),
    [(row, {}) for row in EXPECTED["published_mode_keep_last_4_messages"]]
    + [(row, {"keep_messages": 8}) for row in EXPECTED["published_mode_keep_last_8_messages"]],
    ids=lambda value: str(value.get("budget", value)) if isinstance(value, dict) else str(value),
)
def test_published_figures(row: dict[str, Any], keep: dict[str, int]) -> None:
    result = published(chat(), row["budget"], **keep)
    assert (len(sent(result)), result.tokens_after) == (row["messages"], row["tokens"])
    assert (summarised(result), dropped_messages(result)) == (row["summarised"], row["dropped"])
    assert cost(sent(result)) == result.tokens_after
    assert round(100 * result.tokens_after / result.tokens_before) == row["percent_of_original"]
    assert round(100 * result.tokens_after / row["budget"], 1) == row["percent_of_budget"]


def test_published_drops_no_more_than_it_must() -> None:
    row = EXPECTED["published_mode_keep_last_4_messages"][1]
    one_fewer = published(chat(), row["tokens_with_one_fewer_dropped"])
    assert one_fewer.tokens_after == row["tokens_with_one_fewer_dropped"]
    assert dropped_messages(one_fewer) == row["dropped"] - 1


@pytest.mark.parametrize(
    "row", EXPECTED["corrected_mode"], ids=lambda row: f"{row['budget']}-{row.get('prefix_turns')}"
)
def test_right_figures(row: dict[str, Any]) -> None:
    result = right(turns(chat(), row.get("prefix_turns")), row["budget"], keep_turns=row["keep_turns"])
    status = {"ok": "trimmed"}.get(row["status"], row["status"])
    assert (result.status, len(sent(result))) == (status, row["messages"])
    tokens = REDACTED.get((row["budget"], row.get("prefix_turns")), row["tokens"])
    assert result.tokens_after == tokens
    assert 0 <= row["tokens"] - tokens <= 2
    assert (summarised(result), dropped_messages(result)) == (row["summarised"], row["dropped_messages"])
    assert result.excess == max(0, tokens - row["budget"])
    assert cost(sent(result)) == tokens


@pytest.mark.parametrize("case", CASES["tail_slice_edge"], ids=lambda case: str(case["non_system_messages"]))
def test_the_tail_is_no_slice_with_a_negative_end(case: dict[str, Any]) -> None:
    roles = ["user", "assistant", "user", "assistant", "user"][: case["non_system_messages"]]
    messages = conversation(["system", *roles])
    as_published = published(messages, 10_000, keep_messages=case["keep_last"])
    assert len(sent(as_published)) == case["published_output_messages"]
    assert summarised(as_published) == case["published_summarised"]
    forced = right(messages, as_published.tokens_before - 1, keep_messages=case["keep_last"], min_turns=0, min_steps=0)
    assert len(sent(forced)) == case["right_output_messages"]
    assert summarised(forced) == case["right_summarised"]


def test_keep_zero() -> None:
    case = CASES["keep_last_zero"]
    messages = conversation(["system", "user", "assistant"])
    as_published = published(messages, 10_000, keep_messages=0)
    assert (len(messages), len(sent(as_published))) == (case["input_messages"], case["published_output_messages"])
    messages = conversation(["system", "user", "assistant", "user"])
    result = right(messages, 350, keep_messages=0, min_turns=0, min_steps=0)
    kept = [message for message in sent(result) if message in messages]
    assert kept == [messages[0], messages[-1]]
    assert len(sent(result)) == len(messages)
    assert (summarised(result), result.status) == (2, Status.TRIMMED)


def test_keep_zero_leaves_the_open_unit() -> None:
    messages = conversation(["system", "user", "assistant"])
    result = right(messages, 0, keep_messages=0, min_turns=0, min_steps=0)
    assert sent(result) == messages
    assert result.status == Status.OVER_BUDGET


def test_summaries_that_would_be_longer() -> None:
    case = CASES["summary_inflation"]
    messages = [{"role": "system", "content": "规"}]
    messages += [{"role": role, "content": "好的"} for role in ["user", "assistant"] * 10]
    result = right(messages, 10_000)
    assert (result.tokens_before, result.tokens_after) == (case["input_tokens"],) * 2
    assert published(messages, 10_000).tokens_after == case["published_tokens"]
    forced = right(messages, case["input_tokens"] - 1, min_turns=0, min_steps=0)
    assert forced.tokens_after < case["input_tokens"]
    assert not any(message["content"].startswith("[summary]") for message in sent(forced))


def test_a_system_message_keeps_its_place() -> None:
    case = CASES["system_position"]
    messages = conversation(case["roles_in"])
    as_published = published(messages, 10_000, keep_messages=2)
    assert [message["role"] for message in sent(as_published)] == case["published_roles_out"]
    result = right(messages, as_published.tokens_before - 1, keep_messages=2, min_turns=0, min_steps=0)
    assert [message["role"] for message in sent(result)] == case["right_roles_out"]
    assert result.status == Status.TRIMMED
    assert sent(result)[1] == messages[1]


def test_null_content_counts_its_calls() -> None:
    case = CASES["null_content"]
    result = right([case["message"]], None)
    assert result.tokens_before == case["right_tokens"]
    decision, overhead = result.decisions
    assert decision.tokens_before == case["parts"]["name"] + case["parts"]["arguments"]
    assert overhead.tokens_before == case["parts"]["overhead"]


def test_the_whole_tool_conversation() -> None:
    pitfall = PITFALLS["P2"]
    messages = tool_chat()
    assert len(messages) == pitfall["messages"]
    assert sum(message["role"] == "user" for message in messages) == pitfall["turns"]
    assert right(messages, None).tokens_before == pitfall["tokens"]
    assert right(messages[:1], None).tokens_before == pitfall["system_tokens"]
    assert right(messages[-16:], None).tokens_before == pitfall["last_4_turns_tokens"]


@pytest.mark.parametrize("budget", [*PITFALLS["P2"]["budgets"], 495, 494])
def test_calls_and_results_stay_together(budget: int) -> None:
    messages = tool_chat()
    result = right(messages, budget)
    out = sent(result)
    calls = [call["id"] for message in out for call in message.get("tool_calls", ())]
    assert calls == [message["tool_call_id"] for message in out if message["role"] == "tool"]
    for before, message in pairwise(out):
        if message["role"] == "tool":
            assert message["tool_call_id"] in [call["id"] for call in before["tool_calls"]]
    assert not any(message["role"] == "tool" and "[summary]" in message["content"] for message in out)
    assert [message["role"] for message in out[:2]] == ["system", "user"]
    assert out[-16:] == messages[-16:]
    assert (result.status == Status.OVER_BUDGET) == (budget < 495)


def test_a_folded_group_names_its_tool_and_has_no_ids() -> None:
    messages = tool_chat()
    folded = [
        message for message in sent(right(messages, 1500)) if str(message["content"]).startswith("[summary] used")
    ]
    assert folded
    for message in folded:
        assert message.keys() == {"role", "content"}
        assert message["role"] == "assistant"
        assert re.match(r"\[summary\] used \w+", message["content"])


def test_no_number_of_a_result_is_left_in_a_summary() -> None:
    case = EXPECTED["result_number_in_first_40_characters"]
    for summary in (message["content"] for message in sent(right(chat(), 2000)) if "[summary]" in message["content"]):
        assert not any(number.split()[0] + " 条" in summary for number in case["numbers"]), summary
    leaks = [sent(published(chat(), 2000))[at]["content"] for at in case["message_indexes"]]
    assert all(number in leak for number, leak in zip(case["numbers"], leaks, strict=True))


@pytest.mark.parametrize(
    "case", PITFALLS["P4"]["cases"], ids=lambda case: str(case.get("prefix_turns", "exact recall"))
)
def test_short_tasks_and_exact_recall_are_left_alone(case: dict[str, Any]) -> None:
    result = right(
        turns(chat(), case.get("prefix_turns")), case["budget"], exact_recall=case.get("exact_recall", False)
    )
    assert result.status == {"ok": "trimmed"}.get(case["status"], case["status"])
    assert len(sent(result)) == case["messages"]
    if case["status"].startswith("skipped"):
        assert result.tokens_after == case["tokens"]
        assert result.excess == case["tokens"] - case["budget"]
        assert result.blockers


def test_steps_must_be_few_as_well() -> None:
    """An agent with one user turn and many steps is not too short to touch."""
    messages = [{"role": "user", "content": LONG}, *conversation(["assistant"] * 20)]
    many = right(messages, 900, keep_steps=3)
    assert many.status == Status.TRIMMED
    assert right(messages[:16], 900, keep_steps=3).status == Status.SKIPPED_SHORT


def test_too_few_turns_are_counted_as_steps() -> None:
    messages = [{"role": "user", "content": LONG}, *conversation(["assistant"] * 20)]
    result = right(messages, 1500)
    assert sent(result)[-4:] == messages[-4:]
    assert sent(result)[-5]["content"].startswith("[summary]")
    told = {(made.reason, made.setting) for made in result.decisions if made.action == Action.SUMMARISE}
    assert told == {("older than the kept part (4 steps)", "strategy.keep_turns (as steps: too few turns)")}


def test_the_reason_names_the_unit_that_was_counted() -> None:
    told = {made.reason for made in right(chat(), 2000, keep_turns=4).decisions if made.action == Action.SUMMARISE}
    assert told == {"older than the kept part (4 turns)"}
    told = {made.reason for made in right(chat(), 2000, keep_turns=1).decisions if made.action == Action.SUMMARISE}
    assert told == {"older than the kept part (1 turn)"}


@pytest.mark.parametrize("mark", [marks.STUB, marks.SUMMARY, marks.CONTEXT, marks.ROLLING_SUMMARY, marks.TOOL_MENU])
def test_what_a_strategy_put_in_is_not_summarised(mark: str) -> None:
    messages = conversation(["user", "assistant"] * 20)
    for at in (2, 5):
        messages[at]["content"] = f"{mark} {LONG}"
    result = sent(right(messages, cost(messages) - 1, keep_turns=4))
    assert [at for at, pair in enumerate(zip(result, messages, strict=True)) if pair[0] == pair[1]] == [
        2,
        5,
        *range(32, 40),
    ]


def test_a_summary_is_not_summarised_again() -> None:
    once = sent(right(chat(), 2000))
    again = right([*once, *conversation(["user", "assistant"] * 8)], 2000, keep_turns=4)
    texts = [message["content"] for message in sent(again)]
    assert not any(text.count("[summary]") > 1 for text in texts)
    assert sum(text.startswith("[summary]") for text in texts) > 16


def test_the_input_is_left_as_it_was() -> None:
    before = copy.deepcopy(tool_chat())
    right(tool_chat(), 700)
    published(tool_chat(), 700)
    assert tool_chat() == before


@pytest.mark.parametrize("budget", [1921, 1500, 1000, 700, 400])
def test_published_reports_what_it_sends(budget: int) -> None:
    result = published(tool_chat(), budget)
    recount = budgeted(sent(result), None, "full_history")
    assert recount.tokens_before == result.tokens_after
    assert sum(made.tokens_after for made in result.decisions) == result.tokens_after
    assert sum(result.plan.kinds().values()) == result.tokens_after


def test_a_step_keeps_the_cut_in_place() -> None:
    """With a step the dropped part ends on the grid, so that fewer calls begin with another message."""

    def first_messages(step: int) -> list[str]:
        found = []
        for count in range(16, 21):
            result = right(turns(chat(), count), 900, step=step)
            found.append(sent(result)[1]["content"])
        return found

    assert len(set(first_messages(0))) == 5
    assert len(set(first_messages(600))) < 5
