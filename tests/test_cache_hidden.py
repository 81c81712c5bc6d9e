"""What a recording does not hold stands first in each prompt, so it is cached whatever a strategy puts in behind it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from core.cache_marks import FixedMarks, has_marks, hidden_mark
from core.fixed_prefix import head_tokens, kept_of_fixed
from core.prefix import Cause
from core.readers import read
from core.replay import Replay, replay
from core.transcript import ROOT, Call, Fidelity, Transcript, Usage

HIDDEN = 6000
CAPTURED = {"strategy": {"kind": "as_captured"}}
TIERED = {"strategy": {"kind": "tiered_injection", "keep_steps": 2, "trigger": 0}}
RESERVE = {"budget": {"soft_limit": 900}, "strategy": {"kind": "required_reserve"}}
ROUNDED = {
    "gpt-4o": lambda tokens: tokens - tokens % 128,
    "deepseek-chat": lambda tokens: tokens - tokens % 64,
    "kimi-k2": lambda tokens: tokens - tokens % 256,
    "claude-sonnet-4-5": lambda tokens: tokens,
}
TOOLS = tuple(
    {"type": "function", "function": {"name": f"{name}_it", "description": "word " * 90, "parameters": {}}}
    for name in ("look", "paint")
)


def agent(model: str, reads: tuple[int, ...] = (), **head: Any) -> Transcript:
    """Return an agent's run of eight calls, whose reported prompts have more tokens than its recorded ones."""
    wires: list[dict[str, Any]] = [{"role": "user", "content": "find it " * 30}]
    for at in range(8):
        function = {"name": "look_it", "arguments": f'{{"place": "room {at}"}}'}
        wires.append(
            {
                "role": "assistant",
                "content": f"step {at}",
                "tool_calls": [{"id": f"c{at}", "type": "function", "function": function}],
            }
        )
        wires.append({"role": "tool", "tool_call_id": f"c{at}", "content": f"nothing in room {at} " * 40})
    system = [{"role": "system", "content": "Be kind. " * 40}]
    calls = tuple(Call(0, 2 * at, 2 * at, wires[2 * at + 1], Usage(), model, None, Fidelity.PARTIAL) for at in range(8))
    heads = ({"model": model, "messages": system, **head},)
    parents = tuple(range(ROOT, len(wires) - 1))
    return reported(Transcript("openai_chat", tuple(wires), parents, heads, calls), reads)


def reported(plain: Transcript, reads: tuple[int, ...] = ()) -> Transcript:
    """Return a transcript with usages that lie above its counts."""
    counts = replay(plain, CAPTURED).calls["in_window"]
    told = [*reads, *[None] * (len(counts) - len(reads))]
    usages = [Usage(tokens + HIDDEN, read_, None, 9) for tokens, read_ in zip(counts, told, strict=True)]
    calls = tuple(replace(call, usage=usage) for call, usage in zip(plain.calls, usages, strict=True))
    return replace(plain, calls=calls)


def changes(made: Replay) -> list[int]:
    return [call for call, row in enumerate(made.cache.calls) if row.cause is Cause.SYSTEM]


@pytest.mark.parametrize("config", [TIERED, RESERVE], ids=lambda config: str(config["strategy"]["kind"]))
@pytest.mark.parametrize("model", ROUNDED)
def test_what_is_put_in_leaves_what_stands_before_it_cached(config: dict[str, Any], model: str) -> None:
    made = replay(agent(model), config)
    calls = changes(made)
    assert len(calls) >= 3
    for call in calls:
        row = made.cache.calls[call]
        before_it = kept_of_fixed(made.plan(call))
        assert row.prefix == HIDDEN + before_it
        assert row.cached == row.high == ROUNDED[model](row.prefix)
        # Nobody knows where a host puts its marks: before what a strategy puts in, or behind it.
        assert row.low == (0 if model.startswith("claude") else row.cached)
        assert row.cached_of_window == max(0, row.cached - HIDDEN)


@pytest.mark.parametrize("config", [CAPTURED, TIERED, RESERVE, {"strategy": {"kind": "keep_last", "keep_steps": 2}}])
@pytest.mark.parametrize("model", ROUNDED)
def test_nothing_is_read_that_was_not_sent_before(config: dict[str, Any], model: str) -> None:
    made = replay(growing(agent(model)), config)
    rows = made.cache.calls
    for before, row in pairwise(rows):
        assert row.hidden_before <= row.prefix <= before.sent
        assert 0 <= row.low <= (row.cached or 0) <= row.high <= before.sent + 64  # a reply may be cached too
        assert 0 <= (row.cached_of_window or 0) <= row.sent


def growing(plain: Transcript) -> Transcript:
    """Return the run with more that is not recorded from call to call, as where the tokenizer is only an estimate."""
    usages = (replace(call.usage, input=(call.usage.input or 0) + 50 * at) for at, call in enumerate(plain.calls))
    return replace(
        plain, calls=tuple(replace(call, usage=usage) for call, usage in zip(plain.calls, usages, strict=True))
    )


def test_what_was_not_recorded_before_is_no_part_of_the_prefix() -> None:
    made = replay(growing(agent("claude-sonnet-4-5")), CAPTURED)
    usages = [call.usage.input for call in made.transcript.calls]
    assert [row.prefix for row in made.cache.calls[1:]] == usages[:-1]


@pytest.mark.parametrize("config", [CAPTURED, TIERED, RESERVE], ids=lambda config: str(config["strategy"]["kind"]))
@pytest.mark.parametrize("model", ROUNDED)
@pytest.mark.parametrize("silent", [{0}, {0, 1, 2}, {4}, {3, 4, 7}, set(range(1, 8))], ids=str)
def test_calls_without_a_report_read_no_more_than_is_sent(config: dict[str, Any], model: str, silent: set[int]) -> None:
    """A call of another model in between is a reset, so that nothing is known of what is hidden behind it."""
    plain = agent(model)
    calls = tuple(
        replace(call, usage=Usage() if at in silent else call.usage, model="house-model" if at == 3 else model)
        for at, call in enumerate(plain.calls)
    )
    made = replay(replace(plain, calls=calls), config)
    assert set(made.calibration.not_recorded) <= {None, HIDDEN}
    for row in made.cache.calls:
        assert 0 <= row.hidden_before <= row.hidden
        assert 0 <= row.prefix <= row.sent and 0 <= row.low <= row.high <= row.sent
        assert row.cached is None or row.low <= row.cached <= row.high
        assert row.written is None or 0 <= row.written <= row.sent - (row.cached or 0)


@pytest.mark.parametrize("reads", [(4000,), (4000, 3000), (4000, HIDDEN + 10**6)])
def test_a_reported_read_shows_a_mark_in_what_is_hidden(reads: tuple[int, ...]) -> None:
    transcript = agent("claude-sonnet-4-5", reads)
    made = replay(transcript, TIERED)
    assert hidden_mark(transcript, made.calibration.not_recorded) == 4000
    for call in changes(made):
        row = made.cache.calls[call]
        assert (row.low, row.cached, row.high) == (4000, row.prefix, row.prefix)


def test_reads_of_other_providers_show_no_mark() -> None:
    transcript = agent("deepseek-chat", (4000,))
    assert hidden_mark(transcript, [HIDDEN] * 8) == 0


@pytest.mark.parametrize(("reads", "low"), [((), 0), ((4000,), 4000)])
def test_a_recorded_change_of_the_system_part_leaves_hidden_tools(reads: tuple[int, ...], low: int) -> None:
    for model, cached in (("claude-sonnet-4-5", low), ("gpt-4o", HIDDEN - HIDDEN % 128)):
        plain = agent(model, reads)
        other = {**plain.heads[0], "messages": [{"role": "system", "content": "Be brief. " * 40}]}
        calls = tuple(replace(call, head=int(at >= 4)) for at, call in enumerate(plain.calls))
        made = replay(reported(replace(plain, heads=(*plain.heads, other), calls=calls), reads), CAPTURED)
        row = made.cache.calls[4]
        assert (row.cause, row.prefix) == (Cause.SYSTEM, HIDDEN)
        assert (row.low, row.cached) == (low if model.startswith("claude") else 0, cached)
        assert row.high == ROUNDED[model](HIDDEN)


def test_tools_put_aside_stand_before_a_hidden_system_part() -> None:
    group = {"name": "paint", "tools": ["paint*"], "keywords": ["zebra"]}
    plain = agent("gpt-4o", tools=list(TOOLS))
    messages = list(plain.messages)
    messages[8] = {"role": "user", "content": "now the zebra"}  # says a keyword of the group
    transcript = reported(replace(plain, messages=tuple(messages)))
    made = replay(transcript, {"strategy": {"kind": "tiered_injection", "trigger": None, "groups": [group]}})
    row = made.cache.calls[4]
    assert row.cause is Cause.TOOLS
    first = made.plan(4).fixed.tools[0].tokens
    assert (row.prefix, row.hidden_before, row.cached, row.low) == (first, 0, 0, 0)
    assert row.high == (first + HIDDEN) - (first + HIDDEN) % 128


MARK = {"cache_control": {"type": "ephemeral"}}


@pytest.mark.parametrize(
    ("tools", "first", "second", "place"),
    [
        (False, False, True, "all"),
        (False, True, False, "first"),
        (True, False, False, "tools"),
        (True, True, True, "all"),
    ],
)
def test_recorded_marks_tell_what_is_read_when_something_is_put_in(
    tools: bool, first: bool, second: bool, place: str
) -> None:
    marks = [MARK if marked else {} for marked in (tools, first, second)]
    head = {
        "model": "claude-sonnet-4-5",
        "tools": [{"name": "look_it", "description": "word " * 1500, "input_schema": {}, **marks[0]}],
        "system": [
            {"type": "text", "text": "Be kind. " * 600, **marks[1]},
            {"type": "text", "text": "Be brief. " * 600, **marks[2]},
        ],
        "messages": [],
    }
    made = replay(conversation(head), {"strategy": {"kind": "tiered_injection", "keep_messages": 2, "trigger": 0}})
    calls = changes(made)
    assert calls and has_marks(made.transcript)
    spans = made.plan(calls[-1]).fixed.spans
    tool, one, other = (sum(span.tokens for span in spans if span.id.startswith(kind)) for kind in ("t", "s0", "s1"))
    expected = {"tools": tool, "first": tool + one, "all": tool + one + other}[place]
    for call in calls:
        row = made.cache.calls[call]
        assert row.low == row.cached == row.high == expected


def conversation(head: dict[str, Any]) -> Transcript:
    """Return six calls to Claude with whole requests."""
    wires = tuple(
        {"role": ("user", "assistant")[at % 2], "content": [{"type": "text", "text": f"{at} and so on " * 90}]}
        for at in range(12)
    )
    calls = tuple(Call(0, at, at, wires[at + 1], Usage(), head["model"]) for at in range(0, 12, 2))
    return Transcript("anthropic", wires, tuple(range(ROOT, 11)), (head,), calls)


def test_without_marks_the_end_of_the_fixed_part_is_taken_for_one() -> None:
    plan = replay(agent("claude-sonnet-4-5"), CAPTURED).plan(2)
    assert FixedMarks(recorded=False).places(plan) == [kept_of_fixed(plan), head_tokens(plan)]
    assert FixedMarks(recorded=True).places(plan) == []


def test_fewer_tokens_do_not_cost_six_times_as_much(transcripts_folder: Path) -> None:
    made = read(transcripts_folder / "claude-code/entire-go-cli-long.jsonl.gz").transcripts[0]
    limit = max(replay(made, CAPTURED).calls["in_window"]) // 3
    cut, injected = (
        replay(made, {"budget": {"soft_limit": limit}, "strategy": {"kind": kind, "keep_steps": 2, **more}})
        for kind, more in (("keep_last", {}), ("tiered_injection", {"trigger": 0}))
    )
    assert sum(injected.calls["in_window"]) < sum(cut.calls["in_window"])
    assert injected.cost.total < 1.2 * cut.cost.total
    # The first call read 16,496 tokens of the hidden part, and so did those after which the history had changed.
    lows = [injected.cache.calls[call].low for call in changes(injected)]
    assert max(lows) == 16_496 and set(lows) == {16_496, 0}  # nothing may be left after a pause


def test_a_hidden_tool_part_of_a_real_recording_is_read(transcripts_folder: Path) -> None:
    made = read(transcripts_folder / "codex/agentlogs-crud.jsonl").transcripts[0]
    limit = max(replay(made, CAPTURED).calls["in_window"]) // 3
    rows = replay(made, {"budget": {"soft_limit": limit}, **TIERED}).cache.calls
    assert [row.prefix - row.hidden_before for row in rows if row.cause is Cause.SYSTEM] == [1812, 1812]
    assert all(row.cached == 7168 for row in rows if row.cause is Cause.SYSTEM)
