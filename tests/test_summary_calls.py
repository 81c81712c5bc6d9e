"""Calls of a summariser: each range once, at the first call that needs it, with its tokens and its price."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from core.prices import Tokens, cost_in_usd
from core.replay import Replay, replay
from core.runtime import ContextRuntime
from core.summaries import Range
from core.tokens import counter_for_model
from core.transcript import ROOT, Call, Transcript

DAY = datetime(2026, 1, 15, 12, tzinfo=UTC)
TURNS = 8
STRATEGIES: dict[str, dict[str, Any]] = {
    "summarize_and_keep": {"keep_turns": 1, "min_turns": 0, "min_steps": 0},
    "tiered_injection": {"keep_messages": 2},
}
EVERY = pytest.mark.parametrize("kind", STRATEGIES)
COUNT = counter_for_model("gpt-4o").count


def talk(model: str = "gpt-4o", turns: int = TURNS) -> Transcript:
    """Return a talk of long messages, one call a turn."""
    said = [
        wire
        for turn in range(turns)
        for wire in (
            {"role": "user", "content": f"question {turn} " + "word " * 200},
            {"role": "assistant", "content": f"answer {turn} " + "text " * 200},
        )
    ]
    calls = tuple(Call(0, 2 * at, 2 * at, said[2 * at + 1], model=model, at=DAY) for at in range(turns))
    return Transcript("openai_chat", tuple(said), tuple(range(ROOT, 2 * turns - 1)), ({"model": model},), calls)


def head(made: Transcript) -> Transcript:
    return replace(made, heads=tuple({**each, "messages": []} for each in made.heads))


def configured(kind: str, summary: str = "model", **changes: Any) -> dict[str, Any]:
    strategy = {"kind": kind, **STRATEGIES[kind], "summary": summary, **changes}
    return {"strategy": strategy, "budget": {"soft_limit": 1500}}


def replayed(kind: str, summaries: dict[str, str] | None = None, model: str = "gpt-4o") -> Replay:
    return replay(head(talk(model)), configured(kind), summaries)


def calls_of(made: Replay) -> list[Any]:
    return [summary for call in made.cost.calls for summary in call.summaries]


def asked(kind: str) -> dict[str, Range]:
    """Return what production asks its summariser for, over the same calls, by hash."""
    found: dict[str, Range] = {}

    def remember(wanted: Range) -> str:
        found[wanted.hash] = wanted
        return "short"

    transcript = head(talk())
    runtime = ContextRuntime.load(configured(kind), summarizer=remember)
    for call in range(len(transcript.calls)):
        runtime.assemble(transcript.history(call))
    return found


@EVERY
def test_each_range_is_one_that_production_asks_for_and_paid_once(kind: str) -> None:
    ranges = [call.range for call in calls_of(replayed(kind))]
    assert len(ranges) == len(set(ranges)) > 3
    assert set(ranges) <= set(asked(kind))


@EVERY
def test_what_is_read_is_the_range(kind: str) -> None:
    texts = {hash_: wanted.text for hash_, wanted in asked(kind).items()}
    for call in calls_of(replayed(kind)):
        assert call.stands_in
        assert call.input == pytest.approx(COUNT(texts[call.range]), rel=0.05), "the frames of messages differ"
        assert 0 < call.output < call.input


@EVERY
def test_a_stored_summary_is_counted_itself(kind: str) -> None:
    written = {hash_: f"Summary of {hash_[:4]}, of some words." for hash_ in asked(kind)}
    found = calls_of(replayed(kind, written))
    assert found and not any(call.stands_in for call in found)
    assert [call.output for call in found] == [COUNT(written[call.range]) for call in found]


@EVERY
def test_the_cost_of_summaries_is_a_column_and_part_of_the_total(kind: str) -> None:
    made, plain = replayed(kind), replay(head(talk()), configured(kind, "extractive"))
    spent = [
        sum(cost_in_usd("gpt-4o", DAY, Tokens(each.input, 0, 0, each.output)) or 0 for each in call.summaries)
        for call in made.cost.calls
    ]
    assert list(made.calls["summary_cost"]) == pytest.approx(spent) and sum(spent) > 0
    assert made.cost.total == pytest.approx((plain.cost.total or 0) + sum(spent))
    totals = made.cost.totals()
    assert totals["summaries_usd"] == pytest.approx(sum(spent))
    assert totals["summaries"] == totals["summaries_estimated"] == len(calls_of(made))
    for call, other in zip(made.cost.calls, plain.cost.calls, strict=True):
        assert (call.low or 0) - (other.low or 0) == pytest.approx(call.summaries_usd or 0)
        assert (call.high or 0) - (other.high or 0) == pytest.approx(call.summaries_usd or 0)


@EVERY
def test_extracts_cost_nothing(kind: str) -> None:
    made = replay(head(talk()), configured(kind, "extractive"))
    assert list(made.calls["summary_cost"]) == [0.0] * TURNS
    assert made.cost.totals()["summaries"] == 0 and made.cost.totals()["summaries_usd"] == 0.0


@EVERY
def test_an_unknown_price_is_unknown(kind: str) -> None:
    made = replayed(kind, model="house-model")
    spent = made.calls["summary_cost"]
    assert None in spent and made.cost.total is None
    assert made.cost.totals()["summaries_usd"] is None and made.cost.totals()["summaries"] > 0


def test_a_prompt_that_fits_needs_no_summary() -> None:
    config = {**configured("summarize_and_keep"), "budget": {"soft_limit": 100_000}}
    assert calls_of(replay(head(talk()), config)) == []


def test_the_price_is_that_of_the_configurations_model() -> None:
    config = {**configured("summarize_and_keep"), "model": {"name": "gpt-4o-mini"}}
    first = next(call for call in replay(head(talk()), config).cost.calls if call.summaries)
    expected = sum(each.input * 0.15e-6 + each.output * 0.6e-6 for each in first.summaries)
    assert first.summaries_usd == pytest.approx(expected)


@EVERY
def test_a_branch_that_comes_back_pays_nothing_twice(kind: str) -> None:
    made = head(talk())
    again = replace(made, calls=(*made.calls, made.calls[0], *made.calls))
    once, twice = (calls_of(replay(each, configured(kind))) for each in (made, again))
    assert twice == once


@EVERY
def test_shrunk_prompts_pay_for_what_is_left(kind: str) -> None:
    made = head(talk())
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    wires = list(made.messages)
    wires[1] = {"role": "assistant", "content": None, "tool_calls": [call]}
    wires[2] = {"role": "tool", "tool_call_id": "c", "content": "line of a result\n" * 100}
    made = replace(made, messages=tuple(wires))
    shrunk = {**configured(kind), "shrink": [{"kind": "project_tool_results", "max_tokens": 80}]}
    whole, less = (sum(each.input for each in calls_of(replay(made, config))) for config in (configured(kind), shrunk))
    assert 0 < less < whole - 200


def test_many_calls_look_at_each_unit_once() -> None:
    made = replay(head(talk(turns=300)), configured("summarize_and_keep"))
    found = calls_of(made)
    assert 590 <= len(found) <= 600 and len({call.range for call in found}) == len(found)
