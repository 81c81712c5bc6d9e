"""In which dialect a request body is written, seen from the body alone."""

from __future__ import annotations

from typing import Any

import pytest

from core.dialects import detect, dialect, dialect_names
from core.errors import ConfigError, RequestError
from core.runtime import ContextRuntime

USER = {"role": "user", "content": "hi"}
CLAUDE: dict[str, Any] = {"model": "claude-sonnet-4-5", "max_tokens": 10}


def block(kind: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": kind, **more}]}


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"contents": "hi"}, "gemini"),
        ({"contents": []}, "gemini"),
        ({"input": "hi"}, "openai_responses"),
        ({"input": []}, "openai_responses"),
        ({"messages": [USER]}, "openai_chat"),
        ({"messages": [USER], "system": "s"}, "anthropic"),
        ({"messages": [USER], "tools": [{"name": "f", "input_schema": {}}]}, "anthropic"),
        ({"messages": [USER], "tools": [{"type": "function", "function": {"name": "f"}}]}, "openai_chat"),
        ({"messages": [USER], "tools": [7]}, "openai_chat"),
        ({"messages": [USER], "anthropic_version": "bedrock-2023-05-31", "max_tokens": 10}, "anthropic"),
        ({"messages": [USER], **CLAUDE}, "anthropic"),
        ({"messages": [], **CLAUDE}, "anthropic"),
        ({"messages": [USER, {"role": "assistant", "content": "a"}, USER], **CLAUDE}, "anthropic"),
        ({"messages": [USER], "model": "claude-sonnet-4-5"}, "openai_chat"),  # no max_tokens
        ({"messages": [USER], "model": "anthropic/claude-sonnet-4-5", "max_tokens": 10}, "openai_chat"),
        ({"messages": [USER], "model": "gpt-4o", "max_tokens": 10}, "openai_chat"),
        ({"messages": [USER], "model": 7, "max_tokens": 10}, "openai_chat"),
        ({"messages": [{"role": "system", "content": "s"}, USER], **CLAUDE}, "openai_chat"),
        ({"messages": [{"role": "developer", "content": "s"}, USER], **CLAUDE}, "openai_chat"),
        ({"messages": [USER, {"role": "tool", "tool_call_id": "a", "content": "r"}], **CLAUDE}, "openai_chat"),
        ({"messages": [USER, {"role": "assistant", "tool_calls": []}], **CLAUDE}, "openai_chat"),
        ({"messages": [block("tool_result", tool_use_id="a")]}, "anthropic"),
        ({"messages": [block("tool_use", id="a")]}, "anthropic"),
        ({"messages": [block("server_tool_use", id="a")]}, "anthropic"),
        ({"messages": [block("mcp_tool_use", id="a")]}, "anthropic"),
        ({"messages": [block("web_search_tool_result", tool_use_id="a")]}, "anthropic"),
        ({"messages": [block("thinking", thinking="t")]}, "anthropic"),
        ({"messages": [block("document", source={})]}, "anthropic"),
        ({"messages": [block("image", source={"type": "file"})]}, "anthropic"),
        ({"messages": [block("image", image="AA==")]}, "openai_chat"),
        ({"messages": [block("image_url", image_url={"url": "u"})]}, "openai_chat"),
        ({"messages": [block("text", text="t")]}, "openai_chat"),
        ({"messages": [7, {"role": "user", "content": [7]}]}, "openai_chat"),
    ],
)
def test_seen_from_the_body(body: dict[str, Any], name: str) -> None:
    assert detect(body) == name
    assert ContextRuntime.load({"strategy": {"kind": "full_history"}}).assemble(body).request == body


@pytest.mark.parametrize("body", [None, 7, [], {}, {"messages": "hi"}, {"contents": 7}, {"input": None}])
def test_no_body(body: Any) -> None:
    with pytest.raises(RequestError, match="not a request body"):
        detect(body)


def test_names() -> None:
    assert dialect_names() == ("openai_chat", "openai_responses", "anthropic", "gemini")
    assert [dialect(name).name for name in dialect_names()] == list(dialect_names())
    with pytest.raises(ConfigError, match="klingon"):
        dialect("klingon")
