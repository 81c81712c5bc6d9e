"""The tokens that a summary tells of are those that its decision names: of its span, or of all that it stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.decisions import Action, Decision
from core.readers import read
from core.replay import Replay, replay
from tests.runs import result, run, says, user, uses

SAMPLES = Path(__file__).parents[1] / "sample_data"
NAMES = ["coding_agent.jsonl", "long_chat.json", "operations_zh.json", "support_triage.jsonl"]
SHRUNK = [{"kind": "project_tool_results", "max_tokens": 100}]
SETTINGS = {"kind": "summarize_and_keep", "keep_steps": 2, "min_turns": 0, "min_steps": 0}


def stretches(decisions: tuple[Decision, ...]) -> Iterator[list[Decision]]:
    """Yield each decision that has a summary, with those after it that have none."""
    found: list[Decision] = []
    for made in decisions:
        if made.action is not Action.SUMMARISE or made.replacement is not None:
            if found:
                yield found
            found = []
        if made.action is Action.SUMMARISE:
            found.append(made)
    if found:
        yield found


def check_tokens(made: Replay) -> int:
    """Check each summary of the last call against the recorded spans; return how many stand for several."""
    several = 0
    for stretch in stretches(made.plan(len(made.transcript.calls) - 1).decisions):
        first, tokens = stretch[0], sum(one.tokens_before for one in stretch)
        assert re.findall(r"was ~(\d+) token", first.replacement or "") == [str(tokens)]
        named = f"; one text for {len(stretch)} spans of {tokens:,} tokens" if len(stretch) > 1 else ""
        assert first.reason == f"older than the kept part (2 steps){named}"
        assert all(one.reason == "older than the kept part (2 steps)" for one in stretch[1:])
        several += len(stretch) > 1
    return several


@pytest.mark.parametrize("shrink", [[], SHRUNK], ids=["as it came", "shrunk before"])
@pytest.mark.parametrize("name", NAMES)
def test_a_summary_tells_the_tokens_of_what_it_stands_for(name: str, shrink: list[dict[str, Any]]) -> None:
    (transcript, *_) = read(SAMPLES / name).transcripts
    peak = max(replay(transcript, {"strategy": {"kind": "full_history"}}).calls["in_window"])
    said = {"shrink": shrink, "strategy": SETTINGS}
    several = [
        check_tokens(replay(transcript, {**said, "budget": {"soft_limit": peak * part // 10}})) for part in (1, 2, 4)
    ]
    assert any(several) or name == "long_chat.json", "a conversation without tools has a span a message"


def test_a_reply_and_its_results_are_one_text() -> None:
    said = [user("Go."), uses("c1", "read", "I look at it."), result("c1", "noise\n" * 300), says("It is noise. " * 20)]
    said += [m for word in ("And?", "So?", "Well?") for m in (user(word), says("Done."))]
    made = replay(run(said), {"budget": {"soft_limit": 300}, "strategy": SETTINGS})
    decisions = {one.span_id: one for one in made.plan(4).decisions}
    tokens = sum(decisions[span_id].tokens_before for span_id in ("m1.0", "m1.1", "m2.0"))
    assert decisions["m1.0"].replacement == f"[summary] used read: I look at it.… (was ~{tokens} tokens)"
    assert decisions["m1.0"].reason.endswith(f"; one text for 3 spans of {tokens:,} tokens")
    assert decisions["m3.0"].reason == "older than the kept part (2 steps)"
