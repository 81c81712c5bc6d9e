"""Budgets: everything that is sent is inside, whatever is over is said, and nothing goes round in circles."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import ConfigError
from core.plan import Action, Status
from core.runtime import ContextRuntime, Result
from core.spans import SpanKind
from tests.talks import (
    CUTTING,
    DIALECTS,
    LISTS,
    Event,
    Wire,
    body,
    long,
    messages,
    run,
    said,
    sent,
    step,
    tokens,
    user,
)

EACH = pytest.mark.parametrize("kind", CUTTING)
EVERY = pytest.mark.parametrize("dialect", DIALECTS)
TO_THE_FLOOR = ("keep_last", "summarize_and_keep", "tiered_injection", "required_reserve")
"""The strategies that go down to what must stay; the others cut only results, or only what a stub is smaller than."""
TALK: tuple[Event, ...] = (
    user(long("u1")),
    step("A", "B", text=long("I look", 9)),
    said(long("a1", 20)),
    user(long("u2", 9)),
    said(long("a2")),
    user("u3"),
    step("C", text="once more"),
)
TOOLS = ("look", "read")


def whole(dialect: str) -> Wire:
    return body(dialect, *TALK, system=long("rules", 30), tools=TOOLS)


def floor(dialect: str) -> int:
    """The tokens of what must stay: system, tools, the newest question and the reply in progress."""
    return tokens(body(dialect, *TALK[-2:], system=long("rules", 30), tools=TOOLS), dialect)


def check_said(result: Result, budget: int) -> None:
    """Whatever is over its budget says so, by how much, and what could not go."""
    assert result.excess == max(0, result.tokens_after - budget)
    assert bool(result.blockers) == (result.excess > 0)
    assert (result.status is Status.OVER_BUDGET) == (result.excess > 0)
    assert result.tokens_after <= result.tokens_before


@EVERY
@EACH
def test_over_the_budget_is_never_silent(kind: str, dialect: str) -> None:
    made = whole(dialect)
    size, least = tokens(made, dialect), floor(dialect)
    for budget in (0, 1, least - 1, least, least + 1, least + 40, size // 2, size - 1, size, size + 1):
        result = run(made, dialect, kind, budget)
        check_said(result, budget)
        assert result.tokens_before == size
        assert tokens(result.request, dialect) == result.tokens_after
        if kind in TO_THE_FLOOR:
            assert (result.excess > 0) == (budget < least)
        if budget >= size:
            assert (result.status, result.request) == (Status.FITS, made)


@EVERY
@EACH
@pytest.mark.parametrize("share", ["system", "tools", "messages"])
def test_every_share_of_a_request_counts_against_the_budget(share: str, kind: str, dialect: str) -> None:
    """A request that fits is over as soon as one of its parts grows by a token more than there is room."""
    parts: dict[str, Any] = {"system": "be brief", "tools": ("look",), "messages": "hello"}
    more = {"system": "be brief, and kind", "tools": ("look", "read"), "messages": "hello, how are you"}
    plain, grown = (
        body(dialect, user(given["messages"]), system=given["system"], tools=given["tools"])
        for given in (parts, {**parts, share: more[share]})
    )
    budget = tokens(grown, dialect) - 1
    assert tokens(plain, dialect) <= budget
    assert run(plain, dialect, kind, budget).status is Status.FITS
    over = run(grown, dialect, kind, budget)
    assert (over.status, over.excess, over.request) == (Status.OVER_BUDGET, 1, grown)
    assert run(grown, dialect, kind, budget + 1).status is Status.FITS


@EVERY
def test_the_shares_are_told(dialect: str) -> None:
    result = run(whole(dialect), dialect, "full_history", None)
    kinds = result.plan.kinds()
    assert kinds[SpanKind.INSTRUCTIONS] == (5 + 30 * 10 + 3) // 4
    only_tools = body(dialect, user("q"), tools=TOOLS)
    assert kinds[SpanKind.TOOL_DEFINITION] == tokens(only_tools, dialect) - tokens(body(dialect, user("q")), dialect)
    assert sum(kinds.values()) == result.tokens_after == tokens(whole(dialect), dialect)


WINDOWS = [
    # window, reserve, output, what is left
    (1000, 0.1, 100, 800),
    (128_000, 0.1, 4096, 111_104),
    (200_000, 0.1, 8192, 171_808),
    (32_768, 0.1, 4096, 25_395),
    (8192, 0.1, 4096, 3276),
    (1000, 0.0, 0, 1000),
]


@pytest.mark.parametrize(("window", "reserve", "output", "left"), WINDOWS)
def test_what_is_set_aside_is_set_aside_once(window: int, reserve: float, output: int, left: int) -> None:
    def status(characters: int) -> Status:
        told = [{"role": "system", "content": "s" * 4 * 200}, {"role": "user", "content": "u" * (characters - 800)}]
        config = {
            "model": {"window": window, "max_output": output},
            "budget": {"reserve_ratio": reserve},
            "counter": {"kind": "chars4"},
            "strategy": {"kind": "keep_last"},
        }
        return ContextRuntime.load(config).assemble({"messages": told}).status

    assert status(4 * left) is Status.FITS
    assert status(4 * left + 4) is Status.OVER_BUDGET


@pytest.mark.parametrize(
    ("model", "budget"),
    [
        ({"window": 4096, "max_output": 4096}, {}),
        ({"window": 8192, "max_output": 8192}, {"reserve_ratio": 0.0}),
        ({"window": 4551, "max_output": 4096}, {}),
    ],
)
def test_a_window_that_leaves_nothing_is_refused_with_its_numbers(model: Wire, budget: Wire) -> None:
    with pytest.raises(ConfigError, match=f"{model['window']:,}"):
        ContextRuntime.load({"model": model, "budget": budget, "strategy": {"kind": "keep_last"}})


@EVERY
@EACH
def test_a_fixed_part_above_the_budget_is_named_and_costs_the_user_nothing(kind: str, dialect: str) -> None:
    made = body(dialect, user("hi"), system=long("rules", 60), tools=TOOLS)
    result = run(made, dialect, kind, 100)
    assert (result.status, result.request) == (Status.OVER_BUDGET, made)
    assert result.excess == tokens(made, dialect) - 100
    assert {"s0.0", "t0", "t1", "m0.0"} <= set(result.blockers)


@EVERY
@EACH
@pytest.mark.parametrize(
    "events",
    [
        (user(long("u1", 300)),),
        (user("u0"), said("ok"), user(long("u1", 300))),
        (user("u1"), step("A", text=long("I look", 300))),
        (user(long("u1", 300)), said("ok")),
    ],
    ids=["one message", "the newest message", "the reply in progress", "an answered message"],
)
def test_one_part_above_the_budget_is_sent_and_said(events: tuple[Event, ...], kind: str, dialect: str) -> None:
    """Neither is it cut to pieces, nor is the rest thrown away for nothing, nor is it tried again and again."""
    made = body(dialect, *events)
    result = run(made, dialect, kind, 200)
    large = messages(dialect, max(events, key=lambda event: len(str(event))))[0]
    assert large in sent(result, dialect)
    check_said(result, 200)
    assert result.excess > 500
    assert {run(made, dialect, kind, 200).tokens_after for _ in range(3)} == {result.tokens_after}


@EVERY
@EACH
def test_every_part_is_kept_or_removed_and_never_both(kind: str, dialect: str) -> None:
    """What is left and what is gone make up the original, by id: nothing behind the cut goes with it."""
    made = whole(dialect)
    known = [decision.span_id for decision in run(made, dialect, "full_history", None).decisions]
    for budget in (floor(dialect), floor(dialect) + 60, tokens(made, dialect) - 1):
        result = run(made, dialect, kind, budget)
        told = [decision.span_id for decision in result.decisions if decision.span_id not in ("summary", "context")]
        assert sorted(told) == sorted(known)
        gone = {
            int(decision.span_id[1:].partition(".")[0])
            for decision in result.decisions
            if decision.action is not Action.KEEP and decision.span_id[0] == "m"
        }
        wires = made[LISTS[dialect]][1 if dialect == "openai_chat" else 0 :]
        left = [at for at, wire in enumerate(wires) if wire in sent(result, dialect)]
        assert sorted({*gone, *left}) == list(range(len(wires)))
        assert left == sorted(set(range(len(wires))) - gone)


@pytest.mark.parametrize(
    ("turns", "steps", "settings", "status"),
    [
        (16, 0, {"min_turns": 15, "min_steps": 0}, "trimmed"),
        (15, 0, {"min_turns": 15, "min_steps": 0}, "skipped_short"),
        (1, 16, {"min_turns": 15, "min_steps": 15}, "trimmed"),
        (1, 15, {"min_turns": 15, "min_steps": 15}, "skipped_short"),
        (16, 1, {"min_turns": 15, "min_steps": 15}, "trimmed"),
        (16, 1, {"min_turns": 16, "min_steps": 0}, "trimmed"),
        (16, 0, {"min_turns": 16, "min_steps": 0}, "skipped_short"),
    ],
)
@pytest.mark.parametrize("kind", TO_THE_FLOOR[:3])
def test_short_means_few_turns_and_few_steps_and_nothing_happens_below_the_budget(
    turns: int, steps: int, settings: Wire, status: str, kind: str
) -> None:
    told = [user(long(f"u{at}")) for at in range(turns)] + [step(str(at), text=long("I look")) for at in range(steps)]
    made = body("openai_chat", *told)
    size = tokens(made, "openai_chat")
    assert run(made, "openai_chat", kind, size, strategy=settings).status is Status.FITS
    over = run(made, "openai_chat", kind, size - 1, strategy=settings)
    assert over.status == status
    if status == "skipped_short":
        assert (over.request, over.excess) == (made, 1)
        assert over.blockers


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-4o", 3 + 4 + 50),
        ("gpt-4", 3 + 4 + 125),
        ("claude-sonnet-4-5", 3 + 4 + 60),
        ("claude-opus-4-7", 3 + 4 + 75),
    ],
)
def test_every_model_has_its_own_counter_and_window(model: str, expected: int) -> None:
    made = {"model": model, "messages": [{"role": "user", "content": "你好世界" * 25}]}
    config: dict[str, Any] = {"strategy": {"kind": "keep_last"}}
    assert ContextRuntime.load(config).assemble(made).tokens_before == expected
    pinned = {**config, "model": {"name": "gpt-4o", "window": 60, "max_output": 0}, "budget": {"reserve_ratio": 0}}
    result = ContextRuntime.load(pinned).assemble(made)
    assert (result.tokens_before, result.status) == (3 + 4 + 50, Status.FITS)
