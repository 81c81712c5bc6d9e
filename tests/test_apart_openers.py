"""Pinned replies that would come to stand side by side: what the user said between them stays."""

from __future__ import annotations

from itertools import pairwise

import pytest

from core.dialects import dialect as dialect_named
from tests.talks import DIALECTS, Event, body, long, names, run, said, sent, step, tokens, user

PINS = [{"match": {"pattern": "PIN"}, "evict": "pinned"}]
DROPPING = ("keep_last", "summarize_and_keep", "required_reserve", "tiered_injection")
ONE_REPLY = ("openai_responses", "gemini")
"""The dialects in which neighbouring items of the assistant are one reply."""

TWO = (user(long("u1")), said("a1 PIN"), user(long("u2")), step("A", text="PIN"), user(long("u3")), said("a3"))
THREE = (
    *TWO[:4],
    user(long("u3")),
    said("a3 PIN"),
    user(long("u4")),
    step("B", text="PIN"),
    user(long("u5")),
    said("a5"),
)
TWICE = (*TWO[:3], step("A", text="PIN"), step("B", text="PIN"), user(long("u3")), said("a3"))
CALLS = (user(long("u1")), step("A", text="PIN"), user(long("u2")), step("B", text="PIN"), user(long("u3")), said("a3"))
TEXTS = (user(long("u1")), said("a1 PIN"), user(long("u2")), said("a2 PIN"), user(long("u3")), said("a3"))
LAST = user("u9")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", DROPPING)
@pytest.mark.parametrize(
    ("events", "joined", "apart"),
    [
        (TWO, "u1 u9", "u1 u2 u9"),
        (THREE, "u1 u9", "u1 u2 u4 u9"),  # a call with its result, then a reply: nothing to keep apart
        (TWICE, "u1 u9", "u1 u2 u9"),
        (CALLS, "u1 u9", "u1 u9"),
        (TEXTS, "u1 u9", "u1 u2 u9"),
    ],
)
def test_what_the_user_said_between(
    events: tuple[Event, ...], joined: str, apart: str, kind: str, dialect: str
) -> None:
    made = body(dialect, *events, LAST)
    strategy = {"summary_tokens": 0, "summary_chars": 0} if kind == "tiered_injection" else {}
    result = run(made, dialect, kind, 10, rules=PINS, strategy=strategy)
    kept = names(sent(result, dialect), ["u1", "u2", "u3", "u4", "u5", "u9"])
    if kind != "summarize_and_keep":  # there the openers are left as summaries
        assert kept == (apart if dialect in ONE_REPLY else joined).split()
    read_again = [dialect_named(dialect).message(wire) for wire in sent(result, dialect)]
    if dialect == "gemini":
        assert not any(after.calls and before.role == "assistant" for before, after in pairwise(read_again))
    assert result.tokens_after == tokens(result.request, dialect)
    assert sum(made.tokens_after for made in result.decisions) == result.tokens_after


@pytest.mark.parametrize("dialect", ONE_REPLY)
def test_every_budget_keeps_the_same(dialect: str) -> None:
    """What a lower budget sends is never more, and down to the floor the openers stay."""
    made = body(dialect, *THREE, LAST)
    whole, before = tokens(made, dialect), 0
    for budget in range(0, whole + 1, 7):
        result = run(made, dialect, "keep_last", budget, rules=PINS)
        assert result.tokens_after >= before or result.excess
        assert names(sent(result, dialect), ["u2", "u4"]) == ["u2", "u4"]
        before = result.tokens_after if not result.excess else 0
