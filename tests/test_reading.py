"""Conversations recorded in turns are each read once, planned as if they stood alone, and counted when they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import reading, unit_feed
from core.branch import Branch
from core.dialects import dialect
from core.engine import Engine
from core.replay import replay
from core.transcript import ROOT, Call, Transcript
from core.wire import Wire
from tests.runs import says, user

FULL = {"strategy": {"kind": "full_history"}}
LAST_TWO = {"strategy": {"kind": "keep_last", "keep_messages": 2}, "budget": {"soft_limit": 1}}


def in_turns(order: Sequence[int], heads: Sequence[int] = (0, 0, 0)) -> Transcript:
    """Return conversations that go on in an order, each with a question and an answer at a time."""
    messages: list[Wire] = []
    parents: list[int] = []
    calls, tips = [], [ROOT] * 3
    for number, talk in enumerate(order):
        reply = says(f"Answer {number} of talk {talk}. " * 5)
        for message in (user(f"Question {number} of talk {talk}. " * 5), reply):
            parents.append(tips[talk])
            tips[talk] = len(messages)
            messages.append(message)
        calls.append(Call(heads[talk], parents[-1], parents[-1], reply))
    system = [{"role": "system", "content": f"You are number {number}. " * 9} for number in range(3)]
    models = ["gpt-4o", "gpt-4o", "gpt-4.1"]
    known = tuple({"model": model, "messages": [text]} for model, text in zip(models, system, strict=True))
    return Transcript("openai_chat", tuple(messages), tuple(parents), known, tuple(calls))


def of_talk(order: Sequence[int], talk: int) -> list[int]:
    return [call for call, one in enumerate(order) if one == talk]


ORDERS = st.lists(st.integers(0, 2), min_size=1, max_size=12)


@pytest.mark.parametrize("heads", [(0, 0, 0), (0, 1, 0), (0, 1, 2)], ids=["one head", "two heads", "two models"])
@given(order=ORDERS)
def test_each_is_planned_as_if_it_stood_alone(heads: tuple[int, ...], order: list[int]) -> None:
    made = replay(in_turns(order, heads), LAST_TWO)
    for talk in set(order):
        calls, alone = of_talk(order, talk), replay(in_turns([talk] * order.count(talk), heads), LAST_TWO)
        assert [made.calls["in_window"][call] for call in calls] == list(alone.calls["in_window"])
        assert [len(made.request(call)["messages"]) for call in calls] == [
            len(alone.request(call)["messages"]) for call in range(len(calls))
        ]


@given(order=ORDERS)
def test_each_message_and_each_head_enters_once(order: list[int]) -> None:
    made = replay(in_turns(order, (0, 1, 1)), FULL)
    alone = [replay(in_turns([0] * order.count(talk)), FULL) for talk in set(order)]
    frames = alone[0].plan(0).fixed.overhead
    texts = {made.plan(call).fixed.spans[0].text: made.plan(call).fixed.spans[0].tokens for call in range(len(order))}
    messages = sum(sum(one.calls["entered"]) - one.plan(0).fixed.tokens for one in alone)
    assert sum(made.calls["entered"]) == frames + sum(texts.values()) + messages


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Wire]:
    """The messages that were read, again and again if they were."""
    read: list[Wire] = []

    def counted(used: Engine, wires: Sequence[Wire]) -> list[Any]:
        read.extend(wires)
        return [dialect("openai_chat").message(wire) for wire in wires]

    monkeypatch.setattr(unit_feed, "_messages", counted)
    return read


def test_messages_are_read_once(read: list[Wire]) -> None:
    transcript = in_turns([0, 1, 2] * 10)
    replay(transcript, FULL)
    assert len(read) == len(transcript.messages) - 3  # nobody asks with the last answer of each


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_conversation_that_was_closed_is_read_anew(
    most: int, read: list[Wire], monkeypatch: pytest.MonkeyPatch
) -> None:
    order = [0, 1, 2] * 4
    open_ones = list(replay(in_turns(order), LAST_TWO).calls["in_window"])
    read.clear()
    monkeypatch.setattr(reading, "MOST_CONVERSATIONS", most)
    assert list(replay(in_turns(order), LAST_TWO).calls["in_window"]) == open_ones
    # One was closed before its turn came again, unless there is room for all: its whole prompt is read each time.
    assert len(read) == 3 * (7 if most == 3 else 1 + 3 + 5 + 7)


def test_the_conversation_that_was_left_longest_ago_is_closed(
    read: list[Wire], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_CONVERSATIONS", 2)
    replay(in_turns([0, 1, 0, 2, 0]), FULL)
    assert len(read) == 5 + 1 + 1  # talk 0 went on before talk 2 came, so talk 1 was closed
    read.clear()
    replay(in_turns([0, 1, 0, 2, 1]), FULL)
    assert len(read) == 3 + 1 + 1 + 3


def test_a_branch_brings_in_what_is_new_in_it() -> None:
    """Of two that fork from one question, the second brings in its own messages alone, also when it goes on."""
    wires = [user("Question. " * 9), says("One. " * 9), user("More. " * 9), says("Two. " * 9), user("Other. " * 9)]
    parents = (ROOT, 0, 1, 0, 3)
    calls = tuple(Call(0, last, last) for last in (0, 2, 4, 2))
    transcript = Transcript("openai_chat", tuple(wires), parents, ({"messages": []},), calls)
    entered = list(replay(transcript, FULL).calls["entered"])
    sizes = [replay(transcript, FULL).calls["in_window"][call] for call in range(4)]
    assert entered == [sizes[0], sizes[1] - sizes[0], sizes[2] - sizes[0], 0]


@given(st.data())
def test_a_branch_is_the_path_to_its_last_message(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    parents = tuple(data.draw(st.integers(ROOT, node - 1)) for node in range(count))
    transcript = Transcript("openai_chat", ({"role": "user"},) * count, parents, (), ())
    branch = Branch(transcript)
    for last in data.draw(st.lists(st.integers(ROOT, count - 1), min_size=1, max_size=20)):
        branch.to(last)
        assert list(branch.path) == transcript.path(last)
        assert [node for node in range(count) if branch.has(node)] == sorted(branch.path)
