"""What stands for others is counted as it will be read: in its own role, and as no part of the reply behind it."""

from __future__ import annotations

from typing import Any

import pytest

from core.deepseek_vocabulary import has_deepseek
from core.dialects import dialect as dialect_named
from core.runtime import ContextRuntime, Result
from core.tokens import TiktokenCounter
from core.units import units
from tests.talks import body, long, said, sent, step, user

AGENT = [user("go"), step("1", text=long("a1")), step("2", text="a2"), step("3", text=long("a3")), step("4")]
MARKED = "[left out: {id}]"
CHAT = [user(long("u1")), said(long("a1")), user("u2"), said("a2"), user("u3")]


def assembled(strategy: dict[str, Any], made: dict[str, Any], dialect: str, budget: int | None) -> Result:
    config = {"model": {"dialect": dialect}, "budget": {"soft_limit": budget}, "strategy": strategy}
    return ContextRuntime.load(config).assemble(made)


def counted(made: dict[str, Any], dialect: str) -> int:
    return assembled({"kind": "full_history"}, made, dialect, None).tokens_before


@pytest.mark.parametrize(
    ("strategy", "budget", "tokens"),
    [
        ({"kind": "span_triage", "stub": MARKED}, 0, 46),
        ({"kind": "span_triage", "stub": MARKED, "merge_stubs": False}, 0, 80),
        ({"kind": "span_triage", "stub": "{name} gone"}, 0, 35),
        ({"kind": "span_triage", "stub": "{name} gone", "merge_stubs": False}, 0, 47),
        ({"kind": "summarize_and_keep", "keep_steps": 1, "min_turns": 0, "min_steps": 0}, 200, 108),
        ({"kind": "summarize_and_keep", "keep_messages": 2, "mode": "published"}, 200, 199),
    ],
    ids=["stubs", "single stubs", "own stubs", "single own stubs", "summaries", "published"],
)
def test_a_stand_in_before_a_call_is_no_word_of_its_reply(strategy: dict[str, Any], budget: int, tokens: int) -> None:
    made = {**body("openai_responses", *AGENT), "model": "gpt-5"}
    result = assembled(strategy, made, "openai_responses", budget)
    assert result.tokens_after == counted(result.request, "openai_responses") == tokens
    assert sum(result.plan.kinds().values()) == tokens


@pytest.mark.parametrize("dialect", ["openai_responses", "gemini"])
@pytest.mark.parametrize("stub", [MARKED, "{name} gone"])
def test_a_stand_in_is_a_unit_by_itself(stub: str, dialect: str) -> None:
    strategy = {"kind": "span_triage", "stub": stub, "merge_stubs": False}
    steps = [step(str(number), text=long(f"a{number}")) for number in range(3)]
    result = assembled(strategy, body(dialect, user("go"), *steps, step("3")), dialect, 0)
    found = units(sent(result, dialect), dialect_named(dialect), TiktokenCounter("o200k_base"))
    assert [len(unit.spans) for unit in found] == [1, 1, 1, 1, 2]


@pytest.mark.skipif(not has_deepseek(), reason="the extra 'deepseek' is not installed")
@pytest.mark.parametrize(("merge", "tokens"), [(True, 30), (False, 34)])
def test_the_frame_of_a_stub_is_that_of_its_role(merge: bool, tokens: int) -> None:
    made = {**body("openai_chat", *CHAT), "model": "deepseek-chat"}
    result = assembled({"kind": "span_triage", "stub": MARKED, "merge_stubs": merge}, made, "openai_chat", 0)
    assert result.tokens_after == counted(result.request, "openai_chat") == tokens
