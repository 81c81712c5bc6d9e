"""Small recordings of calls to models, and what tests ask of what was read from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.dialects import dialect
from core.readers import ReadResult
from core.replay import replay
from core.transcript import Transcript
from core.validity import validate

ASKED = {"model": "gpt-4o", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "question"}]}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
REPLY = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "r"}
USAGE = {"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 8}}
ANSWERED = {
    "object": "chat.completion",
    "model": "gpt-4o-2024-08-06",
    "created": 1730371250,
    "choices": [{"index": 0, "message": REPLY}],
    "usage": USAGE,
}
ASKED_NEXT = {**ASKED, "messages": [*ASKED["messages"], REPLY, RESULT]}
CLAUDE_ASKED = {
    "model": "claude-sonnet-4",
    "max_tokens": 9,
    "system": [{"type": "text", "text": "You are an agent."}],
    "messages": [{"role": "user", "content": "question"}],
    "tools": [{"name": "f", "input_schema": {}}],
}
CLAUDE_REPLY = [
    {"type": "text", "text": "let me see"},
    {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
]
CLAUDE_USAGE = {"input_tokens": 3, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 2, "output_tokens": 4}
CLAUDE_ANSWERED = {
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4",
    "content": CLAUDE_REPLY,
    "usage": CLAUDE_USAGE,
}
GEMINI_ASKED = {"contents": [{"role": "user", "parts": [{"text": "question"}]}]}
GEMINI_ANSWERED = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "answer"}]}}],
    "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 2},
    "modelVersion": "gemini-2.5-flash",
}
RESPONSES_ASKED = {"model": "gpt-5", "instructions": "s", "input": [{"role": "user", "content": "question"}]}
RESPONSES_ITEM = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "answer"}]}
RESPONSES_ANSWERED = {"object": "response", "model": "gpt-5", "output": [RESPONSES_ITEM], "usage": {"input_tokens": 6}}


def sse(*events: Any) -> str:
    """Return events as a server-sent event stream."""
    return "".join(f"event: {event.get('type', 'x')}\ndata: {json.dumps(event)}\n\n" for event in events)


def chunks() -> list[Any]:
    """Return a stream of OpenAI chat that says hello."""
    deltas = [{"role": "assistant", "content": ""}, {"content": "hel"}, {"content": "lo"}]
    base = {"object": "chat.completion.chunk", "model": "gpt-4o-2024-08-06"}
    said = [{**base, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    return [*said, {**base, "choices": [], "usage": USAGE}]


def usages(found: ReadResult) -> list[tuple[int | None, ...]]:
    """Return what each call reports: input, cache read, cache write, output, reasoning."""
    calls = [call for transcript in found.transcripts for call in transcript.calls]
    rows = [call.usage for call in calls]
    return [(row.input, row.cache_read, row.cache_write, row.output, row.reasoning) for row in rows]


def calls_by_time(found: ReadResult) -> list[tuple[Transcript, int]]:
    """Return all calls of a file by time."""
    pairs = [(transcript, number) for transcript in found.transcripts for number in range(len(transcript.calls))]
    return sorted(pairs, key=lambda pair: str(pair[0].calls[pair[1]].at))


def prompt_sizes(found: ReadResult) -> list[int]:
    """Return how many messages each call's prompt has, system messages of a list included."""
    sizes = []
    for transcript, number in calls_by_time(found):
        body = transcript.captured(number)
        listed = body.get("messages", body.get("input", body.get("contents")))
        sizes.append(len(listed) if isinstance(listed, list) else 1)
    return sizes


def reported_inputs(folder: Path, name: str) -> list[int]:
    """Return the inputs that a file's calls reported, as they were read without the readers."""
    rows = (folder.parent / "cases" / "usage_truth.jsonl").read_text(encoding="utf-8").splitlines()
    return [row["reported_input"] for row in map(json.loads, rows) if row["file"] == name]


def check(found: ReadResult, surprises: int = 0) -> None:
    """Do with what was read what replaying does, and count what its providers would not take."""
    counts = found.counts
    assert counts.read == counts.used + counts.ignored + counts.broken
    assert [problem for problem in found.problems if "failed (" in problem.problem] == []
    wrong = 0
    for transcript in found.transcripts:
        assert dialect(transcript.dialect)
        for kept in ({"kind": "keep_last"}, {"kind": "as_captured"}):
            made = replay(transcript, {"strategy": kept, "budget": {"soft_limit": 5000}})
            for number in range(len(transcript.calls)):
                made.request(number)
        bodies = (transcript.captured(number) for number in range(len(transcript.calls)))
        wrong += sum(len(validate(body, transcript.dialect)) for body in bodies)
    assert wrong <= surprises
