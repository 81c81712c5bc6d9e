"""A prefix that ends inside a unit is counted up to the first message, or part of one, that is sent otherwise."""

from __future__ import annotations

import json
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import pytest

from core.dialects import dialect as dialect_named
from core.prefix import Cause
from core.readers import read
from core.readers.builder import Placed, TranscriptBuilder
from core.replay import Replay, replay
from core.transcript import ROOT
from core.wire import Wire
from tests.talks import DIALECTS, LISTS, body, long, said, step, tokens, user

CONTENT = {"openai_chat": "content", "openai_responses": "content", "anthropic": "content", "gemini": "parts"}
EVERY = pytest.mark.parametrize("dialect", DIALECTS)
MASKS = {"kind": "mask_tool_results", "trigger": 0}


def shared(old: Wire, new: Wire, dialect: str) -> Wire:
    """Return what a body repeats of the one before: its head, whole messages, and the first parts of the next."""
    listed, content = LISTS[dialect], CONTENT[dialect]
    same = 0
    while same < min(len(old[listed]), len(new[listed])) and old[listed][same] == new[listed][same]:
        same += 1
    kept = list(new[listed][:same])
    if same < min(len(old[listed]), len(new[listed])):
        mine, theirs = old[listed][same], new[listed][same]
        pairs = zip(_parts(mine, content), _parts(theirs, content), strict=False)
        parts = [part for part, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
        if parts and mine["role"] == theirs["role"]:
            kept.append({**theirs, content: parts})
    return {**new, listed: kept}


def _parts(wire: Wire, content: str) -> list[Any]:
    found = wire.get(content)
    return found if isinstance(found, list) else []


def parallel(dialect: str, calls: int, each: int = 3) -> list[Wire]:
    """The growing requests of an agent whose every reply makes several calls."""
    steps = [step(*(f"c{at}x{n}" for n in range(each)), text=f"a{at}") for at in range(calls)]
    text = json.dumps(body(dialect, user("task"), *steps, said("done")))
    for at in range(calls):
        for n in range(each):
            text = text.replace(f'"rc{at}x{n}"', json.dumps(long(f"rc{at}x{n}", 60)))
    whole = json.loads(text)
    size = (len(whole[LISTS[dialect]]) - 2) // calls
    return [{**whole, LISTS[dialect]: whole[LISTS[dialect]][: 1 + size * at]} for at in range(1, calls + 1)]


def played(dialect: str, bodies: list[Wire], strategy: Wire, **more: Any) -> Replay:
    builder = TranscriptBuilder(dialect)
    for made in bodies:
        builder.call(builder.body({**made, "model": "gpt-4o"}), response=None, model="gpt-4o")
    return replay(builder.build(), {"counter": {"kind": "cjk_estimate"}, "strategy": strategy, **more})


@EVERY
@pytest.mark.parametrize("keep", [1, 2, 4, 5])
def test_masking_leaves_the_reply_and_the_results_before(dialect: str, keep: int) -> None:
    made = played(dialect, parallel(dialect, 5), {**MASKS, "keep": keep})
    broken = 0
    for (before, after), row in zip(pairwise(range(5)), made.cache.calls[1:], strict=True):
        if row.cause is Cause.DECISION:
            broken += 1
            assert row.prefix == tokens(shared(made.request(before), made.request(after), dialect), dialect)
            plan = made.plan(after)
            assert row.prefix > plan.fixed.tokens + plan.log.totals[1]  # more than the task
    assert broken >= 2


@EVERY
def test_a_unit_masked_in_part_is_the_same_when_it_counts_as_whole(dialect: str) -> None:
    """Of each pair of results one is too short to be masked, so the unit is an edit first and one of many later."""
    steps = [step(f"c{at}x0", f"c{at}x1", text=f"a{at}") for at in range(6)]
    text = json.dumps(body(dialect, user("task"), *steps, said("done")))
    for at in range(6):
        text = text.replace(f'"rc{at}x0"', json.dumps(long(f"rc{at}x0", 60)))
    whole = json.loads(text)
    size = (len(whole[LISTS[dialect]]) - 2) // 6
    bodies = [{**whole, LISTS[dialect]: whole[LISTS[dialect]][: 1 + size * at]} for at in range(1, 7)]
    made = played(dialect, bodies, {**MASKS, "keep": 3})
    assert made.cache.break_count >= 3
    for call in range(1, 6):
        repeated = tokens(shared(made.request(call - 1), made.request(call), dialect), dialect)
        assert made.cache.calls[call].prefix == repeated


@EVERY
def test_the_published_program_repeats_what_it_leaves_alone(dialect: str) -> None:
    """With fewer messages than it keeps and no room for summaries it sends all, after a prompt that it left alone."""
    asked = [part for at in range(2) for part in (user(long(f"q{at}", 40)), said(long(f"a{at}", 40)))]
    whole = body(dialect, *asked)
    bodies = [{**whole, LISTS[dialect]: whole[LISTS[dialect]][:size]} for size in (1, 3)]
    published = {"kind": "summarize_and_keep", "mode": "published", "keep_messages": 4}
    made = played(dialect, bodies, published, budget={"soft_limit": 1})
    assert made.request(1)[LISTS[dialect]] == bodies[1][LISTS[dialect]]
    assert [row.prefix for row in made.cache.calls] == [0, made.calls["in_window"][0]]


@EVERY
def test_a_branch_inside_a_reply_repeats_its_calls(dialect: str) -> None:
    """The same calls got other results, as where a tool was run again."""
    first = body(dialect, user(long("task", 50)), step("c0", "c1", text="a0"))
    text = json.dumps(first)
    again = json.loads(text.replace('"rc1"', json.dumps(long("other", 30))))
    spoken = dialect_named(dialect)
    builder = TranscriptBuilder(dialect)
    head, _ = spoken.split({**first, "model": "gpt-4o"})
    for made in (first, again):
        _, wires = spoken.split(made)
        builder.call(Placed(builder.head(head), builder.extend(ROOT, wires)), response=None, model="gpt-4o")
    made = replay(builder.build(), {"counter": {"kind": "cjk_estimate"}, "strategy": {"kind": "full_history"}})
    row = made.cache.calls[1]
    assert row.cause is Cause.BRANCH
    assert row.prefix == tokens(shared(made.request(0), made.request(1), dialect), dialect)


@pytest.mark.parametrize(
    ("file", "call", "window"),
    [("claude-code/entire-go-cli-long.jsonl.gz", 7, 526), ("mini-swe-agent/django-11797.traj.json.gz", 95, 18_373)],
)
def test_real_masking(file: str, call: int, window: int, transcripts_folder: Path) -> None:
    transcript = read(transcripts_folder / file).transcripts[0]
    limit = max(replay(transcript, {"strategy": {"kind": "full_history"}}).calls["in_window"]) // 3
    config = {"budget": {"soft_limit": limit}, "strategy": {**MASKS, "keep": 5, "step": 3000}}
    row = replay(transcript, config).cache.calls[call]
    assert row.prefix - row.hidden_before == window
