"""Recorded runs of real agents under every strategy: nothing invalid, nothing lost without a word, no false sums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.replay import replay
from core.runtime import ContextRuntime
from core.transcript import Transcript
from core.validity import new_violations, validate
from core.wire import dump

FILES = [
    "openai-chat/swe-agent-requests.jsonl.gz",
    "openai-chat/lmcache-openhands-requests.jsonl.gz",
    "claude-trace-http/claude-trace-part1.jsonl.gz",
    "claude-code/vct-v1.0.95.jsonl",
    "claude-code/entire-go-cli-long.jsonl.gz",
]
STRATEGIES: list[dict[str, Any]] = [
    {"kind": "keep_last", "keep_steps": 12, "step": 4000},
    {"kind": "summarize_and_keep", "min_turns": 0, "min_steps": 0},
    {"kind": "tiered_injection", "keep_steps": 8},
]


@pytest.fixture(scope="module", params=FILES)
def transcript(request: pytest.FixtureRequest, transcripts_folder: Path) -> Transcript:
    """The longest transcript of a file."""
    return max(read(transcripts_folder / request.param).transcripts, key=lambda found: len(found.calls))


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy["kind"])
@pytest.mark.parametrize("share", [0.6, 0.15])
def test_every_call_of_a_recorded_run(transcript: Transcript, strategy: dict[str, Any], share: float) -> None:
    whole = replay(transcript, {"strategy": {"kind": "full_history"}}).calls["in_window"]
    budget = int(share * max(whole))
    config = {"budget": {"soft_limit": budget}, "strategy": strategy}
    made = replay(transcript, config)
    assert made.calls["before"] == whole
    session = ContextRuntime.load({**config, "model": {"dialect": transcript.dialect}}).session()
    for call in range(0, len(whole), max(1, len(whole) // 25)):
        prompt, plan = made.prompt(call), made.plan(call)
        sent = made.request(call)
        assert not new_violations(validate(prompt, transcript.dialect), validate(sent, transcript.dialect))
        assert sum(decision.tokens_after for decision in plan.decisions) == plan.tokens_after <= whole[call]
        assert (plan.excess > 0) == (plan.tokens_after > budget) == bool(plan.blockers)
        live = session.assemble(prompt)
        assert dump(live.request) == dump(sent)
        assert session.assemble(sent).tokens_before == plan.tokens_after
        if whole[call] <= budget:
            assert dump(sent) == dump(prompt)
