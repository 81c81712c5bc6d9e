"""Gemini bodies, responses and contents; chats and recordings of Gemini CLI; sessions of Qwen Code."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity, Usage
from tests.agent_sessions import (
    gemini_chat,
    gemini_reply,
    gemini_tool,
    gemini_user,
    lines,
    only,
    prompts,
    qwen_line,
    qwen_session,
    usages,
)

NOTHING = ("system prompt not recorded", "tool definitions not recorded")


def content(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


CALL = {"functionCall": {"name": "ls", "args": {"dir": "."}}}
ANSWER = {"functionResponse": {"name": "ls", "response": {"output": "a.txt"}}}
TALK = [content("user", "hi"), content("model", CALL), content("user", ANSWER), content("model", "one file")]
RESPONSE = {
    "candidates": [{"content": content("model", "one file"), "finishReason": "STOP"}],
    "usageMetadata": {
        "promptTokenCount": 10,
        "cachedContentTokenCount": 4,
        "toolUsePromptTokenCount": 2,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 3,
        "totalTokenCount": 20,
    },
    "modelVersion": "gemini-x-001",
}


def test_a_request() -> None:
    body = {"systemInstruction": {"parts": [{"text": "s"}]}, "contents": TALK[:3], "tools": [{"googleSearch": {}}]}
    transcript = only(body)
    assert [(call.captured, call.response, call.fidelity) for call in transcript.calls] == [
        (0, TALK[1], Fidelity.RECONSTRUCTED),
        (2, None, Fidelity.CAPTURED),
    ]
    assert transcript.captured(1) == body
    assert (transcript.dialect, transcript.title, transcript.notes) == ("gemini", "hi", ())


def test_a_bare_list_and_a_checkpoint_are_the_same_talk() -> None:
    for written in (TALK, {"history": TALK, "authType": "x"}, {"contents": TALK}):
        transcript = only(written)
        assert prompts(transcript) == [TALK[:1], TALK[:3]]
        assert {call.fidelity for call in transcript.calls} == {Fidelity.RECONSTRUCTED}
        assert transcript.notes == ("system prompt not recorded", "tool definitions not recorded")


def test_contents_one_a_line() -> None:
    assert prompts(only(TALK)) == [TALK[:1], TALK[:3]]
    assert prompts(only(lines(TALK) and TALK)) == prompts(only([*TALK]))
    found = read(lines(TALK))
    assert (found.format, found.counts.used, len(found.transcripts)) == ("gemini", 4, 1)


def test_neighbouring_contents_of_the_model_are_one_reply() -> None:
    transcript = only([[content("user", "hi"), content("model", "a"), content("model", "b"), content("user", "c")]])
    assert [call.response for call in transcript.calls] == [content("model", "a", "b"), None]


def test_a_request_with_its_response_is_one_call() -> None:
    pair = {
        "request": {"contents": TALK[:3]},
        "response": RESPONSE,
        "url": "https://x/v1/models/gemini-x:generateContent",
    }
    transcript = only(pair)
    (call,) = transcript.calls
    assert (call.response, call.usage) == (TALK[3], Usage(12, 4, None, 8, 3))
    assert (call.model, call.fidelity) == ("gemini-x-001", Fidelity.CAPTURED)


def test_the_model_may_stand_in_the_address() -> None:
    record = {"url": "https://x/v1beta/models/gemini-2:streamGenerateContent", "request": {"contents": TALK[:1]}}
    assert only(record).calls[0].model == "gemini-2"


def test_settings_as_the_library_takes_them() -> None:
    config = {"system_instruction": "s", "tools": [{"googleSearch": {}}], "temperature": 1}
    transcript = only({"model": "gemini-x", "contents": TALK[:1], "config": config})
    assert transcript.captured(0) == {
        "model": "gemini-x",
        "contents": TALK[:1],
        "system_instruction": "s",
        "tools": [{"googleSearch": {}}],
        "generationConfig": {"temperature": 1},
    }


def test_a_response_alone_and_its_chunks() -> None:
    chunk = {"candidates": [{"content": content("model", "one ")}], "usageMetadata": {"promptTokenCount": 10}}
    rest = {**RESPONSE, "candidates": [{"content": content("model", "file"), "finishReason": "STOP"}]}
    for records in ([RESPONSE], [chunk, rest]):
        transcript = only(records)
        (call,) = transcript.calls
        assert (call.response, call.usage, call.fidelity) == (TALK[3], Usage(12, 4, None, 8, 3), Fidelity.PARTIAL)
        assert transcript.notes == ("prompt not recorded",)


def test_the_chunks_of_a_stream_in_one_list() -> None:
    chunk = {"candidates": [{"content": content("model", "one ")}]}
    rest = {**RESPONSE, "candidates": [{"content": content("model", "file"), "finishReason": "STOP"}]}
    (call,) = only([[chunk, rest]]).calls
    assert (call.response, call.usage.input) == (TALK[3], 12)


def test_a_chat() -> None:
    transcript = only(gemini_chat())
    call = {"functionCall": {"id": "t1", "name": "ls", "args": {"dir": "."}}}
    result = gemini_tool("t1")["result"]
    asked = content("user", "list files")
    assert prompts(transcript) == [[asked], [asked, content("model", call), {"role": "user", "parts": result}]]
    thought = {"text": "Look\nfirst", "thought": True}
    assert [made.response for made in transcript.calls] == [content("model", thought, call), content("model", "a.txt")]
    assert usages(transcript) == [Usage(11, 4, None, 5, 3), Usage(20, output=3)]
    assert transcript.calls[0].at == datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert {(made.model, made.fidelity) for made in transcript.calls} == {("gemini-x", Fidelity.PARTIAL)}
    assert (transcript.session, transcript.title, transcript.notes) == ("s1", "list files", NOTHING)
    assert transcript.meta == {"kind": "main", "projectHash": "h", "ignored": {"$set": 1, "info": 1}}


def test_the_document_of_2025_says_the_same() -> None:
    header, *messages = gemini_chat()
    written = [message for message in messages if "$set" not in message and message.get("thoughts") != []]
    document = {**header, "messages": written[:1] + written[2:]}
    document_read, log = only(document), only(gemini_chat())
    assert (document_read.messages, document_read.calls) == (log.messages, log.calls)


def test_several_chats_in_one_file() -> None:
    def chat(name: str) -> dict[str, Any]:
        return {"sessionId": name, "projectHash": "h", "messages": [gemini_user("u", name), gemini_reply("g", "a")]}

    found = read(lines([chat("one"), chat("two")]))
    assert [transcript.session for transcript in found.transcripts] == ["one", "two"]


def test_a_message_written_again_is_the_last_one() -> None:
    head = gemini_chat()[0]
    talk = [gemini_user("u", "q"), gemini_reply("g", "a", {"input": 1}), gemini_reply("g", "b", {"input": 9})]
    transcript = only([head, *talk])
    assert [(call.response, call.usage.input) for call in transcript.calls] == [(content("model", "b"), 9)]


@pytest.mark.parametrize(("target", "left"), [("u2", ["q1", "e"]), ("unknown", ["e"])])
def test_a_rewind_takes_back_its_target_and_what_follows(target: str, left: list[str]) -> None:
    talk = [gemini_user("u1", "q1"), gemini_user("u2", "q2"), gemini_reply("g", "a"), {"$rewindTo": target}]
    transcript = only([gemini_chat()[0], *talk, gemini_user("u3", "e"), gemini_reply("g2", "b")])
    assert prompts(transcript) == [[content("user", text) for text in left]]


def test_a_compression_begins_the_window_anew() -> None:
    summary = gemini_user("s", "summary")
    talk = [gemini_user("u1", "q1"), gemini_reply("g1", "a"), {"$set": {"messages": [summary]}}]
    transcript = only([gemini_chat()[0], *talk, gemini_user("u2", "q2"), gemini_reply("g2", "b")])
    asked = [content("user", "q1"), content("model", "a"), content("user", "q2")]
    assert prompts(transcript)[1] == [content("user", "summary"), content("user", "q2")]
    assert prompts(transcript, history=True)[1] == asked
    assert "the conversation was compacted before call 2" in transcript.notes


def test_the_messages_of_a_resumed_session_are_no_compression() -> None:
    talk = [gemini_user("u1", "q1"), gemini_reply("g1", "a")]
    head = gemini_chat()[0]
    for records in ([{**head, "messages": talk}], [head, *talk, {"$set": {"messages": talk}}]):
        transcript = only([*records, gemini_user("u2", "q2"), gemini_reply("g2", "b")])
        assert prompts(transcript)[1] == [content("user", "q1"), content("model", "a"), content("user", "q2")]
        assert transcript.notes == NOTHING


@pytest.mark.parametrize(
    ("call", "results"),
    [
        ({"id": "t", "name": "ls", "args": {}, "status": "cancelled", "resultDisplay": "stopped"}, ["stopped"]),
        ({"id": "t", "name": "ls", "args": {}, "status": "executing"}, []),
        ({"id": "t", "name": "ls", "args": {}, "status": "error", "result": [{"text": "no"}]}, ["no"]),
    ],
)
def test_results_of_calls_that_did_not_succeed(call: dict[str, Any], results: list[str]) -> None:
    transcript = only([gemini_chat()[0], gemini_user("u", "q"), gemini_reply("g", "", toolCalls=[call])])
    answered = [{"functionResponse": {"id": "t", "name": "ls", "response": {"output": output}}} for output in results]
    last = transcript.messages[-1]
    assert last == (
        {"role": "user", "parts": answered} if answered else content("model", {"functionCall": last_call(call)})
    )


def last_call(call: dict[str, Any]) -> dict[str, Any]:
    return {"id": call["id"], "name": call["name"], "args": call["args"]}


def test_what_a_command_put_in_is_not_the_title() -> None:
    typed = {**gemini_user("u", "long instructions"), "displayContent": [{"text": "/init"}]}
    assert only([gemini_chat()[0], typed, gemini_reply("g", "a")]).title == "/init"


def test_lines_of_another_kind_are_broken() -> None:
    found = read(lines([*gemini_chat(), {"x": 1}, 3]))
    assert (found.counts.read, found.counts.used, found.counts.ignored, found.counts.broken) == (9, 5, 2, 2)
    assert "this is no record of a Gemini CLI chat" in str(found.problems[0])


def test_recorded_answers_are_calls_of_one_transcript() -> None:
    stream = [
        {"candidates": [{"content": content("model", "one ")}]},
        {**RESPONSE, "candidates": [{"content": content("model", "file")}]},
    ]
    records = [
        {"method": "generateContentStream", "response": stream},
        {"method": "countTokens", "response": {"totalTokens": 3}},
        {"method": "generateContent", "response": RESPONSE},
        {"method": "generateContent", "response": "?"},
    ]
    found = read(lines(records))
    (transcript,) = found.transcripts
    assert [call.response for call in transcript.calls] == [TALK[3], TALK[3]]
    assert usages(transcript) == [Usage(12, 4, None, 8, 3)] * 2
    assert transcript.notes == ("prompts not recorded",)
    assert (found.counts.used, found.counts.ignored, found.counts.broken) == (2, 1, 1)
    assert str(found.problems[0]).startswith("the text, line 4: the answer is of no known shape.")


def test_a_session_of_qwen_code() -> None:
    transcript = only(qwen_session())
    calls = [{"functionCall": {"id": name, "name": "ls", "args": {}}} for name in ("t1", "t2")]
    results = [{"functionResponse": {"id": name, "name": "ls", "response": {"output": name}}} for name in ("t1", "t2")]
    asked = content("user", "list files")
    assert prompts(transcript) == [[asked], [asked, content("model", *calls), content("user", *results)]]
    assert usages(transcript) == [Usage(10, 5, None, 5, 1), Usage()]
    assert (transcript.dialect, transcript.format, transcript.session) == ("gemini", "qwen_code", "s1")
    assert transcript.meta == {"cwd": "/w", "window": 1000, "ignored": {"system/ui_telemetry": 1}}


def test_branches_of_qwen_code() -> None:
    records = [
        qwen_line("user", "u1", None, [{"text": "a"}]),
        qwen_line("assistant", "u2", "u1", [{"text": "b"}]),
        qwen_line("user", "u3", "u2", [{"text": "c"}]),
        qwen_line("assistant", "u4", "u3", [{"text": "d"}]),
        qwen_line("user", "u5", "u2", [{"text": "e"}]),
        qwen_line("assistant", "u6", "u5", [{"text": "f"}]),
    ]
    transcript = only(records)
    assert prompts(transcript)[2] == [content("user", "a"), content("model", "b"), content("user", "e")]
    assert transcript.notes == (*NOTHING, "1 call stands on branches that were given up")


def test_a_compression_of_qwen_code() -> None:
    history = [content("user", "summary"), content("model", "ok")]
    records = [
        qwen_line("user", "u1", None, [{"text": "a"}]),
        qwen_line("assistant", "u2", "u1", [{"text": "b"}]),
        qwen_line("system", "u3", "u2", subtype="chat_compression", systemPayload={"compressedHistory": history}),
        qwen_line("user", "u4", "u3", [{"text": "c"}]),
        qwen_line("assistant", "u5", "u4", [{"text": "d"}]),
    ]
    transcript = only(records)
    assert prompts(transcript)[1] == [*history, content("user", "c")]
    assert prompts(transcript, history=True)[1] == [content("user", "a"), content("model", "b"), content("user", "c")]


def test_copies_of_lines_of_qwen_code() -> None:
    records = qwen_session()
    found = read(lines([*records, records[0]]))
    assert (len(found.transcripts[0].calls), found.counts.ignored) == (2, 2)


def test_real_contents(transcripts_folder: Path) -> None:
    """One result of the file answers a call that is not in it."""
    found = read(transcripts_folder / "gemini-contents" / "gemini-cli-trajectory.json")
    (transcript,) = found.transcripts
    assert (len(transcript.messages), len(transcript.calls), len(found.problems)) == (105, 51, 1)
    parts = [part for message in transcript.messages for part in message["parts"]]
    assert sum("functionCall" in part for part in parts) == 45
    assert sum("functionResponse" in part for part in parts) == 46
    assert "no call before it has this id" in str(found.problems[0])


def test_real_requests_and_responses(transcripts_folder: Path) -> None:
    (request,) = read(transcripts_folder / "gemini-contents" / "pydantic-multi-tool.request.json").transcripts
    assert (len(request.messages), len(request.calls), request.notes) == (11, 6, ())
    (response,) = read(transcripts_folder / "gemini-contents" / "pydantic-code-exec.response.json").transcripts
    assert usages(response) == [Usage(893 + 3056, None, None, 106 + 1312, 1312)]
    assert response.models == ("gemini-3-flash-preview",)


def test_a_real_chat(transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "gemini-cli" / "vct-chats-2026-04.jsonl")
    (transcript,) = found.transcripts
    figures = [(usage.input or 0, usage.output or 0, usage.cache_read or 0) for usage in usages(transcript)]
    assert [sum(column) for column in zip(*figures, strict=True)] == [202586, 4293, 48951]
    parts = [part for message in transcript.messages for part in message["parts"]]
    assert sum("functionCall" in part for part in parts) == sum("functionResponse" in part for part in parts) == 12
    assert (len(transcript.calls), found.problems, found.counts.read) == (6, [], 28)


def test_a_real_document_and_real_recordings(transcripts_folder: Path) -> None:
    (chat,) = read(transcripts_folder / "gemini-cli" / "agent-sessions-large.json").transcripts
    assert [(usage.input, usage.output) for usage in usages(chat)] == [(100, 10), *[(None, None)] * 3]
    assert len(chat.messages) == 8
    (recorded,) = read(transcripts_folder / "gemini-cli" / "context-compress.responses").transcripts
    assert [usage.input for usage in usages(recorded)] == [12282, 12282, 1223, 1223]
    assert [usage.output for usage in usages(recorded)] == [None, 224 + 44, 424, 424]
    assert [usage.cache_read for usage in usages(recorded)] == [None, 11883, None, None]
