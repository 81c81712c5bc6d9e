"""What a scorecard says of tokens: parts add up to what is sent, to the bill, and to the columns of the replay."""

from __future__ import annotations

import json
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


def chat(beyond: list[int | None], model: str = "gpt-4o") -> Replay:
    """Return a growing chat whose reports differ from the counts by so many tokens; None for no report."""
    counted = list(made(beyond, [None] * len(beyond), model).calls["in_window"])
    reported = [None if more is None else tokens + more for tokens, more in zip(counted, beyond, strict=True)]
    return made(beyond, reported, model)


def made(beyond: list[int | None], reported: list[int | None], model: str) -> Replay:
    builder, messages = TranscriptBuilder("openai_chat"), list[dict[str, Any]]()
    for text, tokens in zip(TEXTS[: len(beyond)], reported, strict=True):
        messages = [*messages, {"role": "user", "content": text}]
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
    assert (card.cached_tokens or 0) - (card.cached_not_recorded_tokens or 0) == sum(
        tokens or 0 for tokens in found.calls["cached"]
    )
    known = [row.sent for row in found.cache.calls if row.cached is not None]
    assert (card.cached_tokens or 0) + (card.written_tokens or 0) + (card.uncached_tokens or 0) == sum(known)


def test_drift_is_kept_as_plain_json(transcripts_folder: Path) -> None:
    (transcript, *_) = read(transcripts_folder / "claude-code/entire-go-cli-long.jsonl.gz").transcripts
    card = scorecard(replay(transcript, MASK))
    kept = json.loads(json.dumps(card.as_json()))
    assert Scorecard.from_json(kept) == card
    (found,) = kept["drift"].values()
    assert (found["calls"], found["reserve_ratio"], found["encoding"]) == (62, 0.0065, "o200k_base")
    assert found["scale"]["low"] < found["scale"]["scale"] == 1.181 < found["scale"]["high"]
    assert scorecard(chat([None, None, None])).drift == {}
