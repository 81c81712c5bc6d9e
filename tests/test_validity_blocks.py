"""What Anthropic asks of the blocks of a message."""

from __future__ import annotations

from typing import Any

import pytest

from core.validity import Violation, validate
from tests.talks import DIALECTS, body, messages, said, step, user

Wire = dict[str, Any]
HI: Wire = {"role": "user", "content": "hi"}
MORE: Wire = {"role": "user", "content": "more"}


def reply(*blocks: Wire) -> Wire:
    return {"role": "assistant", "content": list(blocks)}


def answer(*blocks: Wire) -> Wire:
    return {"role": "user", "content": list(blocks)}


def think(signature: Any = "c2ln") -> Wire:
    return {"type": "thinking", "thinking": "hm", "signature": signature}


def text(value: str = "x") -> Wire:
    return {"type": "text", "text": value}


def use(call_id: str = "a", kind: str = "tool_use") -> Wire:
    return {"type": kind, "id": call_id, "name": "look", "input": {}}


def found(call_id: str = "a", kind: str = "tool_result") -> Wire:
    return {"type": kind, "tool_use_id": call_id, "content": "r"}


UNSIGNED: Wire = {"type": "thinking", "thinking": "hm"}
SEALED: Wire = {"type": "redacted_thinking", "data": "QUJD"}
PICTURE: Wire = {"type": "image", "source": {"type": "url", "url": "u"}}
SEARCH = (use("s", "server_tool_use"), found("s", "web_search_tool_result"))


@pytest.mark.parametrize(
    ("wires", "violations"),
    [
        # results first
        ([reply(use()), answer(found())], []),
        ([reply(use()), answer(found(), text())], []),
        ([reply(use()), answer(text(), found())], [("text_before_result", 2, "a")]),
        ([reply(use()), answer(PICTURE, found())], [("text_before_result", 2, "a")]),
        ([reply(use(), use("b")), answer(found(), text(), found("b"))], [("text_before_result", 2, "b")]),
        (
            [reply(use(), use("b")), answer(text(), found(), found("b"))],
            [("text_before_result", 2, "a"), ("text_before_result", 2, "b")],
        ),
        ([reply(*SEARCH, text()), answer(text(), PICTURE)], []),
        # thinking and what it led to
        ([reply(think(), use()), answer(found())], []),
        ([reply(SEALED, text(), use()), answer(found())], []),
        ([reply(think(), text())], []),
        ([reply(think(), use(), think(), use("b")), answer(found(), found("b"))], []),
        ([reply(think(), *SEARCH, think(), text())], []),
        ([reply(think(), *SEARCH, think(), use()), answer(found())], []),
        ([reply(use(), think()), answer(found())], [("thinking_after_call", 1, "a")]),
        ([reply(use(), SEALED), answer(found())], [("thinking_after_call", 1, "a")]),
        ([reply(think(), use(), think(), text()), answer(found())], [("thinking_after_call", 1, "a")]),
        ([reply(think()), MORE], [("thinking_separated", 1, "")]),
        ([reply(text(), SEALED), MORE], [("thinking_separated", 1, "")]),
        ([reply(*SEARCH, think()), MORE], [("thinking_separated", 1, "")]),
        ([reply(think())], [("thinking_separated", 1, "")]),
        ([reply(think()), reply(use()), answer(found())], []),  # neighbours are joined
        ([reply(think()), reply(text())], []),
        # signatures
        ([reply(UNSIGNED, use()), answer(found())], [("thinking_unsigned", 1, "a")]),
        ([reply(think(""), use()), answer(found())], []),  # blanked out by a recorder
        ([reply(think(None), use()), answer(found())], [("thinking_unsigned", 1, "a")]),
        ([reply(SEALED, use()), answer(found())], []),
        ([reply(UNSIGNED, text())], []),  # no call in the turn
        ([reply(UNSIGNED, text()), MORE, reply(use()), answer(found())], []),
        ([reply(use()), answer(found()), reply(UNSIGNED, text())], [("thinking_unsigned", 3, "a")]),
    ],
)
def test_blocks(wires: list[Wire], violations: list[tuple[str, int, str]]) -> None:
    made = validate({"messages": [HI, *wires]}, "anthropic")
    assert [(violation.rule, violation.message, violation.subject) for violation in made] == violations


@pytest.mark.parametrize(
    ("model", "asked"),
    [(None, True), ("claude-sonnet-4-5", True), ("us.anthropic.claude-opus-4", True), ("glm-4.7", False), (7, True)],
)
def test_whose_thinking_is_signed(model: Any, asked: bool) -> None:
    made = validate({"model": model, "messages": [HI, reply(UNSIGNED, use()), answer(found())]}, "anthropic")
    assert [violation.rule for violation in made] == (["thinking_unsigned"] if asked else [])


@pytest.mark.parametrize("wire", [7, None, "x", {"role": "assistant", "content": [7, None, "x", {"type": 7}]}])
def test_nothing_stops_the_check(wire: Any) -> None:
    made = validate({"messages": [HI, wire, reply(use()), wire, answer(text(), found())]}, "anthropic")
    assert isinstance(made[0], Violation)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_whole_steps_break_no_rule(dialect: str) -> None:
    made = body(dialect, user("u1"), step("A", "B", text="I look", thinking="hm"), step("C", thinking="hm"), said("a"))
    assert validate(made, dialect) == []


@pytest.mark.parametrize(
    ("dialect", "rules"),
    [("openai_chat", []), ("openai_responses", []), ("anthropic", []), ("gemini", ["call_after_reply"])],
)
def test_roles_need_not_alternate_but_before_a_call_of_gemini(dialect: str, rules: list[str]) -> None:
    events = (user("u1"), user("u2"), said("a1"), said("a2"), user("u3"), said("a3"), step("A"))
    assert len(messages(dialect, *events)) == 8
    assert [violation.rule for violation in validate(body(dialect, *events), dialect)] == rules
