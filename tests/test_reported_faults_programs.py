"""Programs that run at the provider and call tools: what a program called goes or stays with the program."""

from __future__ import annotations

from typing import Any

import pytest

from core.validity import validate
from tests.talks import CUTTING, LISTS, Wire, body, call_ids, long, messages, run, said, sent, tokens, user

EACH = pytest.mark.parametrize("kind", CUTTING)
OLD = (user(long("u0")), said(long("a0")))


def item(kind: str, call_id: str, caller: str = "", **more: Any) -> Wire:
    owner = {"caller": {"type": "program", "caller_id": caller}} if caller else {}
    return {"type": kind, "call_id": call_id, **more, **owner}


def use(call_id: str, caller: str = "") -> Wire:
    owner = {"caller": {"type": "code_execution_20250825", "tool_id": caller}} if caller else {}
    return {"type": "tool_use", "id": call_id, "name": "look", "input": {}, **owner}


def answer(call_id: str) -> Wire:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": f"r{call_id}"}]}


def program(dialect: str) -> list[Wire]:
    """A program that runs at the provider and calls a tool of the client three times before it ends."""
    if dialect == "openai_responses":
        items = [item("program", "P", code="run()", fingerprint="f")]
        for name in "123":
            items.append(item("function_call", name, "P", name="look", arguments="{}"))
            items.append(item("function_call_output", name, output=f"r{name}"))
        return [*items, item("program_output", "P", result="done", status="completed")]
    server = {"type": "server_tool_use", "id": "P", "name": "code_execution", "input": {"code": "run()"}}
    ended = {"type": "code_execution_tool_result", "tool_use_id": "P", "content": {"stdout": "done"}}
    replies = [
        {"role": "assistant", "content": [*before, use(name, "P")]}
        for before, name in (([server], "1"), ([], "2"), ([], "3"))
    ]
    steps = [wire for reply, name in zip(replies, "123", strict=True) for wire in (reply, answer(name))]
    return [*steps, {"role": "assistant", "content": [ended, {"type": "text", "text": "done"}]}]


@pytest.mark.parametrize("dialect", ["openai_responses", "anthropic"])
@pytest.mark.parametrize("ended", [True, False])
@EACH
def test_what_a_program_called_goes_with_the_program(kind: str, ended: bool, dialect: str) -> None:
    made = body(dialect, *OLD, user("q"))
    run_by = program(dialect)
    after = messages(dialect, user("q2"), said("a2"), user("q3")) if ended else []
    made[LISTS[dialect]] += [*(run_by if ended else run_by[:-1]), *after]
    assert [(found.rule, found.subject) for found in validate(made, dialect)] == (
        [] if ended else [("call_without_result", "P")]
    )
    for share in (0.95, 0.7, 0.5, 0.3, 0.0):
        for keep in ({"keep_steps": 1}, {"keep_messages": 2}, {"keep_tokens": 12}):
            takes = kind not in ("mask_tool_results", "span_triage", "required_reserve")
            budget = int(share * tokens(made, dialect))
            result = run(made, dialect, kind, budget, keep=keep if takes else {})
            calls, _ = call_ids(sent(result, dialect), dialect)
            assert calls in ([], ["P", "1", "2", "3"])
            assert calls or ended, "the program is still running"


def test_a_call_without_its_program_is_named() -> None:
    made = {"input": [*messages("openai_responses", user("q")), *program("openai_responses")[1:]]}
    rules = [(found.rule, found.subject) for found in validate(made, "openai_responses")]
    assert rules[:3] == [("call_without_program", name) for name in "123"]
