import json
from datetime import UTC, datetime
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity, Usage
from core.wire import dump
from tests.chats import SYSTEM, body, calling, completion, lines, only, prompts, responses, result, said, user

# One conversation, its calls inferred


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([SYSTEM, user("a")], [([SYSTEM, user("a")], None)]),
        ([SYSTEM, user("a"), said("b")], [([SYSTEM, user("a")], said("b"))]),
        (
            [user("a"), said("b"), user("c")],
            [([user("a")], said("b")), ([user("a"), said("b"), user("c")], None)],
        ),
        (
            [user("a"), calling("1", "2"), result("1"), result("2"), said("b")],
            [
                ([user("a")], calling("1", "2")),
                ([user("a"), calling("1", "2"), result("1"), result("2")], said("b")),
            ],
        ),
        ([said("hello"), user("a")], [([], said("hello")), ([said("hello"), user("a")], None)]),
        ([SYSTEM], [([SYSTEM], None)]),
    ],
)
@pytest.mark.parametrize("shape", ["list", "body", "messages only", "list in JSON Lines", "one message a line"])
def test_one_call_per_assistant_message(messages: list[Any], expected: list[Any], shape: str) -> None:
    content = {
        "list": json.dumps(messages),
        "body": json.dumps(body(*messages)),
        "messages only": json.dumps({"messages": messages}),
        "list in JSON Lines": json.dumps(messages) + "\n",
        "one message a line": lines(messages),
    }[shape]
    transcript = only(content)
    assert list(zip(prompts(transcript), responses(transcript), strict=True)) == expected
    assert (transcript.dialect, transcript.format) == ("openai_chat", "openai_chat")
    lacks = {
        "system prompt not recorded": SYSTEM not in messages,
        "tool definitions not recorded": any("tool_calls" in message for message in messages),
    }
    assert transcript.notes == tuple(note for note, is_so in lacks.items() if is_so and shape != "body")
    assert len(transcript.messages) == len([message for message in messages if message != SYSTEM])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([user("a"), said("b"), user("c")], [Fidelity.RECONSTRUCTED, Fidelity.RECONSTRUCTED]),
        (body(user("a"), said("b"), user("c")), [Fidelity.RECONSTRUCTED, Fidelity.CAPTURED]),
        (body(user("a"), said("b")), [Fidelity.RECONSTRUCTED]),
        ({"request": body(user("a")), "response": completion(said("b"))}, [Fidelity.CAPTURED]),
        (completion(said("b")), [Fidelity.PARTIAL]),
    ],
)
def test_fidelity(content: Any, expected: list[Fidelity]) -> None:
    assert [call.fidelity for call in only(content).calls] == expected


def test_a_body_keeps_unknown_keys_marks_and_order() -> None:
    mark = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
    request = {"zeta": 1, "messages": [SYSTEM, {"content": [mark], "role": "user"}], "model": "m", "tools": []}
    assert dump(only(request).captured(0)) == dump(request)


def test_a_data_sets_row_is_not_sent() -> None:
    row = {"id": 7, "messages": [SYSTEM, user("a"), said("b")], "answer": "b", "tools": [{"type": "x"}]}
    transcript = only(row)
    assert transcript.captured(0) == {"messages": [SYSTEM, user("a")], "tools": [{"type": "x"}]}
    assert transcript.meta == {"id": 7, "answer": "b"}


def test_fine_tuning_lines_are_a_transcript_each() -> None:
    rows = [{"messages": [SYSTEM, user("same"), said(f"{n}")]} for n in range(5)] + [
        {"messages": [user("x"), said("y")]}
    ] * 2
    found = read(lines(rows))
    assert [responses(transcript) for transcript in found.transcripts] == [
        *([said(f"{n}")] for n in range(5)),
        [said("y")],
        [said("y")],
    ]
    assert (found.counts.read, found.counts.used, found.problems) == (7, 7, [])


def test_a_list_of_conversations_or_bodies() -> None:
    assert len(read(json.dumps([[user("a"), said("b")], [user("c")]])).transcripts) == 2
    assert len(read(json.dumps([body(user("a")), body(user("c"))])).transcripts) == 2


def test_batch_lines() -> None:
    asked = [
        {"custom_id": f"{n}", "method": "POST", "url": "/v1/chat/completions", "body": body(user(f"{n}"))}
        for n in (1, 2)
    ]
    found = read(lines(asked))
    assert [dump(transcript.captured(0)) for transcript in found.transcripts] == [dump(line["body"]) for line in asked]
    assert [transcript.meta for transcript in found.transcripts] == [{"custom_id": "1"}, {"custom_id": "2"}]
    answered = {
        "id": "b",
        "custom_id": "1",
        "response": {"status_code": 200, "body": completion(said("x"), prompt_tokens=3)},
    }
    call = only(answered).calls[0]
    assert (call.response, call.usage, call.fidelity) == (said("x"), Usage(input=3), Fidelity.PARTIAL)


# Requests with their responses


def test_pairs_are_calls_of_one_run() -> None:
    first, second = body(SYSTEM, user("a")), body(SYSTEM, user("a"), said("b"), user("c"))
    pairs = [
        {"request": first, "response": completion(said("b"), prompt_tokens=10, completion_tokens=2), "at": 1730371250},
        {"request": second, "response": {"error": {"message": "overloaded"}}, "hints": {"goal": "g"}, "session": "s"},
    ]
    found = read(lines(pairs))
    transcript = found.transcripts[0]
    assert [dump(transcript.captured(i)) for i in (0, 1)] == [dump(first), dump(second)]
    assert responses(transcript) == [said("b"), None]
    assert transcript.calls[0].usage == Usage(input=10, output=2)
    assert [call.model for call in transcript.calls] == ["gpt-4o-2024", "gpt-4o"]
    assert transcript.calls[0].at == transcript.started == datetime(2024, 10, 31, 10, 40, 50, tzinfo=UTC)
    assert transcript.calls[1].hints == {"goal": "g"}
    assert [str(problem) for problem in found.problems] == [
        "the text, line 2: the call failed, so there is no response. The request was read."
    ]


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("hello", said("hello")),
        (said("x"), said("x")),
        (json.dumps(completion(said("x"))), said("x")),
        ({"status_code": 200, "body": completion(said("x"))}, said("x")),
        (None, None),
    ],
)
def test_shapes_of_a_response(response: Any, expected: Any) -> None:
    transcript = only({"request": body(user("a"), said("b"), user("c")), "response": response})
    assert responses(transcript) == [expected]


def test_a_response_beside_the_messages() -> None:
    request = {"model": "m", "messages": [user("a")]}
    transcript = only({**request, "response": completion(said("b"))})
    assert dump(transcript.captured(0)) == dump(request)
    assert responses(transcript) == [said("b")]


def test_a_response_alone() -> None:
    transcript = only(completion(said("b"), prompt_tokens=129, completion_tokens=9))
    assert transcript.notes == ("prompt not recorded",)
    assert (transcript.captured(0), transcript.messages) == ({"model": "gpt-4o-2024", "messages": []}, ())
    assert transcript.calls[0].usage == Usage(input=129, output=9)


# Anthropic Messages


def claude(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "claude-sonnet-4", "max_tokens": 100, "system": "be brief", **more, "messages": list(messages)}


USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]}
ANSWER = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "r"}]}


def test_an_anthropic_body() -> None:
    request = claude(user("a"), USE, ANSWER)
    transcript = only(request)
    assert (transcript.dialect, transcript.format) == ("anthropic", "anthropic")
    assert responses(transcript) == [USE, None]
    assert dump(transcript.captured(1)) == dump(request)
    assert transcript.captured(0)["messages"] == [user("a")]


@pytest.mark.parametrize(
    "system", ["text", [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}], None]
)
def test_forms_of_the_system_prompt_stay(system: Any) -> None:
    request = claude(user("a"), system=system)
    assert dump(only(request).captured(0)) == dump(request)


def test_an_anthropic_pair_and_its_usage() -> None:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 11, "output_tokens": 3}
    response = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "b"}], "usage": usage}
    transcript = only({"request": {"messages": [user("a")], "model": "m"}, "response": response})
    assert transcript.dialect == "anthropic"
    assert transcript.calls[0].usage == Usage(23, 7, 11, 3)
    assert transcript.calls[0].response == {"role": "assistant", "content": [{"type": "text", "text": "b"}]}


def test_plain_lines_of_an_anthropic_file_are_anthropic() -> None:
    found = read(lines([claude(user("a")), {"model": "claude-x", "messages": [user("b")]}]))
    assert [transcript.dialect for transcript in found.transcripts] == ["anthropic", "anthropic"]


def test_a_list_with_response_objects_in_it() -> None:
    transcript = only([user("a"), {"id": "msg_1", "type": "message", **said("b")}, user("c")])
    assert len(transcript.calls) == 2
