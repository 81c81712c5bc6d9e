"""Numbers of things to keep: nought is none, the newest are the last ones, nothing is there twice or out of order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.errors import ConfigError
from core.plan import Action, Status
from core.runtime import ContextRuntime
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
    names,
    run,
    said,
    sent,
    step,
    tokens,
    user,
)

EACH = pytest.mark.parametrize("kind", CUTTING)
EVERY = pytest.mark.parametrize("dialect", DIALECTS)
UNITS = ("turns", "steps", "messages", "tokens")
EIGHT: tuple[Event, ...] = tuple(event for at in (0, 2, 4, 6) for event in (user(f"m{at}"), said(f"m{at + 1}")))
KNOWN = [f"m{at}" for at in range(8)]


@EVERY
@pytest.mark.parametrize(
    ("number", "kept"),
    [
        (0, "m6 m7"),
        (1, "m6 m7"),
        (2, "m6 m7"),
        (3, "m4 m5 m6 m7"),
        (4, "m4 m5 m6 m7"),
        (5, "m2 m3 m4 m5 m6 m7"),
        (6, "m2 m3 m4 m5 m6 m7"),
        (7, "m0 m1 m2 m3 m4 m5 m6 m7"),
        (8, "m0 m1 m2 m3 m4 m5 m6 m7"),
        (9, "m0 m1 m2 m3 m4 m5 m6 m7"),
    ],
)
def test_the_newest_messages_in_their_order(number: int, kept: str, dialect: str) -> None:
    made = body(dialect, user(long("old")), said(long("old")), *EIGHT, system="rules")
    budget = tokens(made, dialect) - 1
    result = run(made, dialect, "keep_last", budget, keep={"keep_messages": number})
    assert names(sent(result, dialect), KNOWN) == kept.split()
    assert json.dumps(result.request).count('"rules"') == 1


def test_the_last_twenty_of_forty_and_not_the_first() -> None:
    told = [event for at in range(0, 40, 2) for event in (user(f"m{at}"), said(f"m{at + 1}"))]
    made = body("openai_chat", *told)
    result = run(made, "openai_chat", "keep_last", tokens(made, "openai_chat") - 1, keep={"keep_messages": 20})
    assert result.request["messages"] == made["messages"][20:]


OPEN: tuple[Event, ...] = (user("u0"), said("a0"), user("u1"), step("A"), step("B"))
CLOSED: tuple[Event, ...] = (user("u0"), step("A"), said("a0"), user("u1"))


@EVERY
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", ["keep_last", "summarize_and_keep", "tiered_injection"])
def test_nought_keeps_nothing_but_what_must_stay(kind: str, unit: str, dialect: str) -> None:
    for events, left in ((CLOSED, ["u1"]), (OPEN, ["u1", "rB"])):
        padded = [user(long("u9")), said(long("a9")), *events]
        made = body(dialect, *padded)
        result = run(made, dialect, kind, tokens(made, dialect) - 1, keep={f"keep_{unit}": 0})
        whole = [wire for wire in sent(result, dialect) if wire in made[LISTS[dialect]]]
        kept = names(whole, ["u9", "a9", "u0", "a0", "rA", "u1", "rB"])
        if kind == "summarize_and_keep":  # what no summary is shorter than stays
            assert [name for name in kept if name in left] == left
        else:
            assert kept == left


@EVERY
@pytest.mark.parametrize("unit", [*UNITS, "last"])
def test_no_number_is_no_limit_and_no_negative_number_is_taken(unit: str, dialect: str) -> None:
    for value in (-1, -2):
        with pytest.raises(ConfigError):
            ContextRuntime.load({"strategy": {"kind": "keep_last", f"keep_{unit}": value}})
    with pytest.raises(ConfigError):
        ContextRuntime.load({"budget": {"soft_limit": -1}, "strategy": {"kind": "keep_last"}})
    made = body(dialect, *EIGHT)
    assert run(made, dialect, "keep_last", None, keep={"keep_turns": 0}).request == made
    assert run(made, dialect, "keep_last", 0, keep={"keep_turns": 0}).status is Status.OVER_BUDGET


RESULTS: tuple[Event, ...] = (
    user("u1"),
    *(step(name, arguments={"q": name}) for name in "ABC"),
    said("a1"),
    user("u2"),
)


def with_long_results(dialect: str, *events: Event) -> Wire:
    made = body(dialect, *events)
    text = json.dumps(made)
    for name in "ABCDE":
        text = text.replace(f'"r{name}"', json.dumps(long(f"r{name}")))
    return dict(json.loads(text))


@EVERY
@pytest.mark.parametrize(
    ("keep", "left"), [(0, ""), (1, "C"), (2, "BC"), (3, "ABC"), (4, "ABC")], ids=lambda value: str(value)
)
def test_so_many_results_stay_and_every_call_keeps_its_result(keep: int, left: str, dialect: str) -> None:
    made = with_long_results(dialect, *RESULTS)
    result = run(made, dialect, "mask_tool_results", None, strategy={"keep": keep, "trigger": 0})
    assert [name for name in "ABC" if f"r{name} and so on" in json.dumps(result.request)] == list(left)
    assert call_ids(sent(result, dialect), dialect) == (["A", "B", "C"], ["A", "B", "C"])
    stubs = [made for made in result.decisions if made.action is Action.STUB]
    assert len(stubs) == 3 - len(left)


@EVERY
@EACH
def test_what_is_sent_is_what_came_in_its_order_and_once(kind: str, dialect: str) -> None:
    """Also where two messages are equal: both are there, or those that went were told apart by their place."""
    events = (user("same"), said("same"), user("same"), step("A"), said("same"), user("same"), step("B"), user("same"))
    made = with_long_results(dialect, user(long("u0")), said(long("a0")), *events)
    place = {id(wire): at for at, wire in enumerate(made[LISTS[dialect]])}
    for budget in range(0, tokens(made, dialect) + 20, 20):
        result = run(made, dialect, kind, budget)
        kept = [place[id(wire)] for wire in sent(result, dialect) if id(wire) in place]
        assert kept == sorted(set(kept))
        assert kept[-1] == len(place) - 1


@EVERY
@EACH
def test_something_is_always_left_to_answer(kind: str, dialect: str) -> None:
    for events in (CLOSED, OPEN, (user("u0"),), (user("u0"), said("a0"))):
        made = body(dialect, *events, system=long("rules"))
        for budget in (0, 5, 30):
            wires = sent(run(made, dialect, kind, budget), dialect)
            assert wires
            assert any("u" in json.dumps(wire) for wire in wires)


@EVERY
@EACH
def test_an_answered_request_is_not_asked_again(kind: str, dialect: str) -> None:
    made = with_long_results(dialect, user(long("u0")), said(long("a0")), user("deploy"), step("A"), said("done"))
    for budget in (200, 100, 50, 20, 0):
        wires = sent(run(made, dialect, kind, budget), dialect)
        assert names(wires, ["deploy", "done"]) == ["deploy", "done"]
        assert wires[-1] == messages(dialect, said("done"))[0]


def pictured(dialect: str, text: str) -> Wire:
    """A user's message of a picture and a text."""
    data = "QUJD" * 30
    if dialect == "gemini":
        parts = [{"inlineData": {"mimeType": "image/png", "data": data}}, {"text": text}]
        return {"role": "user", "parts": parts}
    picture: dict[str, Any] = {
        "openai_chat": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
        "openai_responses": {"type": "input_image", "image_url": f"data:image/png;base64,{data}"},
        "anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
    }[dialect]
    kind = "input_text" if dialect == "openai_responses" else "text"
    return {"role": "user", "content": [picture, {"type": kind, "text": text}]}


@EVERY
@EACH
@pytest.mark.parametrize("budget", [40, 60, 100, 120, 200, 300, 800, 1700])
def test_a_picture_and_its_words_are_not_taken_apart(budget: int, kind: str, dialect: str) -> None:
    words = "l1\nl2\n" + "x" * 600
    newest, older = pictured(dialect, words), pictured(dialect, f"older {words}")
    alone = {"model": "m", LISTS[dialect]: [newest]}
    assert run(alone, dialect, kind, budget).request == alone
    made = {"model": "m", LISTS[dialect]: [older, *messages(dialect, said("a1"), user("u2"))]}
    result = run(made, dialect, kind, budget)
    fates = {made.span_id: made.action for made in result.decisions if made.span_id in ("m0.0", "m0.1")}
    assert len(set(fates.values())) == 1
    assert (older in sent(result, dialect)) == (set(fates.values()) == {Action.KEEP})


@EVERY
@EACH
def test_a_text_longer_than_the_budget_does_not_disappear(kind: str, dialect: str) -> None:
    made = body(dialect, user("u" * 200_000), system="rules")
    result = run(made, dialect, kind, 1000)
    assert (result.request, result.status) == (made, Status.OVER_BUDGET)
    assert result.blockers == ("s0.0", "m0.0")
