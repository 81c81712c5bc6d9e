from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dialects import Dialect, PartKind
from core.dialects import dialect as dialect_named
from core.rules import Eviction, Match, Rule, Treatment
from core.tokens import CjkEstimate, TiktokenCounter
from core.units import Grouper, make_unit, units
from tests.engine_bodies import DIALECTS, LISTS, bodies, growing

COUNTER = TiktokenCounter("o200k_base")


def user(content: Any = "hi") -> dict[str, Any]:
    return {"role": "user", "content": content}


def calls(*ids: str, text: str | None = None) -> dict[str, Any]:
    made = [{"id": i, "type": "function", "function": {"name": "ls", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": text, "tool_calls": made}


def result(call_id: str, content: Any = "found") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def answer(text: str = "done") -> dict[str, Any]:
    return {"role": "assistant", "content": text}


SYSTEM = {"role": "system", "content": "be brief"}
LEGACY = {"role": "assistant", "content": None, "function_call": {"name": "ls", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("messages", "groups"),
    [
        ([user(), answer(), user()], [1, 1, 1]),
        ([user(), calls("a"), result("a"), answer()], [1, 2, 1]),
        ([user(), calls("a", "b"), result("b"), result("a")], [1, 3]),
        ([calls("a"), calls("b"), result("b")], [1, 2]),
        ([calls("a"), calls("b"), result("b"), result("a")], [4]),  # late: all from the call to the result
        ([calls("a"), user(), result("a"), answer()], [3, 1]),
        ([calls("a"), user(), calls("b"), result("b"), result("a"), user()], [5, 1]),
        ([user(), result("x"), answer()], [1, 1, 1]),  # answers nothing, follows no reply
        ([calls("a"), result("a"), result("a")], [3]),
        ([calls("a"), result("a"), user(), result("a")], [2, 1, 1]),
        ([calls("a"), result("a"), user(), calls("a"), result("a")], [2, 1, 2]),  # the same id again
        ([calls("a"), user(), calls("a"), result("a")], [1, 1, 2]),
        ([answer(), result("x")], [2]),
        ([LEGACY, {"role": "function", "name": "ls", "content": "x"}, user()], [2, 1]),
        ([SYSTEM, user(), SYSTEM, answer()], [1, 1, 1, 1]),
        ([calls("a"), SYSTEM, result("a")], [3]),
        ([], []),
    ],
)
def test_what_goes_together(messages: list[dict[str, Any]], groups: list[int]) -> None:
    found = units(messages, dialect_named("openai_chat"), COUNTER)
    assert [unit.stop - unit.first for unit in found] == groups
    assert [unit.first for unit in found] == [sum(groups[:at]) for at in range(len(groups))]


def use(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": i, "name": "ls", "input": {}} for i in ids]}


def found(*ids: str, text: str = "", picture: bool = False) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "tool_result", "tool_use_id": i, "content": "x"} for i in ids]
    if picture:
        blocks[0]["content"] = [{"type": "image", "source": {}}]
    return user([*blocks, *([{"type": "text", "text": text}] if text else [])])


@pytest.mark.parametrize(
    ("messages", "groups", "opens", "has_user_text"),
    [
        ([user(), use("a"), found("a"), answer()], [1, 2, 1], [True, False, False], [True, False, False]),
        ([user(), use("a"), found("a", text="go on")], [1, 2], [True, False], [True, True]),
        ([user(), use("a"), found("a", picture=True)], [1, 2], [True, False], [True, False]),
        ([user(), found("x"), answer()], [1, 1, 1], [True, False, False], [True, False, False]),
        ([use("a"), user("wait"), found("a")], [3], [False], [True]),
        ([user([{"type": "image", "source": {}}])], [1], [True], [True]),
        ([user([])], [1], [True], [True]),
    ],
)
def test_anthropic_messages_that_are_results(
    messages: list[dict[str, Any]], groups: list[int], opens: list[bool], has_user_text: list[bool]
) -> None:
    made = units(messages, dialect_named("anthropic"), COUNTER)
    assert [unit.stop - unit.first for unit in made] == groups
    assert [unit.opens_turn for unit in made] == opens
    assert [unit.has_user_text for unit in made] == has_user_text


def test_what_must_stay() -> None:
    rules = [Rule(Match(tool="ls", kind="tool_result"), Treatment(evict=Eviction.PINNED))]
    messages = [user(), calls("a"), result("a"), SYSTEM, answer()]
    assert [unit.stays for unit in units(messages, dialect_named("openai_chat"), COUNTER, rules)] == [
        *(False, True, True, False)
    ]
    required = [Rule(Match(pattern="done"), Treatment(required=True))]
    assert [unit.stays for unit in units(messages, dialect_named("openai_chat"), COUNTER, required)][-1]


def test_tokens_of_a_unit_are_those_of_its_parts_and_frames() -> None:
    unit = units([calls("a", text="I look"), result("a")], dialect_named("openai_chat"), CjkEstimate())[0]
    assert [(span.id, span.kind, span.tokens) for span in unit.spans] == [
        ("m0.0", "assistant", 2),
        ("m0.1", "tool_call", 2),
        ("m1.0", "tool_result", 2),
    ]
    assert (unit.overhead, unit.tokens) == (8, 14)
    assert unit.kinds() == {"overhead": 8, "assistant": 2, "tool_call": 2, "tool_result": 2}


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
def test_grouping_bit_by_bit_is_grouping_at_once(dialect: str, data: st.DataObject) -> None:
    spoken = dialect_named(dialect)
    messages = [spoken.message(wire) for wire in data.draw(growing(dialect))[-1][LISTS[dialect]]]
    grouper, start, seen = Grouper(spoken), 0, []
    while start < len(messages):
        stop = data.draw(st.integers(start + 1, len(messages)))
        new = grouper.push(messages[start:stop])
        if new is None:  # a message belongs to a group that was taken: all is read anew
            grouper, seen = Grouper(spoken), []
            new = grouper.push(messages[:stop]) or []
        seen += new
        start = stop
    assert [(group.first, len(group.messages)) for group in seen] == _at_once(spoken, messages)


def _at_once(spoken: Dialect, messages: list[Any]) -> list[tuple[int, int]]:
    return [(group.first, len(group.messages)) for group in Grouper(spoken).push(messages) or []]


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
def test_no_call_is_parted_from_its_results(dialect: str, data: st.DataObject) -> None:
    spoken = dialect_named(dialect)
    body = data.draw(bodies(dialect))
    made = units(spoken.split(body)[1], spoken, COUNTER)
    assert [unit.first for unit in made] == [0, *(unit.stop for unit in made[:-1])][: len(made)]
    home: dict[str, int] = {}
    for at, unit in enumerate(made):
        for part in (part for message in unit.messages for part in message.parts):
            if part.kind is PartKind.TOOL_CALL:
                home[part.call_id] = at
            elif part.kind is PartKind.TOOL_RESULT and part.call_id in home and home[part.call_id] >= 0:
                assert home[part.call_id] == at
                home[part.call_id] = -1  # further results with the id answer nothing
    assert all(unit.tokens == sum(span.tokens for span in unit.spans) + unit.overhead for unit in made)
    assert all(before.stop == after.first for before, after in pairwise(made))


def test_a_unit_is_made_of_a_group() -> None:
    spoken = dialect_named("openai_chat")
    group = (Grouper(spoken).push([spoken.message(user())]) or [])[0]
    unit = make_unit(group, spoken, COUNTER, ())
    assert (unit.first, unit.stop, unit.is_step, unit.opens_turn) == (0, 1, False, True)
