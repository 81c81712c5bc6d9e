from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dialects import dialect as dialect_named
from core.dialects.content_edits import shared_out, with_joined_text, with_joined_texts, with_only_text

MARK = {"cache_control": {"type": "ephemeral"}}
LONGER = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iV"}}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


@pytest.mark.parametrize(
    ("parts", "new", "shares"),
    [
        (["a\nb\n", "a\nc\n"], "a\nb\nc\n", ["a\nb\n", "c\n"]),
        (["a\nb\n", "a\nb\n"], "a\nb\n", ["a\nb\n", ""]),
        (["a\nb\n", "c\n"], "c\n", ["", "c\n"]),
        (["a\nhalf ", "a line\nc\n"], "half a line\nc\n", ["half ", "a line\nc\n"]),
        (["a\n", "b\n"], "[1]\na\n[2]\nb\n[3]\n", ["[1]\na\n", "[2]\nb\n[3]\n"]),
        (["a\n", "b\n", "c\n"], "", ["", "", ""]),
        (["one"], "other", ["other"]),
        (["a\n", "a\n", "a\n"], "a\na\n", ["a\n", "a\n", ""]),
    ],
)
def test_a_joined_text_is_shared_out_by_lines(parts: list[str], new: str, shares: list[str]) -> None:
    assert shared_out(parts, new) == shares


PIECES = st.lists(st.text("ab\n\r", min_size=1, max_size=6), min_size=1, max_size=5)


@given(PIECES, st.text("ab\n\r", max_size=20))
def test_no_character_is_lost_in_sharing(parts: list[str], new: str) -> None:
    assert "".join(shared_out(parts, new)) == new
    assert shared_out(parts, "".join(parts)) == parts


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("old", "new"),
        (None, "new"),
        ([text("old", x=1)], [text("new", x=1)]),
        ([text("a"), IMAGE, text("b", **MARK)], [text("new"), {**IMAGE, **MARK}]),
        ([IMAGE, text("a", **LONGER), text("b", **MARK)], [IMAGE, text("new", **LONGER)]),
        ([IMAGE], [text("new"), IMAGE]),
        (["a", None, "b"], ["new", None]),
    ],
)
def test_one_text_stands_for_all(content: Any, expected: Any) -> None:
    assert with_only_text(content, "new") == expected


@pytest.mark.parametrize(
    ("content", "new", "expected"),
    [
        ("a\nb\n", "b\n", "b\n"),
        ("a\n", "", None),
        ([text("a\n", x=1), text("a\nb\n", **MARK)], "a\nb\n", [text("a\n", x=1), text("b\n", **MARK)]),
        ([text("a\n"), text("a\n", **MARK)], "a\n", [text("a\n", **MARK)]),
        ([text("a\n", **MARK), text("b\n", y=2)], "b\n", [text("b\n", y=2, **MARK)]),
        ([text("a\n"), IMAGE], "", [IMAGE]),
        ([text("a\n", **MARK)], "", None),
    ],
)
def test_texts_change_part_by_part(content: Any, new: str, expected: Any) -> None:
    assert with_joined_text(content, new) == expected


def test_a_mark_goes_to_the_message_before_the_one_that_goes() -> None:
    messages = [{"role": "system", "content": "a\n"}, {"role": "system", "content": [text("a\n", **MARK)]}]
    changed = with_joined_texts(messages, ["a\n", "a\n"], ["a\n", ""])
    assert changed == [{"role": "system", "content": [text("a\n", **MARK)]}]


def test_what_is_no_message_stays_as_it_is() -> None:
    tools = {"type": "additional_tools", "role": "developer", "tools": []}
    lead = [tools, {"role": "developer", "content": "a\n"}]
    assert with_joined_texts(lead, ["", "a\n"], ["", ""]) == [tools]


RULE = "1. Be brief always please.\n"


@pytest.mark.parametrize(
    ("dialect", "head", "texts", "expected"),
    [
        (
            "anthropic",
            {"system": [text(RULE, x=1), text(RULE, **MARK)], "messages": []},
            [RULE, ""],
            {"system": [text(RULE, x=1, **MARK)], "messages": []},
        ),
        (
            "anthropic",
            {"system": [text(RULE), IMAGE], "messages": []},
            ["", ""],
            {"system": [IMAGE], "messages": []},
        ),
        ("anthropic", {"system": [text(RULE)], "messages": []}, [""], {"messages": []}),
        ("anthropic", {"system": RULE, "messages": []}, [""], {"messages": []}),
        (
            "openai_chat",
            {"messages": [{"role": "system", "content": [text(RULE), text("more", x=1, **MARK)], "name": "n"}]},
            ["more"],
            {"messages": [{"role": "system", "content": [text("more", x=1, **MARK)], "name": "n"}]},
        ),
        (
            "openai_responses",
            {"instructions": RULE, "input": [{"role": "developer", "content": [{"type": "input_text", "text": RULE}]}]},
            [RULE, ""],
            {"instructions": RULE, "input": []},
        ),
        (
            "openai_responses",
            {"instructions": RULE, "input": [{"type": "additional_tools", "role": "developer", "tools": [1]}]},
            ["", ""],
            {"input": [{"type": "additional_tools", "role": "developer", "tools": [1]}]},
        ),
    ],
)
def test_a_head_keeps_all_but_the_texts_that_go(dialect: str, head: Any, texts: list[str], expected: Any) -> None:
    assert dialect_named(dialect).with_system_texts(head, texts) == expected


@pytest.mark.parametrize(
    ("marked", "kept", "expected"),
    [
        (2, [0, 1], [{"name": "a"}, {"name": "b", **MARK}]),
        (1, [0, 2], [{"name": "a", **MARK}, {"name": "c"}]),
        (0, [1, 2], [{"name": "b", **MARK}, {"name": "c"}]),
        (1, [0, 1], [{"name": "a"}, {"name": "b", **MARK}]),
        (1, [], None),
    ],
)
@pytest.mark.parametrize("dialect", ["anthropic", "openai_chat", "openai_responses"])
def test_the_mark_of_a_tool_that_goes_stands_on_one_beside_it(
    dialect: str, marked: int, kept: list[int], expected: Any
) -> None:
    tools = [{"name": name, **(MARK if at == marked else {})} for at, name in enumerate("abc")]
    head = dialect_named(dialect).with_tools({"tools": tools, "tool_choice": "auto"}, kept)
    assert head == ({} if expected is None else {"tools": expected, "tool_choice": "auto"})
    assert tools[marked] == {"name": "abc"[marked], **MARK}
