"""Agents' logs damaged in seeded ways: reading never raises, no reader fails inside, and what was read can be used."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from tests import agent_sessions as sessions
from tests.test_readers_mutations import MUTATIONS, flipped, shuffled, swapped, truncated, use
from tests.work import read_in_bounds


def responses_run() -> list[Any]:
    answer = {"object": "response", "model": "gpt-x", "output": [sessions.reasoning(), sessions.function_call("c1")]}
    given = [sessions.item("user", "hi"), sessions.reasoning(), sessions.function_call("c1")]
    body = {"model": "gpt-x", "instructions": "s", "tools": [{"type": "function", "name": "f"}]}
    return [
        {"request": {**body, "input": given[:1]}, "response": {**answer, "usage": {"input_tokens": 3}}},
        {**body, "input": [*given, sessions.function_output("c1")], "previous_response_id": "r"},
        {"object": "list", "data": given},
        given,
        {"type": "response.created", "response": {"id": "r1", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": sessions.function_call("c2")},
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{}"},
        {"type": "response.completed", "response": {"id": "r1", **answer}},
    ]


def gemini_run() -> list[Any]:
    call = {"functionCall": {"name": "f", "args": {}}}
    answered = {"functionResponse": {"name": "f", "response": {"output": "r"}}}
    contents = [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"text": "hm", "thought": True}, call]},
        {"role": "user", "parts": [answered]},
    ]
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 1}
    response = {"candidates": [{"content": contents[1], "finishReason": "STOP"}], "usageMetadata": usage}
    return [
        {"request": {"contents": contents[:1], "systemInstruction": {"parts": [{"text": "s"}]}}, "response": response},
        {"contents": contents, "config": {"system_instruction": "s", "temperature": 1}},
        contents,
        {"history": contents},
        response,
    ]


def chunks() -> list[Any]:
    base = {"id": "c", "object": "chat.completion.chunk", "model": "gpt-x"}
    return [
        {**base, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "a"}}]},
        {**base, "choices": [{"index": 0, "delta": {"content": "b"}, "finish_reason": "stop"}]},
        {**base, "choices": [], "usage": {"prompt_tokens": 3}},
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}},
        {"type": "ping"},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]


def in_a_list(write: Callable[[], Any]) -> Callable[[], list[Any]]:
    return lambda: [write()]


WRITERS: dict[str, Callable[[], list[Any]]] = {
    "responses": responses_run,
    "gemini": gemini_run,
    "chunks": chunks,
    "codex": sessions.codex_rollout,
    "codex_exec": sessions.codex_exec,
    "gemini_cli": sessions.gemini_chat,
    "qwen": sessions.qwen_session,
    "iflow": sessions.iflow_session,
    "opencode": in_a_list(sessions.opencode_export),
    "cline": sessions.cline_history,
    "screen": sessions.cline_screen,
    "claude_stream": sessions.claude_stream,
    "kimi": sessions.kimi_session,
    "pi": sessions.pi_session,
    "copilot": sessions.copilot_session,
    "copilot_chat": in_a_list(sessions.copilot_chat),
    "kimi_context": sessions.kimi_context,
    "kimi_old": sessions.kimi_old,
}
FORMATS = {
    "gemini": "gemini",
    "chunks": "anthropic",
    "codex": "codex",
    "codex_exec": "codex_exec",
    "gemini_cli": "gemini_cli",
    "qwen": "qwen_code",
    "iflow": "iflow",
    "opencode": "opencode",
    "cline": "cline_roo",
    "screen": "cline_ui",
    "claude_stream": "claude_stream_json",
    "kimi": "kimi_cli",
    "pi": "pi",
    "copilot": "copilot_cli",
    "copilot_chat": "copilot_chat",
    "kimi_context": "kimi_context",
    "kimi_old": "kimi_cli",
    "responses": "openai_responses",
}


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
@pytest.mark.parametrize("name", WRITERS)
def test_damaged_sessions_are_read_as_far_as_they_go(name: str, mutate: Any) -> None:
    text = "\n".join(map(json.dumps, WRITERS[name]())).encode()
    for seed in range(60 if mutate is swapped else 15):
        damaged = mutate(text, random.Random(seed))
        use(read_in_bounds(damaged))
        use(read_in_bounds(damaged, FORMATS[name]))


@pytest.mark.parametrize("name", WRITERS)
def test_undamaged_sessions_are_read_in_full(name: str) -> None:
    records = WRITERS[name]()
    found = read("\n".join(map(json.dumps, records)))
    assert (found.format, found.counts.read, found.counts.broken) == (FORMATS[name], len(records), 0)
    use(found)


REAL = (
    "codex/agent-sessions-2026-08.jsonl",
    "gemini-cli/vct-chats-2026-04.jsonl",
    "iflow-qwen/iflow-zh-session.jsonl",
    "kimi-cli/agent-sessions-tools.jsonl",
    "pi/agentlogs-branched.jsonl",
    "copilot/vct-copilot-cli.jsonl",
    "openai-responses/vercel-reasoning-encrypted.chunks.txt",
    "opencode/agentlogs-all-tools.json",
    "claude-stream-json/logfire-agent-sdk-basic.json",
)


@pytest.mark.parametrize("name", REAL)
def test_real_sessions_damaged(name: str, transcripts_folder: Path) -> None:
    text = (transcripts_folder / name).read_bytes().strip()
    for mutate in (truncated, flipped, shuffled, swapped):
        if mutate is swapped and name.endswith(".json"):
            continue
        for seed in range(5):
            use(read_in_bounds(mutate(text, random.Random(seed))))
