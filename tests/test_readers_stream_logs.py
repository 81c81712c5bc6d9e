"""Logs that hold streamed responses event by event: as JSON Lines, and as server-sent events."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.readers.stream_logs import event_kind
from core.transcript import Usage
from tests.agent_sessions import function_call, item, lines, only, usages

CHUNK = {"id": "c1", "object": "chat.completion.chunk", "model": "gpt-x", "created": 1760829063}


def chunk(delta: dict[str, Any], id: str = "c1", finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {**CHUNK, "id": id, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def chat(id: str = "c1", text: str = "hello", tokens: int = 7) -> list[Any]:
    usage = {"prompt_tokens": tokens, "completion_tokens": 2}
    return [
        chunk({"role": "assistant", "content": ""}, id),
        *(chunk({"content": letter}, id) for letter in text),
        chunk({}, id, "stop"),
        {**CHUNK, "id": id, "choices": [], "usage": usage},
    ]


def claude(id: str = "m1", output: int = 9) -> list[Any]:
    compaction = {"type": "compaction_delta", "content": "summary"}
    return [
        {"type": "message_start", "message": {"id": id, "model": "claude-x", "usage": {"input_tokens": 5}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "compaction", "content": None}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": compaction},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "hi"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": output}},
        {"type": "message_stop"},
    ]


def responses(id: str = "r1", *output: Any, tokens: int = 7) -> list[Any]:
    base = {"id": id, "object": "response", "model": "gpt-x"}
    added = [{"type": "response.output_item.done", "output_index": n, "item": made} for n, made in enumerate(output)]
    whole = {**base, "output": list(output), "usage": {"input_tokens": tokens, "output_tokens": 2}}
    return [
        {"type": "response.created", "response": {**base, "output": []}},
        *added,
        {"type": "response.completed", "response": whole},
    ]


def sse(events: list[Any], done: bool = True) -> str:
    text = "".join(f"event: {event.get('type', 'x')}\ndata: {json.dumps(event)}\n\n" for event in events)
    return text + ("data: [DONE]\n\n" if done else "")


def test_chunks_of_a_chat() -> None:
    transcript = only(chat())
    (call,) = transcript.calls
    assert (call.response, call.usage, call.model) == (
        {"role": "assistant", "content": "hello"},
        Usage(7, output=2),
        "gpt-x",
    )
    assert (transcript.dialect, transcript.notes) == ("openai_chat", ("prompt not recorded",))


def test_events_of_claude_with_a_compaction() -> None:
    transcript = only(claude())
    (call,) = transcript.calls
    content = [{"type": "compaction", "content": "summary"}, {"type": "text", "text": "hi"}]
    assert (call.response, call.usage) == ({"role": "assistant", "content": content}, Usage(5, output=9))
    assert transcript.notes == ("prompt not recorded", "the provider compacted the conversation during call 1")


def test_events_of_responses() -> None:
    output = [function_call("c1"), item("assistant", "a")]
    transcript = only(responses("r1", *output))
    assert transcript.calls[0].response == {"role": "assistant", "output": output}
    assert usages(transcript) == [Usage(7, output=2)]


@pytest.mark.parametrize("write", [chat, claude, lambda: responses("r1", item("assistant", "a"))])
def test_server_sent_events_say_the_same_as_lines(write: Any) -> None:
    events = write()
    found = read(sse(events))
    assert found.problems == []
    assert found.transcripts[0].calls == only(events).calls
    assert (found.counts.read, found.counts.used, found.counts.ignored) == (len(events) + 1, len(events), 1)


@pytest.mark.parametrize("write", [chat, claude, lambda: responses("r1", item("assistant", "a"))])
def test_events_in_one_list(write: Any) -> None:
    found = read(json.dumps(write()))
    assert found.transcripts[0].calls == only(write()).calls
    assert (found.counts.read, found.counts.used, found.problems) == (1, 1, [])


def test_each_stream_is_a_response_of_its_own() -> None:
    events = [*chat("a", "one"), *chat("b", "two"), *claude(), *claude("m2")]
    found = read(lines(events))
    assert len(found.transcripts) == 4
    assert found.counts.used == len(events)


def test_streams_that_arrive_side_by_side() -> None:
    one, two = chat("a", "hello", 1), chat("b", "howdy", 2)
    mixed = [event for pair in zip(one, two, strict=True) for event in pair]
    found = read(lines(mixed))
    said = [transcript.calls[0].response for transcript in found.transcripts]
    assert said == [{"role": "assistant", "content": text} for text in ("hello", "howdy")]
    assert [transcript.calls[0].usage.input for transcript in found.transcripts] == [1, 2]


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (chat(tokens=1), chat(tokens=9)),
        (claude(output=1), claude(output=9)),
        (responses("r"), responses("r", tokens=9)),
    ],
    ids=["chat", "claude", "responses"],
)
def test_a_stream_logged_twice_counts_once_with_its_last_usage(first: list[Any], again: list[Any]) -> None:
    found = read(lines([*first, *again]))
    (transcript,) = found.transcripts
    assert 9 in (transcript.calls[0].usage.input, transcript.calls[0].usage.output)
    assert (found.counts.used, found.counts.ignored) == (len(again), len(first))


def test_a_stream_that_broke_off_gives_what_had_arrived() -> None:
    (call,) = only(chat()[:4]).calls
    assert call.response == {"role": "assistant", "content": "hel"}


def test_streams_beside_requests() -> None:
    request = {"model": "gpt-x", "messages": [{"role": "user", "content": "hi"}]}
    found = read(lines([request, *chat(), request]), format="openai_chat")
    assert (len(found.transcripts), found.counts.broken) == (2, 0)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("data: {\n\ndata: {}\n", "line 1: the data of the event is not JSON"),
        ('data: {"a": 1}\nnonsense\n', "line 2: this is no line of an event stream"),
    ],
)
def test_broken_events(text: str, problem: str) -> None:
    found = read(text)
    assert any(problem in str(told) for told in found.problems)
    assert found.counts.read == found.counts.broken + found.counts.used + found.counts.ignored


def test_a_value_over_several_data_lines() -> None:
    text = json.dumps(chat()[1], indent=1).replace("\n", "\ndata: ")
    found = read(f": comment\nid: 1\ndata: {text}\n\n{sse(chat()[2:])}")
    assert found.transcripts[0].calls[0].response == {"role": "assistant", "content": "hello"}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (chat()[0], "openai_chat"),
        (claude()[0], "anthropic"),
        (responses()[0], "openai_responses"),
        ({"candidates": []}, "gemini"),
        ({"type": "user"}, ""),
        ({"choices": [{"message": {}}]}, ""),
        ({"type": ["x"]}, ""),
        (None, ""),
    ],
)
def test_kinds_of_events(value: Any, kind: str) -> None:
    assert event_kind(value) == kind


def test_real_streams(transcripts_folder: Path) -> None:
    folder = transcripts_folder / "openai-responses"
    streamed = read(folder / "msaf-streaming.response.sse.txt")
    assert usages(streamed.transcripts[0]) == [Usage(16, 0, None, 200, 0)]
    assert (streamed.counts.read, streamed.problems) == (208, [])
    response = streamed.transcripts[0].calls[0].response
    assert response is not None and len(response["content"][0]["text"]) == 912
    chunks = read(folder / "vercel-reasoning-encrypted.chunks.txt")
    figures = [(call.usage.input, call.usage.output) for made in chunks.transcripts for call in made.calls]
    assert figures == [(134, 28), (221, 26), (260, 26), (299, 12)]
    assert (chunks.counts.read, chunks.problems) == (110, [])


def test_a_real_compaction_of_claude(transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "anthropic-messages" / "vercel-compaction.chunks.txt")
    (call,) = found.transcripts[0].calls
    assert call.response is not None
    summary, answer = call.response["content"]
    assert (len(summary["content"]), len(answer["text"])) == (2192, 8512)
    assert (call.usage, found.counts.read) == (Usage(60_385 + 612, 0, 0, 522 + 2819), 749)
