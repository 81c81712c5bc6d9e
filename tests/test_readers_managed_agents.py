"""Sessions of Anthropic's managed agents."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Usage
from tests.recordings import check

MODEL = {"id": "claude-x", "speed": "standard"}
SESSION = {
    "id": "sesn_1",
    "type": "session",
    "title": "A session",
    "agent": {"model": MODEL, "system": "s", "tools": [{"type": "agent_toolset"}]},
}


def event(number: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"id": f"e{number}", "type": kind, "processed_at": f"2026-01-01T00:00:{number:02}Z", **fields}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


EVENTS = [
    event(1, "session.status_running"),
    event(2, "user.message", content=[text("question")]),
    event(3, "span.model_request_start"),
    event(4, "agent.thinking"),
    event(5, "agent.message", content=[text("let me see")]),
    event(6, "agent.tool_use", name="f", input={"a": 1}),
    event(
        7,
        "span.model_request_end",
        model_usage={
            "input_tokens": 2,
            "cache_read_input_tokens": 10,
            "cache_creation_input_tokens": 5,
            "output_tokens": 4,
        },
    ),
    event(8, "agent.tool_result", tool_use_id="e6", content=[text("r")], is_error=True),
    event(9, "span.model_request_start"),
    event(10, "agent.message", content=[text("done")]),
    event(11, "span.model_request_end", model_usage={"input_tokens": 3, "output_tokens": 1}),
]


def wrapped(events: Any) -> list[Any]:
    asked = [
        "client.beta.sessions.events.send",
        ["sesn_1", {"events": [{"type": "user.message", "content": [text("question")]}]}],
    ]
    return [
        ["client.beta.sessions.create", SESSION],
        asked,
        *[["client.beta.sessions.events.stream", one] for one in events],
    ]


@pytest.mark.parametrize(
    ("write", "system"),
    [
        (lambda: "\n".join(map(json.dumps, wrapped(EVENTS))), "s"),
        (lambda: "\n".join(map(json.dumps, [SESSION, *EVENTS])), "s"),
        (lambda: json.dumps({"data": EVENTS}), None),
    ],
)
def test_a_session_with_a_tool(write: Any, system: Any) -> None:
    found = read(write())
    (transcript,) = found.transcripts
    called = {
        "role": "assistant",
        "content": [text("let me see"), {"type": "tool_use", "id": "e6", "name": "f", "input": {"a": 1}}],
    }
    result = {"type": "tool_result", "tool_use_id": "e6", "content": [text("r")], "is_error": True}
    assert (found.format, transcript.dialect, found.problems) == ("managed_agents", "anthropic", [])
    assert [call.response for call in transcript.calls] == [called, {"role": "assistant", "content": [text("done")]}]
    assert [call.usage for call in transcript.calls] == [Usage(17, 10, 5, 4), Usage(3, output=1)]
    assert transcript.captured(1)["messages"] == [
        {"role": "user", "content": [text("question")]},
        called,
        {"role": "user", "content": [result]},
    ]
    assert transcript.captured(1).get("system") == system
    assert ("system prompt not recorded" in transcript.notes) is (system is None)
    assert "tool definitions not recorded" in transcript.notes
    check(found)


def test_copies_unknown_events_and_compaction() -> None:
    more = [
        event(12, "agent.thread_context_compacted"),
        event(13, "user.message", content="more"),
        event(14, "span.model_request_start"),
        event(15, "agent.message", content=[text("ok")]),
        event(16, "span.model_request_end"),
        event(17, "agent.odd"),
    ]
    found = read("\n".join(map(json.dumps, [*wrapped(EVENTS), *wrapped([EVENTS[1]])[2:], *more])))
    (transcript,) = found.transcripts
    assert transcript.captured(2)["messages"] == [{"role": "user", "content": [text("more")]}]
    assert len(transcript.history(2)["messages"]) == 5
    assert "the conversation was compacted, by a summary that is not recorded, before call 3" in transcript.notes
    assert [str(problem) for problem in found.problems] == [
        "the text, line 20: 1 record of the unknown type 'agent.odd' was left out."
        " It may hold messages of a newer version of the format."
    ]
    assert transcript.meta["ignored"]["copy of an event"] == 1


def test_a_real_session(transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "langsmith" / "js-anthropic-managed-mcp-reject.jsonl")
    (transcript,) = found.transcripts
    assert (found.counts.read, found.problems) == (27, [])
    assert [call.usage for call in transcript.calls] == [
        Usage(7782, 0, 7780, 116),
        Usage(7952, 7780, 170, 116),
        Usage(18069, 7950, 10117, 82),
    ]
    assert [len(transcript.captured(number)["messages"]) for number in range(3)] == [1, 3, 5]
    assert transcript.title == "Quickstart session"
    check(found)
