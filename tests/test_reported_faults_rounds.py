"""Rounds: what was cut is not cut again, nothing is done without gain, and no figure is carried over."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from core.plan import Status
from core.runtime import ContextRuntime
from tests.talks import CUTTING, DIALECTS, LISTS, Event, body, long, messages, run, said, step, tokens, user

EACH = pytest.mark.parametrize("kind", CUTTING)
EVERY = pytest.mark.parametrize("dialect", DIALECTS)
TALK: tuple[Event, ...] = (
    user(long("u1")),
    step("A", "B", text=long("I look", 9)),
    said(long("a1", 20)),
    user(long("u2", 9)),
    said(long("a2")),
    user("u3"),
    step("C", text="once more"),
)
LARGE = (user("TASK"), *(step(name, text=long("I look", 90)) for name in "ABC"))
"""What is kept is larger than any sensible budget: the case in which compaction sets itself off again."""


@EVERY
@EACH
@pytest.mark.parametrize("events", [LARGE, TALK], ids=["large", "talk"])
@pytest.mark.parametrize("budget", [450, 300, 200, 100])
def test_what_was_cut_is_not_cut_again(events: tuple[Event, ...], budget: int, kind: str, dialect: str) -> None:
    made = body(dialect, *events)
    rounds = [run(made, dialect, kind, budget)]
    for _ in range(4):
        rounds.append(run(rounds[-1].request, dialect, kind, budget))
    assert all(after.tokens_after <= before.tokens_after for before, after in pairwise(rounds))
    assert [made.request for made in rounds[2:]] == [rounds[1].request] * 3
    if not rounds[0].excess:
        assert [made.status for made in rounds[1:]] == [Status.FITS] * 4
        assert rounds[1].request == rounds[0].request
    text = json.dumps(rounds[-1].request)
    assert "[summary] [summary]" not in text
    assert text.count("[Earlier conversation]") <= 1


@EVERY
@EACH
@pytest.mark.parametrize("number", range(0, 12))
def test_keeping_more_than_there_is_changes_nothing(number: int, kind: str, dialect: str) -> None:
    made = body(dialect, user("u1"), said("a1"), step("A"), user("u2"), system="rules")
    units = ("keep_turns", "keep_steps", "keep_messages", "keep_tokens")
    keeps = [{unit: number} for unit in units] if "keep_turns" in CUTTING[kind] else [{}]
    for keep in keeps:
        assert run(made, dialect, kind, tokens(made, dialect), keep=keep).request == made
        assert run(made, dialect, kind, None, keep=keep).request == made


@EVERY
@EACH
def test_counts_are_those_of_what_is_sent_now(kind: str, dialect: str) -> None:
    """After a cut, the next request is counted anew: a session carries no figure over."""
    config = {
        "model": {"dialect": dialect},
        "counter": {"kind": "cjk_estimate"},
        "budget": {"soft_limit": 200},
        "strategy": {"kind": kind, **CUTTING[kind]},
    }
    session = ContextRuntime.load(config).session()
    made = body(dialect, *TALK)
    for more in (user("u4"), said("a4"), user("u5")):
        cut = session.assemble(made)
        made = {**cut.request, LISTS[dialect]: [*cut.request[LISTS[dialect]], *messages(dialect, more)]}
        after = session.assemble(made)
        assert after.tokens_before == tokens(made, dialect)
        assert after.request == ContextRuntime.load(config).assemble(made).request


@pytest.mark.parametrize("kind", ["keep_last", "summarize_and_keep", "mask_tool_results", "span_triage"])
def test_small_talk_without_gain_is_left_alone_and_said(kind: str) -> None:
    """Where a stand-in would be as long as what it stands for, none is used; what cannot shrink is over."""
    made = body("openai_chat", *(event for at in range(3) for event in (user(f"u{at}"), said("ok"))), user("u3"))
    size = tokens(made, "openai_chat")
    result = run(made, "openai_chat", kind, size - 1)
    assert result.excess == max(0, result.tokens_after - (size - 1))
    assert bool(result.blockers) == (result.status is Status.OVER_BUDGET) == (result.excess > 0)
    assert not any(decision.replacement for decision in result.decisions)
