from __future__ import annotations

from typing import Any

import pytest

from core.errors import ConfigError, RequestError
from core.validity import Violation, new_violations, validate
from tests.test_units import SYSTEM, answer, calls, found, result, use, user


def rules(messages: list[Any], dialect: str) -> list[tuple[str, int]]:
    return [(violation.rule, violation.message) for violation in validate({"messages": messages}, dialect)]


@pytest.mark.parametrize(
    ("messages", "violations"),
    [
        ([SYSTEM, user(), answer()], []),
        ([user(), calls("a", "b"), result("b"), result("a"), answer()], []),
        ([SYSTEM], [("no_message", 0)]),
        ([], [("no_message", 0)]),
        ([answer(), user()], [("first_not_user", 0)]),
        ([SYSTEM, result("x"), user()], [("first_not_user", 1), ("result_without_call", 1)]),
        ([user(), calls("a"), answer()], [("call_without_result", 1)]),
        ([user(), calls("a")], [("call_without_result", 1)]),
        ([user(), calls("a"), user(), result("a")], [("call_without_result", 1), ("result_without_call", 3)]),
        ([user(), calls("a"), result("a"), user(), result("a")], [("result_without_call", 4)]),
        ([user(), calls("a"), result("b")], [("call_without_result", 1), ("result_without_call", 2)]),
        ([user(), calls("a", "a"), result("a")], [("duplicate_call", 1)]),
        ([user(), calls("a", "a"), result("a"), result("a")], [("duplicate_call", 1)]),
        ([user(), calls("a"), result("a"), result("a")], [("result_without_call", 3)]),
        ([user(), calls("a", "b"), result("b"), result("a"), result("b")], [("result_without_call", 4)]),
        ([user(), calls("a"), result("a"), calls("a"), result("a")], []),
        ([user(""), answer(), user()], [("empty_content", 0)]),
        ([user(None)], [("empty_content", 0)]),
        ([user([])], [("empty_content", 0)]),
        ([user(), answer("")], []),  # a last reply may be empty
        ([user(), answer(""), user()], [("empty_content", 1)]),
        ([user(), calls("a"), result("a", "")], []),
        ([user(" \n")], []),
        ([user(), {"role": "critic", "content": "hm"}], [("unknown_role", 1)]),
        ([user(), "text"], [("unknown_role", 1)]),
        ([user(), {"content": "no role"}], [("unknown_role", 1)]),
        ([{"role": "developer", "content": "x"}, user()], []),
    ],
)
def test_openai_chat(messages: list[Any], violations: list[tuple[str, int]]) -> None:
    assert rules(messages, "openai_chat") == violations


SERVER_SEARCH = {
    "role": "assistant",
    "content": [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        {"type": "text", "text": "found"},
    ],
}


@pytest.mark.parametrize(
    ("messages", "violations"),
    [
        ([user(), answer()], []),
        ([user(), use("a", "b"), found("a", "b", text="go on"), answer()], []),
        ([user(), use("a", "b"), found("a"), found("b")], [("call_without_result", 1), ("result_without_call", 3)]),
        ([user(), use("a"), user("wait"), found("a")], [("call_without_result", 1), ("result_without_call", 3)]),
        ([found("a"), answer()], [("first_not_user", 0), ("result_without_call", 0)]),
        ([user(" \n")], [("empty_content", 0)]),
        ([user([{"type": "text", "text": ""}])], [("empty_content", 0)]),
        ([user(), {"role": "system", "content": "x"}], [("unknown_role", 1)]),
        ([user(), use("a"), found("a", "a")], [("result_without_call", 2)]),
        ([user(), use("a"), found("a"), use("a"), found("a")], []),
        ([user(), SERVER_SEARCH], []),
        ([user(), SERVER_SEARCH, SERVER_SEARCH], []),
        ([user(), {**SERVER_SEARCH, "content": SERVER_SEARCH["content"][:2] * 2}], [("duplicate_call", 1)]),
        (
            [user(), SERVER_SEARCH, {**SERVER_SEARCH, "content": SERVER_SEARCH["content"][1:]}],
            [("result_without_call", 2)],
        ),
        ([user(), {"role": "assistant", "content": SERVER_SEARCH["content"][:1]}], [("call_without_result", 1)]),
        (
            [user(), use("s1"), user("wait"), found("s1"), SERVER_SEARCH],
            [("call_without_result", 1), ("result_without_call", 3)],
        ),
        ([], [("no_message", 0)]),
    ],
)
def test_anthropic(messages: list[Any], violations: list[tuple[str, int]]) -> None:
    assert rules(messages, "anthropic") == violations


def asks(*names: str) -> dict[str, Any]:
    return {"role": "model", "parts": [{"functionCall": {"name": name, "args": {}}} for name in names]}


def tells(*names: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {}}} for name in names]}


@pytest.mark.parametrize(
    ("told", "violations"), [("f", []), ("fg", []), ("fgg", [("result_without_call", 2)])], ids=["one", "both", "more"]
)
def test_gemini_takes_no_more_results_than_calls(told: str, violations: list[tuple[str, int]]) -> None:
    said = [{"role": "user", "parts": [{"text": "hi"}]}, asks("f", "g"), tells(*told)]
    made = validate({"contents": said}, "gemini")
    assert [(violation.rule, violation.message) for violation in made] == violations


def items(written: str) -> list[Any]:
    """Items from letters: a user's message (u), calls (capitals) and their outputs (the same in small)."""
    kinds = {True: "function_call", False: "function_call_output"}
    return [
        user() if letter == "u" else {"type": kinds[letter.isupper()], "call_id": letter.upper(), "name": "f"}
        for letter in written
    ]


@pytest.mark.parametrize(
    ("written", "violations"),
    [
        ("uABba", []),
        ("uAaa", [("result_without_call", 3)]),
        ("uAaua", [("result_without_call", 4)]),
        ("ua", [("result_without_call", 1)]),
        ("uaA", [("result_without_call", 1), ("call_without_result", 2)]),
        ("uAaAa", [("duplicate_call", 3)]),
        ("uAaA", [("duplicate_call", 3), ("call_without_result", 3)]),
        ("uAuAa", [("call_without_result", 1), ("duplicate_call", 3)]),
    ],
)
def test_openai_responses(written: str, violations: list[tuple[str, int]]) -> None:
    made = validate({"input": items(written)}, "openai_responses")
    assert [(violation.rule, violation.message) for violation in made] == violations


@pytest.mark.parametrize(
    ("before", "after"),
    [("uAaBbau", "uBbau"), ("uAaAaA", "uA"), ("uAaBaBb", "uBaBb"), ("uAuAaBa", "uAuBa")],
)
def test_what_an_id_said_twice_hides_is_told_before(before: str, after: str) -> None:
    told = [validate({"input": items(written)}, "openai_responses") for written in (before, after)]
    assert told[1] and new_violations(*told) == []


def test_a_violation_says_what_and_where() -> None:
    made = validate({"messages": [user(), calls("a"), answer()]}, "openai_chat")
    assert made == [Violation("call_without_result", 1, "a", "call 'a' is not answered")]


def test_system_messages_of_the_head_are_counted() -> None:
    assert rules([SYSTEM, SYSTEM, calls("a")], "openai_chat") == [("first_not_user", 2), ("call_without_result", 2)]


def test_what_is_new() -> None:
    before = validate({"messages": [user(), calls("a"), answer(), user("")]}, "openai_chat")
    after = validate({"messages": [calls("a"), calls("b"), user("")]}, "openai_chat")
    assert [(violation.rule, violation.subject) for violation in new_violations(before, after)] == [
        ("first_not_user", ""),
        ("call_without_result", "b"),
    ]
    assert new_violations(before, before) == []


def test_no_body_at_all() -> None:
    with pytest.raises(RequestError):
        validate({}, "openai_chat")
    with pytest.raises(ConfigError, match="klingon"):
        validate({"messages": []}, "klingon")
