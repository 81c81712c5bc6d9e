from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dialects import Part, PartKind, dialect
from core.errors import RequestError
from core.wire import dump
from tests.engine_bodies import bodies

CLAUDE = dialect("anthropic")
USER = {"role": "user", "content": "hi"}
MARK = {"type": "ephemeral"}


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **more}


def result(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "t", "content": content, **more}


PICTURE = {"type": "image", "source": {"type": "base64", "data": "AA=="}}


def test_the_system_prompt_stands_in_the_head() -> None:
    body = {"model": "m", "system": "s", "messages": [USER], "max_tokens": 1}
    head, messages = CLAUDE.split(body)
    assert head == {"model": "m", "system": "s", "messages": [], "max_tokens": 1}
    assert messages == [USER]
    assert dump(CLAUDE.join(head, messages)) == dump(body)


@given(st.data())
def test_split_and_join(data: st.DataObject) -> None:
    body = data.draw(bodies("anthropic"))
    before = copy.deepcopy(body)
    head, messages = CLAUDE.split(body)
    messages.append(USER)
    messages.pop()
    assert dump(CLAUDE.join(head, messages)) == dump(body) == dump(before)


@pytest.mark.parametrize("body", [{}, {"messages": None}, {"messages": "hi"}, None])
def test_what_is_no_body(body: Any) -> None:
    with pytest.raises(RequestError, match="messages"):
        CLAUDE.split(body)


@pytest.mark.parametrize(
    ("wire", "role", "parts"),
    [
        (USER, "user", [Part(PartKind.TEXT, "hi")]),
        ({"role": "user", "content": []}, "user", []),
        ({"role": "user", "content": [text("")]}, "user", []),
        ({"role": "user", "content": None}, "user", []),
        ({"role": "tool", "content": "x"}, "other", [Part(PartKind.TEXT, "x")]),
        ({"role": "system", "content": "x"}, "system", [Part(PartKind.TEXT, "x")]),
        (7, "other", [Part(PartKind.OPAQUE, "7")]),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "mystery", "data": "zz"},
                    text("a"),
                    {"type": "tool_use", "id": "t", "name": "ls", "input": {"b": 1, "a": [2]}},
                ],
            },
            "assistant",
            [
                Part(PartKind.THINKING, "hm", place=0),
                Part(PartKind.OPAQUE, '{"data": "zz", "type": "mystery"}', place=1),
                Part(PartKind.TEXT, "a", place=2),
                Part(PartKind.TOOL_CALL, '{"b":1,"a":[2]}', "ls", "t", 3),
            ],
        ),
        (
            {"role": "user", "content": [result("out"), text("go on")]},
            "user",
            [Part(PartKind.TOOL_RESULT, "out", call_id="t"), Part(PartKind.TEXT, "go on", place=1)],
        ),
        (
            {"role": "user", "content": [result([text("a"), PICTURE, text("b")])]},
            "user",
            [Part(PartKind.TOOL_RESULT, "ab", call_id="t"), Part(PartKind.IMAGE, "", "image", place=0)],
        ),
        ({"role": "user", "content": [result(None)]}, "user", [Part(PartKind.TOOL_RESULT, "", call_id="t")]),
        ({"role": "user", "content": [result(42)]}, "user", [Part(PartKind.TOOL_RESULT, "42", call_id="t")]),
        (
            {"role": "user", "content": [{"type": "document", "source": {}}, "bare", {"type": "tool_use"}]},
            "user",
            [
                Part(PartKind.FILE, "", "document", place=0),
                Part(PartKind.TEXT, "bare", place=1),
                Part(PartKind.TOOL_CALL, "", place=2),
            ],
        ),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
                    {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"type": "web", "url": "u"}]},
                ],
            },
            "assistant",
            [
                Part(PartKind.TOOL_CALL, '{"query":"x"}', "web_search", "s", 0),
                Part(PartKind.TOOL_RESULT, "", call_id="s", place=1, fixed=True),
                Part(PartKind.OPAQUE, '{"type": "web", "url": "u"}', place=1),
            ],
        ),
    ],
)
def test_messages(wire: Any, role: str, parts: list[Part]) -> None:
    message = CLAUDE.message(wire)
    assert (message.role, list(message.parts)) == (role, parts)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (USER, {"role": "user", "content": [text("hi", cache_control=MARK)]}, True),
        ({"role": "user", "content": [result("x")]}, {"role": "user", "content": [result([text("x")])]}, True),
        (
            {"role": "user", "content": [result("x")]},
            {"role": "user", "content": [result("x", cache_control=MARK)]},
            True,
        ),
        (
            {"role": "user", "content": [result([text("x", cache_control=MARK)])]},
            {"role": "user", "content": [result("x")]},
            True,
        ),
        ({"role": "user", "content": [result("")]}, {"role": "user", "content": [result([])]}, True),
        ({"role": "user", "content": [result("x")]}, {"role": "user", "content": [result("x", is_error=True)]}, False),
        ({"role": "user", "content": [text("a"), text("b")]}, {"role": "user", "content": "ab"}, False),
        (
            {"role": "user", "content": [{"type": "t", "input": {"a": 1, "b": 2}}]},
            {"role": "user", "content": [{"type": "t", "input": {"b": 2, "a": 1}}]},
            False,
        ),
    ],
)
def test_which_messages_are_the_same(one: Any, other: Any, same: bool) -> None:
    assert (CLAUDE.content_key(one) == CLAUDE.content_key(other)) == same


@given(st.data())
def test_equal_content_is_read_alike(data: st.DataObject) -> None:
    """What is told to be the same must count the same: cache marks are no content."""
    for wire in data.draw(bodies("anthropic"))["messages"]:
        other = copy.deepcopy(wire)
        for block in other["content"] if isinstance(other["content"], list) else ():
            block["cache_control"] = MARK
            for inner in block.get("content") or () if isinstance(block.get("content"), list) else ():
                inner["cache_control"] = MARK
        assert CLAUDE.content_key(wire) == CLAUDE.content_key(other)
        assert CLAUDE.message(wire) == CLAUDE.message(other)


@pytest.mark.parametrize(
    ("system", "texts", "more"),
    [
        (None, [], [text("new")]),
        ("", [], [text("new")]),
        ("s", ["s"], [text("s"), text("new")]),
        (
            [text("a", cache_control=MARK), text("b")],
            ["a", "b"],
            [text("a", cache_control=MARK), text("b"), text("new")],
        ),
    ],
)
def test_system_texts(system: Any, texts: list[str], more: list[Any]) -> None:
    head = {"messages": [], "system": system}
    assert CLAUDE.system_texts(head) == texts
    assert CLAUDE.with_system_text(head, "new")["system"] == more
    assert head["system"] == system


TOOLS = [{"name": "one", "input_schema": {}}, {"type": "web_search_20250305", "name": "web_search"}, {"type": "bash"}]


def test_tools() -> None:
    head = {"messages": [], "tools": TOOLS, "tool_choice": {"type": "auto"}}
    assert [(tool.name, tool.place) for tool in CLAUDE.tools(head)] == [("one", 0), ("web_search", 1), ("bash", 2)]
    assert CLAUDE.with_tools(head, [1])["tools"] == [TOOLS[1]]
    assert CLAUDE.with_tools(head, []) == {"messages": []}
    marked = {"messages": [], "tools": [{**TOOLS[0], "cache_control": MARK}]}
    assert CLAUDE.tools(marked)[0] == CLAUDE.tools(head)[0]


@pytest.mark.parametrize(
    ("content", "part", "changed"),
    [
        ([result("old", is_error=True), text("a")], 0, [result("new", is_error=True), text("a")]),
        ([text("a"), result([text("x"), PICTURE, text("y")])], 1, [text("a"), result([text("new"), PICTURE])]),
        ([result("x"), result("y")], 1, [result("x"), result("new")]),
        ([text("a"), text("b", cache_control=MARK)], 1, [text("a"), text("new", cache_control=MARK)]),
        ("old", 0, "new"),
    ],
)
def test_other_texts_in_a_message(content: Any, part: int, changed: Any) -> None:
    wire = {"role": "user", "content": content}
    before = copy.deepcopy(wire)
    assert CLAUDE.with_result_text(wire, CLAUDE.message(wire).parts[part], "new") == {
        "role": "user",
        "content": changed,
    }
    assert wire == before
