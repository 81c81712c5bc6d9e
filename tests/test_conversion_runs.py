"""How large a converted transcript is: what is one message there is written once, and again where a call needs it."""

from __future__ import annotations

from typing import Any

import pytest

from core.conversion import converted
from core.transcript import ROOT, Call, Transcript

Wire = dict[str, Any]


def chat(results: int) -> list[Wire]:
    ids = [f"c{number}" for number in range(results)]
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
    asking = {"role": "assistant", "content": None, "tool_calls": calls}
    answers = [{"role": "tool", "tool_call_id": i, "content": f"result {i}"} for i in ids]
    return [{"role": "user", "content": "go"}, asking, *answers]


def items(calls: int) -> list[Wire]:
    ids = [f"c{number}" for number in range(calls)]
    asking = [{"type": "function_call", "call_id": i, "name": "f", "arguments": "{}"} for i in ids]
    answers = [{"type": "function_call_output", "call_id": i, "output": f"result {i}"} for i in ids]
    return [{"role": "user", "content": "go"}, *asking, *answers]


def told(dialect: str, wires: list[Wire], *ends: int) -> Transcript:
    head = {"input": []} if dialect == "openai_responses" else {"messages": []}
    calls = tuple(Call(head=0, history=end, captured=end) for end in ends)
    return Transcript(dialect, tuple(wires), tuple(range(ROOT, len(wires) - 1)), (head,), calls)


def held(wire: Wire) -> int:
    """The results and calls that a message holds."""
    lists = [wire[key] for key in ("content", "parts", "tool_calls") if isinstance(wire.get(key), list)]
    return sum(map(len, lists)) or 1


@pytest.mark.parametrize(
    ("dialect", "wires", "target", "sizes"),
    [
        ("openai_chat", chat, "anthropic", [1, 50, 50]),
        ("openai_chat", chat, "gemini", [1, 50, 50]),
        ("openai_responses", items, "anthropic", [1, 50, 50]),
        ("openai_responses", items, "gemini", [1, 50, 50]),
        ("openai_responses", items, "openai_chat", [1, 50, *[1] * 50]),
    ],
)
def test_what_is_one_message_is_written_once(dialect: str, wires: Any, target: str, sizes: list[int]) -> None:
    given = wires(50)
    made = converted(told(dialect, given, len(given) - 1), target).transcript
    assert list(map(held, made.messages)) == sizes


def test_a_call_in_the_middle_has_what_was_there() -> None:
    made = converted(told("openai_chat", chat(5), 1, 3, 6), "anthropic").transcript
    assert [[held(wire) for wire in made.history(call)["messages"]] for call in range(3)] == [
        [1, 5],
        [1, 5, 2],
        [1, 5, 5],
    ]
    assert list(map(held, made.messages)) == [1, 5, 2, 5]


def test_branches_within_a_message_do_not_mix() -> None:
    """Two runs of results go on from the same first one, and nothing is written that no prompt has."""
    wires = [*chat(3)[:3], *(chat(3)[3] | {"content": text} for text in ("left", "right"))]
    calls = (Call(head=0, history=3, captured=3), Call(head=0, history=4, captured=4))
    transcript = Transcript("openai_chat", tuple(wires), (ROOT, 0, 1, 2, 2), ({"messages": []},), calls)
    made = converted(transcript, "anthropic").transcript
    last = [[block["content"] for block in made.history(call)["messages"][-1]["content"]] for call in (0, 1)]
    assert last == [["result c0", "left"], ["result c0", "right"]]
    assert len(made.messages) == 4


def test_branches_behind_a_message_of_which_nothing_is_left() -> None:
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    asking = items(3)[1:4]
    calls = (Call(head=0, history=3, captured=3), Call(head=0, history=4, captured=4))
    wires = (items(0)[0], asking[0], thought, asking[1], asking[2])
    transcript = Transcript("openai_responses", wires, (ROOT, 0, 1, 2, 2), ({"input": []},), calls)
    made = converted(transcript, "openai_chat").transcript
    asked = [[one["id"] for one in made.history(call)["messages"][-1]["tool_calls"]] for call in (0, 1)]
    assert asked == [["c0", "c1"], ["c0", "c2"]]
    assert len(made.messages) == 3
