"""Rules by age in turns: what they mean, and that a session finds what a single request finds."""

from __future__ import annotations

from typing import Any

import pytest

from core.runtime import ContextRuntime
from core.wire import dump

LONG = "a result of many words " * 12


def agent(turns: int, steps: int = 1, wording: str = "Look") -> list[dict[str, Any]]:
    """Turns of a user message, some tool rounds and an answer."""
    said: list[dict[str, Any]] = []
    for turn in range(turns):
        said.append({"role": "user", "content": f"{wording} at {turn}."})
        for step in range(steps):
            call = {"id": f"c{turn}_{step}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
            said.append({"role": "assistant", "content": None, "tool_calls": [call]})
            said.append({"role": "tool", "tool_call_id": call["id"], "content": f"{turn}.{step} {LONG}"})
        said.append({"role": "assistant", "content": f"Seen {turn}."})
    return said


def runtime(kind: str, limit: int | None, **match: int) -> ContextRuntime:
    rule = {"match": {"kind": "tool_result", **match}, "evict": "pinned"}
    shrink = {"match": {"kind": "tool_result", "min_age": 1}, "max_tokens": 20}
    rules = [rule] if limit is not None else [shrink]
    return ContextRuntime.load({"budget": {"soft_limit": limit}, "rules": rules, "strategy": {"kind": kind}})


@pytest.mark.parametrize(
    ("match", "pinned"),
    [
        ({"max_age": 0}, [3]),
        ({"max_age": 1}, [2, 3]),
        ({"min_age": 1}, [0, 1, 2]),
        ({"min_age": 1, "max_age": 2}, [1, 2]),
        ({"min_age": 4}, []),
    ],
)
def test_an_age_is_how_many_turns_came_after(match: dict[str, int], pinned: list[int]) -> None:
    body = {"messages": agent(4)}
    sent = runtime("keep_last", 60, **match).assemble(body).request["messages"]
    assert [int(wire["content"][0]) for wire in sent if wire["role"] == "tool"] == pinned


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("limit", [60, 200, 10_000, None])
@pytest.mark.parametrize("kind", ["keep_last", "summarize_and_keep", "span_triage", "mask_tool_results"])
def test_a_session_finds_what_a_single_request_finds(kind: str, limit: int | None, steps: int) -> None:
    """Requests that grow within a turn and by turns, then go back to an earlier place and on from there."""
    made = runtime(kind, limit, min_age=1, max_age=2)
    session = made.session()
    whole = agent(5, steps)
    fork = [*whole[: len(whole) // 2], *agent(2, steps, wording="Rather look")]
    for said in (whole, fork):
        for stop in range(1, len(said) + 1):
            if said[stop - 1]["role"] == "assistant":
                continue
            body = {"messages": said[:stop]}
            live, alone = session.assemble(body), made.assemble(body)
            assert dump(live.request) == dump(alone.request)
            assert live.decisions == alone.decisions
