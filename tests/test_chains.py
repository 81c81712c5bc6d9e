"""Conversations recorded in turns are each compared with themselves, and keep their own marks and pauses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.chains import Link, chain_links
from core.prefix import Cause
from core.readers import read
from core.replay import Replay, replay
from core.transcript import ROOT, Call, Fidelity, Transcript, Usage

FULL = {"strategy": {"kind": "full_history"}}
START = datetime(2026, 1, 15, tzinfo=UTC)


def tree(parents: Sequence[int], calls: Sequence[tuple[int, str, int]]) -> Transcript:
    """Return a transcript with calls as (last message, model, head)."""
    wires = tuple({"role": "user", "content": f"message {at} " * 300} for at in range(len(parents)))
    made = tuple(Call(head, last, last, None, Usage(), model) for last, model, head in calls)
    heads = tuple(
        {"messages": [{"role": "system", "content": f"head {at} " * 300}]} for at in range(1 + max(c[2] for c in calls))
    )
    return Transcript("openai_chat", wires, tuple(parents), heads, made)


def links(transcript: Transcript) -> list[Link]:
    calls = transcript.calls
    return chain_links(transcript, [call.captured for call in calls], [call.model for call in calls])


CHAIN = (ROOT, 0, 1, 2, 3)
TWO = (ROOT, 0, 1, ROOT, 3, 4)
FORK = (ROOT, 0, 1, 2, 1, 4, 5)


@pytest.mark.parametrize(
    ("parents", "calls", "expected"),
    [
        (CHAIN, "0a0 2a0 4a0", [(-1, 0), (0, 1), (1, 3)]),
        (TWO, "0a0 3a0 1a0 4a0 2a0 5a0", [(-1, 0), (0, 0), (0, 1), (1, 1), (2, 2), (3, 2)]),
        (TWO, "0a0 3b0 1a0 4b0 2a0 5a0", [(-1, 0), (-1, 0), (0, 1), (1, 1), (2, 2), (4, 0)]),  # 5a: new to its model
        (CHAIN, "0a0 1b0 2a0 3b0 4a0", [(-1, 0), (-1, 0), (0, 1), (1, 2), (2, 3)]),
        (FORK, "3a0 6a0 2a0 3a0 5a0", [(-1, 0), (0, 2), (0, 3), (0, 4), (1, 4)]),
        (FORK, "2a0 6a0 1a0 6a0", [(-1, 0), (0, 2), (1, 2), (1, 5)]),
        (TWO, "0a0 3a1 0a0 3a1", [(-1, 0), (0, 0), (0, 1), (1, 1)]),
        ((ROOT,) * 4, "0a0 1a1 2a0 3a1", [(-1, 0), (0, 0), (0, 0), (1, 0)]),  # nothing shared: the same head
    ],
)
def test_the_call_that_each_goes_on_from(parents: Sequence[int], calls: str, expected: list[tuple[int, int]]) -> None:
    made = tree(parents, [(int(last), model, int(head)) for last, model, head in calls.split()])
    assert links(made) == expected


@given(st.data())
def test_it_is_the_newest_that_shares_most(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 12))
    parents = [data.draw(st.integers(ROOT, at - 1)) for at in range(size)]
    calls = data.draw(
        st.lists(st.tuples(st.integers(ROOT, size - 1), st.sampled_from("ab"), st.just(0)), min_size=1, max_size=12)
    )
    made = tree(parents, calls)
    paths = [set(made.path(call.captured)) for call in made.calls]
    for call, link in enumerate(links(made)):
        rivals = [at for at in range(call) if made.calls[at].model == made.calls[call].model]
        if not rivals:
            assert link == (-1, 0)
            continue
        best = max(len(paths[call] & paths[at]) for at in rivals)
        assert link.shared == best == len(paths[call] & paths[link.before])
        assert link.before == max(at for at in rivals if len(paths[call] & paths[at]) == best)


class Counted(tuple[int, ...]):
    """Parents that count how often they are looked up."""

    looked_up = 0

    def __getitem__(self, at: Any) -> Any:
        Counted.looked_up += 1
        return super().__getitem__(at)


@pytest.mark.parametrize("chains", [1, 3, 100])
def test_no_call_looks_at_all_earlier_ones(chains: int) -> None:
    """Chains in turns that all begin with one message: each message is passed once, however often they take turns."""
    size, length = 3000, 3000 // chains
    parents = [ROOT if not at else 0 if at < chains else at - chains for at in range(size)]
    plain = tree(CHAIN, [(0, "a", 0)])
    made = replace(plain, parents=Counted(parents), messages=plain.messages[:1] * size, calls=plain.calls * size)
    assert made.depths[-1] <= length
    Counted.looked_up = 0
    found = chain_links(made, range(size), ["a"] * size)
    assert [link.before for link in found[chains + 1 :]] == list(range(1, size - chains))
    assert Counted.looked_up <= 4 * size


def in_turns(model: str, pauses: tuple[float, float] = (10, 10)) -> tuple[Transcript, list[Transcript]]:
    """Return two conversations recorded in turns, four calls each, and the same ones recorded apart."""
    apart = []
    for name, start in (("first", 0.0), ("other", pauses[0])):
        wires: list[dict[str, Any]] = []
        calls = []
        for at in range(4):
            text = f"{name} {at} and so on " * (600 if not at else 20)
            wires += [{"role": "user", "content": text}, {"role": "assistant", "content": f"{name} yes"}]
            when = START + timedelta(seconds=start + sum(pauses) * at)
            last = 2 * at
            calls.append(Call(0, last, last, wires[-1], Usage(), model, when, Fidelity.PARTIAL))
        head = {"model": model, "messages": [{"role": "system", "content": "Be kind. " * 300}]}
        apart.append(Transcript("openai_chat", tuple(wires), tuple(range(ROOT, 7)), (head,), tuple(calls)))
    first, other = apart
    moved = [replace(call, history=call.history + 8, captured=call.captured + 8) for call in other.calls]
    calls = [call for pair in zip(first.calls, moved, strict=True) for call in pair]
    parents = (*first.parents, ROOT, *range(8, 15))
    return replace(first, messages=(*first.messages, *other.messages), parents=parents, calls=tuple(calls)), apart


STRATEGIES: list[dict[str, Any]] = [
    FULL,
    {"budget": {"soft_limit": 3000}, "strategy": {"kind": "keep_last", "keep_messages": 1}},
    {"budget": {"soft_limit": 3000}, "strategy": {"kind": "span_triage"}},
    {"strategy": {"kind": "tiered_injection", "keep_messages": 2, "trigger": 0}},
    {"strategy": {"kind": "summarize_and_keep", "mode": "published", "keep_messages": 2}},
]


@pytest.mark.parametrize("config", STRATEGIES, ids=lambda config: str(config["strategy"]["kind"]))
@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5", "deepseek-chat"])
def test_conversations_in_turns_read_as_if_recorded_apart(config: dict[str, Any], model: str) -> None:
    mixed, apart = in_turns(model)
    rows = replay(mixed, config).cache.calls
    for place, alone in enumerate(apart):
        expected = replay(alone, config).cache.calls
        for at in range(1, 4):
            row = rows[2 * at + place]
            assert row._replace(before=0, unit=0) == expected[at]._replace(before=0, unit=0)
            assert row.before == 2 * (at - 1) + place
    assert rows[1].cause in (Cause.BRANCH, Cause.SYSTEM, Cause.DECISION)  # the other one's first call


def test_each_conversation_has_its_own_pauses() -> None:
    mixed, _ = in_turns("claude-sonnet-4-5", (200, 150))
    rows = replay(mixed, FULL).cache.calls
    assert {row.cause for row in rows[2:]} == {Cause.PAUSE}  # 350 s on each chain, though never so long between calls


def test_models_in_turns_on_one_conversation() -> None:
    """Each model has a cache of its own; the plans between belong to the same conversation."""
    plain, _ = in_turns("gpt-4o")
    single = replace(plain, calls=tuple(replace(call, model="gpt-4o") for call in plain.calls[::2]))
    models = ("gpt-4o", "gpt-4o-mini", "gpt-4o", "gpt-4o-mini")
    heads = ({"messages": single.heads[0]["messages"]},)
    calls = tuple(replace(call, model=model) for call, model in zip(single.calls, models, strict=True))
    made = replay(replace(single, heads=heads, calls=calls), FULL)
    sent = made.calls["in_window"]
    assert [row.cause for row in made.cache.calls] == [Cause.FIRST_CALL, Cause.MODEL, Cause.NONE, Cause.NONE]
    assert [row.prefix for row in made.cache.calls] == [0, 0, sent[0], sent[1]]


@pytest.mark.parametrize("limit", range(900, 2400, 150))
def test_triage_between_is_looked_through(limit: int) -> None:
    made = triaged(limit)
    for call, row in enumerate(made.cache.calls):
        if row.before < 0:
            continue
        old, new = (made.request(at)["messages"] for at in (row.before, call))
        same = next((at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), len(old))
        assert row.breaks == (same < len(old))
        assert row.prefix == made.plan(row.before).tokens_after - behind(made, row.before, same)


def triaged(limit: int) -> Replay:
    """Return a growing conversation whose calls go to three models in turn, with answers of several sizes."""
    sizes = (90, 10, 60, 120, 30, 70, 15, 110, 45, 80, 25, 100)
    wires = [
        wire
        for at, size in enumerate(sizes)
        for wire in ({"role": "user", "content": f"q{at}"}, {"role": "assistant", "content": f"a{at} " * size})
    ]
    calls = tuple(
        Call(0, 2 * at, 2 * at, wires[2 * at + 1], Usage(), f"gpt-4o-{'abc'[at % 3]}", None, Fidelity.PARTIAL)
        for at in range(len(sizes))
    )
    head = {"messages": [{"role": "system", "content": "Be kind."}]}
    transcript = Transcript("openai_chat", tuple(wires), tuple(range(ROOT, len(wires) - 1)), (head,), calls)
    return replay(transcript, {"budget": {"soft_limit": limit}, "strategy": {"kind": "span_triage"}})


def behind(made: Replay, call: int, same: int) -> int:
    """Return the tokens of a prompt's messages from the one with this place on."""
    body = made.request(call)
    whole, kept = (
        replay(one_call({**body, "messages": body["messages"][:stop]}), FULL).calls["in_window"][0]
        for stop in (None, same)
    )
    return int(whole - kept)


def one_call(body: dict[str, Any]) -> Transcript:
    system, wires = body["messages"][0], tuple(body["messages"][1:])
    last = len(wires) - 1
    return Transcript(
        "openai_chat", wires, tuple(range(ROOT, last)), ({"messages": [system]},), (Call(0, last, last, None),)
    )


def test_real_conversations_in_turns(transcripts_folder: Path) -> None:
    made = read(transcripts_folder / "har/cody-chat-response-quality.har.yaml.gz").transcripts[4]
    rows = replay(made, {"model": {"name": "gpt-4o"}, "strategy": {"kind": "as_captured"}}).cache.calls
    assert (rows[6].before, rows[6].prefix) == (3, 904)
    assert sum(row.before != call - 1 for call, row in enumerate(rows) if call) >= 3
