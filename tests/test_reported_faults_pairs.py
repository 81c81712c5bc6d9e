"""Calls and results: whatever is cut, at either end or in the middle, a reply and its results go or stay as one."""

from __future__ import annotations

from typing import Any

import pytest

from core.dialects import dialect as dialect_named
from core.plan import Status
from core.runtime import Result
from core.validity import validate
from tests.talks import (
    CUTTING,
    DIALECTS,
    LISTS,
    Event,
    Step,
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
OLD = (user(long("u0")), said(long("a0")))
KNOWN = ("u0", "a0", "q", "a", "q2", "a2", "q3", "a3", "x")


def windowed(number: int, *events: Event) -> list[str]:
    """What the newest `number` messages of some events are widened to, where only an older turn has to go."""
    made = body("openai_chat", *OLD, *events)
    result = run(made, "openai_chat", "keep_last", tokens(made, "openai_chat") - 1, keep={"keep_messages": number})
    found = []
    for wire in sent(result, "openai_chat"):
        calls = [call["id"] for call in wire.get("tool_calls", ())]
        found.append("+".join(calls) or wire["content"])
    return found


ONE = (user("q"), step("1"), said("a"))
TWO = (user("q"), step("1"), user("q2"), said("a2"), user("q3"), said("a3"))
THREE = (user("q"), step("1"), said("a"), user("q2"), said("a2"), user("q3"), said("a3"))
BOTH = (user("q"), step("1"), step("2"))
LOOP = (user("q"), *(step(str(at)) for at in range(8)))


@pytest.mark.parametrize(
    ("events", "number", "kept"),
    [
        (ONE, 0, "q a"),
        (ONE, 1, "q a"),
        (ONE, 2, "q 1 r1 a"),
        (ONE, 3, "q 1 r1 a"),
        (ONE, 4, "q 1 r1 a"),
        (TWO, 2, "q3 a3"),
        (TWO, 3, "q2 a2 q3 a3"),
        (TWO, 4, "q2 a2 q3 a3"),
        (TWO, 5, "q 1 r1 q2 a2 q3 a3"),
        (TWO, 6, "q 1 r1 q2 a2 q3 a3"),
        (THREE, 4, "q2 a2 q3 a3"),
        (THREE, 5, "q a q2 a2 q3 a3"),
        (THREE, 6, "q 1 r1 a q2 a2 q3 a3"),
        (THREE, 7, "q 1 r1 a q2 a2 q3 a3"),
        (BOTH, 0, "q 2 r2"),
        (BOTH, 1, "q 2 r2"),
        (BOTH, 2, "q 2 r2"),
        (BOTH, 3, "q 1 r1 2 r2"),
        (BOTH, 4, "q 1 r1 2 r2"),
        (LOOP, 6, "q 5 r5 6 r6 7 r7"),
        (LOOP, 7, "q 4 r4 5 r5 6 r6 7 r7"),
        ((user("q"), step("a", "b"), said("x")), 2, "q a+b ra rb x"),
        ((user("q"), step("a", "b"), said("x")), 3, "q a+b ra rb x"),
        ((user("q"), step("a", "b"), user("q2"), said("x")), 2, "q2 x"),
        ((user("q"), step("a", "b"), user("q2"), said("x")), 3, "q a+b ra rb q2 x"),
    ],
)
def test_a_window_is_rounded_to_whole_replies(events: tuple[Event, ...], number: int, kept: str) -> None:
    assert windowed(number, *events) == kept.split()


@pytest.mark.parametrize(("number", "kept"), [(1, ["q", "x"]), (2, ["q", "x"]), (3, ["a+b", "ra", "rb", "q", "x"])])
def test_a_history_that_begins_with_a_reply_is_cut_behind_its_results(number: int, kept: list[str]) -> None:
    made = body("openai_chat", said(long("a0")), step("a", "b"), user("q"), said("x"))
    result = run(made, "openai_chat", "keep_last", tokens(made, "openai_chat") - 1, keep={"keep_messages": number})
    assert [*names(sent(result, "openai_chat"), ("ra", "rb", "q", "x"))] == [name for name in kept if "+" not in name]


@EVERY
@pytest.mark.parametrize(("steps", "first"), [(0, 7), (1, 7), (3, 5), (7, 1), (8, 0), (9, 0)])
def test_steps_are_kept_whole_with_the_task(steps: int, first: int, dialect: str) -> None:
    made = body(dialect, *OLD, *LOOP)
    result = run(made, dialect, "keep_last", tokens(made, dialect) - 1, keep={"keep_steps": steps})
    ids = [str(at) for at in range(first, 8)]
    assert call_ids(sent(result, dialect), dialect) == (ids, ids)
    assert names(sent(result, dialect), KNOWN) == ["q"]


SEVEN = tuple("CDEFGHI")
MANY = (*OLD, user("q"), step("A", "B"), said("a"), user("q2"), step(*SEVEN), said("a2"), user("q3"))


@EVERY
@pytest.mark.parametrize(("turns", "ids"), [(1, ""), (2, "CDEFGHI"), (3, "ABCDEFGHI"), (4, "ABCDEFGHI")])
def test_parallel_calls_are_one_turn(turns: int, ids: str, dialect: str) -> None:
    made = body(dialect, *MANY)
    made[LISTS[dialect]] = [one for wire in made[LISTS[dialect]] for one in apart(wire)]
    result = run(made, dialect, "keep_last", tokens(made, dialect) - 1, keep={"keep_turns": turns})
    assert call_ids(sent(result, dialect), dialect) == (list(ids), list(ids))


def apart(wire: Wire) -> list[Wire]:
    """Each result of a message as a message of its own, as some clients write them."""
    for key in ("content", "parts"):
        held = wire.get(key)
        if isinstance(held, list) and len(held) > 1 and ("tool_use_id" in held[0] or "functionResponse" in held[0]):
            return [{**wire, key: [part]} for part in held]
    return [wire]


def late(dialect: str) -> Wire:
    """A conversation in which a user speaks before a parallel call is answered in full."""
    made = body(dialect, *OLD, user("q"), step("A", "B"), user("q2"), said("a2"), step("C"), user("q3"))
    wires: list[Any] = made[LISTS[dialect]]
    single = [one for wire in wires for one in apart(wire)]
    at = next(at for at, wire in enumerate(single) if call_ids([wire], dialect)[1] == ["B"])
    made[LISTS[dialect]] = [*single[:at], single[at + 1], single[at], *single[at + 2 :]]
    return made


ORPHAN = "result_without_call"


def mixed(dialect: str) -> Wire:
    """A block of results, the first of which answers a call that is no longer there."""
    made = body(dialect, *OLD, user("q"), Step({"A": "rA", "B": "rB"}), user("q2"), said("a2"))
    for wire in made[LISTS[dialect]]:
        for key in ("tool_calls", "content", "parts"):
            held = wire.get(key)
            if isinstance(held, list) and call_ids([wire], dialect)[0] == ["A", "B"]:
                wire[key] = held[1:]
    made[LISTS[dialect]] = [wire for wire in made[LISTS[dialect]] if call_ids([wire], dialect)[0] != ["A"]]
    return made


def dead(dialect: str) -> Wire:
    """A call that was never answered, overtaken by what the user said later."""
    turns = [event for at in range(6) for event in (user(long(f"u{at}", 4)), said(long(f"a{at}", 4)))]
    return body(dialect, user("q"), Step({"D": None}), *turns, user("q3"))


def middle(dialect: str) -> Wire:
    """A large result in the middle of small talk."""
    return body(dialect, user("q"), said("a"), user("q2"), Step({"X": long("rX", 90)}), user("q3"), said("a3"))


def thoughtful(dialect: str) -> Wire:
    """Reasoning before single and parallel calls."""
    calls = [step(*ids, thinking=f"t{ids}", text="I look") for ids in ("A", "BC", "D")]
    return body(dialect, *OLD, user("q"), *calls, said("a"), user("q2"), step("E", thinking="tE"))


TALKS = [late, mixed, dead, middle, thoughtful]


@EVERY
@EACH
@pytest.mark.parametrize("talk", TALKS)
@pytest.mark.parametrize("share", [0.8, 0.4, 0.0])
def test_no_cut_separates_what_belongs_together(talk: Any, share: float, kind: str, dialect: str) -> None:
    made = talk(dialect)
    for keep in ({"keep_turns": 1}, {"keep_steps": 1}, {"keep_messages": 3}, {"keep_tokens": 30}):
        takes = kind not in ("mask_tool_results", "span_triage", "required_reserve")
        result = run(made, dialect, kind, int(share * tokens(made, dialect)), keep=keep if takes else {})
        check_groups(made, result, dialect)


def check_groups(made: Wire, result: Result, dialect: str) -> None:
    """Every reply is there with all results that it had, each behind its call, or none of it is."""
    had = dict(zip(("calls", "results"), call_ids(made[LISTS[dialect]], dialect), strict=True))
    calls, results = call_ids(sent(result, dialect), dialect)
    assert calls == [one for one in had["calls"] if one in calls]
    assert set(calls) & set(had["results"]) == set(results) & set(had["calls"])
    spoken = dialect_named(dialect)
    for unit in result.plan.log.units:
        ids = {part.call_id for message in unit.messages for part in message.calls}
        assert ids <= set(calls) or not ids & set(calls)
    for call_id in set(calls) & set(results):
        places = [
            at
            for at, wire in enumerate(sent(result, dialect))
            for part in spoken.message(wire).parts
            if part.call_id == call_id
        ]
        assert places == sorted(places)


@EVERY
def test_results_without_a_call_are_named_and_bring_no_other_down(dialect: str) -> None:
    made = mixed(dialect)
    wrong = [(found.rule, found.subject) for found in validate(made, dialect)]
    assert wrong == [(ORPHAN, "A")]
    kept = run(made, dialect, "keep_last", tokens(made, dialect) - 1, keep={"keep_turns": 2})
    assert call_ids(sent(kept, dialect), dialect) == (["B"], ["A", "B"])
    assert [(found.rule, found.subject) for found in validate(kept.request, dialect)] == wrong
    gone = run(made, dialect, "keep_last", 30)
    assert call_ids(sent(gone, dialect), dialect) == ([], [])
    assert validate(gone.request, dialect) == []


@EVERY
def test_a_call_that_was_never_answered_blocks_nothing(dialect: str) -> None:
    made = dead(dialect)
    assert [(found.rule, found.subject) for found in validate(made, dialect)] == [("call_without_result", "D")]
    result = run(made, dialect, "keep_last", 70, keep={"keep_turns": 3})
    assert names(sent(result, dialect), [*(f"{who}{at}" for at in range(6) for who in "ua"), "q3"]) == [
        *("u4", "a4", "u5", "a5", "q3")
    ]
    assert (result.status, validate(result.request, dialect)) == (Status.TRIMMED, [])


@EVERY
@EACH
def test_a_call_cut_off_by_a_failure_does_not_stay_alone(kind: str, dialect: str) -> None:
    made = body(dialect, user(long("q")), Step({"1": None}), user("go on"))
    result = run(made, dialect, kind, 20)
    assert sent(result, dialect)[-1] == messages(dialect, user("go on"))[0]
    if kind in ("keep_last", "tiered_injection", "required_reserve"):
        assert call_ids(sent(result, dialect), dialect) == ([], [])
        assert validate(result.request, dialect) == []


@EVERY
@EACH
@pytest.mark.parametrize("results", [{"A": "rA", "B": None}, {"A": None, "B": None}, {"A": "rA", "B": "rB"}])
def test_the_reply_in_progress_is_never_cut(results: dict[str, str | None], kind: str, dialect: str) -> None:
    """While results are still coming, the reply that asked for them and its question stay, whatever the budget."""
    open_step = Step({name: text and long(text) for name, text in results.items()})
    made = body(dialect, *OLD, step("0"), user("q"), open_step)
    for budget in (60, 0):
        result = run(made, dialect, kind, budget)
        kept = messages(dialect, user("q"), open_step)
        assert sent(result, dialect)[-len(kept) :] == kept
        assert result.excess == max(0, result.tokens_after - budget)


@EVERY
def test_a_large_result_in_the_middle_goes_with_its_call(dialect: str) -> None:
    made = middle(dialect)
    result = run(made, dialect, "span_triage", 90)
    assert call_ids(sent(result, dialect), dialect) == ([], [])
    stubs = [made for made in result.decisions if made.replacement]
    assert [stub.replacement.startswith("[left out: m3.0") for stub in stubs if stub.replacement] == [True]
    assert names(sent(result, dialect), KNOWN) == ["q", "a", "q2", "q3", "a3"]
