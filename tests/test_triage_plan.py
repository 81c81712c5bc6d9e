"""What stands for others is counted as it will be read: in its own role, and as no word of the reply behind it."""

from __future__ import annotations

from typing import Any

import pytest

from core.deepseek_vocabulary import has_deepseek
from core.runtime import ContextRuntime, Result
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


@pytest.mark.parametrize(
    ("dialect", "marked", "own"),
    [
        ("openai_chat", "assistant", "assistant"),
        ("openai_responses", "assistant", "user"),
        ("anthropic", "assistant", "assistant"),
        ("gemini", "model", "user"),
    ],
)
def test_an_own_text_is_the_users_where_it_would_join_the_reply_behind_it(dialect: str, marked: str, own: str) -> None:
    talk = [user("go"), step("1", text=long("a1")), user("on"), step("2", text=long("a2")), user("u3")]
    for stub, role in ((MARKED, marked), ("{name} gone", own)):
        result = assembled({"kind": "span_triage", "stub": stub}, body(dialect, *talk), dialect, 0)
        assert [wire["role"] for wire in sent(result, dialect)] == ["user", role, "user", role, "user"]


@pytest.mark.skipif(not has_deepseek(), reason="the extra 'deepseek' is not installed")
@pytest.mark.parametrize(("merge", "tokens"), [(True, 30), (False, 34)])
def test_the_frame_of_a_stub_is_that_of_its_role(merge: bool, tokens: int) -> None:
    made = {**body("openai_chat", *CHAT), "model": "deepseek-chat"}
    result = assembled({"kind": "span_triage", "stub": MARKED, "merge_stubs": merge}, made, "openai_chat", 0)
    assert result.tokens_after == counted(result.request, "openai_chat") == tokens
