"""Hints that name what a request does not have: told with the result and in a replay, never an exception."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.hint_notes import CallNotes, hint_notes
from core.readers.builder import Placed, TranscriptBuilder
from core.replay import Replay, replay
from core.runtime import ContextRuntime, Hints
from core.transcript import ROOT, Transcript
from tests.runs import result, user, uses
from tests.work import counted_work

CONFIG = {"budget": {"soft_limit": 60}, "strategy": {"kind": "keep_last", "keep_turns": 1}}
TOOLS = [{"type": "function", "function": {"name": "get_weather"}}]
CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "how warm is it?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "21 degrees"},
    {"role": "assistant", "content": "21 degrees"},
    {"role": "user", "content": "and tomorrow?"},
]
BODY = {"model": "gpt-4o", "messages": [{"role": "system", "content": "Be brief."}, *MESSAGES], "tools": TOOLS}
NO_SPAN = "this request has no such span or tool call."
NO_RESULT = "only tool results and user messages can be retrieved results."
NO_TOOL = "this request defines no such tool."
KNOWN = ["m0.0", "m1.0", "c1", "s0.0", "t0"]


@pytest.mark.parametrize(
    ("hints", "notes"),
    [
        ({}, ()),
        ({"goal": "g", "facts": ["f"], "memory": "m", "bindings": ["b"]}, ()),
        ({"pins": KNOWN, "retrieval": ["c1", "m0.0"], "active_tools": ["get_weather"]}, ()),
        ({"pins": ["m0.0", "m9.0"]}, (f"The hint 'pins' names 'm9.0': {NO_SPAN}",)),
        ({"pins": ["", "m0", "m9.0", "m9.0"]}, (f"The hint 'pins' names '', 'm0', 'm9.0': {NO_SPAN}",)),
        ({"pins": list("abcdefg")}, (f"The hint 'pins' names 'a', 'b', 'c', 'd', 'e' and 2 more: {NO_SPAN}",)),
        ({"retrieval": ["c2"]}, (f"The hint 'retrieval' names 'c2': {NO_SPAN}",)),
        (
            {"retrieval": ["m3.0", "m2.0", "s0.0"]},
            (f"The hint 'retrieval' names 'm3.0', 's0.0': {NO_RESULT}",),
        ),
        (
            {"active_tools": ["get_wether"]},
            (f"The hint 'active_tools' names 'get_wether': {NO_TOOL} Did you mean 'get_weather'?",),
        ),
        ({"active_tools": ["zzz"]}, (f"The hint 'active_tools' names 'zzz': {NO_TOOL}",)),
    ],
)  # fmt: skip
def test_what_a_request_does_not_have_is_told(hints: dict[str, Any], notes: tuple[str, ...]) -> None:
    runtime = ContextRuntime.load(CONFIG)
    assert runtime.assemble(BODY, hints).notes == notes
    assert runtime.assemble(BODY, Hints(**hints)).notes == notes


def test_notes_of_a_session_are_those_of_their_request() -> None:
    """What comes later does not make a pin known that named nothing when it was given."""
    session = ContextRuntime.load(CONFIG).session()
    results = [session.assemble({"messages": MESSAGES[:count]}, {"pins": ["m3.0"]}) for count in (1, 3, 5)]
    assert [bool(result.notes) for result in results] == [True, True, False]


def test_a_result_that_a_shrinker_cut_is_still_there() -> None:
    body = {"messages": [*MESSAGES[:2], {**MESSAGES[2], "content": "line\n" * 400}, *MESSAGES[3:]]}
    shrink = [{"kind": "project_tool_results", "max_tokens": 20}]
    result = ContextRuntime.load({**CONFIG, "shrink": shrink}).assemble(body, {"retrieval": ["m2.0"]})
    assert any(made.action == "project" or made.action == "drop" for made in result.decisions)
    assert result.notes == ()


CAPTURED: list[Any] = [
    None,
    {"pins": ["m9.0"]},
    {"pins": "m0.0", "goal": "warmth"},
    {"gaol": "warmth", "facts": None},
]


def test_captured_hints_are_replayed_as_far_as_they_can_be_used() -> None:
    builder = TranscriptBuilder("openai_chat")
    for hints in CAPTURED:
        builder.call(builder.body(BODY), hints=hints)
    notes = CallNotes(replay(builder.build(), CONFIG))
    assert [notes[call] for call in range(4)] == [
        (),
        (f"The hint 'pins' names 'm9.0': {NO_SPAN}",),
        ("The hint 'pins' is a list of texts, not 'm0.0'.",),
        ("Hints have no 'gaol'; known are goal, facts, memory, bindings, active_tools, retrieval, pins, results.",),
    ]
    assert notes[1] == notes[1]


def test_what_can_be_used_of_captured_hints_is_used() -> None:
    assert Hints.recorded(CAPTURED[2])[0] == Hints(goal="warmth")
    assert Hints.recorded(None) == (Hints(), ())


def test_a_call_is_judged_by_its_own_prompt_in_whatever_order_calls_are_asked_for() -> None:
    builder = TranscriptBuilder("openai_chat")
    for count in (1, 3, 5):
        builder.call(builder.body({"model": "gpt-4o", "messages": MESSAGES[:count]}), hints={"pins": ["m3.0"]})
    notes = CallNotes(replay(builder.build(), CONFIG))
    assert [bool(notes[call]) for call in (2, 0, 1, 2)] == [False, True, True, False]


NAMES = st.lists(st.sampled_from(["m0.0", "m1.0", "m2.0", "m6.0", "m02.0", "c0", "c1", "c2", "c9", "s0.0", "", "m"]))
HINTS = st.fixed_dictionaries({}, optional={"pins": NAMES, "retrieval": NAMES})


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans(), HINTS), max_size=12),
    st.sampled_from(([], [{"kind": "project_tool_results", "max_tokens": 5}])),
)
def test_a_replay_says_of_each_call_what_is_said_of_a_live_request(
    asked: list[tuple[int, int, bool, dict[str, list[str]]]], shrink: list[dict[str, Any]]
) -> None:
    """Conversations in turns that repeat call ids and go back to where they began."""
    builder = TranscriptBuilder("openai_chat")
    head = builder.head({"model": "gpt-4o", "messages": [{"role": "system", "content": "Be brief."}]})
    begun = [builder.add(ROOT, user(f"Begin {place}.")) for place in range(3)]
    lasts = [*begun]
    for place, number, anew, hints in asked:
        after = begun[place] if anew else lasts[place]
        lasts[place] = builder.extend(after, [uses(f"c{number}", "read"), result(f"c{number}", "line " * 30)])
        builder.call(Placed(head, lasts[place]), hints=hints)
    made = replay(builder.build(), {**CONFIG, "shrink": shrink})
    notes = CallNotes(made)
    for call, (*_, hints) in enumerate(asked):
        assert notes[call] == hint_notes(Hints(**hints), made.plan(call))  # type: ignore[arg-type]


def pinning(calls: int, conversations: int, same_id: bool = False) -> Transcript:
    """Return conversations in turns whose hints pin another tool call at each call."""
    builder = TranscriptBuilder("openai_chat")
    head = builder.head({"model": "gpt-4o", "messages": []})
    lasts = [builder.add(ROOT, user(f"Begin {place}.")) for place in range(conversations)]
    for at in range(calls):
        place, call_id = at % conversations, "c" if same_id else f"c{at}"
        lasts[place] = builder.extend(lasts[place], [uses(call_id, "read"), result(call_id, f"line {at}")])
        builder.call(Placed(head, lasts[place]), hints={"pins": [call_id, "m1.0"], "retrieval": [call_id]})
    return builder.build()


def work_of_notes(made: Replay) -> int:
    notes, calls = CallNotes(made), range(len(made.transcript.calls))
    with counted_work() as work:
        assert not any(notes[call] for call in calls)
    return work.calls


@pytest.mark.parametrize(("conversations", "same_id"), [(1, False), (2, False), (2, True)])
def test_notes_cost_the_same_for_each_call(conversations: int, same_id: bool) -> None:
    few, many = (replay(pinning(calls, conversations, same_id), CONFIG) for calls in (60, 240))
    assert work_of_notes(many) < 1.2 * 4 * work_of_notes(few)
