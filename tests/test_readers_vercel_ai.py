"""Chats of the Vercel AI SDK, as interfaces show them and as models were given them."""

import json
from typing import Any

import pytest

from core.readers import read
from core.transcript import Usage
from tests.recordings import check

FUNCTION = {"name": "f", "arguments": '{"a":1}'}
CALLED = {
    "role": "assistant",
    "content": "let me see",
    "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "r", "name": "f"}
DONE = {"role": "assistant", "content": "done"}
USER = {"role": "user", "content": "question"}
TOOL_PART = {"type": "tool-f", "toolCallId": "c1", "state": "output-available", "input": {"a": 1}, "output": "r"}
SHOWN = [
    {"id": "1", "role": "user", "parts": [{"type": "text", "text": "question"}]},
    {
        "id": "2",
        "role": "assistant",
        "metadata": {"model": "gpt-4o", "totalUsage": {"inputTokens": 99}},
        "parts": [
            {"type": "step-start"},
            {"type": "text", "text": "let me see", "state": "done"},
            TOOL_PART,
            {"type": "step-start"},
            {"type": "text", "text": "done"},
        ],
    },
]
OLDER = [
    {"id": "1", "role": "user", "content": "question", "createdAt": "2025-01-01T00:00:00Z"},
    {
        "id": "2",
        "role": "assistant",
        "content": "done",
        "toolInvocations": [{"state": "result", "toolCallId": "c1", "toolName": "f", "args": {"a": 1}, "result": "r"}],
    },
]
GIVEN = [
    {"role": "user", "content": [{"type": "text", "text": "question"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "let me see"},
            {"type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": {"a": 1}},
        ],
    },
    {
        "role": "tool",
        "content": [
            {"type": "tool-result", "toolCallId": "c1", "toolName": "f", "output": {"type": "text", "value": "r"}}
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
]


@pytest.mark.parametrize(
    "write",
    [
        json.dumps,
        lambda chat: json.dumps({"id": "chat", "messages": chat}),
        lambda chat: "\n".join(map(json.dumps, chat)),
    ],
)
def test_a_chat_as_it_is_shown_has_a_call_a_step(write: Any) -> None:
    found = read(write(SHOWN))
    (transcript,) = found.transcripts
    assert (found.format, found.problems) == ("vercel_ai", [])
    assert [call.response for call in transcript.calls] == [CALLED, DONE]
    assert transcript.captured(1)["messages"] == [USER, CALLED, RESULT]
    assert [(call.model, call.usage) for call in transcript.calls] == [("gpt-4o", Usage())] * 2
    assert transcript.notes == ("system prompt not recorded", "tool definitions not recorded")
    check(found)


def test_a_chat_of_version_4() -> None:
    (transcript,) = read(json.dumps(OLDER)).transcripts
    called = {**CALLED, "content": None}
    assert [call.response for call in transcript.calls] == [called, DONE]
    assert transcript.captured(1)["messages"] == [USER, called, RESULT]


def test_what_a_model_was_given() -> None:
    (transcript,) = read(json.dumps([{"role": "system", "content": "s"}, *GIVEN])).transcripts
    assert transcript.captured(1)["messages"][0] == {"role": "system", "content": "s"}
    assert transcript.captured(1)["messages"][2:] == [CALLED, RESULT]
    assert transcript.notes == ("tool definitions not recorded",)


def test_usage_of_a_message_with_one_step() -> None:
    told = {"usage": {"inputTokens": 20, "outputTokens": 5, "cachedInputTokens": 8, "reasoningTokens": 2}}
    shown = [SHOWN[0], {"id": "2", "role": "assistant", "metadata": told, "parts": [{"type": "text", "text": "done"}]}]
    (transcript,) = read(json.dumps(shown)).transcripts
    assert transcript.calls[0].usage == Usage(20, 8, None, 5, 2)


@pytest.mark.parametrize(
    ("part", "wires"),
    [
        ({**TOOL_PART, "state": "input-available"}, [{**CALLED, "content": None}]),
        (
            {**TOOL_PART, "state": "output-error", "output": None, "errorText": "bad"},
            [{**CALLED, "content": None}, {**RESULT, "content": "bad"}],
        ),
        ({**TOOL_PART, "type": "dynamic-tool", "toolName": "f"}, [{**CALLED, "content": None}, RESULT]),
        (
            {**TOOL_PART, "output": {"type": "json", "value": {"x": 1}}},
            [{**CALLED, "content": None}, {**RESULT, "content": '{"x":1}'}],
        ),
        ({"type": "reasoning", "text": "hm"}, [{"role": "assistant", "content": "", "reasoning_content": "hm"}]),
        (
            {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,QUJD"},
            [
                {
                    "role": "assistant",
                    "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}],
                }
            ],
        ),
        (
            {"type": "data-weather", "data": {"x": 1}},
            [{"role": "assistant", "content": [{"type": "data-weather", "data": {"x": 1}}]}],
        ),
    ],
)
def test_parts_of_each_kind(part: Any, wires: Any) -> None:
    shown = [SHOWN[0], {"id": "2", "role": "assistant", "parts": [part]}]
    (transcript,) = read(json.dumps(shown)).transcripts
    assert list(transcript.messages[1:]) == wires


def test_what_is_no_chat() -> None:
    found = read("\n".join(map(json.dumps, [{"messages": SHOWN}, {"odd": 1}, {"messages": OLDER}])))
    assert (len(found.transcripts), found.counts.used, found.counts.broken) == (2, 2, 1)
    assert [problem.place for problem in found.problems] == ["line 2"]
