"""HAR recordings: the calls to models among other traffic."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity, Usage
from tests.recordings import (
    ANSWERED,
    ASKED,
    ASKED_NEXT,
    CLAUDE_ANSWERED,
    CLAUDE_ASKED,
    GEMINI_ANSWERED,
    GEMINI_ASKED,
    REPLY,
    RESPONSES_ANSWERED,
    RESPONSES_ASKED,
    RESPONSES_ITEM,
    check,
    chunks,
    prompt_sizes,
    sse,
    usages,
)

CHAT = "https://api.openai.com/v1/chat/completions"


def entry(url: str, asked: Any, answered: Any, at: int = 0, status: int = 200, **content: Any) -> dict[str, Any]:
    posted = {"mimeType": "application/json", "text": json.dumps(asked)}
    text = answered if isinstance(answered, str) else json.dumps(answered)
    return {
        "startedDateTime": f"2025-01-01T00:00:{at:02}.000Z",
        "request": {"method": "POST", "url": url, "headers": [], "postData": posted},
        "response": {"status": status, "content": {"mimeType": "application/json", "text": text, **content}},
    }


PAGE = {"request": {"method": "GET", "url": "https://example.com/"}, "response": {"status": 200, "content": {}}}


def har(*entries: Any) -> str:
    return json.dumps({"log": {"version": "1.2", "creator": {"name": "x"}, "entries": list(entries)}})


def test_a_growing_conversation_among_other_traffic() -> None:
    found = read(har(PAGE, entry(CHAT, ASKED_NEXT, sse(*chunks()), 2), entry(CHAT, ASKED, ANSWERED, 1), PAGE))
    (transcript,) = found.transcripts
    assert found.format == "har"
    assert (found.counts.read, found.counts.used, found.counts.ignored) == (4, 2, 2)
    assert [call.response for call in transcript.calls] == [REPLY, {"role": "assistant", "content": "hello"}]
    assert [call.fidelity for call in transcript.calls] == [Fidelity.CAPTURED] * 2
    assert usages(found) == [(20, 8, None, 5, None)] * 2
    assert transcript.captured(1) == ASKED_NEXT
    assert found.problems == []
    check(found)


@pytest.mark.parametrize(
    ("url", "asked", "answered", "dialect", "response", "usage", "model"),
    [
        (
            "https://api.anthropic.com/v1/messages?beta=true",
            CLAUDE_ASKED,
            CLAUDE_ANSWERED,
            "anthropic",
            {"role": "assistant", "content": CLAUDE_ANSWERED["content"]},
            Usage(15, 10, 2, 4),
            "claude-sonnet-4",
        ),
        (
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
            GEMINI_ASKED,
            sse(GEMINI_ANSWERED),
            "gemini",
            GEMINI_ANSWERED["candidates"][0]["content"],
            Usage(7, output=2),
            "gemini-2.5-flash",
        ),
        (
            "https://x/v1/responses",
            RESPONSES_ASKED,
            RESPONSES_ANSWERED,
            "openai_responses",
            RESPONSES_ITEM,
            Usage(6),
            "gpt-5",
        ),
        (
            "http://localhost:11434/api/chat",
            {"model": "llama3", "messages": ASKED["messages"]},
            '{"model": "llama3", "message": {"content": "a"}, "done": false}\n'
            '{"model": "llama3", "message": {"content": "b"}, "done": true, "prompt_eval_count": 4}\n',
            "openai_chat",
            {"role": "assistant", "content": "ab"},
            Usage(4),
            "llama3",
        ),
        (
            "https://x.openai.azure.com/openai/deployments/my-gpt/chat/completions",
            {"messages": ASKED["messages"]},
            "",
            "openai_chat",
            None,
            Usage(),
            "my-gpt",
        ),
    ],
)
def test_calls_of_each_provider(
    url: str, asked: Any, answered: Any, dialect: str, response: Any, usage: Usage, model: str
) -> None:
    found = read(har(entry(url, asked, answered)))
    (transcript,) = found.transcripts
    (call,) = transcript.calls
    assert (transcript.dialect, call.response, call.usage, call.model) == (dialect, response, usage, model)
    assert transcript.captured(0) == asked
    check(found)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (base64.b64encode(json.dumps(ANSWERED).encode()).decode(), {"encoding": "base64"}),
        (
            json.dumps([base64.b64encode(gzip.compress(json.dumps(ANSWERED).encode())).decode()]),
            {"encoding": "base64", "_isBinary": True},
        ),
    ],
)
def test_packed_responses_are_unpacked(text: str, content: Any) -> None:
    (transcript,) = read(har(entry(CHAT, ASKED, text, **content))).transcripts
    assert transcript.calls[0].response == REPLY


def test_a_body_that_the_recorder_parsed() -> None:
    posted = {"mimeType": "application/json", "textJSON": ASKED}
    one = entry(CHAT, None, ANSWERED)
    found = read(har({**one, "request": {**one["request"], "postData": posted}}))
    assert found.transcripts[0].captured(0) == ASKED


@pytest.mark.parametrize(
    "path",
    ["/v1/messages/count_tokens", "/v1/embeddings", "/v1beta/models/g:countTokens", "/v1/moderations", "/v1/files"],
)
def test_what_takes_much_the_same_body_is_no_call(path: str) -> None:
    found = read(har(entry(f"https://x{path}", ASKED, {"input_tokens": 3})))
    assert (found.transcripts, found.counts.ignored) == ([], 1)
    assert str(found.problems[0]).startswith("the text: no call to a language model is among 1 recorded request.")


def test_a_call_that_failed_and_one_that_is_not_understood() -> None:
    failed = entry(CHAT, ASKED, {"error": {"message": "overloaded"}}, 1, status=529)
    odd = entry(CHAT, {"what": "is this"}, {}, 2)
    found = read(har(failed, odd, {"request": None}))
    assert [str(problem) for problem in found.problems] == [
        "the text, entry 1: the call failed, so there is no response. The request was read.",
        "the text, entry 2: the request is of no known shape. A request of OpenAI, Anthropic or Gemini was expected;"
        " it was left out.",
        "the text, entry 3: the entry holds no request. An object with a request and its response was expected;"
        " it was left out.",
    ]
    assert (found.counts.used, found.counts.broken) == (1, 2)
    assert found.transcripts[0].calls[0].response is None


def converse(*messages: Any) -> dict[str, Any]:
    spec = {"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": {"type": "object"}}}}
    return {
        "system": [{"text": "s"}, {"cachePoint": {"type": "default"}}],
        "messages": list(messages),
        "toolConfig": {"tools": [spec]},
        "inferenceConfig": {"maxTokens": 9},
    }


def test_the_converse_api_of_bedrock() -> None:
    question = {"role": "user", "content": [{"text": "q"}]}
    called = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}}]}
    result = {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": "t1", "content": [{"json": {"x": 1}}], "status": "error"}}],
    }
    usage = {"inputTokens": 3, "cacheReadInputTokens": 10, "outputTokens": 4}
    url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-v2/converse"
    found = read(
        har(
            entry(url, converse(question), {"output": {"message": called}, "usage": usage}, 1),
            entry(url, converse(question, called, result), {"output": {"message": {"content": [{"text": "done"}]}}}, 2),
        )
    )
    (transcript,) = found.transcripts
    assert transcript.dialect == "anthropic"
    assert transcript.captured(1) == {
        "max_tokens": 9,
        "system": [{"type": "text", "text": "s"}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "q"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}]},
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "content": [{"type": "text", "text": '{"x":1}'}],
                        "is_error": True,
                    }
                ],
            },
        ],
        "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}}],
    }
    assert [call.usage for call in transcript.calls] == [Usage(13, 10, None, 4), Usage()]
    assert [call.model for call in transcript.calls] == ["anthropic.claude-v2"] * 2
    assert transcript.calls[1].response == {"role": "assistant", "content": [{"type": "text", "text": "done"}]}
    check(found)


def frame(name: str, payload: dict[str, Any]) -> bytes:
    """Return a frame as Amazon writes it: lengths, headers, the payload as it is, a checksum."""
    headers = b"".join(
        bytes([len(key)]) + key + b"\x07" + len(value).to_bytes(2, "big") + value
        for key, value in (
            (b":event-type", name.encode()),
            (b":content-type", b"application/json"),
            (b":message-type", b"event"),
        )
    )
    return b"\x00\x00\x00\xb5" + headers + json.dumps(payload).encode() + b"\x82vyT"


def test_a_stream_of_the_converse_api() -> None:
    frames = [
        frame("messageStart", {"role": "assistant"}),
        frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "let me "}, "p": "abc"}),
        frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "see"}, "p": "ab"}),
        frame("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t1", "name": "f"}}}),
        frame("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '{"a":'}}}),
        frame("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": " 1}"}}}),
        frame("messageStop", {"stopReason": "tool_use"}),
        frame("metadata", {"usage": {"inputTokens": 13, "cacheReadInputTokens": 100, "outputTokens": 82}}),
    ]
    text = base64.b64encode(b"".join(frames)).decode()
    url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-micro-v1%3A0/converse-stream"
    question = {"role": "user", "content": [{"text": "q"}]}
    (transcript,) = read(har(entry(url, converse(question), text, encoding="base64"))).transcripts
    (call,) = transcript.calls
    used = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}
    assert call.response == {"role": "assistant", "content": [{"type": "text", "text": "let me see"}, used]}
    assert (call.usage, call.model) == (Usage(113, 100, None, 82), "amazon.nova-micro-v1:0")


def test_frames_of_an_event_stream() -> None:
    events = [
        {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 3}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello"}},
    ]
    coded = [base64.b64encode(json.dumps(event).encode()).decode() for event in events]
    text = "".join(f'\x00\x00:event-type chunk{{"bytes":"{one}","p":"abc"}}\x00' for one in coded)
    (transcript,) = read(har(entry("https://x/model/m/invoke-with-response-stream", CLAUDE_ASKED, text))).transcripts
    assert transcript.calls[0].response == {"role": "assistant", "content": [{"type": "text", "text": "hello"}]}
    assert transcript.calls[0].usage == Usage(3)


def test_two_agents_of_one_session_are_two_transcripts() -> None:
    def asked(system: str, *texts: str) -> dict[str, Any]:
        turns = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]
        user = {"user_id": "user_x_session_abc"}
        return {"model": "claude-x", "max_tokens": 9, "metadata": user, "system": system, "messages": turns}

    url = "https://api.anthropic.com/v1/messages"
    found = read(
        har(
            entry(url, asked("You make titles.", "hi"), CLAUDE_ANSWERED, 1),
            entry(url, asked("You are an agent.", "hi"), CLAUDE_ANSWERED, 2),
            entry(url, asked("You are an agent.", "hi", "hello", "more"), CLAUDE_ANSWERED, 3),
        )
    )
    titles, main = found.transcripts
    assert (len(main.calls), main.session, main.meta) == (2, "abc", {})
    assert (len(titles.calls), titles.session, titles.meta["parent_session"]) == (1, "abc/2", "abc")


def test_sourcegraph_speaks_in_its_own_way() -> None:
    asked = {
        "model": "anthropic/claude-3",
        "maxTokensToSample": 9,
        "messages": [
            {"speaker": "system", "text": "s"},
            {"speaker": "human", "text": "q"},
            {"speaker": "assistant", "text": "a"},
            {"speaker": "human", "text": "q2"},
            {"speaker": "assistant"},
        ],
    }
    url = "https://sourcegraph.com/.api/completions/stream?api-version=1"
    whole = 'event: completion\ndata: {"completion":"he"}\n\nevent: completion\ndata: {"completion":"hello"}\n\n'
    pieces = 'event: completion\ndata: {"deltaText":"he"}\n\nevent: completion\ndata: {"deltaText":"llo"}\n\n'
    for answered in (whole, pieces):
        found = read(har(entry(url, asked, answered)))
        (transcript,) = found.transcripts
        assert transcript.captured(0) == {
            "model": "anthropic/claude-3",
            "messages": [
                {"role": "system", "content": "s"},
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": "a"},
                {"role": "user", "content": "q2"},
            ],
            "max_tokens": 9,
        }
        assert transcript.calls[0].response == {"role": "assistant", "content": "hello"}
        assert transcript.calls[0].fidelity is Fidelity.RECONSTRUCTED
        check(found)


def test_a_recording_in_yaml() -> None:
    text = """\
log:
  creator: {name: Polly.JS}
  entries:
    - _id: 1
      startedDateTime: 2025-01-01T00:00:01.000Z
      request:
        method: POST
        url: https://api.openai.com/v1/chat/completions
        postData:
          textJSON:
            model: gpt-4o
            messages:
              - {role: user, content: hi}
      response:
        content:
          text: '{"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "yes"}}]}'
        status: 200
"""
    found = read(text)
    assert (found.format, found.counts.used) == ("har", 1)
    assert found.transcripts[0].calls[0].response == {"role": "assistant", "content": "yes"}
    assert found.transcripts[0].started is not None


def test_a_real_recording_of_an_assistant(transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "har" / "cody-chat-response-quality.har.yaml.gz")
    calls = [call for transcript in found.transcripts for call in transcript.calls]
    assert (found.counts.read, found.counts.used, found.counts.ignored, found.problems) == (97, 83, 14, [])
    assert (len(calls), sum(prompt_sizes(found))) == (83, 704)
    assert sum(len(call.response["content"]) for call in calls if call.response) == 91_271
    bodies = [t.captured(number) for t in found.transcripts for number in range(len(t.calls))]
    assert sum(len(message["content"]) for body in bodies for message in body["messages"]) == 634_300
    assert [
        sum(call.model == name for call in calls)
        for name in ("openai/gpt-3.5-turbo", "anthropic/claude-3-haiku-20240307")
    ] == [20, 21]
    check(found)


def test_a_real_recording_without_models_is_refused(transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "har" / "webarena-verified-107.har.gz")
    assert (found.transcripts, found.counts.read, found.counts.ignored) == ([], 359, 359)
    assert "no call to a language model is among 359 recorded requests" in str(found.problems[0])
