from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dialects import Part, PartKind, detect, dialect
from core.errors import RequestError
from core.wire import dump
from tests.engine_bodies import bodies

CHAT = dialect("openai_chat")
SYSTEM, DEVELOPER = {"role": "system", "content": "a"}, {"role": "developer", "content": "b"}
USER, ANSWER = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}
TOOLS = [{"type": "function", "function": {"name": name}} for name in ("one", "two", "three")]


def test_leading_system_messages_belong_to_the_head() -> None:
    body = {"model": "m", "messages": [SYSTEM, DEVELOPER, USER, SYSTEM], "seed": 1}
    head, messages = CHAT.split(body)
    assert head == {"model": "m", "messages": [SYSTEM, DEVELOPER], "seed": 1}
    assert messages == [USER, SYSTEM]
    assert dump(CHAT.join(head, messages)) == dump(body)


@given(st.data())
def test_split_and_join(data: st.DataObject) -> None:
    body = data.draw(bodies("openai_chat"))
    before = copy.deepcopy(body)
    head, messages = CHAT.split(body)
    messages.append(USER)
    messages.pop()
    assert dump(CHAT.join(head, messages)) == dump(body) == dump(before)


@pytest.mark.parametrize("body", [{}, {"messages": None}, {"messages": "hi"}, {"messages": {}}, [], None, "text"])
def test_what_is_no_body(body: Any) -> None:
    with pytest.raises(RequestError, match="messages"):
        CHAT.split(body)


def call(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("wire", "role", "parts"),
    [
        (USER, "user", [Part(PartKind.TEXT, "hi")]),
        ({"role": "user", "content": None}, "user", []),
        ({"role": "user"}, "user", []),
        ({"role": "user", "content": ""}, "user", []),
        (DEVELOPER, "system", [Part(PartKind.TEXT, "b")]),
        ({"role": "model", "content": "x"}, "assistant", [Part(PartKind.TEXT, "x")]),
        ({"role": "critic", "content": "x"}, "other", [Part(PartKind.TEXT, "x")]),
        ({"role": 7, "content": "x"}, "other", [Part(PartKind.TEXT, "x")]),
        ({"role": ["user"], "content": "x"}, "other", [Part(PartKind.TEXT, "x")]),
        ("bare", "other", [Part(PartKind.OPAQUE, "bare")]),
        (None, "other", [Part(PartKind.OPAQUE, "")]),
        (["a"], "other", [Part(PartKind.OPAQUE, '["a"]')]),
        (
            {"role": "assistant", "content": "x", "reasoning_content": "r", "tool_calls": [call("c", "ls", "{}")]},
            "assistant",
            [Part(PartKind.THINKING, "r"), Part(PartKind.TEXT, "x"), Part(PartKind.TOOL_CALL, "{}", "ls", "c")],
        ),
        (
            {"role": "assistant", "tool_calls": [call("c", "ls", {"a": 1}), "odd", None]},
            "assistant",
            [
                Part(PartKind.TOOL_CALL, '{"a":1}', "ls", "c", 0),
                Part(PartKind.OPAQUE, "odd", place=1),
                Part(PartKind.OPAQUE, "", place=2),
            ],
        ),
        (
            {
                "role": "assistant",
                "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sql", "input": "x"}}],
            },
            "assistant",
            [Part(PartKind.TOOL_CALL, "x", "sql", "c")],
        ),
        ({"role": "assistant", "tool_calls": "odd"}, "assistant", []),
        (
            {"role": "assistant", "function_call": {"name": "ls", "arguments": "{}"}},
            "assistant",
            [Part(PartKind.TOOL_CALL, "{}", "ls")],
        ),
        ({"role": "function", "name": "ls", "content": "x"}, "tool", [Part(PartKind.TOOL_RESULT, "x", "ls")]),
        (
            {
                "role": "tool",
                "tool_call_id": "c",
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            },
            "tool",
            [Part(PartKind.TOOL_RESULT, "ab", "", "c")],
        ),
        (
            {"role": "tool", "tool_call_id": "c", "content": {"a": 1}},
            "tool",
            [Part(PartKind.TOOL_RESULT, '{"a":1}', "", "c")],
        ),
        ({"role": "tool", "tool_call_id": "c"}, "tool", [Part(PartKind.TOOL_RESULT, "", "", "c")]),
        (
            {
                "role": "user",
                "content": ["bare", {"type": "image_url"}, {"type": "input_audio"}, {"type": "new", "x": 1}],
            },
            "user",
            [
                Part(PartKind.TEXT, "bare"),
                Part(PartKind.IMAGE, "", "image_url", place=1),
                Part(PartKind.FILE, "", "input_audio", place=2),
                Part(PartKind.OPAQUE, '{"type": "new", "x": 1}', place=3),
            ],
        ),
    ],
)
def test_messages(wire: Any, role: str, parts: list[Part]) -> None:
    message = CHAT.message(wire)
    assert (message.role, list(message.parts)) == (role, parts)


MARK = {"type": "ephemeral"}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (USER, {"content": "hi", "role": "user"}, True),
        (USER, {"role": "user", "content": [{"type": "text", "text": "hi"}]}, True),
        (USER, {"role": "user", "content": [{"text": "hi", "type": "text", "cache_control": MARK}]}, True),
        (USER, {**USER, "cache_control": MARK}, True),
        (USER, {**USER, "name": None}, True),
        ({"role": "assistant", "content": None}, {"role": "assistant", "content": ""}, True),
        ({"role": "assistant", "content": []}, {"role": "assistant"}, True),
        (USER, {**USER, "name": "ann"}, False),
        (USER, {"role": "user", "content": "hi "}, False),
        (USER, {"role": "assistant", "content": "hi"}, False),
        (USER, {"role": "user", "content": [{"type": "text", "text": "h"}, {"type": "text", "text": "i"}]}, False),
        (
            {"role": "user", "content": [{"type": "n", "v": 1}]},
            {"role": "user", "content": [{"type": "n", "v": True}]},
            False,
        ),
        ({"tool_calls": [call("c", "ls", '{"a": 1}')]}, {"tool_calls": [call("c", "ls", '{"a":1}')]}, False),
        (
            {"tool_calls": [{"id": "c", "function": {"name": "a"}}]},
            {"tool_calls": [{"function": {"name": "a"}, "id": "c"}]},
            True,
        ),
    ],
)
def test_which_messages_are_the_same(one: Any, other: Any, same: bool) -> None:
    assert (CHAT.content_key(one) == CHAT.content_key(other)) == same


@given(st.data())
def test_equal_content_is_read_alike(data: st.DataObject) -> None:
    """What is told to be the same must count the same: cache marks are no content."""
    for wire in data.draw(bodies("openai_chat"))["messages"]:
        content = wire.get("content")
        if isinstance(content, list):
            marked = [{**part, "cache_control": MARK} if isinstance(part, dict) else part for part in content]
            other = {**wire, "content": marked}
            assert CHAT.content_key(wire) == CHAT.content_key(other)
            assert CHAT.message(wire) == CHAT.message(other)


def test_system_texts() -> None:
    parts = {"role": "system", "content": [{"type": "text", "text": "c"}, {"type": "text", "text": "d"}]}
    head = {"messages": [SYSTEM, DEVELOPER, parts]}
    assert CHAT.system_texts(head) == ["a", "b", "cd"]
    assert CHAT.with_system_text(head, "e")["messages"][3:] == [{"role": "system", "content": "e"}]
    assert CHAT.with_system_text({"messages": [DEVELOPER]}, "e")["messages"][1]["role"] == "developer"
    assert CHAT.with_system_text({"messages": []}, "e")["messages"] == [{"role": "system", "content": "e"}]
    assert head["messages"] == [SYSTEM, DEVELOPER, parts]


def test_tools() -> None:
    head = {
        "messages": [],
        "tools": [*TOOLS, {"type": "custom", "custom": {"name": "sql"}}, "odd"],
        "tool_choice": "auto",
    }
    assert [(tool.name, tool.place) for tool in CHAT.tools(head)] == [
        *(("one", 0), ("two", 1), ("three", 2), ("sql", 3), ("", 4))
    ]
    assert CHAT.with_tools(head, [0, 2]) == {"messages": [], "tools": [TOOLS[0], TOOLS[2]], "tool_choice": "auto"}
    assert CHAT.with_tools(head, []) == {"messages": []}
    legacy = {"messages": [], "functions": [{"name": "one"}], "function_call": "auto"}
    assert [tool.name for tool in CHAT.tools(legacy)] == ["one"]
    assert CHAT.with_tools(legacy, []) == {"messages": []}
    assert CHAT.tools({"messages": []}) == CHAT.tools({"messages": [], "tools": None}) == []


@pytest.mark.parametrize(
    ("wire", "place", "changed"),
    [
        (
            {"role": "tool", "tool_call_id": "c", "content": "old"},
            0,
            {"role": "tool", "tool_call_id": "c", "content": "new"},
        ),
        (
            {
                "role": "tool",
                "content": [{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}],
            },
            0,
            {"role": "tool", "content": [{"type": "text", "text": "new"}, {"type": "image_url"}]},
        ),
        ({"role": "user", "content": "old", "name": "ann"}, 0, {"role": "user", "content": "new", "name": "ann"}),
        (
            {
                "role": "user",
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "cache_control": MARK}],
            },
            1,
            {
                "role": "user",
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "new", "cache_control": MARK}],
            },
        ),
        ({"role": "user", "content": ["a", "b"]}, 0, {"role": "user", "content": ["new", "b"]}),
    ],
)
def test_other_texts_in_a_message(wire: dict[str, Any], place: int, changed: dict[str, Any]) -> None:
    before = copy.deepcopy(wire)
    assert CHAT.with_result_text(wire, CHAT.message(wire).parts[place], "new") == changed
    assert wire == before


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"messages": []}, "openai_chat"),
        ({"messages": [USER], "max_tokens": 5}, "openai_chat"),
        ({"messages": [USER], "model": "claude-x"}, "openai_chat"),
        ({"messages": [USER], "model": "claude-x", "max_tokens": 5}, "anthropic"),
        ({"messages": [USER], "system": "s"}, "anthropic"),
        ({"messages": [USER], "tools": [{"name": "x", "input_schema": {}}]}, "anthropic"),
        ({"messages": [USER], "tools": TOOLS}, "openai_chat"),
        ({"messages": [SYSTEM, USER], "model": "claude-x", "max_tokens": 5}, "openai_chat"),
        ({"messages": [{"role": "assistant", "content": [{"type": "tool_use"}]}]}, "anthropic"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "openai_chat"),
        ({"messages": [{"role": "user", "content": [{"type": ["odd"]}, 7]}, None]}, "openai_chat"),
        ({"messages": [{"role": "assistant", "content": None, "tool_calls": []}, USER]}, "openai_chat"),
    ],
)
def test_which_dialect_a_body_is_in(body: dict[str, Any], name: str) -> None:
    assert detect(body) == name


@pytest.mark.parametrize("body", [{}, [], None, {"messages": 1}, {"prompt": "x"}])
def test_no_known_dialect(body: Any) -> None:
    with pytest.raises(RequestError, match="not a request body"):
        detect(body)
