"""A recording whose usage reports no caching at all is not taken for one that cached: reads and costs are ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.prefix import Cause
from core.readers import read
from core.replay import replay
from core.transcript import ROOT, Call, Fidelity, Transcript, Usage
from core.unused_cache import unused_caches

FULL = {"strategy": {"kind": "full_history"}}
START = datetime(2026, 1, 15, tzinfo=UTC)
NONE, READ, WROTE, SILENT = (0, 0), (900, 0), (0, 900), (None, None)
LONG, SHORT = 1500, 50


def talk(
    caching: Sequence[tuple[int | None, int | None]],
    words: int = LONG,
    models: Sequence[str] = ("claude-sonnet-4-5",),
    pause: float = 60,
    **changes: Any,
) -> Transcript:
    """Return a conversation whose calls report these reads and writes."""
    wires: list[dict[str, Any]] = []
    calls = []
    for at, (read_, write) in enumerate(caching):
        wires.append({"role": "user", "content": "word " * (words if not at else 5)})
        reply = {"role": "assistant", "content": "yes " * 20}
        usage = Usage(words + 40 * at + 9, read_, write, 20)
        when = START + timedelta(seconds=pause * at)
        model = models[at % len(models)]
        calls.append(Call(0, len(wires) - 1, len(wires) - 1, reply, usage, model, when, Fidelity.PARTIAL))
        wires.append(reply)
    parents = tuple(range(ROOT, len(wires) - 1))
    made = Transcript("openai_chat", tuple(wires), parents, ({"messages": []},), tuple(calls))
    return replace(made, **changes)


@pytest.mark.parametrize(
    ("transcript", "unused"),
    [
        (talk([NONE] * 3), {"anthropic"}),
        (talk([NONE] * 2), {"anthropic"}),
        (talk([(0, None)] * 3, models=["gpt-4o"]), {"openai"}),
        (talk([NONE] * 6, models=["gpt-4o", "gpt-4o", "kimi-k2"]), {"openai", "moonshot"}),
        (talk([NONE] * 3, models=["gpt-4o", "gpt-4o", "kimi-k2"]), {"openai"}),  # Kimi is called once
        (talk([NONE] * 4, models=["gpt-4o", "gpt-4o-mini"]), {"openai"}),  # each goes on from its own
        (talk([NONE]), set()),  # nothing that could have been read
        (talk([SILENT] * 3), set()),  # nothing reported
        (talk([NONE] * 3, words=SHORT), set()),  # below the minimum
        (talk([NONE, NONE, READ]), set()),
        (talk([WROTE, NONE, NONE]), set()),
        (talk([NONE] * 3, pause=7200), set()),  # whatever was cached is gone
        (talk([NONE] * 3, models=["gemini-3-flash"]), set()),  # no rule
        (talk([NONE] * 2, models=["gpt-4o", "gpt-4o-mini"]), set()),  # another model's cache
        (talk([NONE] * 3, parents=(ROOT,) * 6), set()),  # no prompt repeats the one before
    ],
)
def test_what_usage_says_of_a_cache(transcript: Transcript, unused: set[str]) -> None:
    assert unused_caches(transcript) == unused


@pytest.mark.parametrize(("pause", "unused"), [(60, {"anthropic"}), (7200, set())])
def test_conversations_in_turns_are_each_asked(pause: float, unused: set[str]) -> None:
    one = talk([NONE] * 3, pause=pause)
    size = len(one.messages)
    moved = [replace(call, history=call.history + size, captured=call.captured + size) for call in one.calls]
    calls = tuple(call for pair in zip(one.calls, moved, strict=True) for call in pair)
    parents = (*one.parents, ROOT, *range(size, 2 * size - 1))
    both = replace(one, messages=one.messages * 2, parents=parents, calls=calls)
    assert unused_caches(both) == unused
    assert unused_caches(replace(both, calls=calls[:2])) == set()  # no call goes on from another


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "gpt-4o", "deepseek-chat"])
def test_reads_and_costs_are_ranges_from_nothing_to_the_rules(model: str) -> None:
    plain, used = (replay(talk(caching, models=[model]), FULL) for caching in ([NONE] * 4, [SILENT] * 4))
    assert plain.cache.share is None and plain.calls["cached"] == [None] * 4
    for call in range(1, 4):
        row, rule = plain.cache.calls[call], used.cache.calls[call]
        assert (row.low, row.high, row.cached, row.written) == (0, rule.high, None, None)
        assert (row.cause, row.prefix) == (Cause.UNUSED, rule.prefix)
        cost = plain.cost.calls[call]
        assert cost.low == used.cost.calls[call].low
        assert cost.usd == cost.high and cost.without_cache
        assert cost.usd == pytest.approx(without_cache(plain, call))


def without_cache(made: Any, call: int) -> float:
    """Return what a call costs at the plain prices of input and output per million tokens."""
    prices = {"claude-sonnet-4-5": (3.0, 15.0), "gpt-4o": (2.5, 10.0)}
    row, output = made.cache.calls[call], made.cost.calls[call].output.tokens
    if made.model_of(call) not in prices:
        return float(made.cost.usd[call])
    input_price, output_price = prices[made.model_of(call)]
    return (row.sent * input_price + output * output_price) * 1e-6


def test_a_strategys_breaks_keep_their_cause() -> None:
    config = {"budget": {"soft_limit": 1560}, "strategy": {"kind": "keep_last", "keep_messages": 1}}
    rows = replay(talk([NONE] * 5), config).cache.calls
    assert Cause.DECISION in {row.cause for row in rows}
    assert all(row.cached is None and not row.low for row in rows if row.high)


def test_another_model_is_judged_by_its_own_provider() -> None:
    made = replay(talk([NONE] * 3), {"model": {"name": "gpt-4o"}, **FULL})
    assert [row.cause for row in made.cache.calls[1:]] == [Cause.NONE, Cause.NONE]


def test_prompts_below_the_minimum_of_their_model_are_no_evidence(transcripts_folder: Path) -> None:
    """A real recording of six prompts of about 3,000 tokens, none of them cached: its model asks for 4,096."""
    made = replay(read(transcripts_folder / "pi/agentlogs-branched.jsonl").transcripts[0], FULL)
    assert {call.usage.cache_read for call in made.transcript.calls} == {0}
    assert unused_caches(made.transcript) == frozenset()
    assert [(row.low, row.high) for row in made.cache.calls] == [(0, 0)] * 6
    assert {row.cause for row in made.cache.calls} == {Cause.FIRST_CALL, Cause.TOO_SHORT, Cause.BRANCH}
    assert made.cost.totals()["low"] == made.cost.total == made.cost.totals()["high"]


def test_a_real_recording_without_caching(transcripts_folder: Path) -> None:
    """The same calls under the name of a model that caches from 1,024 tokens on."""
    transcript = read(transcripts_folder / "pi/agentlogs-branched.jsonl").transcripts[0]
    older = [{**head, "model": "claude-opus-4-1"} for head in transcript.heads]
    calls = [replace(call, model="claude-opus-4-1") for call in transcript.calls]
    made = replay(replace(transcript, heads=tuple(older), calls=tuple(calls)), FULL)
    assert made.cache.share is None
    assert all(row.low == 0 < row.high for row in made.cache.calls)
    assert made.cost.totals()["low"] < 0.3 * made.cost.total == 0.3 * made.cost.totals()["high"]
    assert {row.cause for row in made.cache.calls} == {Cause.FIRST_CALL, Cause.UNUSED, Cause.BRANCH}
