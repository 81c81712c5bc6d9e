"""Advice says where it costs more than what was recorded, and nothing where that is not known."""

from __future__ import annotations

from dataclasses import replace as with_changes
from pathlib import Path

import pytest

from core.advice_cost import dearer
from core.readers import read
from core.replay import replay
from core.transcript import Transcript
from tests.advice_runs import advice

SAMPLE = Path(__file__).parents[1] / "sample_data" / "coding_agent.jsonl"


@pytest.fixture(scope="module")
def transcript() -> Transcript:
    return read(SAMPLE).transcripts[0]


def test_a_cut_that_breaks_the_cache_is_said_to_cost_more(transcript: Transcript) -> None:
    found = advice(transcript, 30_000)
    assert found.config is not None
    new, old = replay(transcript, found.config).cost.total, found.prompt.history.as_captured.cost.total
    assert new is not None and old is not None and new > old
    assert found.dearer == (
        f"It costs more than the recorded prompts: about {new:.2f} instead of {old:.2f} US dollars for 61 calls, as far"
        " as the prompt cache can be foretold."
    )


def test_what_is_cheaper_or_the_same_is_not_said(transcript: Transcript) -> None:
    found = advice(transcript, 30_000)
    assert found.config is not None
    recorded, advised = found.prompt.history.as_captured, replay(transcript, found.config)
    assert dearer(recorded, advised) == "" and dearer(recorded, recorded) == ""


def test_what_is_unknown_is_not_said(transcript: Transcript) -> None:
    calls = tuple(with_changes(call, model="nobody-knows-it") for call in transcript.calls)
    heads = tuple({**head, "model": "nobody-knows-it"} for head in transcript.heads)
    found = advice(with_changes(transcript, calls=calls, heads=heads), 30_000)
    assert found.config is not None and found.prompt.history.as_captured.cost.total is None
    assert found.dearer == ""


def test_where_nothing_is_advised_nothing_is_said(transcript: Transcript) -> None:
    assert advice(transcript, 200_000).dearer == ""
