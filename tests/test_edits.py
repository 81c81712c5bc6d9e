"""A text that is put into a message is read back as it was put in, and nothing of the old one is left beside it."""

from __future__ import annotations

from typing import Any

import pytest

from core.dialects import dialect as dialect_named
from core.dialects.base import PartKind
from core.edits import edited_messages, edited_wires, is_rewritable
from core.runtime import ContextRuntime
from core.tokens import counter_from
from core.units import units
from core.wire import dump

LONG = "a line of the old text\n" * 40
OLD = "of the old text"
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}


def output(value: Any, kind: str = "function_call_output", key: str = "output") -> list[dict[str, Any]]:
    return [CALL | {"type": kind.removesuffix("_output")}, {"type": kind, "call_id": "c", key: value}]


def reply(*items: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "assistant", "output": [{"type": "reasoning", "summary": [], "id": "r"}, *items]}]


def said(*texts: str) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": words} for words in texts],
    }


def chat(content: Any) -> list[dict[str, Any]]:
    function = {"name": "f", "arguments": "{}"}
    calls = [{"id": "c", "type": "function", "function": function}]
    return [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c", "content": content},
    ]


def blocks(*results: Any, kind: str = "tool_result", role: str = "user") -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    held = [{"type": kind, "tool_use_id": "c", "content": content} for content in results]
    if role == "assistant":
        return [{"role": role, "content": [use | {"type": "server_tool_use"}, *held]}]
    return [{"role": "assistant", "content": [use]}, {"role": role, "content": held}]


def text(words: str, kind: str = "text") -> dict[str, str]:
    return {"type": kind, "text": words}


SHELL = [{"stdout": LONG, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
STDOUT = {"type": "bash_code_execution_result", "stdout": LONG, "stderr": "", "return_code": 0}
PICTURE = {"type": "input_image", "image_url": "data:image/png;base64,iV"}

REWRITTEN = [
    ("openai_chat", [{"role": "user", "content": LONG}]),
    ("openai_chat", [{"role": "user", "content": [text("x"), text(LONG)]}]),
    ("openai_chat", [{"role": "assistant", "content": None, "refusal": LONG}]),
    ("openai_chat", [{"role": "assistant", "content": "x", "refusal": LONG}]),
    ("openai_chat", chat(LONG)),
    ("openai_chat", chat([text(LONG), text(LONG)])),
    ("openai_chat", chat({"rows": LONG})),
    ("openai_responses", [said("x", LONG)]),
    ("openai_responses", reply(said(LONG))),
    ("openai_responses", reply(said("x", LONG), said("y"))),
    ("openai_responses", output(LONG)),
    ("openai_responses", output([text(LONG, "input_text"), PICTURE])),
    ("openai_responses", output([{"rows": LONG}])),
    ("openai_responses", output({"rows": LONG}, "custom_tool_call_output")),
    ("openai_responses", output(LONG, key="result")),
    ("openai_responses", output(LONG, "local_shell_call_output")),
    ("anthropic", [{"role": "user", "content": [text("x"), text(LONG)]}]),
    ("anthropic", blocks(LONG)),
    ("anthropic", blocks([text(LONG), text(LONG)])),
    ("anthropic", blocks({"rows": LONG})),
    ("gemini", [{"role": "user", "parts": [{"text": "x"}, {"text": LONG}]}]),
    ("gemini", [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"rows": LONG}}}]}]),
]
LEFT_ALONE = [
    ("openai_responses", output(SHELL, "shell_call_output")),
    ("openai_responses", output({"rows": LONG}, "computer_call_output")),
    ("openai_responses", reply({"role": "assistant", "output": [said(LONG)]})),
    (
        "openai_responses",
        [{"type": "code_interpreter_call", "id": "i", "code": "1", "outputs": [{"type": "logs", "logs": LONG}]}],
    ),
    ("openai_responses", [{"type": "file_search_call", "id": "i", "queries": [], "results": [{"text": LONG}]}]),
    ("openai_responses", [{"type": "mcp_call", "id": "i", "name": "f", "arguments": "{}", "output": LONG}]),
    ("anthropic", blocks(STDOUT, kind="bash_code_execution_tool_result", role="assistant")),
    ("anthropic", blocks(STDOUT, kind="bash_code_execution_tool_result")),
    ("anthropic", blocks([{"type": "web_search_result", "title": LONG}], kind="web_search_tool_result")),
    ("anthropic", blocks([text(LONG)], kind="mcp_tool_result", role="assistant")),
]


def spans_of(dialect: str, wires: list[dict[str, Any]]) -> Any:
    (unit,) = units(wires, dialect_named(dialect), counter_from("chars4"))
    return unit, [span for span in unit.spans if OLD in span.text]


@pytest.mark.parametrize(("dialect", "wires"), REWRITTEN)
def test_what_is_put_in_is_read_back(dialect: str, wires: list[dict[str, Any]]) -> None:
    unit, spans = spans_of(dialect, wires)
    before = dump(wires)
    for span in spans:
        assert is_rewritable(unit, span)
    texts = {span.id: f"new {span.id}" for span in spans}
    sent = edited_wires(unit, wires, texts, dialect_named(dialect))
    read = [dialect_named(dialect).message(wire) for wire in sent]
    wanted = [
        [(part.kind, part.text) for part in message.parts if part.text or part.kind is not PartKind.TEXT]
        for message in edited_messages(unit, texts)
    ]
    assert [[(part.kind, part.text) for part in message.parts] for message in read] == wanted
    assert OLD not in dump(sent)
    assert dump(wires) == before


@pytest.mark.parametrize(("dialect", "wires"), LEFT_ALONE)
def test_what_has_a_shape_is_not_rewritten(dialect: str, wires: list[dict[str, Any]]) -> None:
    unit, spans = spans_of(dialect, wires)
    assert [span.id for span in spans if is_rewritable(unit, span)] == []


KEYS = {"openai_chat": "messages", "openai_responses": "input", "anthropic": "messages", "gemini": "contents"}
CONFIGURED = [
    {"rules": [{"match": {"kind": "tool_result"}, "max_tokens": 40}], "strategy": {"kind": "full_history"}},
    {"rules": [{"match": {"kind": "assistant"}, "max_tokens": 40}], "strategy": {"kind": "full_history"}},
    {"shrink": [{"kind": "project_tool_results", "max_tokens": 40}], "strategy": {"kind": "full_history"}},
    {"strategy": {"kind": "mask_tool_results", "keep": 0, "trigger": 0}},
    {
        "rules": [{"match": {"kind": "tool_result"}, "tier": "contextual"}],
        "strategy": {"kind": "tiered_injection"},
        "budget": {"soft_limit": 60},
    },
    {
        "rules": [{"match": {"kind": "tool_result"}, "evict": "pinned"}],
        "shrink": [{"kind": "chunk_pinned", "max_tokens": 40}, {"kind": "project_tool_results", "max_tokens": 40}],
        "strategy": {"kind": "full_history"},
    },
]


@pytest.mark.parametrize("settings", CONFIGURED)
@pytest.mark.parametrize(("dialect", "wires"), [*REWRITTEN, *LEFT_ALONE])
def test_what_is_planned_is_what_is_sent(dialect: str, wires: list[dict[str, Any]], settings: dict[str, Any]) -> None:
    opening, ending = (dialect_named(dialect).text_message("user", words) for words in ("go on", "and now?"))
    body = {KEYS[dialect]: [opening, *wires, ending]}
    model = {"dialect": dialect, "name": "gpt-4o"}
    made = ContextRuntime.load({"model": model, **settings}).assemble(body)
    again = ContextRuntime.load({"model": model, "strategy": {"kind": "full_history"}}).assemble(made.request)
    assert again.tokens_before == made.tokens_after <= made.tokens_before
    if (dialect, wires) in LEFT_ALONE:
        assert made.request == body
