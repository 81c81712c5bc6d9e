"""The least that must be gained and the grid agree: a cut on the grid that gains too little is no cut that serves."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from core.runtime import ContextRuntime


def body(steps: int, words: int) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number in range(steps):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "word " * words})
    return {"model": "gpt-4o", "messages": [*messages, {"role": "user", "content": "end"}]}


def masked(request: dict[str, Any], limit: int | None, **settings: Any) -> Any:
    strategy = {"kind": "mask_tool_results", "keep": 1, "placeholder": "{lines} left out", **settings}
    return ContextRuntime.load({"budget": {"soft_limit": limit}, "strategy": strategy}).assemble(request)


@pytest.mark.parametrize(
    ("limit", "step", "least", "status", "cleared"),
    [
        (0, 0, 60, "over_budget", 80),
        (189, 0, 60, "trimmed", 80),
        (189, 40, 60, "trimmed", 80),
        (189, 40, 30, "trimmed", 40),
        (140, 40, 30, "trimmed", 80),
        (0, 40, 60, "over_budget", 80),
        (0, 40, 81, "over_budget", 0),
        (189, 40, 81, "over_budget", 0),
        (190, 40, 60, "fits", 0),
    ],
)
def test_the_grid_asks_for_the_least_gain(limit: int, step: int, least: int, status: str, cleared: int) -> None:
    made = masked(body(3, 42), limit, step=step, min_cleared=least)
    assert (made.tokens_before, made.status, made.tokens_before - made.tokens_after) == (190, status, cleared)


@pytest.mark.parametrize("trigger", [1.0, 0.5, 0])
@pytest.mark.parametrize("step", [0, 40, 100, 300])
@pytest.mark.parametrize("least", [0, 30, 60, 100])
@pytest.mark.parametrize("words", [18, 42, 60])
def test_a_lower_limit_never_sends_more(words: int, least: int, step: int, trigger: float) -> None:
    request = body(5, words)
    size = masked(request, None).tokens_before
    settings = {"step": step, "min_cleared": least, "trigger": trigger}
    made = [masked(request, limit, **settings) for limit in range(size + 5, 0, -size // 20)]
    for higher, lower in pairwise(made):
        if not lower.excess:
            assert lower.tokens_after <= higher.tokens_after
        elif higher.excess:
            assert lower.tokens_after == higher.tokens_after


@pytest.mark.parametrize(
    ("placeholder", "said"), [(None, ".0, 1 line, 42 tokens of read;"), ("({lines} lines)", "(1 line)")]
)
def test_a_placeholder_says_one_line_of_one_and_is_known_again(placeholder: str | None, said: str) -> None:
    settings = {"placeholder": placeholder} if placeholder else {}
    strategy = {"kind": "mask_tool_results", "keep": 1, "trigger": 0, **settings}
    runtime = ContextRuntime.load({"budget": {"soft_limit": 1000}, "strategy": strategy})
    made = runtime.assemble(body(3, 41))
    texts = [message["content"] for message in made.request["messages"] if message["role"] == "tool"]
    assert [said in text for text in texts] == [True, True, False]
    assert runtime.assemble(made.request).request == made.request
