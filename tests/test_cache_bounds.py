"""What is predicted of a recorded call lies within its prompt, whatever was reported: ranges, parts and costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.readers import read
from core.replay import replay
from core.transcript import Transcript

FILES = (
    "claude-code/daaain-edge-cases.jsonl",
    "claude-code/vct-v1.0.95.jsonl",
    "claude-trace-http/claude-trace-part1.jsonl.gz",
    "codex/agentlogs-crud.jsonl",
    "kimi-cli/agent-sessions-tools.jsonl",
    "opencode/agentlogs-all-tools.json",
    "pi/agentlogs-branched.jsonl",
    "litellm/openhands-completion-log-deepseek-turn4.json",
    "vcr-cassette/pydantic-ai-tool-search-anthropic-openai-anthropic.yaml",
    "aider/aider-chat-history-4mb.md.gz",
)
MOST = 12
KINDS = ("full_history", "keep_last", "tiered_injection", "mask_tool_results", "span_triage", "required_reserve")


@pytest.mark.parametrize("file", FILES)
def test_reads_and_costs_lie_within_what_is_sent(file: str, transcripts_folder: Path) -> None:
    transcripts = read(transcripts_folder / file).transcripts[:MOST]
    assert transcripts
    for transcript in transcripts:
        largest = max(replay(transcript, {"strategy": {"kind": "full_history"}}).calls["in_window"], default=0)
        for kind in KINDS:
            check(transcript, kind, 1 + largest // 2)


def check(transcript: Transcript, kind: str, limit: int) -> None:
    made = replay(transcript, {"strategy": {"kind": kind}, "budget": {"soft_limit": limit}})
    for row, cost, window in zip(made.cache.calls, made.cost.calls, made.calls["in_window"], strict=True):
        assert 0 <= row.prefix <= row.sent
        assert 0 <= row.low <= row.high <= row.sent
        if row.cached is not None:
            assert row.low <= row.cached <= row.high
            assert row.written is not None and row.written >= 0
            assert row.uncached is not None and row.uncached >= 0
            assert 0 <= (row.cached_of_window or 0) <= window
        if cost.usd is not None:
            assert cost.low is not None and cost.high is not None
            assert 0 <= cost.low <= cost.usd <= cost.high
