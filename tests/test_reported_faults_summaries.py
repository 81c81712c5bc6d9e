"""Summaries: nothing is deleted that was not summarised or said to be left out, and none outgrows its room."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from core.plan import Action, Status
from core.runtime import ContextRuntime, Result
from core.summaries import Range
from tests.talks import (
    CUTTING,
    DIALECTS,
    LISTS,
    Event,
    Wire,
    body,
    call_ids,
    long,
    messages,
    run,
    said,
    sent,
    step,
    tokens,
    user,
)

EVERY = pytest.mark.parametrize("dialect", DIALECTS)
SUMMARISING = pytest.mark.parametrize("kind", ["summarize_and_keep", "tiered_injection"])
HEADING = re.compile(r"\[Earlier conversation\](?: \((\d+) older left out\))?")
LOOP: tuple[Event, ...] = (user("TASK: fix it"), *(step(f"c{at}", text=long("I look", 30)) for at in range(12)))
TALK: tuple[Event, ...] = tuple(e for at in range(9) for e in (user(long(f"u{at}")), said(long(f"a{at}"))))


def written(made: Wire, dialect: str, kind: str, budget: int | None, hook: Callable[[Range], Any]) -> Result:
    """Assemble with a summariser of the test's own."""
    config = {
        "model": {"dialect": dialect},
        "counter": {"kind": "cjk_estimate"},
        "budget": {"soft_limit": budget},
        "strategy": {"kind": kind, **CUTTING[kind], "summary": "model"},
    }
    return ContextRuntime.load(config, summarizer=hook).assemble(made)


@EVERY
@pytest.mark.parametrize("keep", [1, 2, 4])
def test_an_agents_loop_is_summarised_and_its_task_stays(keep: int, dialect: str) -> None:
    """There is no user message in the older part; each step has a summary all the same, in its place."""
    made = body(dialect, *LOOP)
    result = run(made, dialect, "summarize_and_keep", tokens(made, dialect) // 2 + 99, keep={"keep_steps": keep})
    wires = sent(result, dialect)
    kept = [f"c{at}" for at in range(12 - keep, 12)]
    assert wires[0] == messages(dialect, LOOP[0])[0]
    assert call_ids(wires, dialect) == (kept, kept)
    texts = [json.dumps(wire) for wire in wires if "[summary]" in json.dumps(wire)]
    assert len(texts) == 12 - keep
    assert all("used look: I look" in text for text in texts)


@EVERY
@pytest.mark.parametrize("events", [LOOP, TALK], ids=["loop", "talk"])
@pytest.mark.parametrize("budget", [900, 600, 400])
def test_every_message_has_a_line_or_is_counted_as_left_out(
    budget: int, events: tuple[Event, ...], dialect: str
) -> None:
    made = body(dialect, *events, user("go"))
    result = run(made, dialect, "tiered_injection", budget)
    (told,) = (made for made in result.decisions if made.span_id == "summary")
    heading = HEADING.match(told.replacement or "")
    assert heading is not None
    lines = (told.replacement or "").split("\n")[1:]
    gone = [wire for wire in made[LISTS[dialect]] if wire not in sent(result, dialect)]
    assert len(lines) + int(heading[1] or 0) == len(gone)
    assert len(told.replacement or "") <= 800
    assert told.tokens_after <= 800
    fates = {made.action for made in result.decisions if made.span_id[0] == "m"}
    assert fates == {Action.KEEP, Action.SUMMARISE} | ({Action.DROP} if heading[1] else set())


@EVERY
@SUMMARISING
def test_summary_and_kept_part_share_one_budget(kind: str, dialect: str) -> None:
    """From the least that must stay up to the whole: a summary takes the room that is left, and no more."""
    for last in (user("go"), user(long("go", 60))):
        made = body(dialect, *TALK, last, system=long("rules", 9))
        least = tokens(body(dialect, last, system=long("rules", 9)), dialect)
        sizes = []
        for budget in range(least, tokens(made, dialect), 37):
            result = run(made, dialect, kind, budget)
            assert result.status is Status.TRIMMED
            assert result.tokens_after <= budget
            sizes.append(result.tokens_after)
        assert sizes == sorted(sizes)


@EVERY
def test_the_newest_older_messages_come_first_in_a_small_summary(dialect: str) -> None:
    made = body(dialect, *TALK, user("go"))
    texts = []
    for budget in (60, 100, 160, 400):
        told = [d.replacement or "" for d in run(made, dialect, "tiered_injection", budget).decisions]
        texts.append(next(text for text in told if text.startswith("[Earlier")))
    assert [len(text) for text in texts] == sorted(len(text) for text in texts)
    assert all("a8 and so on" in text for text in texts)
    assert ["u8 and so on" in text for text in texts] == [False, False, True, True]
    assert not any("u0 and so on" in text for text in texts)


@EVERY
@SUMMARISING
def test_a_summary_does_not_grow_with_the_run(kind: str, dialect: str) -> None:
    """A hundred calls of one conversation: one heading, nothing quoted twice, no summary above its cap."""
    config = {
        "model": {"dialect": dialect},
        "counter": {"kind": "cjk_estimate"},
        "budget": {"soft_limit": 700},
        "strategy": {"kind": kind, **CUTTING[kind]},
    }
    session = ContextRuntime.load(config).session()
    events: list[Event] = []
    lengths = []
    for at in range(50):
        events += [user(long(f"u{at}", 12)), said(long(f"a{at}", 12))]
        result = session.assemble(body(dialect, *events, user("go")))
        text = json.dumps(result.request)
        assert text.count("[Earlier conversation]") <= 1
        assert "[summary] [" not in text
        assert result.tokens_after <= 700
        lengths += [len(d.replacement or "") for d in result.decisions if d.action is Action.SUMMARISE]
    assert max(lengths) <= (800 if kind == "tiered_injection" else 80)


@EVERY
@SUMMARISING
def test_the_newest_turns_stay_verbatim_behind_a_summary(kind: str, dialect: str) -> None:
    events = [*TALK, *TALK, *TALK, *TALK, user(long("now")), step("Z")]
    made = body(dialect, *events)
    wires = sent(run(made, dialect, kind, 500, keep={"keep_turns": 0}), dialect)
    assert wires[-len(messages(dialect, *events[-2:])) :] == messages(dialect, *events[-2:])
    assert not json.dumps(wires[0]).startswith('{"role": "assistant"')
    assert not json.dumps(wires[-1]).count("[summary]")


@EVERY
@SUMMARISING
@pytest.mark.parametrize("budget", [1100, 800, 500])
def test_what_stands_for_something_is_never_larger(budget: int, kind: str, dialect: str) -> None:
    made = body(dialect, *TALK, *(event for at in range(9) for event in (user("ok"), said("fine"))), user("go"))
    result = run(made, dialect, kind, budget)
    assert result.tokens_after == tokens(result.request, dialect) < result.tokens_before
    for decision in result.decisions:
        if decision.replacement and decision.span_id[0] == "m":
            assert decision.tokens_after < decision.tokens_before


def fails(_: Range) -> str:
    raise ConnectionError("429 too many requests")


def overflows(asked: Range) -> str:
    raise ValueError(f"{len(asked.text)} characters do not fit the window")


FAILING: list[Any] = [
    pytest.param(fails, "the summariser failed (ConnectionError)", id="fails"),
    pytest.param(overflows, "the summariser failed (ValueError)", id="is given more than it can read"),
    pytest.param(lambda _: "", "it wrote nothing", id="writes nothing"),
    pytest.param(lambda _: "  \n", "it wrote nothing", id="writes spaces"),
    pytest.param(lambda _: None, "it wrote nothing", id="returns nothing"),
    pytest.param(lambda _: {"content": "The user wan"}, "it wrote nothing", id="returns no text"),
    pytest.param(lambda _: "x" * 40_000, "not smaller than what it replaces", id="writes too much"),
    pytest.param(lambda asked: asked.text + "!", "not smaller than what it replaces", id="quotes it all"),
]


@EVERY
@SUMMARISING
@pytest.mark.parametrize(("hook", "why"), FAILING)
def test_a_summary_that_failed_is_none(hook: Callable[[Range], Any], why: str, kind: str, dialect: str) -> None:
    """The extract stands in, the decisions say why, and no text of an error is sent as what was said."""
    made = body(dialect, *TALK, user("go"))
    result = written(made, dialect, kind, 900, hook)
    assert result.request == run(made, dialect, kind, 900).request
    reasons = {d.reason for d in result.decisions if d.action is Action.SUMMARISE and d.replacement}
    assert reasons
    assert all(why in reason for reason in reasons)
    assert "429" not in json.dumps(result.request)
    assert "xxxx" not in json.dumps(result.request)


@EVERY
@SUMMARISING
def test_a_summariser_that_writes_much_pushes_out_no_turn_that_would_have_stayed(kind: str, dialect: str) -> None:
    made = body(dialect, *TALK, user("go"))
    for budget in (900, 500, 300):
        plain = run(made, dialect, kind, budget)
        long_winded = written(made, dialect, kind, budget, lambda asked: "y" * 4 * asked.max_tokens)
        assert long_winded.tokens_after <= budget
        whole = [wire for wire in sent(plain, dialect) if wire in made[LISTS[dialect]]]
        if kind == "tiered_injection":
            assert [wire for wire in sent(long_winded, dialect) if wire in made[LISTS[dialect]]] == whole


@EVERY
@SUMMARISING
def test_a_summary_is_asked_for_once_and_never_of_a_summary(kind: str, dialect: str) -> None:
    asked: list[str] = []

    def hook(given: Range) -> str:
        asked.append(given.text)
        return f"said {len(asked)}"

    made = body(dialect, *TALK, user("go"))
    first = written(made, dialect, kind, 900, hook)
    assert asked
    assert not any("[summary]" in text or "[Earlier conversation]" in text for text in asked)
    count = len(asked)
    again = written(first.request, dialect, kind, 900, hook)
    assert (again.request, len(asked)) == (first.request, count)


@EVERY
def test_a_result_is_told_as_a_tools_in_every_dialect(dialect: str) -> None:
    """Where results come in messages of the user, the summary does not say that the user said them."""
    made = body(
        dialect, user(long("u1")), step("A", text=long("I look")), user(long("u2")), said(long("a2")), user("u3")
    )
    settings = {"kind": "tiered_injection", "keep_messages": 1, "trigger": 0, "summary_chars": 4000}
    result = ContextRuntime.load({"strategy": settings}).assemble(made)
    (summary,) = [text.text for text in result.plan.head.injected]
    assert "[tool]: " in summary
    assert summary.count("[user]: ") == 2
