"""Streams of the providers, joined to the response that they stand for."""

import json
from typing import Any

import pytest

from core.readers.responses import response_facts
from core.readers.streams import body_value, is_event, join_stream, sse_events
from core.transcript import Usage


def sse(*events: Any, between: str = "\n\n") -> str:
    return "".join(f"event: x\ndata: {json.dumps(event)}{between}" for event in events)


def chunk(delta: dict[str, Any], index: int = 0, **fields: Any) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": None}
    return {"id": "c", "object": "chat.completion.chunk", "model": "gpt-x", "choices": [choice], **fields}


def call(index: int | None, id: str | None = None, name: str | None = None, arguments: str = "") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    return {"index": index, "function": function, **({"id": id, "type": "function"} if id else {})}


CHAT = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "he"}),
    chunk({"content": "llo"}),
    chunk({"tool_calls": [call(0, "c1", "f", "")]}),
    chunk({"tool_calls": [call(0, arguments='{"a"'), call(1, "c2", "g", "{}")]}),
    chunk({"tool_calls": [call(0, arguments=": 1}")]}),
    {**chunk({}), "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}},
]
CLAUDE = [
    {
        "type": "message_start",
        "message": {"id": "m", "model": "claude-x", "usage": {"input_tokens": 5, "output_tokens": 1}},
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig"}},
    {"type": "ping"},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "", "citations": []}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "a"}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": {"n": 1}}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "b"}},
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}},
    },
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": ""}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"a":'}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "1}"}},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use"},
        "usage": {"output_tokens": 9, "input_tokens": None},
    },
    {"type": "message_stop"},
]
CLAUDE_CONTENT = [
    {"type": "thinking", "thinking": "hm", "signature": "sig"},
    {"type": "text", "text": "ab", "citations": [{"n": 1}]},
    {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
]
ITEM = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}
THOUGHT = {"type": "reasoning", "summary": []}
RESPONSES = [
    {"type": "response.created", "response": {"object": "response", "model": "gpt-5", "output": [], "usage": None}},
    {"type": "response.output_item.added", "output_index": 0, "item": THOUGHT},
    {"type": "response.output_item.done", "output_index": 0, "item": THOUGHT},
    {"type": "response.output_item.added", "output_index": 1, "item": {**ITEM, "content": []}},
    {"type": "response.output_text.delta", "output_index": 1, "delta": "h"},
    {"type": "response.output_text.delta", "output_index": 1, "delta": "i"},
]
DONE = {
    "type": "response.completed",
    "response": {"object": "response", "model": "gpt-5", "output": [THOUGHT, ITEM], "usage": {"input_tokens": 3}},
}


def gemini(*parts: Any, **usage: int) -> dict[str, Any]:
    content = {"content": {"parts": list(parts), "role": "model"}}
    return {"candidates": [content], "usageMetadata": usage, "modelVersion": "gemini-x"}


@pytest.mark.parametrize("between", ["\n\n", "\r\n\r\n", "\n\n: keep alive\n\n"])
def test_a_chat_stream(between: str) -> None:
    facts = response_facts(body_value(sse(*CHAT, between=between) + "data: [DONE]\n\n"))
    assert facts.message == {
        "role": "assistant",
        "content": "hello",
        "tool_calls": [
            {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
            {"index": 1, "id": "c2", "type": "function", "function": {"name": "g", "arguments": "{}"}},
        ],
    }
    assert (facts.usage, facts.model, facts.dialect) == (Usage(input=7, output=3), "gpt-x", "openai_chat")


def test_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    deltas = [call(None, "c1", "f", "{"), call(None, arguments="}"), call(None, "c2", "f", "{}")]
    joined = join_stream([chunk({"tool_calls": [delta]}) for delta in deltas])
    assert joined is not None
    calls = joined["choices"][0]["message"]["tool_calls"]
    assert [(one["id"], one["function"]["arguments"]) for one in calls] == [("c1", "{}"), ("c2", "{}")]


def test_choices_stay_apart() -> None:
    joined = join_stream([chunk({"content": "a"}, 1), chunk({"content": "b"}), chunk({"content": "c"}, 1)])
    assert joined is not None
    assert [choice["message"]["content"] for choice in joined["choices"]] == ["b", "ac"]


def test_an_anthropic_stream() -> None:
    facts = response_facts(body_value(sse(*CLAUDE)))
    assert facts.message == {"role": "assistant", "content": CLAUDE_CONTENT}
    assert (facts.usage, facts.model) == (Usage(input=5, output=9), "claude-x")


@pytest.mark.parametrize("length", range(len(CLAUDE)))
def test_a_stream_that_broke_off_gives_what_had_arrived(length: int) -> None:
    joined = join_stream(CLAUDE[:length])
    if length == 0:
        assert joined is None
    else:
        assert joined is not None
        assert len(joined["content"]) == sum(event["type"] == "content_block_start" for event in CLAUDE[:length])


def test_arguments_that_are_no_json_stay_as_they_are() -> None:
    joined = join_stream(CLAUDE[:12])
    assert joined is not None
    assert joined["content"][2]["input"] == '{"a":'


def test_the_end_of_a_responses_stream_holds_all_of_it() -> None:
    facts = response_facts(body_value(sse(*RESPONSES, DONE)))
    assert facts.message == {"role": "assistant", "output": [THOUGHT, ITEM]}
    assert (facts.usage, facts.model, facts.dialect) == (Usage(input=3), "gpt-5", "openai_responses")


@pytest.mark.parametrize("end", [[], [{**DONE, "response": {"output": [], "usage": {"input_tokens": 3}}}]])
def test_a_responses_stream_without_its_end_is_joined_from_its_items(end: list[Any]) -> None:
    facts = response_facts(join_stream([*RESPONSES, *end]))
    assert facts.message == {"role": "assistant", "output": [THOUGHT, ITEM]}
    assert facts.usage.input == (3 if end else None)


@pytest.mark.parametrize("form", [lambda events: sse(*events), json.dumps, lambda events: events])
def test_a_gemini_stream(form: Any) -> None:
    events = [
        gemini({"text": "a", "thought": True}, promptTokenCount=4),
        gemini({"text": "b"}),
        gemini({"text": "c", "thoughtSignature": "s"}),
        gemini(
            {"functionCall": {"name": "f", "args": {}}},
            promptTokenCount=4,
            thoughtsTokenCount=2,
            candidatesTokenCount=5,
        ),
    ]
    facts = response_facts(body_value(form(events)))
    assert facts.message == {
        "role": "model",
        "parts": [
            {"text": "a", "thought": True},
            {"text": "bc", "thoughtSignature": "s"},
            {"functionCall": {"name": "f", "args": {}}},
        ],
    }
    assert facts.usage == Usage(input=4, output=7, reasoning=2)
    assert (facts.model, facts.dialect) == ("gemini-x", "gemini")
    assert events[1]["candidates"][0]["content"]["parts"] == [{"text": "b"}]


def test_an_ollama_stream_is_one_event_a_line() -> None:
    first = {"model": "llama3", "message": {"role": "assistant", "content": "a"}, "done": False}
    last = {
        **first,
        "message": {"role": "assistant", "content": "b"},
        "done": True,
        "prompt_eval_count": 6,
        "eval_count": 2,
    }
    facts = response_facts(body_value(f"{json.dumps(first)}\n{json.dumps(last)}\n"))
    assert facts.message == {"role": "assistant", "content": "ab"}
    assert (facts.usage, facts.model) == (Usage(input=6, output=2), "llama3")


@pytest.mark.parametrize(
    "body", ["", "plain words", "data: [DONE]\n\n", "<html>", "7", '{"a": 1}', "[1, 2]", "[]", None, 5]
)
def test_what_is_no_stream_stays_what_it_is(body: Any) -> None:
    expected = json.loads(body) if isinstance(body, str) and body[:1] in ("{", "[", "7") else body
    assert body_value(body) == expected


def test_a_json_text_inside_a_json_text_stays_a_text() -> None:
    assert body_value('"x"') == "x"


def test_a_stream_that_is_nested_too_deeply_stays_a_text() -> None:
    nested: dict[str, Any] = {}
    for _ in range(900):
        nested = {"a": nested}
    body = sse(gemini({"functionCall": {"name": "f", "args": nested}}))
    assert body_value(body) == body


def test_one_value_over_several_data_lines() -> None:
    assert sse_events('data: {"a":\ndata: 1}\n\ndata: {"b": 2}\ndata: {"c": 3}\n') == [{"a": 1}, {"b": 2}, {"c": 3}]


@pytest.mark.parametrize(
    ("value", "known"),
    [
        (CHAT[0], True),
        (CLAUDE[0], True),
        (RESPONSES[0], True),
        (gemini(), True),
        ({"type": "ping"}, False),
        ([], False),
    ],
)
def test_events_are_recognised(value: Any, known: bool) -> None:
    assert is_event(value) is known


def test_many_deltas_take_little_time() -> None:
    joined = join_stream([chunk({"content": "word "})] * 200_000)
    assert joined is not None
    assert len(joined["choices"][0]["message"]["content"]) == 1_000_000
