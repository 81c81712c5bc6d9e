"""LangChain messages in their three forms, and recorded turns."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import langchain_messages, read
from core.transcript import Fidelity, Usage
from tests.recordings import check, usages

TOOL_CALL = {"name": "f", "args": {"a": 1}, "id": "c1", "type": "tool_call"}
USED = {
    "input_tokens": 20,
    "output_tokens": 5,
    "input_token_details": {"cache_read": 8, "cache_creation": 2},
    "output_token_details": {"reasoning": 3},
}
AI = {
    "content": "",
    "additional_kwargs": {"reasoning_content": "hm"},
    "response_metadata": {"model_name": "gpt-4o"},
    "tool_calls": [TOOL_CALL],
    "usage_metadata": USED,
}
FUNCTION = {"name": "f", "arguments": '{"a":1}'}
WIRES = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": "q"},
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "hm",
        "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "r", "name": "f"},
    {"role": "assistant", "content": "done"},
]
PLAIN = [
    ("system", {"content": "s"}),
    ("human", {"content": [{"type": "text", "text": "q"}]}),
    ("ai", AI),
    ("tool", {"content": "r", "tool_call_id": "c1", "name": "f"}),
    ("ai", {"content": "done", "response_metadata": {"model": "gpt-4o"}}),
]
CLASSES = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessageChunk", "tool": "ToolMessage"}


def as_dict(kind: str, fields: Any) -> dict[str, Any]:
    return {"type": kind, "data": {**fields, "type": kind}}


def flat(kind: str, fields: Any) -> dict[str, Any]:
    return {**fields, "type": kind}


def constructor(kind: str, fields: Any) -> dict[str, Any]:
    path = ["langchain_core", "messages", CLASSES[kind]]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": fields}


def camel(kind: str, fields: Any) -> dict[str, Any]:
    """LangChain for JavaScript."""
    words = (key.split("_") for key in fields)
    names = {"_".join(parts): parts[0] + "".join(part.title() for part in parts[1:]) for parts in words}
    kept = ("tool_calls", "usage_metadata", "response_metadata", "additional_kwargs", "content", "name")
    return constructor(kind, {key if key in kept else names[key]: value for key, value in fields.items()})


FORMS = [as_dict, flat, constructor, camel]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "write",
    [
        json.dumps,
        lambda messages: json.dumps({"messages": messages, "thread_id": "t"}),
        lambda messages: "\n".join(map(json.dumps, messages)),
        lambda messages: json.dumps([messages]),
    ],
)
def test_each_form_is_the_same_conversation(form: Any, write: Any) -> None:
    found = read(write([form(kind, fields) for kind, fields in PLAIN]))
    (transcript,) = found.transcripts
    first, second = transcript.calls
    assert (found.format, found.problems) == ("langchain", [])
    assert transcript.captured(0) == {"model": "gpt-4o", "messages": WIRES[:2]}
    assert transcript.captured(1) == {"model": "gpt-4o", "messages": WIRES[:4]}
    assert (first.response, second.response) == (WIRES[2], WIRES[4])
    assert (first.usage, second.usage) == (Usage(20, 8, 2, 5, 3), Usage())
    assert [call.fidelity for call in transcript.calls] == [Fidelity.PARTIAL] * 2
    assert transcript.notes == ("tool definitions not recorded",)
    check(found)


@pytest.mark.parametrize(
    ("fields", "wire"),
    [
        ({"content": "a"}, {"role": "assistant", "content": "a"}),
        (
            {
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}},
                ]
            },
            {
                "role": "assistant",
                "content": "a",
                "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}],
            },
        ),
        (
            {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}]},
            {"role": "assistant", "content": "a", "reasoning_content": "hm"},
        ),
        (
            {"content": [{"type": "reasoning", "summary": [{"text": "x"}, {"text": "y"}]}], "tool_calls": []},
            {"role": "assistant", "content": "", "reasoning_content": "x\ny"},
        ),
        (
            {"content": "", "additional_kwargs": {"tool_calls": [{"id": "c1", "function": FUNCTION}]}},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}],
            },
        ),
        (
            {"content": "", "invalid_tool_calls": [{"id": "c1", "name": "f", "args": '{"a":', "error": "cut"}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":'}}],
            },
        ),
        (
            {"content": [{"type": "odd", "x": 1}]},
            {"role": "assistant", "content": [{"type": "odd", "x": 1}]},
        ),
        ({"content": {"odd": 1}}, {"role": "assistant", "content": '{"odd":1}'}),
    ],
)
def test_what_is_said_twice_is_taken_once(fields: Any, wire: Any) -> None:
    assert langchain_messages.to_chat({"type": "ai", **fields}) == wire


@pytest.mark.parametrize(
    ("block", "url"),
    [
        (
            {"type": "image", "source_type": "base64", "data": "QUJD", "mime_type": "image/png"},
            "data:image/png;base64,QUJD",
        ),
        ({"type": "image", "base64": "QUJD", "mime_type": "image/png"}, "data:image/png;base64,QUJD"),
        ({"type": "image", "url": "https://x/a.png"}, "https://x/a.png"),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
            "data:image/png;base64,QUJD",
        ),
    ],
)
def test_images_of_each_kind(block: Any, url: str) -> None:
    wire = langchain_messages.to_chat({"type": "human", "content": [block]})
    assert wire == {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}


@pytest.mark.parametrize(
    ("meta", "usage"),
    [
        ({"token_usage": {"prompt_tokens": 9, "completion_tokens": 2}}, Usage(9, output=2)),
        ({"tokenUsage": {"promptTokens": 9, "completionTokens": 2}}, Usage(9, output=2)),
        ({"usage": {"input_tokens": 3, "cache_read_input_tokens": 6, "output_tokens": 2}}, Usage(9, 6, None, 2)),
        ({}, Usage()),
    ],
)
def test_usage_in_the_words_of_the_provider(meta: Any, usage: Usage) -> None:
    assert langchain_messages.usage_of({"type": "ai", "content": "", "response_metadata": meta}) == usage


def test_a_message_that_a_program_wrote_is_no_call() -> None:
    written = {"type": "ai", "content": "please wait", "response_metadata": {}, "usage_metadata": None}
    found = read(json.dumps([{"type": "human", "content": "q"}, written, flat("ai", AI)]))
    (transcript,) = found.transcripts
    assert len(transcript.calls) == 1
    assert [message["role"] for message in transcript.captured(0)["messages"]] == ["user", "assistant"]


def test_where_no_message_tells_of_a_model_each_is_a_call() -> None:
    found = read(json.dumps([{"type": "human", "content": "q"}, {"type": "ai", "content": "a"}]))
    (transcript,) = found.transcripts
    assert [call.response for call in transcript.calls] == [{"role": "assistant", "content": "a"}]
    assert transcript.notes == ("system prompt not recorded", "tool definitions not recorded")


def test_removed_and_odd_messages() -> None:
    listed = [{"type": "human", "content": "q"}, {"type": "remove", "content": "", "id": "x"}, 7, flat("ai", AI)]
    found = read(json.dumps(listed))
    assert [message["role"] for message in found.transcripts[0].messages] == ["user", "assistant"]
    assert str(found.problems[0]) == "the text: 1 of 4 messages is of no known kind. It was left out."


def test_a_batch_is_a_transcript_each() -> None:
    one = [{"type": "human", "content": "q"}, {"type": "ai", "content": "a"}]
    found = read(json.dumps([one, one]))
    assert len(found.transcripts) == 2


def test_recorded_turns() -> None:
    turns = [
        {"caller": "main", "output": as_dict("ai", AI)},
        {"caller": "title", "output": as_dict("ai", {"content": "a title"})},
        {"caller": "main", "output": as_dict("ai", {"content": "done"})},
        {"caller": "main", "output": None},
    ]
    found = read(json.dumps({"scenario": "s1", "prompt": "do it", "turns": turns}))
    main, title = found.transcripts
    assert [call.response for call in main.calls] == [WIRES[2], WIRES[4]]
    assert main.captured(0)["messages"] == [{"role": "user", "content": "do it"}]
    assert "tool results not recorded" in main.notes
    assert (title.title, title.session, title.meta) == ("title", "s1/title", {"parent_session": "s1", "agent": "title"})
    assert "prompt not recorded" in title.notes
    assert [str(problem) for problem in found.problems] == ["the text: 1 turn holds no reply. It was left out."]


def test_a_real_recording_of_turns(transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "langchain-messages" / "deerflow-replay-ultra.json")
    assert [len(transcript.calls) for transcript in found.transcripts] == [3, 1, 1]
    rows = [(row[0], row[1], row[3], row[4]) for row in usages(found)]
    assert rows[:3] == [(3664, 3584, 434, 384), (3719, 3584, 35, 0), (3768, 3584, 8, 0)]
    assert rows[3:] == [(104, 0, 656, 640), (224, 0, 909, 832)]
    assert found.problems == []
    check(found, surprises=5)
