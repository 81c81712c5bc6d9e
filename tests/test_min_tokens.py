"""What a rule keeps from becoming small is sent with so much or not at all, whatever the strategy puts in its place."""

from __future__ import annotations

from typing import Any

import pytest

from core.runtime import ContextRuntime

CALL = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
BODY = {
    "model": "gpt-4o",
    "messages": [
        {"role": "user", "content": "a long question " * 60},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c", "content": "a long result " * 60},
        {"role": "assistant", "content": "an answer"},
        {"role": "user", "content": "thanks"},
        {"role": "assistant", "content": "welcome"},
        {"role": "user", "content": "go on"},
    ],
}
FOLD = {"kind": "summarize_and_keep", "keep_messages": 1, "min_turns": 0, "min_steps": 0}
STUBS = {"kind": "span_triage"}
APART = {"kind": "span_triage", "merge_stubs": False}
TIERS = {"kind": "tiered_injection", "keep_messages": 9}
MASKS = {"kind": "mask_tool_results", "keep": 0}


def assembled(strategy: dict[str, Any], limit: int, *rules: dict[str, Any]) -> Any:
    config = {"budget": {"soft_limit": limit}, "strategy": strategy, "rules": list(rules)}
    return ContextRuntime.load(config).assemble(BODY)


def least(kind: str, tokens: int) -> dict[str, Any]:
    return {"match": {"kind": kind}, "min_tokens": tokens}


CONTEXTUAL = {"match": {"kind": "tool_result"}, "tier": "contextual"}
EXTRACT = {"match": {"kind": "user"}, "evict": "reconstructible"}


@pytest.mark.parametrize(
    ("strategy", "rules", "span", "action", "becomes"),
    [
        (FOLD, [], "m0.0", "summarise", "less"),
        (FOLD, [least("user", 100)], "m0.0", "keep", "same"),
        (FOLD, [least("user", 5)], "m0.0", "summarise", "less"),
        (FOLD, [least("user", 0)], "m0.0", "summarise", "less"),
        (FOLD, [least("tool_result", 5)], "m2.0", "keep", "same"),
        (STUBS, [], "m0.0", "stub", "less"),
        (STUBS, [least("user", 100)], "m0.0", "keep", "same"),
        (STUBS, [least("user", 5)], "m0.0", "keep", "same"),
        (APART, [least("user", 100)], "m0.0", "keep", "same"),
        (APART, [least("user", 5)], "m0.0", "stub", "less"),
        (STUBS, [EXTRACT, least("user", 5)], "m0.0", "summarise", "less"),
        (STUBS, [EXTRACT, least("user", 100)], "m0.0", "keep", "same"),
        (TIERS, [CONTEXTUAL], "m2.0", "stub", "less"),
        (TIERS, [CONTEXTUAL, least("tool_result", 100)], "m2.0", "keep", "same"),
        (MASKS, [], "m2.0", "stub", "less"),
        (MASKS, [least("tool_result", 100)], "m2.0", "keep", "same"),
    ],
)
def test_a_span_is_never_made_smaller_than_a_rule_lets_it(
    strategy: dict[str, Any], rules: list[dict[str, Any]], span: str, action: str, becomes: str
) -> None:
    made = assembled(strategy, 100 if strategy in (STUBS, APART) else 300, *rules)
    (found,) = [one for one in made.decisions if one.span_id == span]
    assert found.action == action
    assert (found.tokens_after < found.tokens_before) == (becomes == "less")


@pytest.mark.parametrize("strategy", [FOLD, STUBS, APART, TIERS, MASKS])
@pytest.mark.parametrize("tokens", [1, 10, 30, 100])
@pytest.mark.parametrize("limit", [0, 60, 150, 300, 400])
def test_what_stands_for_a_span_has_at_least_so_much(strategy: dict[str, Any], tokens: int, limit: int) -> None:
    made = assembled(strategy, limit, CONTEXTUAL, {"min_tokens": tokens})
    changed = [one for one in made.decisions if one.action in ("stub", "trim", "project", "summarise")]
    known = {one.span_id for one in changed if one.tokens_before}
    gone = {"m0.0", "m1.0", "m2.0"} if strategy is TIERS else set()
    assert all(one.tokens_after >= tokens for one in changed if one.span_id in known - gone)
