"""System messages of a conversation in another dialect: they stay the system's, and no turn begins with them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.conversion import converted
from core.dialects import dialect
from core.readers import read
from core.replay import replay
from core.transcript import ROOT, Call, Transcript
from core.validity import validate
from tests.talks import LISTS

Wire = dict[str, Any]
LONG = "x y z " * 300
POLICY, REMINDER = "POLICY: never reveal the price list.", "REMINDER: answer in French"


def said(role: str, text: str) -> Wire:
    return {"role": role, "content": text}


def recorded(*messages: Wire, **more: Any) -> Transcript:
    body = {"request": {"model": "gpt-4o", "messages": list(messages)}, "response": None, **more}
    return read(json.dumps(body)).transcripts[0]


def system_texts(made: Transcript, call: int) -> list[str]:
    return dialect(made.dialect).system_texts(made.heads[made.calls[call].head])


TALK = recorded(
    said("system", "S"),
    said("user", f"q1 {LONG}"),
    said("assistant", f"a1 {LONG}"),
    said("system", POLICY),
    said("user", f"q2 {LONG}"),
    said("assistant", f"a2 {LONG}"),
    said("user", "q3"),
    said("assistant", "ok"),
    said("system", REMINDER),
)


@pytest.mark.parametrize("target", ["openai_chat", "openai_responses", "anthropic", "gemini"])
def test_a_later_system_message_stays_and_opens_no_turn(target: str) -> None:
    """The newest user message is the question, whatever the system says after it."""
    made = replay(
        TALK,
        {
            "strategy": {"kind": "keep_last", "keep_turns": 1},
            "model": {"dialect": target},
            "budget": {"soft_limit": 120},
        },
    )
    body, plan = made.request(0), made.plan(0)
    sent = json.dumps(body)
    assert [word for word in (POLICY, REMINDER, "q3") if word not in sent] == []
    assert "q1" not in sent and "q2" not in sent
    assert validate(body, target) == []
    assert len(plan.log.turns) == 3
    moves = target in ("anthropic", "gemini")
    lost = ("the place of 2 later system messages, which now stand in the system part",)
    assert made.dropped == (lost if moves else ())


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
def test_a_call_has_the_system_messages_before_it_and_no_others(target: str) -> None:
    messages = [said("user", "q1"), said("system", "one"), said("assistant", "a1"), said("system", "two")]
    messages += [said("system", "one"), said("user", "q2")]
    calls = tuple(Call(head=0, history=end, captured=end) for end in (ROOT, 0, 1, 2, 5))
    parents = tuple(range(ROOT, len(messages) - 1))
    head = {"model": "m", "messages": [said("system", "S")]}
    made = converted(Transcript("openai_chat", tuple(messages), parents, (head,), calls), target).transcript
    texts = [system_texts(made, call) for call in range(len(calls))]
    assert texts == [["S"], ["S"], ["S", "one"], ["S", "one"], ["S", "one", "two"]]
    assert [len(made.history(call)[LISTS[target]]) for call in range(len(calls))] == [0, 1, 1, 2, 3]


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
@pytest.mark.parametrize(
    ("own", "reminders", "texts", "heads"),
    [
        (["S"], ["one"] * 40, ["S", "one"], 2),
        (["S"], ["one", "two"] * 20, ["S", "one", "two"], 3),
        (["S", "S"], ["one", "S"], ["S", "S", "one"], 2),
        (["S"], ["S"], ["S"], 1),
        (["S"], [" "], ["S"], 1),
    ],
)
def test_a_reminder_that_is_repeated_stands_once(
    target: str, own: list[str], reminders: list[str], texts: list[str], heads: int
) -> None:
    """And requests with the same system part share it."""
    messages = [message for text in reminders for message in (said("system", text), said("user", "q"))]
    calls = tuple(Call(head=0, history=end, captured=end) for end in range(1, len(messages), 2))
    head = {"model": "m", "messages": [said("system", text) for text in own]}
    given = Transcript("openai_chat", tuple(messages), tuple(range(ROOT, len(messages) - 1)), (head,), calls)
    made = converted(given, target).transcript
    assert system_texts(made, len(calls) - 1) == texts
    assert len(made.heads) == heads


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
def test_branches_have_their_own_system_messages(target: str) -> None:
    messages = (said("user", "q"), said("system", "one"), said("system", "two"), said("assistant", "a"))
    calls = (Call(head=0, history=1, captured=1), Call(head=0, history=3, captured=3))
    made = converted(Transcript("openai_chat", messages, (ROOT, 0, 0, 2), ({"messages": []},), calls), target)
    assert [system_texts(made.transcript, call) for call in (0, 1)] == [["one"], ["two"]]


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
def test_what_a_compaction_left_out_of_the_window_stays_in_the_history(target: str) -> None:
    messages = (said("user", "q"), said("system", "one"), said("user", "summary"), said("system", "two"))
    call = Call(head=0, history=1, captured=3)
    made = converted(Transcript("openai_chat", messages, (ROOT, 0, ROOT, 2), ({"messages": []},), (call,)), target)
    assert system_texts(made.transcript, 0) == ["one", "two"]


@pytest.mark.parametrize("target", ["openai_chat", "openai_responses"])
def test_a_system_message_that_leads_belongs_to_the_head(target: str) -> None:
    """Bodies of OpenAI have their leading system messages in the head, so a span's number is that of its message."""
    messages = (said("system", "S"), said("user", "q"), said("system", "later"))
    call = Call(head=0, history=2, captured=2)
    made = converted(Transcript("anthropic", messages, (ROOT, 0, 1), ({"messages": []},), (call,)), target)
    assert system_texts(made.transcript, 0) == ["S"]
    assert list(made.transcript.messages) == [said("user", "q"), said("system", "later")]
    assert made.dropped == ()


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
def test_a_result_behind_a_system_message_is_still_one(target: str) -> None:
    items = [
        said("user", "q"),
        {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
        said("developer", "note"),
        {"type": "function_call_output", "call_id": "a", "output": "r"},
    ]
    made = converted(read(json.dumps({"model": "m", "input": items})).transcripts[0], target)
    body = made.transcript.history(len(made.transcript.calls) - 1)
    assert validate(body, target) == []
    assert "answered" not in json.dumps(body)
    assert made.dropped == ("the place of 1 later system message, which now stands in the system part",)
