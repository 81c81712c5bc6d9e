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
        ([user(), SERVER_SEARCH], []),
        ([user(), {"role": "assistant", "content": SERVER_SEARCH["content"][:1]}], [("call_without_result", 1)]),
        ([], [("no_message", 0)]),
    ],
)
def test_anthropic(messages: list[Any], violations: list[tuple[str, int]]) -> None:
    assert rules(messages, "anthropic") == violations


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
