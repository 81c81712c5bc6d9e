"""OpenAI Responses: requests, responses, pairs, lists of items; what tells them from other records."""

from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.readers.shapes import has_contents, has_input, is_body, is_content, is_item, is_response
from core.transcript import Fidelity, Usage
from tests.agent_sessions import function_call, function_output, item, lines, only, prompts, reasoning, usages

TALK = [
    item("user", "list files"),
    reasoning(),
    function_call("c1"),
    function_output("c1"),
    item("assistant", "one file"),
    item("user", "thanks"),
]
USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 3},
}
RESPONSE = {"id": "r1", "object": "response", "model": "gpt-x-1", "created_at": 1760829063, "usage": USAGE}


def response(*output: Any, **more: Any) -> dict[str, Any]:
    return {**RESPONSE, "output": list(output), **more}


def reply(*items: Any) -> dict[str, Any]:
    return {"role": "assistant", "output": list(items)}


def test_a_request_that_shows_earlier_calls() -> None:
    body = {"model": "gpt-x", "instructions": "s", "input": TALK, "tools": [{"type": "web_search"}]}
    transcript = only(body)
    assert prompts(transcript) == [TALK[:1], TALK[:4], TALK]
    assert [call.response for call in transcript.calls] == [reply(*TALK[1:3]), TALK[4], None]
    kinds = [Fidelity.RECONSTRUCTED, Fidelity.RECONSTRUCTED, Fidelity.CAPTURED]
    assert [call.fidelity for call in transcript.calls] == kinds
    assert transcript.captured(2) == body
    assert (transcript.dialect, transcript.format, transcript.title) == (*["openai_responses"] * 2, "list files")


def test_a_request_of_one_text() -> None:
    body = {"model": "gpt-x", "input": "hello", "stream": True}
    transcript = only(body)
    assert transcript.captured(0) == body
    assert (len(transcript.calls), transcript.calls[0].model, transcript.title) == (1, "gpt-x", "hello")


def test_a_request_with_its_response_is_one_call() -> None:
    pair = {"request": {"model": "gpt-x", "input": TALK[:1]}, "response": response(*TALK[1:3])}
    (call,) = only(pair).calls
    assert (call.response, call.usage) == (reply(*TALK[1:3]), Usage(10, 4, None, 5, 3))
    assert (call.model, call.fidelity) == ("gpt-x-1", Fidelity.CAPTURED)


def test_a_growing_run_is_one_transcript() -> None:
    bodies = [
        {"model": "gpt-x", "input": TALK[:1]},
        {"model": "gpt-x", "input": TALK[:4]},
        {"model": "gpt-x", "input": TALK},
    ]
    transcript = only(bodies)
    assert prompts(transcript) == [TALK[:1], TALK[:4], TALK]
    assert [call.response for call in transcript.calls] == [reply(*TALK[1:3]), TALK[4], None]
    assert {call.fidelity for call in transcript.calls} == {Fidelity.CAPTURED}


@pytest.mark.parametrize(
    "more", [{"previous_response_id": "r0"}, {"conversation": "conv_1"}, {"conversation": {"id": "c"}}]
)
def test_what_the_provider_keeps_is_missing(more: dict[str, Any]) -> None:
    transcript = only({"model": "gpt-x", "input": TALK[:1], **more})
    assert transcript.calls[0].fidelity is Fidelity.PARTIAL
    assert transcript.notes == ("earlier items of the conversation are kept by the provider and not recorded",)


def test_what_the_provider_keeps_is_known_from_the_log() -> None:
    """Each request names the response before it; the log holds both, so the whole input is written out."""
    first = {"request": {"model": "gpt-x", "input": "list files"}, "response": response(*TALK[1:3])}
    second = {
        "request": {"model": "gpt-x", "input": TALK[3:4], "previous_response_id": "r1"},
        "response": response(TALK[4], id="r2"),
    }
    third = {
        "request": {"model": "gpt-x", "input": TALK[5:], "previous_response_id": "r2"},
        "response": response(id="r3"),
    }
    transcript = only([first, second, third])
    asked = {"role": "user", "content": "list files"}
    assert prompts(transcript) == [[asked], [asked, *TALK[1:4]], [asked, *TALK[1:]]]
    kinds = [Fidelity.CAPTURED, Fidelity.RECONSTRUCTED, Fidelity.RECONSTRUCTED]
    assert [call.fidelity for call in transcript.calls] == kinds
    assert "previous_response_id" not in transcript.captured(1)
    note = "what the provider kept of the conversation was put before what the requests sent"
    assert transcript.notes == (note,)


def test_requests_of_one_conversation_are_one_transcript() -> None:
    records = [{"model": "gpt-x", "conversation": "conv_1", "input": text} for text in ("a", "b")]
    transcript = only(records)
    assert (len(transcript.calls), transcript.session) == (2, "conv_1")


def test_a_response_alone_repeats_instructions_and_tools() -> None:
    tools = [{"type": "function", "name": "f", "parameters": {}}]
    transcript = only(response(TALK[4], instructions="s", tools=tools, temperature=1))
    (call,) = transcript.calls
    assert transcript.captured(0) == {"model": "gpt-x-1", "instructions": "s", "tools": tools, "input": []}
    assert (call.response, call.fidelity, transcript.notes) == (TALK[4], Fidelity.PARTIAL, ("prompt not recorded",))


def test_a_response_that_compacted_says_so() -> None:
    transcript = only(response(TALK[4], {"type": "compaction", "id": "cmp", "encrypted_content": "x"}))
    assert transcript.notes == ("prompt not recorded", "the provider compacted the conversation during call 1")


@pytest.mark.parametrize(
    "written",
    [[TALK], {"object": "list", "data": TALK, "has_more": False}, {"input": TALK}],
    ids=["a bare list", "a conversation's items", "only the input"],
)
def test_lists_of_items(written: Any) -> None:
    transcript = only(written)
    assert prompts(transcript) == [TALK[:1], TALK[:4], TALK]
    assert {call.fidelity for call in transcript.calls} == {Fidelity.RECONSTRUCTED}
    assert transcript.notes == ("system prompt not recorded", "tool definitions not recorded")


def test_items_one_a_line() -> None:
    found = read(lines(TALK))
    assert (found.format, found.counts.read, found.counts.used) == ("openai_responses", 6, 6)
    assert prompts(found.transcripts[0]) == [TALK[:1], TALK[:4], TALK]


def test_a_call_with_its_result_in_one_item() -> None:
    call = {"type": "mcp_call", "id": "m1", "name": "ask", "arguments": "{}", "output": "yes", "server_label": "s"}
    listed = {"type": "mcp_list_tools", "id": "l1", "server_label": "s", "tools": []}
    talk = [item("user", "hi"), listed, reasoning(), call, item("assistant", "yes"), item("user", "ok")]
    transcript = only({"model": "gpt-x", "input": talk})
    assert [made.response for made in transcript.calls] == [reply(*talk[1:5]), None]


def test_tools_that_are_added_later_are_no_reply() -> None:
    added = {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "f"}]}
    talk = [
        item("user", "hi"),
        function_call("c1"),
        function_output("c1"),
        added,
        function_call("c2"),
        function_output("c2"),
    ]
    assert [call.response for call in only({"model": "gpt-x", "input": talk}).calls] == [talk[1], talk[4], None]


def test_lines_of_a_batch_file() -> None:
    body = {"model": "gpt-x", "input": TALK[:1]}
    request = {"custom_id": "1", "method": "POST", "url": "/v1/responses", "body": body}
    answer = {"custom_id": "1", "response": {"status_code": 200, "body": response(TALK[4])}}
    assert only(request).captured(0) == body
    assert usages(only(answer)) == [Usage(10, 4, None, 5, 3)]


SHAPES: list[tuple[Any, bool]] = [
    ({"model": "gpt-x", "input": "a"}, True),
    ({"model": "text-embedding-3", "input": "a"}, False),
    ({"model": "tts", "input": "a", "voice": "b"}, False),
    ({"input": "a", "output": "b"}, False),
    ({"model": "gpt-x", "input": [{"role": "user", "content": "a"}]}, True),
    ({"input": [{"role": "user", "content": "a"}], "type": "GENERATION"}, False),
    ({"model": "gpt-x", "input": ["a", "b"]}, False),
    ({"input": [function_call("c")]}, True),
    ({"model": "gpt-x", "input": [], "messages": []}, False),
    ({"input": None}, False),
]


@pytest.mark.parametrize(("value", "is_request"), SHAPES)
def test_what_is_a_request(value: Any, is_request: bool) -> None:
    assert has_input(value) is is_request


def test_what_is_an_item_and_what_a_content() -> None:
    assert [is_item(value) for value in (*TALK, {"role": "user", "content": "a"}, {"type": "reasoning"}, None)] == [
        *[True] * 6,
        *[False] * 3,
    ]
    said = {"role": "user", "parts": [{"text": "a"}]}
    others = [
        {"role": "user", "parts": [{"type": "text", "text": "a"}]},
        {"role": "assistant", "parts": []},
        {"parts": 1},
    ]
    assert [is_content(value) for value in (said, *others)] == [True, False, False, False]
    assert has_contents({"contents": [said]})
    assert not has_contents({"contents": "a"})
    assert is_body({"contents": "a", "generationConfig": {}})
    assert not is_response(item("assistant", "a"))


def test_real_requests(transcripts_folder: Path) -> None:
    folder = transcripts_folder / "openai-responses"
    (deferred,) = read(folder / "pydantic-deferred-tools-12-items.request.json").transcripts
    assert (len(deferred.messages), [call.captured for call in deferred.calls]) == (12, [0, 4, 6, 8, 11])
    (mcp,) = read(folder / "pydantic-mcp-server-tool.request.json").transcripts
    assert (len(mcp.messages), [call.captured for call in mcp.calls]) == (7, [0, 6])
    (tool,) = read(folder / "msaf-tool-call.request.json").transcripts
    assert (len(tool.messages), len(tool.calls), tool.models) == (1, 1, ("gpt-4o-mini",))


RESPONSES = [
    ("msaf-tool-call.response.json", Usage(76, 0, None, 23, 0), 1),
    ("vercel-compaction.response.json", Usage(51097, 0, None, 2056, 0), 2),
    ("vercel-mcp-tool.response.json", Usage(6700, 0, None, 1078, 704), 5),
]


@pytest.mark.parametrize(("name", "usage", "items"), RESPONSES)
def test_real_responses(name: str, usage: Usage, items: int, transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "openai-responses" / name)
    (transcript,) = found.transcripts
    (call,) = transcript.calls
    assert (call.usage, found.problems) == (usage, [])
    assert call.response is not None and len(call.response.get("output", [1])) == items
