"""Recordings of agents that removed nothing: each prompt is the one before and what came since, as the reader has it.

`full_history` is then what was really sent. Where the provider's figures are recorded they bear it out, for a client
that had cut its prompt in silence would show as a fall in the reported input.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from core.readers import read
from core.replay import replay
from core.runtime import ContextRuntime
from core.transcript import Transcript
from core.wire import dump

RUNS = [
    # file, calls, messages in the first and the last prompt, reported input of the first and the last call
    ("openai-chat/lmcache-openhands-requests.jsonl.gz", [(35, 2, 67, None, None)]),
    ("openai-chat/swe-agent-requests.jsonl.gz", [(31, 2, 62, None, None)]),
    ("claude-trace-http/claude-trace-part1.jsonl.gz", [(13, 1, 25, 15_036, 25_106)]),
    (
        "openhands/multi-swe-bench-output.jsonl",  # their condenser is the one that does nothing
        [(23, 2, 46, 5_920, 33_459), (33, 2, 67, 5_549, 19_391), (49, 2, 99, 5_282, 27_127)],
    ),
    ("cline-roo/roo-heavy-uncondensed.ui_messages.json", [(27, 1, 53, 39_063, 140_651)]),
    ("cline-roo/roo-heavy-uncondensed.api_conversation_history.json", [(27, 1, 53, None, None)]),
    ("cline-roo/roo-synth2-heavy-read.api_conversation_history.json", [(16, 1, 31, None, None)]),
    ("cline-roo/agentlogs-cline-crud.json", [(21, 1, 41, 10_405, 123_483)]),
    ("mini-swe-agent/astroid-1333-188calls.traj.json.gz", [(188, 1, 375, 1_835, 101_667)]),
    ("mini-swe-agent/django-11797.traj.json.gz", [(156, 1, 311, 1_553, 64_835)]),
    ("swe-agent/pandas-53652-swesmith.traj.gz", [(37, 1, 73, None, None)]),
    ("claude-code/entire-go-cli-long.jsonl.gz", [(63, 1, 135, 35_796, 88_149)]),
    ("codex/vct-codex-2025-09.jsonl", [(19, 2, 55, 5_645, 22_279)]),
    ("kimi-cli/agent-sessions-tools.jsonl", [(23, 1, 52, 24_279, 42_371)]),
]


def runs(path: Path) -> list[Transcript]:
    """Return the transcripts of a file whose prompts grow."""
    found = (transcript for transcript in read(path).transcripts if len(transcript.calls) > 2)
    return [transcript for transcript in found if transcript.calls[0].captured != transcript.calls[-1].captured]


@pytest.mark.parametrize(("file", "expected"), RUNS, ids=[file for file, _ in RUNS])
def test_nothing_was_removed(file: str, expected: list[tuple[int | None, ...]], transcripts_folder: Path) -> None:
    figures = []
    for transcript in runs(transcripts_folder / file):
        paths = [transcript.path(call.captured) for call in transcript.calls]
        assert all(later[: len(path)] == path for path, later in pairwise(paths))
        assert all(call.captured == call.history for call in transcript.calls)
        inputs = [call.usage.input for call in transcript.calls]
        known = [tokens for tokens in inputs if tokens is not None]
        assert known == sorted(known)
        window = replay(transcript, {"strategy": {"kind": "full_history"}}).calls["in_window"]
        assert list(window) == sorted(window)
        figures.append((len(paths), len(paths[0]), len(paths[-1]), inputs[0], inputs[-1]))
    assert figures == expected


def test_a_client_that_moves_its_cache_marks(transcripts_folder: Path) -> None:
    """All that Claude Code 1.0.6 changes in what it sent before is where the marks stand: one, then two of them."""
    (transcript,) = runs(transcripts_folder / "claude-trace-http" / "claude-trace-part1.jsonl.gz")
    session = ContextRuntime.load({"strategy": {"kind": "full_history"}}).session()
    for call in range(len(transcript.calls)):
        sent = transcript.captured(call)
        assert dump(session.assemble(sent).request) == dump(sent)
    marks = [sum("cache_control" in dump(message) for message in transcript.captured(i)["messages"]) for i in range(13)]
    assert marks == [1, *[2] * 12]
