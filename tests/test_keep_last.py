from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from core.plan import Action, Status
from core.runtime import ContextRuntime, Result
from tests.cases import budgeted, case_file, chat, tool_chat

EXPECTED = case_file("expected.json")
NAIVE = next(p for p in case_file("summarise_keep_cases.json")["pitfalls"] if p["id"] == "P2")["naive_keep_last_n"]


def keep_last(messages: list[dict[str, Any]], budget: int | None, **settings: Any) -> Result:
    return budgeted(messages, budget, "keep_last", **settings)


def places(result: Result, messages: list[dict[str, Any]]) -> list[int]:
    """Where the messages sent stand in the input."""
    at = {id(message): place for place, message in enumerate(messages)}
    return [at[id(message)] for message in result.request["messages"]]


def test_the_newest_eight_messages() -> None:
    row = EXPECTED["baseline_keep_last_8_messages_no_summary"]
    result = keep_last(chat(), 2000, keep_messages=8)
    assert (len(result.request["messages"]), result.tokens_after) == (row["messages"], row["tokens"])
    assert result.plan.actions()[Action.DROP] == row["dropped"]
    assert places(result, chat()) == [0, *range(33, 41)]


@pytest.mark.parametrize(
    ("settings", "budget", "kept", "status"),
    [
        ({}, 2578, range(1, 41), "fits"),
        ({}, None, range(1, 41), "fits"),
        ({}, 2577, range(33, 41), "trimmed"),
        ({"keep_turns": 2}, 2577, range(37, 41), "trimmed"),
        ({"keep_turns": 19}, 2577, range(3, 41), "trimmed"),
        ({"keep_turns": 20}, 2577, range(3, 41), "trimmed"),
        ({"keep_steps": 3}, 2577, range(35, 41), "trimmed"),
        ({"keep_messages": 7}, 2577, range(33, 41), "trimmed"),
        ({"keep_messages": 1}, 2577, range(39, 41), "trimmed"),
        ({"keep_messages": 0}, 2577, range(39, 41), "trimmed"),
        ({"keep_turns": 0}, 2577, range(39, 41), "trimmed"),
        ({"keep_tokens": 509}, 2577, range(33, 41), "trimmed"),
        ({"keep_tokens": 440}, 2577, range(35, 41), "trimmed"),
        ({"keep_tokens": 0}, 2577, range(39, 41), "trimmed"),
        ({}, 540, range(33, 41), "trimmed"),
        ({}, 539, range(35, 41), "trimmed"),
        ({}, 300, range(37, 41), "trimmed"),
        ({}, 157, range(39, 41), "trimmed"),
        ({}, 156, range(39, 41), "over_budget"),
        ({}, 0, range(39, 41), "over_budget"),
    ],
)
def test_what_is_kept(settings: dict[str, int], budget: int | None, kept: range, status: str) -> None:
    result = keep_last(chat(), budget, **settings)
    assert (result.status, places(result, chat())) == (status, [0, *kept])
    assert result.excess == (0 if budget is None else max(0, result.tokens_after - budget))


@pytest.mark.parametrize("case", NAIVE, ids=lambda case: str(case["n"]))
def test_a_pair_is_never_split(case: dict[str, Any]) -> None:
    """Counting messages alone would begin in the middle of a pair, or with an answer that lacks its question."""
    messages = tool_chat()
    naive = messages[-case["n"] :]
    assert naive[0]["role"] == case["first_kept_role"]
    assert (naive[0]["role"] == "tool") == case["splits_a_pair"]
    kept = places(keep_last(messages, 1900, keep_messages=case["n"]), messages)[1:]
    first = len(messages) - case["n"]
    opener = max(at for at in range(first + 1) if messages[at]["role"] == "user")
    assert kept[0] == opener
    unit = first - 1 if case["splits_a_pair"] else first
    assert kept == sorted({opener, *range(unit, len(messages))})


def test_the_setting_says_where_steps_were_counted() -> None:
    messages = [chat()[1], *[{"role": "assistant", "content": f"step {at}"} for at in range(9)]]
    result = keep_last(messages, 100, keep_turns=4)
    assert places(result, messages) == [0, 6, 7, 8, 9]
    dropped = [made for made in result.decisions if made.action is Action.DROP]
    assert {made.setting for made in dropped} == {"strategy.keep_turns (as steps: too few turns)"}
    assert {made.reason for made in dropped} == {"older than the newest 4 steps"}
    kept = {made.span_id: made.reason for made in result.decisions if made.action is Action.KEEP}
    assert kept["m0.0"] == "the newest user message always stays"


def test_reasons_name_the_setting_that_cut() -> None:
    result = keep_last(chat(), 300, keep_turns=4, step=0)
    reasons = {made.span_id: (made.reason, made.setting) for made in result.decisions}
    assert reasons["m0.0"] == ("older than the newest 4 turns", "strategy.keep_turns")
    assert reasons["m35.0"] == ("no room for it behind the budget", "budget")
    (one,) = {made.reason for made in keep_last(chat(), 2000, keep_turns=1).decisions if made.action is Action.DROP}
    assert one == "older than the newest 1 turn"
    stepped = keep_last(chat(), 2577, keep_turns=4, step=1100)
    settings = {made.span_id: made.setting for made in stepped.decisions if made.action is Action.DROP}
    assert set(settings.values()) == {"strategy.keep_turns"}


@pytest.mark.parametrize(
    ("budget", "step", "first"),
    [
        (2577, 0, 33),
        (2577, 1, 33),
        (2577, 700, 23),  # 2038 tokens stand before message 33; the grid line before is at 1400
        (2577, 1000, 31),
        (2577, 2038, 33),
        (2577, 2039, 33),  # the whole does not fit
        (600, 700, 35),  # nothing before fits, so the cut goes on to the line at 2100
        (300, 2000, 39),
    ],
)
def test_cuts_stand_on_the_grid(budget: int, step: int, first: int) -> None:
    result = keep_last(chat(), budget, keep_turns=4, step=step)
    assert places(result, chat())[1] == first, result.tokens_after


def long_run(calls: int) -> list[list[dict[str, Any]]]:
    """The requests of an agent that answers one question in many steps."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Find out why the backup of the night failed."}]
    runs = []
    for at in range(calls):
        runs.append(list(messages))
        call = {"id": f"c{at}", "type": "function", "function": {"name": "shell", "arguments": '{"cmd": "ls"}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{at}", "content": f"line {at} of a log " * (5 + at % 7)})
    return runs


@pytest.mark.parametrize("kind", ["keep_last", "summarize_and_keep", "tiered_injection"])
def test_a_step_breaks_the_cached_prefix_seldom(kind: str) -> None:
    def changes(step: int) -> int:
        config = {"budget": {"soft_limit": 3000}, "strategy": {"kind": kind, "keep_steps": 8, "step": step}}
        session = ContextRuntime.load(config).session()
        sent = [session.assemble({"messages": messages}).request["messages"] for messages in long_run(250)]
        return sum(after[: len(before)] != before for before, after in pairwise(sent))

    without, stepped = changes(0), changes(1200)
    assert without > 150
    assert stepped < without / 5


def test_a_pinned_answer_keeps_the_question_that_a_prompt_begins_with() -> None:
    rules = [{"match": {"role": "assistant", "pattern": "^A0"}, "evict": "pinned"}]
    messages = [{"role": role, "content": f"{role[0].upper()}{at} " + "x" * 200} for at in range(4) for role in ROLES]
    config = {"budget": {"soft_limit": 200}, "rules": rules, "strategy": {"kind": "keep_last", "keep_turns": 1}}
    result = ContextRuntime.load(config).assemble({"messages": messages})
    assert places(result, messages) == [0, 1, 6, 7]


ROLES = ("user", "assistant")


def test_short_tasks_are_skipped_where_it_is_asked_for() -> None:
    assert keep_last(chat(), 900, min_turns=20, min_steps=20).status is Status.SKIPPED_SHORT
    assert keep_last(chat(), 900, min_turns=20, min_steps=19).status is Status.TRIMMED
    assert keep_last(chat(), 900).status is Status.TRIMMED


@pytest.mark.parametrize("unit", ["turns", "steps", "messages", "tokens"])
@pytest.mark.parametrize(
    ("number", "reason"), [(0, "history, of which nothing is kept"), (1, "older than the newest 1 {one}")]
)
def test_what_keeping_nothing_drops_is_said_in_words(unit: str, number: int, reason: str) -> None:
    dropped = [made.reason for made in keep_last(chat(), 0, **{f"keep_{unit}": number}).decisions
               if made.action is Action.DROP]  # fmt: skip
    assert dropped[0] == reason.format(one=unit.removesuffix("s"))
