"""A transcript in another dialect: what was valid stays valid, and what is said stays said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from core.conversion import converted
from core.transcript import ROOT, Call, Transcript
from core.validity import validate
from tests.talks import DIALECTS, LISTS, messages, said, step, user

Wire = dict[str, Any]
HEADS: dict[str, Wire] = {
    "openai_chat": {"messages": []},
    "openai_responses": {"input": []},
    "anthropic": {"messages": []},
    "gemini": {"contents": []},
}


def told(dialect: str, wires: Sequence[Wire], parents: Sequence[int] | None = None) -> Transcript:
    """A transcript whose calls ask at the end of every branch."""
    above = tuple(parents if parents is not None else range(ROOT, len(wires) - 1))
    ends = sorted(set(range(len(wires))) - set(above))
    calls = tuple(Call(head=0, history=end, captured=end) for end in ends)
    return Transcript(dialect, tuple(wires), above, (HEADS[dialect],), calls)


def turned(dialect: str, target: str, wires: Sequence[Wire]) -> list[Wire]:
    """The messages of a run in the other dialect; what was valid has to stay so."""
    made = told(dialect, wires)
    body = converted(made, target).transcript.history(0)
    if not validate(made.history(0), dialect):
        assert validate(body, target) == []
    return list(body[LISTS[target]])


def asked(text: str = "hi") -> Wire:
    return {"role": "user", "content": text}


def blocks(role: str, *content: Wire) -> Wire:
    return {"role": role, "content": list(content)}


def text(value: str) -> Wire:
    return {"type": "text", "text": value}


def use(call_id: str, kind: str = "tool_use", **given: Any) -> Wire:
    return {"type": kind, "id": call_id, "name": "look", "input": given}


def found(call_id: str, value: Any = "r", kind: str = "tool_result") -> Wire:
    return {"type": kind, "tool_use_id": call_id, "content": value}


def chat_call(*ids: str, content: str | None = None) -> Wire:
    calls = [{"id": i, "type": "function", "function": {"name": "look", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def chat_result(call_id: str, content: str = "r") -> Wire:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def item(call_id: str) -> Wire:
    return {"type": "function_call", "call_id": call_id, "name": "look", "arguments": "{}"}


def output(call_id: str, value: str = "r") -> Wire:
    return {"type": "function_call_output", "call_id": call_id, "output": value}


def reply(value: str) -> Wire:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": value}]}


def asks(*names: str, **more: Any) -> Wire:
    return {"role": "model", "parts": [{"functionCall": {"name": name, "args": {}, **more}} for name in names]}


def answers(**values: str) -> Wire:
    parts = [{"functionResponse": {"name": name, "response": {"output": v}}} for name, v in values.items()]
    return {"role": "user", "parts": parts}


TALK = (user("u1"), step("A", text="I look"), step("B", "C"), said("a1"), user("u2"), step("D", thinking="hm"))


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_there_and_back(dialect: str, target: str) -> None:
    wires = messages(dialect, *TALK)
    there = turned(dialect, target, wires)
    said_in_all = json.dumps(there)
    for word in ("u1", "I look", '"A"', "rA", "rB", "rC", "a1", "u2", "rD"):
        assert word in said_in_all
    assert turned(target, dialect, there) == turned(dialect, dialect, wires)


SEARCHED = blocks(
    "assistant",
    text("I look. "),
    use("s1", "server_tool_use", q=1),
    found("s1", "two hits", "web_search_tool_result"),
    text("done"),
)
MCP = {
    "type": "mcp_call",
    "id": "m1",
    "name": "look",
    "server_label": "x",
    "arguments": '{"q":1}',
    "output": "two hits",
}


@pytest.mark.parametrize(
    ("dialect", "wires", "target", "made"),
    [
        (
            "anthropic",
            [asked(), SEARCHED],
            "openai_chat",
            [asked(), {"role": "assistant", "content": 'I look. [look {"q":1}]\n[look answered] two hits\ndone'}],
        ),
        (
            "anthropic",
            [asked(), SEARCHED],
            "gemini",
            [
                {"role": "user", "parts": [{"text": "hi"}]},
                {
                    "role": "model",
                    "parts": [
                        {"text": "I look. "},
                        {"text": '[look {"q":1}]\n'},
                        {"text": "[look answered] two hits\n"},
                        {"text": "done"},
                    ],
                },
            ],
        ),
        (
            "openai_responses",
            [asked(), MCP, reply("done")],
            "openai_chat",
            [asked(), {"role": "assistant", "content": '[look {"q":1}]\n[look answered] two hits\n\ndone'}],
        ),
        (
            "openai_responses",
            [asked(), MCP],
            "anthropic",
            [
                blocks("user", text("hi")),
                blocks("assistant", text('[look {"q":1}]\n'), text("[look answered] two hits\n")),
            ],
        ),
        (  # a result of the provider's own that comes in a later reply
            "anthropic",
            [
                asked(),
                blocks("assistant", use("s1", "server_tool_use"), use("a")),
                blocks("user", found("a")),
                blocks("assistant", found("s1", "ran", "code_execution_tool_result"), text("done")),
            ],
            "openai_chat",
            [
                asked(),
                chat_call("a", content="[look {}]\n"),
                chat_result("a"),
                {"role": "assistant", "content": "[look answered] ran\ndone"},
            ],
        ),
    ],
)
def test_calls_of_the_providers_own_become_text(dialect: str, wires: list[Wire], target: str, made: list[Wire]) -> None:
    assert turned(dialect, target, wires) == made


@pytest.mark.parametrize(
    ("dialect", "wires", "target", "made"),
    [
        (
            "openai_responses",
            [asked(), reply("I look"), reply("then"), item("a"), item("b"), output("b"), output("a")],
            "openai_chat",
            [asked(), chat_call("a", "b", content="I look\nthen"), chat_result("b"), chat_result("a")],
        ),
        (
            "openai_responses",
            [asked(), reply("I look"), item("a"), item("b"), output("a"), output("b")],
            "anthropic",
            [
                blocks("user", text("hi")),
                blocks("assistant", text("I look"), use("a"), use("b")),
                blocks("user", found("a"), found("b")),
            ],
        ),
        (
            "openai_chat",
            [asked(), {"role": "assistant", "content": "I look"}, chat_call("a"), chat_result("a")],
            "gemini",
            [
                {"role": "user", "parts": [{"text": "hi"}]},
                {
                    "role": "model",
                    "parts": [{"text": "I look"}, {"functionCall": {"id": "a", "name": "look", "args": {}}}],
                },
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"id": "a", "name": "look", "response": {"output": "r"}}}],
                },
            ],
        ),
        (  # two replies in a row are two messages where that is taken
            "openai_chat",
            [asked(), {"role": "assistant", "content": "a1"}, {"role": "assistant", "content": "a2"}],
            "anthropic",
            [blocks("user", text("hi")), blocks("assistant", text("a1")), blocks("assistant", text("a2"))],
        ),
        (  # no place for a result that does not come at once
            "openai_responses",
            [asked(), item("a"), item("b"), output("b"), reply("wait"), output("a", "late")],
            "openai_chat",
            [
                asked(),
                chat_call("b", content="[look {}]\n"),
                chat_result("b"),
                {"role": "assistant", "content": "wait"},
                asked("[look answered] late\n"),
            ],
        ),
        (
            "openai_chat",
            [asked(), {"role": "assistant", "content": " \n"}, asked("go on")],
            "anthropic",
            [blocks("user", text("hi")), blocks("user", text("go on"))],
        ),
    ],
)
def test_items_of_a_reply(dialect: str, wires: list[Wire], target: str, made: list[Wire]) -> None:
    assert turned(dialect, target, wires) == made


LEGACY = {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("dialect", "wires", "target", "made"),
    [
        (
            "openai_chat",
            [asked(), LEGACY, {"role": "function", "name": "look", "content": "r1"}] * 2,
            "openai_responses",
            [asked(), item("call_1_0"), output("call_1_0", "r1"), asked(), item("call_4_0"), output("call_4_0", "r1")],
        ),
        (
            "gemini",
            [{"role": "user", "parts": [{"text": "hi"}]}, asks("look", "see"), answers(see="r2", look="r1")],
            "openai_chat",
            [
                asked(),
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "call_1_0", "type": "function", "function": {"name": "look", "arguments": "{}"}},
                        {"id": "call_1_1", "type": "function", "function": {"name": "see", "arguments": "{}"}},
                    ],
                },
                chat_result("call_1_1", "r2"),
                chat_result("call_1_0", "r1"),
            ],
        ),
        (
            "gemini",
            [{"role": "user", "parts": [{"text": "hi"}]}, asks("look", "look"), answers(look="r1"), answers(look="r2")],
            "anthropic",
            [
                blocks("user", text("hi")),
                blocks("assistant", use("call_1_0"), use("call_1_1")),
                blocks("user", found("call_1_0", "r1"), found("call_1_1", "r2")),
            ],
        ),
        (  # numbered anew in every step
            "openai_chat",
            [asked(), chat_call("1"), chat_result("1", "r1"), chat_call("1"), chat_result("1", "r2")],
            "openai_responses",
            [asked(), item("1"), output("1", "r1"), item("call_3_0"), output("call_3_0", "r2")],
        ),
        (
            "openai_chat",
            [asked(), chat_call("functions.look:0"), chat_result("functions.look:0")],
            "anthropic",
            [
                blocks("user", text("hi")),
                blocks("assistant", use("call_1_0")),
                blocks("user", found("call_1_0")),
            ],
        ),
        (
            "openai_chat",
            [asked(), chat_call("x" * 65, "call_1_0"), chat_result("call_1_0", "r2"), chat_result("x" * 65, "r1")],
            "openai_responses",
            [asked(), item("call_1_0_"), item("call_1_0"), output("call_1_0", "r2"), output("call_1_0_", "r1")],
        ),
        (  # a second result without an id answers nothing
            "anthropic",
            [asked(), blocks("assistant", use("")), blocks("user", found("", "r1"), found("", "r2"))],
            "openai_chat",
            [asked(), chat_call("call_1_0"), chat_result("call_1_0", "r1"), asked("[tool answered] r2\n")],
        ),
    ],
)
def test_ids(dialect: str, wires: list[Wire], target: str, made: list[Wire]) -> None:
    assert turned(dialect, target, wires) == made


def test_branches_number_for_themselves() -> None:
    """The same id on two branches is no repetition, and a made-up id is the same at the same depth."""
    wires = [asked(), chat_call("a"), chat_result("a", "r1"), chat_call("a"), chat_result("a", "r2"), LEGACY, LEGACY]
    parents = [ROOT, 0, 1, 0, 3, 2, 4]
    made = converted(told("openai_chat", wires, parents), "openai_responses").transcript
    assert [[wire.get("call_id") for wire in made.history(call)["input"]] for call in (0, 1)] == [
        [None, "a", "a", "call_3_0"],
        [None, "a", "a", "call_3_0"],
    ]


def test_a_response_of_several_items_is_whole() -> None:
    answer = {"role": "assistant", "content": "I look", "tool_calls": chat_call("a")["tool_calls"]}
    made = told("openai_chat", [asked()])
    made = Transcript(
        "openai_chat", made.messages, made.parents, made.heads, (Call(head=0, history=0, captured=0, response=answer),)
    )
    (call,) = converted(made, "openai_responses").transcript.calls
    assert call.response == {"role": "assistant", "output": [{"role": "assistant", "content": "I look"}, item("a")]}
