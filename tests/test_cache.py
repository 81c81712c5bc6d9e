"""Cache predictions: each provider's rounding, breaks with their cause, and prefixes equal to those of the bodies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.cache_rules import cache_rule
from core.common_prefix import Cause, common_prefix, head_tokens
from core.dialects import Message, dialect
from core.readers import read
from core.replay import Replay, replay
from core.tokens import counter_for_model
from core.transcript import ROOT, Call, Fidelity, Transcript, Usage
from core.units import units
from tests.benchmarks.transcripts import seeded
from tests.compared import against_reported

START = datetime(2026, 1, 1, tzinfo=UTC)
FULL = {"strategy": {"kind": "full_history"}}


@pytest.mark.parametrize(
    ("model", "tokens", "read_"),
    [
        ("gpt-4o-mini", 1023, 0),
        ("gpt-4o-mini", 1024, 1024),
        ("gpt-4o-mini", 1300, 1280),
        ("openai/gpt-5.2-codex", 6700, 6656),
        ("deepseek-chat", 63, 0),
        ("deepseek-chat", 383, 320 + 0),
        ("kimi-k2.7-code", 1000, 768),
        ("claude-sonnet-4-20250514", 1023, 0),
        ("claude-sonnet-4-20250514", 1025, 1025),
        ("claude-3-5-haiku-20241022", 2047, 0),
        ("claude-3-5-haiku-20241022", 2048, 2048),
        ("claude-haiku-4-5-20251001", 4095, 0),
        ("anthropic/claude-opus-4.5", 4095, 0),
        ("claude-opus-4-6", 4096, 4096),
        ("claude-opus-4-1-20250805", 1024, 1024),
        ("claude-of-tomorrow", 1024, 1024),
    ],
)
def test_rounding(model: str, tokens: int, read_: int) -> None:
    rule = cache_rule(model, "openai_chat")
    assert rule is not None
    assert rule.rounded(tokens) == read_


@pytest.mark.parametrize("model", ["gemini-3-flash", "llama-4-maverick", "aide-model"])
def test_a_provider_without_a_measured_rule_is_unknown(model: str) -> None:
    assert cache_rule(model, "openai_chat") is None


@pytest.mark.parametrize(
    ("model", "usage", "next_read"),
    [
        ("claude-opus-4-5", Usage(1200, 900, 290, 50), 1190),
        ("claude-opus-4-5", Usage(1200, None, None, 50), None),
        ("deepseek-chat", Usage(1000, 0, None, 100), 1088),
        ("deepseek-chat", Usage(1000, 0, None, None), None),
        ("gpt-4o", Usage(1300, 0, None, 500), 1280),
        ("kimi-k2", Usage(1300, 0, None, 500), 1280),
        ("kimi-k2", Usage(), None),
    ],
)
def test_the_read_after_a_reported_call(model: str, usage: Usage, next_read: int | None) -> None:
    rule = cache_rule(model, "openai_chat")
    assert rule is not None
    assert rule.after(usage) == next_read


def chat(model: str, replies: int = 3, words: int = 1500, **changes: Any) -> Transcript:
    """Return a conversation of so many calls; the first user message is long."""
    messages = []
    calls = []
    for turn in range(replies):
        messages.append({"role": "user", "content": "word " * (words if turn == 0 else 5)})
        reply = {"role": "assistant", "content": "yes " * 20}
        at = START + timedelta(seconds=60 * turn)
        last = len(messages) - 1
        calls.append(Call(0, last, last, reply, Usage(), model, at, Fidelity.PARTIAL))
        messages.append(reply)
    values: dict[str, Any] = {
        "dialect": "openai_chat",
        "messages": tuple(messages),
        "parents": tuple(range(ROOT, len(messages) - 1)),
        "heads": ({"model": model, "messages": [{"role": "system", "content": "Be kind. " * 20}]},),
        "calls": tuple(calls),
    }
    return Transcript(**{**values, **changes})


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-4o", lambda before: before - before % 128),
        ("kimi-k2", lambda before: before - before % 256),
        ("deepseek-chat", lambda before: (before + 20) - (before + 20) % 64),
        ("claude-sonnet-4-5", lambda before: before),
    ],
)
def test_a_prompt_that_goes_on_reads_the_one_before(model: str, expected: Any) -> None:
    made = replay(chat(model), FULL)
    if model == "deepseek-chat":
        assert made.counter_of(0).count("yes " * 20) in (20, 21)
    sent = made.calls["in_window"]
    rows = made.cache.calls
    assert rows[0].cached is None and rows[0].cause is Cause.FIRST_CALL
    assert rows[0].low == 0 and rows[0].high <= sent[0]
    for call in (1, 2):
        assert abs(made.calls["cached"][call] - expected(sent[call - 1])) <= (64 if model == "deepseek-chat" else 0)
        assert rows[call].low == rows[call].cached == rows[call].high


def test_only_anthropic_is_charged_for_writing() -> None:
    claude, openai = replay(chat("claude-sonnet-4-5"), FULL), replay(chat("gpt-4o"), FULL)
    row = claude.cache.calls[1]
    assert row.written == row.sent - (row.cached or 0) and row.uncached == 0
    row = openai.cache.calls[1]
    assert row.written == 0 and row.uncached == row.sent - (row.cached or 0)


def test_an_unknown_provider_has_no_figure_but_a_bound() -> None:
    made = replay(chat("gemini-3-flash"), FULL)
    assert made.calls["cached"] == [None, None, None]
    assert made.cache.calls[1].low == 0 and made.cache.calls[1].high == made.calls["in_window"][0]
    assert made.cache.share is None


@pytest.mark.parametrize(
    ("pause", "low", "cached", "cause"),
    [(299, 1, 1, Cause.NONE), (301, 0, 1, Cause.PAUSE), (4319, 0, 1, Cause.PAUSE), (4321, 0, 0, Cause.PAUSE)],
)
def test_a_pause_near_the_life_is_a_range(pause: int, low: int, cached: int, cause: Cause) -> None:
    plain = chat("claude-sonnet-4-5", 2)
    first, second = plain.calls
    later = Call(
        0,
        second.history,
        second.captured,
        second.response,
        Usage(),
        second.model,
        START + timedelta(seconds=pause),
        Fidelity.PARTIAL,
    )
    made = replay(chat("claude-sonnet-4-5", 2, calls=(first, later)), FULL)
    row, before = made.cache.calls[1], made.calls["in_window"][0]
    assert (row.low, row.cached, row.cause) == (low * before, cached * before, cause)


def test_a_captured_body_without_marks_is_not_cached() -> None:
    plain = chat("claude-sonnet-4-5", 2)
    calls = tuple(Call(0, c.history, c.captured, c.response, Usage(), c.model, c.at) for c in plain.calls)
    made = replay(chat("claude-sonnet-4-5", 2, calls=calls), FULL)
    assert made.calls["cached"] == [0, 0]
    assert made.cache.calls[1].cause is Cause.NO_MARKS


def test_another_model_tools_or_system_break_at_their_place() -> None:
    tool = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {}}}
    system = [{"role": "system", "content": "Be kind. " * 20}]
    heads = (
        {"model": "gpt-4o", "messages": system},
        {"model": "gpt-4o", "messages": system, "tools": [tool]},
        {"model": "gpt-4o", "messages": [{"role": "system", "content": "Be brief."}], "tools": [tool]},
        {"model": "gpt-4o-mini", "messages": system},
    )
    plain = chat("gpt-4o", 4)
    models = ("gpt-4o", "gpt-4o", "gpt-4o", "gpt-4o-mini")
    calls = tuple(
        Call(at, call.history, call.captured, call.response, Usage(), models[at], call.at, Fidelity.PARTIAL)
        for at, call in enumerate(plain.calls)
    )
    made = replay(chat("gpt-4o", 4, heads=heads, calls=calls), FULL)
    rows = made.cache.calls
    assert [row.cause for row in rows] == [Cause.FIRST_CALL, Cause.TOOLS, Cause.SYSTEM, Cause.MODEL]
    assert rows[1].prefix == rows[3].prefix == 0
    assert rows[2].prefix == made.plan(2).fixed.tools[0].tokens
    assert [found.cause for found in made.cache.breaks] == [Cause.TOOLS, Cause.SYSTEM, Cause.MODEL]


def test_a_branch_breaks_at_the_shared_message() -> None:
    plain = chat("gpt-4o", 3)
    other = {"role": "user", "content": "something else"}
    messages = (*plain.messages, other)
    parents = (*plain.parents, 1)
    last = len(messages) - 1
    calls = (*plain.calls, Call(0, last, last, None, Usage(), "gpt-4o", None, Fidelity.PARTIAL))
    made = replay(chat("gpt-4o", 3, messages=messages, parents=parents, calls=calls), FULL)
    row = made.cache.calls[3]
    before = made.plan(3)
    assert row.cause is Cause.BRANCH
    assert row.prefix == head_tokens(before) + before.log.totals[2]
    assert row.cached == row.prefix - row.prefix % 128


@pytest.mark.parametrize(
    "config",
    [
        {"strategy": {"kind": "keep_last", "keep_turns": 2}},
        {"strategy": {"kind": "keep_last", "keep_turns": 2, "step": 1500}},
        {"strategy": {"kind": "mask_tool_results", "keep": 3, "trigger": 0}},
        {"strategy": {"kind": "summarize_and_keep", "keep_turns": 2, "min_turns": 0, "min_steps": 0}},
        {"strategy": {"kind": "summarize_and_keep", "mode": "published", "keep_messages": 3}},
        {"strategy": {"kind": "tiered_injection", "keep_messages": 4}},
        {"strategy": {"kind": "required_reserve"}},
        {"strategy": {"kind": "span_triage"}},
        {"strategy": {"kind": "span_triage", "merge_stubs": False}},
        {
            "strategy": {"kind": "span_triage"},
            "rules": [{"match": {"kind": "tool_result"}, "evict": "reconstructible", "priority": -1}],
        },
        {"strategy": {"kind": "keep_last"}, "shrink": [{"kind": "project_tool_results", "max_tokens": 60}]},
    ],
    ids=lambda config: f"{config['strategy']}{'+' if len(config) > 1 else ''}",
)
@pytest.mark.parametrize("seed", [1, 2])
def test_prefixes_are_those_of_the_bodies_sent(config: dict[str, Any], seed: int) -> None:
    made = replay(seeded(120, seed), {"budget": {"soft_limit": 3000}, **config})
    broken = 0
    for call in range(1, len(made.transcript.calls)):
        found = common_prefix(made.plan(call - 1), made.plan(call), 10**9, count)
        least, most = bounds(made, call)
        if config["strategy"].get("mode") == "published":
            least = head_tokens(made.plan(call))  # summaries that happen to be alike are not told from others
        assert least <= found.tokens <= most, call
        broken += found.cause is not Cause.NONE
    assert broken > 0


@pytest.mark.parametrize("at", [41, 83])
def test_a_priority_below_all_others_breaks_no_prefix_by_itself(at: int) -> None:
    transcript = seeded(120, 1)
    text = str(transcript.messages[at]["content"])
    rule = {"match": {"pattern": re.escape(text[:40])}, "priority": -5}
    made = replay(transcript, {"budget": {"soft_limit": 3000}, "strategy": {"kind": "span_triage"}, "rules": [rule]})
    for call in range(1, len(transcript.calls)):
        found = common_prefix(made.plan(call - 1), made.plan(call), 10**9, count)
        least, most = bounds(made, call)
        assert least <= found.tokens <= most, call


def count(messages: Sequence[Message]) -> int:
    return dialect("openai_chat").cost_of_messages(messages, counter_for_model("gpt-4o")).total


def bounds(made: Replay, call: int) -> tuple[int, int]:
    """Return the least and most tokens that two bodies share; the same where their fixed parts do not differ."""
    spoken, counter = dialect("openai_chat"), counter_for_model("gpt-4o")
    (old_head, old), (head, new) = (spoken.split(made.request(at)) for at in (call - 1, call))
    if old_head != head:
        texts = zip(spoken.system_texts(old_head), spoken.system_texts(head), strict=False)
        assert all(a == b or b.startswith(a[:20]) for a, b in texts)
        return 0, head_tokens(made.plan(call))
    pairs = enumerate(zip(old, new, strict=False))
    same = next((at for at, pair in pairs if pair[0] != pair[1]), min(len(old), len(new)))
    if same == len(old):
        return made.plan(call - 1).tokens_after, made.plan(call - 1).tokens_after
    shared = head_tokens(made.plan(call)) + sum(unit.tokens for unit in units(new[:same], spoken, counter))
    return shared, shared


def test_a_break_names_the_decision() -> None:
    config = {"budget": {"soft_limit": 3000}, "strategy": {"kind": "mask_tool_results", "keep": 3, "trigger": 0}}
    made = replay(seeded(60), config)
    first = made.cache.breaks[0]
    assert first.cause is Cause.DECISION and first.decision is not None
    assert first.decision.action == "stub" and first.decision.setting == "strategy.keep"
    assert first.decision.span_id == first.span_id


def test_totals_are_plain_and_the_same_on_every_run() -> None:
    one, other = (replay(chat("claude-sonnet-4-5"), FULL).cache.totals() for _ in range(2))
    assert one == other
    assert one["unknown_calls"] == 1 and one["breaks"] == 0


AGENTS = [
    "claude-code/agentlogs-subagent.jsonl",
    "claude-code/agentlogs-todos.jsonl",
    "claude-code/d-kimuson-demo-v1.0.98.jsonl.gz",
    "claude-code/entire-go-cli-long.jsonl.gz",
    "claude-code/vct-v1.0.95.jsonl",
    "mini-swe-agent/astroid-1333-188calls.traj.json.gz",
    "mini-swe-agent/django-11797.traj.json.gz",
]


@pytest.mark.slow
def test_predictions_against_reported_reads(transcripts_folder: Path) -> None:
    exact, known, errors = 0, 0, []
    for file in AGENTS:
        rows = [
            row
            for transcript in read(transcripts_folder / file).transcripts
            for row in against_reported(replay(transcript, {"strategy": {"kind": "as_captured"}}))
        ]
        told = [row for row in rows if row.from_reported is not None]
        exact += sum(row.from_reported == row.reported for row in told)
        known += len(told)
        errors += [row.error for row in rows if row.error is not None]
        assert all(row.why for row in told if row.from_reported != row.reported)
    errors.sort()
    middle, ninth = errors[len(errors) // 2], errors[int(0.9 * len(errors))]
    print(f"\nfrom reported: {exact} of {known} exact; from counts: {len(errors)} calls, {middle:.2%} / {ninth:.2%}")
    assert exact >= 0.97 * known
    assert middle <= 0.005 and ninth <= 0.02
