"""What a scorecard says of tokens: parts add up to what is sent, to the bill, and to the columns of the replay."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.bill import marks
from core.readers import read
from core.readers.builder import TranscriptBuilder
from core.replay import Replay, replay
from core.scorecard import Scorecard, scorecard
from core.tokens import Exactness
from core.transcript import Usage

MASK = {"strategy": {"kind": "mask_tool_results", "keep": 5, "trigger": 0}}
AS_CAPTURED = {"strategy": {"kind": "as_captured"}}
TEXTS = ["word " * 50, "word " * 60, "word " * 70]


def chat(beyond: Sequence[int | None], model: str = "gpt-4o", size: int = 1) -> Replay:
    """Return a growing chat whose reports differ from the counts by so many tokens; None for no report.

    `size` is how many times as long as usual its texts are.
    """
    counted = list(made([None] * len(beyond), model, size).calls["in_window"])
    reported = [None if more is None else tokens + more for tokens, more in zip(counted, beyond, strict=True)]
    return made(reported, model, size)


def made(reported: Sequence[int | None], model: str, size: int) -> Replay:
    builder, messages = TranscriptBuilder("openai_chat"), list[dict[str, Any]]()
    for text, tokens in zip(TEXTS[: len(reported)], reported, strict=True):
        messages = [*messages, {"role": "user", "content": text * size}]
        builder.call(builder.body({"model": model, "messages": messages}), usage=Usage(input=tokens), model=model)
        messages = [*messages, {"role": "assistant", "content": "Yes."}]
    return replay(builder.build(), AS_CAPTURED)


@pytest.mark.parametrize(
    ("beyond", "hidden", "corrected", "unknown"),
    [
        ([None, None, None], None, None, 3),
        ([100, 100, 100], 300, 0, 0),
        ([None, 100, None], 200, 0, 1),
        ([-10, -10, -10], 0, -30, 0),
        ([40, -5, 0], 40, -5, 0),
    ],
)
def test_recorded_and_not_recorded_add_up(
    beyond: list[int | None], hidden: int | None, corrected: int | None, unknown: int
) -> None:
    found = chat(beyond)
    card = scorecard(found)
    assert (card.not_recorded_tokens, card.corrected_tokens) == (hidden, corrected)
    assert card.not_recorded_unknown_calls == unknown
    assert card.sent_tokens == card.sum_tokens + (hidden or 0) + (corrected or 0) == sum(found.calls["sent"])
    assert card.billed_calls == sum(more is not None for more in beyond)
    if card.billed_calls == 3:
        assert card.billed_tokens == card.sent_tokens


@pytest.mark.parametrize(
    ("beyond", "model", "expected"),
    [
        ([None, None, None], "gpt-4o", ["exact"] * 3),
        ([None, None, None], "claude-sonnet-4-5", ["estimate"] * 3),
        ([100, None, 100], "gpt-4o", ["reported", "calibrated", "reported"]),
        ([100, None, 100], "claude-sonnet-4-5", ["reported", "estimate", "reported"]),
    ],
)
def test_how_far_each_call_can_be_trusted(beyond: list[int | None], model: str, expected: list[str]) -> None:
    assert marks(chat(beyond, model)) == [Exactness(name) for name in expected]


def test_what_a_strategy_changed_is_not_reported() -> None:
    captured = chat([100, 100, 100])
    cut = replay(
        captured.transcript, {"budget": {"soft_limit": 70}, "strategy": {"kind": "keep_last", "keep_turns": 1}}
    )
    assert marks(cut) == [Exactness.REPORTED, Exactness.CALIBRATED, Exactness.CALIBRATED]
    assert scorecard(cut).sent_known_as == {"reported": 1, "calibrated": 2}


@pytest.mark.parametrize("config", [AS_CAPTURED, MASK])
def test_a_run_whose_system_prompt_is_hidden(config: dict[str, Any], transcripts_folder: Path) -> None:
    (transcript, *_) = read(transcripts_folder / "claude-code/entire-go-cli-long.jsonl.gz").transcripts
    found = replay(transcript, config)
    card = scorecard(found)
    assert card.not_recorded_tokens == 2_214_464 and card.billed_tokens == 4_256_460
    assert (card.sent_tokens == card.billed_tokens) is (config is AS_CAPTURED)
    assert (card.cached_corrected_tokens, cache_adds_up(found)) == (0, True)


def cache_adds_up(made: Replay) -> bool:
    """Return whether what is read and written makes up what is sent, and what is read the column and the rest of it."""
    card = scorecard(made)
    parts = (card.cached_tokens, card.written_tokens, card.uncached_tokens)
    sent = sum(row.sent for row in made.cache.calls if row.cached is not None)
    beyond = (card.cached_not_recorded_tokens or 0) + (card.cached_corrected_tokens or 0)
    column = sum(tokens or 0 for tokens in made.calls["cached"])
    return (sum(part or 0 for part in parts), card.cached_tokens or 0) == (sent, column + beyond)


@pytest.mark.parametrize(
    ("beyond", "read", "hidden", "corrected"),
    [
        ([0, 0, 0], 6272, 0, 0),
        ([5000, 5000, 5000], 16256, 10000, 0),
        ([-500, -500, -500], 5248, 0, -1000),
        ([-500, 300, -500], 5760, 0, -500),
    ],
)
def test_what_is_read_from_the_cache_adds_up(beyond: list[int], read: int, hidden: int, corrected: int) -> None:
    """Where a count was too high, less is read than the column says, which is of the prompt as counted."""
    found = chat(beyond, size=40)
    card = scorecard(found)
    assert (card.cached_tokens, card.cached_not_recorded_tokens, card.cached_corrected_tokens) == (
        read,
        hidden,
        corrected,
    )
    assert cache_adds_up(found)


@pytest.mark.parametrize("config", [AS_CAPTURED, MASK, {"strategy": {"kind": "full_history"}}])
@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("claude-trace-http/claude-trace-part1.jsonl.gz", {}),
        ("langfuse/csharp-agent-with-gemini-2026-03-09.trace.json", {"name": "claude-sonnet-4-5"}),
    ],
)
def test_runs_whose_counts_are_too_high(
    name: str, model: dict[str, Any], config: dict[str, Any], transcripts_folder: Path
) -> None:
    found = [
        replay(transcript, {**config, "model": model}) for transcript in read(transcripts_folder / name).transcripts
    ]
    assert all(map(cache_adds_up, found))
    assert min(scorecard(made).cached_corrected_tokens or 0 for made in found) < 0


def test_drift_is_kept_as_plain_json(transcripts_folder: Path) -> None:
    (transcript, *_) = read(transcripts_folder / "claude-code/entire-go-cli-long.jsonl.gz").transcripts
    card = scorecard(replay(transcript, MASK))
    kept = json.loads(json.dumps(card.as_json()))
    assert Scorecard.from_json(kept) == card
    (found,) = kept["drift"].values()
    assert (found["calls"], found["reserve_ratio"], found["encoding"]) == (62, 0.0065, "o200k_base")
    assert found["scale"]["low"] < found["scale"]["scale"] == 1.181 < found["scale"]["high"]
    assert scorecard(chat([None, None, None])).drift == {}
