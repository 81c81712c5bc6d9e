"""What a recording cost by its own usage: exact sums, and unknown where a price needs what nobody reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.cost import cost
from core.readers import read
from core.replay import Replay, replay
from core.reported_cost import NO_CACHE_USAGE, NOT_BELIEVABLE, reported_cost
from core.scorecard import scorecard
from core.transcript import Usage
from core.unknown_calls import NO_PRICE, NO_USAGE
from tests.test_cost import FULL, talk

OPUS, GPT = "claude-opus-4-5-20251101", "gpt-4o"


def reported(model: str, *usages: Usage, marks: dict[str, Any] | None = None) -> Replay:
    made = talk(model)
    calls = tuple(replace(call, usage=usage) for call, usage in zip(made.calls, usages, strict=True))
    messages = made.messages
    if marks is not None:
        part = {"type": "text", "text": "word " * 3000, "cache_control": marks}
        messages = ({"role": "user", "content": [part]}, *messages[1:])
    return replay(replace(made, calls=calls, messages=messages), FULL)


@pytest.mark.parametrize(
    ("model", "usage", "usd"),
    [
        (OPUS, Usage(10_000, 6_000, 3_000, 100), (1_000 * 5 + 6_000 * 0.5 + 3_000 * 6.25 + 100 * 25) / 1e6),
        (OPUS, Usage(10_000, 0, 0, 100), (10_000 * 5 + 100 * 25) / 1e6),
        (OPUS, Usage(10_000, 10_000, None, 100), (10_000 * 0.5 + 100 * 25) / 1e6),  # nothing is left to be written
        (GPT, Usage(10_000, 6_000, None, 100), (4_000 * 2.5 + 6_000 * 1.25 + 100 * 10) / 1e6),  # writes are free
        (GPT, Usage(10_000, 6_000, 0, None), (4_000 * 2.5 + 6_000 * 1.25 + 10 * 10) / 1e6),  # the reply is counted
        (GPT, Usage(10_000, 6_000, 0, 1), (4_000 * 2.5 + 6_000 * 1.25 + 10 * 10) / 1e6),  # far below the reply
    ],
)
def test_a_call_costs_what_its_usage_says(model: str, usage: Usage, usd: float) -> None:
    assert reported_cost(reported(model, usage, Usage())).usd == [pytest.approx(usd, rel=1e-12), None]


@pytest.mark.parametrize(
    ("model", "usage", "why"),
    [
        (OPUS, Usage(), NO_USAGE),
        (OPUS, Usage(None, 6_000, 3_000, 100), NO_USAGE),
        (OPUS, Usage(10_000, None, 3_000, 100), NO_CACHE_USAGE),
        (OPUS, Usage(10_000, 6_000, None, 100), NO_CACHE_USAGE),
        (GPT, Usage(10_000, None, None, 100), NO_CACHE_USAGE),
        (OPUS, Usage(10_000, 8_000, 3_000, 100), NOT_BELIEVABLE),
        (OPUS, Usage(10_000, 11_000, None, 100), NOT_BELIEVABLE),
        (OPUS, Usage(10_000, -1, 0, 100), NOT_BELIEVABLE),
        ("house-model", Usage(10_000, 6_000, 0, 100), NO_PRICE),
    ],
)
def test_what_a_price_needs_and_nobody_reported_is_unknown_and_not_nothing(model: str, usage: Usage, why: str) -> None:
    found = reported_cost(reported(model, usage, usage))
    assert (found.usd, found.unknown) == ([None, None], {why: [0, 1]})
    assert (found.known, found.unknown_calls) == (None, 2)


def test_unknown_calls_are_counted_and_left_out_of_the_sum() -> None:
    found = reported_cost(reported(GPT, Usage(1_000_000, 0, 0, 100_000), Usage()))
    assert (found.known, found.unknown_calls) == (3.5, 1)


def test_a_write_for_an_hour_costs_twice_the_input() -> None:
    usage = Usage(10_000, 0, 10_000, 100)
    found = reported_cost(reported(OPUS, usage, usage, marks={"type": "ephemeral", "ttl": "1h"}))
    assert found.usd[0] == pytest.approx((10_000 * 10 + 100 * 25) / 1e6)


def test_no_strategy_changes_what_was_reported() -> None:
    made = reported(GPT, Usage(4_000, 0, 0, 10), Usage(4_020, 1_024, 0, 10))
    cut = replay(made.transcript, {"strategy": {"kind": "keep_last", "keep_turns": 1}, "budget": {"soft_limit": 100}})
    assert cost(cut).total != cost(made).total
    assert reported_cost(cut).usd == reported_cost(made).usd
    other = replay(made.transcript, {"model": {"name": "gpt-4.1"}, **FULL})
    assert other.cost.total != made.cost.total
    assert reported_cost(other).usd == reported_cost(made).usd


def test_it_is_part_of_the_scorecard() -> None:
    made = reported(GPT, Usage(1_000_000, 0, 0, 1), Usage(4_020, None, None, None))
    card = scorecard(made)
    assert card.cost_reported_usd == pytest.approx(2.5 + 10 * 1e-5)
    assert (card.cost_reported_unknown_calls, card.replies_reported_too_low, card.replies_not_reported) == (1, 1, 1)


def test_a_long_run_of_an_agent_cost_more_than_its_cache_should_have_made_it(transcripts_folder: Path) -> None:
    (transcript, *_) = read(transcripts_folder / "claude-code/entire-go-cli-long.jsonl.gz").transcripts
    made = replay(transcript, {"strategy": {"kind": "as_captured"}})
    found = reported_cost(made)
    assert found.known == pytest.approx(4.520201)
    assert found.unknown_calls == 0
    assert made.cost.total == pytest.approx(3.3334525)
    assert made.cost.totals()["output_too_low"] == 53
