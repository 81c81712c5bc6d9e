"""A request of another dialect than the configuration's is refused where that is certain, and only there."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.dialects import detect, dialect_names, other_dialect
from core.errors import RequestError
from core.readers import read
from core.replay import replay
from core.runtime import ContextRuntime

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
USER = {"role": "user", "content": "Read the file a.txt for me."}
ASSISTANT = {"role": "assistant", "content": "Which one?"}
CALL = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
PLAIN: dict[str, dict[str, Any]] = {
    "openai_chat": {"messages": [USER, ASSISTANT, USER]},
    "anthropic": {"messages": [USER, ASSISTANT, USER], "max_tokens": 9},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    "openai_responses": {"input": [USER]},
}
WITH_TOOLS: dict[str, dict[str, Any]] = {
    "openai_chat": {
        "messages": [
            USER,
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "a", "content": "text"},
        ],
        "tools": [{"type": "function", "function": {"name": "read", "parameters": SCHEMA}}],
    },
    "anthropic": {
        "messages": [
            USER,
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "text"}]},
        ],
        "tools": [{"name": "read", "input_schema": SCHEMA}],
    },
    "gemini": {
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {"output": "text"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "read", "parameters": SCHEMA}]}],
    },
    "openai_responses": {
        "input": [
            USER,
            {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "text"},
        ],
        "tools": [{"type": "function", "name": "read", "parameters": SCHEMA}],
    },
}
ALIKE = {"openai_chat", "anthropic"}
"""Dialects whose plain texts are the same."""


def runtime(dialect: str, limit: int = 10_000) -> ContextRuntime:
    return ContextRuntime.load(
        {"model": {"dialect": dialect}, "budget": {"soft_limit": limit}, "strategy": {"kind": "keep_last"}}
    )


@pytest.mark.parametrize("with_tools", [False, True])
@pytest.mark.parametrize("written", dialect_names())
@pytest.mark.parametrize("named", dialect_names())
def test_every_pair(named: str, written: str, with_tools: bool) -> None:
    body = (WITH_TOOLS if with_tools else PLAIN)[written]
    if named == written or (not with_tools and {named, written} == ALIKE):
        assert runtime(named).assemble(body).request == body
        return
    with pytest.raises(RequestError) as told:
        runtime(named).assemble(body)
    seen = "'openai_chat' or 'anthropic'" if written in ALIKE and not with_tools else f"'{written}'"
    assert str(told.value).startswith(f"This request is of the dialect {seen} (it has ")
    assert f"the configuration is for '{named}'. Load a configuration for {seen}, or set its" in str(told.value)


CHAT, CLAUDE = WITH_TOOLS["openai_chat"]["messages"], WITH_TOOLS["anthropic"]["messages"]


@pytest.mark.parametrize(
    ("body", "sign"),
    [
        ({"messages": [USER], "system": "s"}, "`system` beside `messages`"),
        ({"messages": [USER], "system": [{"type": "text", "text": "s"}]}, "`system` beside `messages`"),
        ({"messages": [USER], "anthropic_version": "bedrock-2023-05-31"}, "`anthropic_version` beside `messages`"),
        ({"messages": [USER], "tools": WITH_TOOLS["anthropic"]["tools"]}, "a tool with `input_schema`"),
        ({"messages": CLAUDE[:2]}, "a block `tool_use`"),
        ({"messages": CLAUDE[2:]}, "a block `tool_result`"),
    ],
)
def test_what_only_anthropic_has(body: dict[str, Any], sign: str) -> None:
    assert other_dialect(body, "openai_chat") == (("anthropic",), sign)
    assert other_dialect(body, "anthropic") is None


@pytest.mark.parametrize(
    ("body", "sign"),
    [
        ({"messages": [{"role": "system", "content": "s"}, USER]}, "a first message of the role `system`"),
        ({"messages": [{"role": "developer", "content": "s"}, USER]}, "a first message of the role `developer`"),
        ({"messages": [USER], "tools": WITH_TOOLS["openai_chat"]["tools"]}, "a tool with `function`"),
        ({"messages": CHAT[:2]}, "a message with `tool_calls`"),
        ({"messages": CHAT[2:]}, "a message of the role `tool`"),
        ({"messages": [USER, {"role": "function", "name": "f", "content": "t"}]}, "a message of the role `function`"),
    ],
)
def test_what_only_chat_has(body: dict[str, Any], sign: str) -> None:
    assert other_dialect(body, "anthropic") == (("openai_chat",), sign)
    assert other_dialect(body, "openai_chat") is None


@pytest.mark.parametrize(
    "body",
    [
        {"messages": []},
        {"messages": [USER], "model": "claude-sonnet-4-5", "max_tokens": 9},
        {"messages": [USER, {"role": "system", "content": "said later"}, ASSISTANT, USER]},
        {"messages": [USER, {"role": "assistant", "content": [{"type": "thinking", "thinking": []}]}]},
        {"messages": [7, {"role": ["user"], "content": [7, {"type": 7}]}], "system": None, "tools": [7]},
        {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "base64"}}]}]},
        {"messages": [{"role": "user", "content": [{"type": "document", "source": {"type": "text"}}]}]},
        {"messages": [*CHAT, *CLAUDE]},
        {"messages": [{"role": "system", "content": "s"}, *CLAUDE]},
    ],
)
def test_what_may_be_either_is_refused_by_neither(body: dict[str, Any]) -> None:
    assert (other_dialect(body, "openai_chat"), other_dialect(body, "anthropic")) == (None, None)


def test_a_body_with_the_lists_of_several_is_of_each() -> None:
    both = {"contents": "hi", "input": "hi"}
    assert [other_dialect(both, name) for name in ("gemini", "openai_responses")] == [None, None]
    assert other_dialect(both, "anthropic") == (("gemini", "openai_responses"), "`contents`")
    certain = {"messages": CHAT, "tools": WITH_TOOLS["openai_chat"]["tools"]}
    assert other_dialect(certain, "gemini") == (("openai_chat",), "`messages`")


@pytest.mark.parametrize("body", [None, [], "text", {}, {"messages": None}, {"contents": {}}])
def test_what_is_no_body_is_of_no_dialect(body: Any) -> None:
    assert [other_dialect(body, name) for name in dialect_names()] == [None] * 4


def test_a_session_tells_it_at_the_first_certain_request() -> None:
    session = runtime("openai_chat").session()
    assert session.assemble({"messages": CLAUDE[:1]}).request == {"messages": CLAUDE[:1]}
    with pytest.raises(RequestError, match="a block `tool_use`"):
        session.assemble({"messages": CLAUDE})
    assert session.assemble({"messages": CLAUDE[:1]}).request == {"messages": CLAUDE[:1]}


def test_a_replay_converts_instead() -> None:
    body = {"model": "claude-sonnet-4-5", **WITH_TOOLS["anthropic"], "max_tokens": 9}
    (transcript,) = read(json.dumps(body)).transcripts
    assert transcript.dialect == "anthropic"
    made = replay(transcript, runtime("openai_chat").config)
    assert [message["role"] for message in made.request(len(transcript.calls) - 1)["messages"]] == [
        "user",
        "assistant",
        "tool",
    ]


def bodies(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The request bodies that lie in the folder as they were sent: files of one, and lines of one each."""
    for path in sorted(folder.glob("*/*.request.json")):
        yield path, json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(folder.glob("*/*requests.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from ((path, json.loads(line)) for line in lines)
    for path in sorted(folder.glob("claude-trace-http/*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            sent = ((json.loads(line).get("request") or {}).get("body") for line in lines)
            yield from ((path, body) for body in sent if isinstance(body, dict) and "messages" in body)


def test_no_real_body_is_refused_by_its_own_dialect(transcripts_folder: Path) -> None:
    seen = [(path, body, detect(body)) for path, body in bodies(transcripts_folder)]
    assert {dialect for _, _, dialect in seen} == set(dialect_names())
    assert [path.name for path, body, dialect in seen if other_dialect(body, dialect) is not None] == []


@pytest.mark.parametrize(("named", "folders"), [("openai_chat", "openai-chat"), ("anthropic", "anthropic-messages")])
def test_a_folder_of_one_dialect_is_never_taken_for_another(named: str, folders: str, transcripts_folder: Path) -> None:
    seen = [body for path, body in bodies(transcripts_folder) if path.parent.name == folders]
    assert len(seen) > 3
    assert [other_dialect(body, named) for body in seen] == [None] * len(seen)
