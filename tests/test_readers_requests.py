import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PromptInspectorError
from core.readers import Report, format_names, read, read_stream, runs
from core.transcript import Fidelity, Transcript, Usage
from core.wire import dump

SYSTEM = {"role": "system", "content": "be brief"}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def calling(*ids: str) -> dict[str, Any]:
    calls = [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(id: str, text: str = "r") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", **more, "messages": list(messages)}


def completion(message: dict[str, Any], **usage: int) -> dict[str, Any]:
    return {"object": "chat.completion", "model": "gpt-4o-2024", "choices": [{"message": message}], "usage": usage}


def lines(values: Iterable[Any]) -> str:
    return "\n".join(json.dumps(value) for value in values)


def only(content: Any, **options: Any) -> Transcript:
    found = read(content if isinstance(content, str) else json.dumps(content), **options)
    assert [str(problem) for problem in found.problems] == []
    assert len(found.transcripts) == 1
    return found.transcripts[0]


def prompts(transcript: Transcript) -> list[list[Any]]:
    return [transcript.captured(i)["messages"] for i in range(len(transcript.calls))]


def responses(transcript: Transcript) -> list[Any]:
    return [call.response for call in transcript.calls]


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
    without_system = shape != "body" and SYSTEM not in messages
    assert transcript.notes == (("system prompt not recorded",) if without_system else ())
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


# A log of growing requests


def run_of(*bodies: Any) -> Transcript:
    found = read(lines(bodies))
    assert len(found.transcripts) == 1
    transcript = found.transcripts[0]
    assert [dump(transcript.captured(i)) for i in range(len(transcript.calls))] == [dump(one) for one in bodies]
    assert {call.fidelity for call in transcript.calls} == {Fidelity.CAPTURED}
    return transcript


def test_the_answer_of_a_call_stands_in_the_next_request() -> None:
    transcript = run_of(
        body(SYSTEM, user("a")),
        body(SYSTEM, user("a"), calling("1"), result("1")),
        body(SYSTEM, user("a"), calling("1"), result("1"), said("b"), user("c")),
    )
    assert responses(transcript) == [calling("1"), said("b"), None]
    assert len(transcript.messages) == 5


def test_a_system_prompt_that_changes_is_the_same_run() -> None:
    late = {"role": "system", "content": "be brief; it is noon"}
    transcript = run_of(body(SYSTEM, user("a")), body(late, user("a"), said("b"), user("c")))
    assert (len(transcript.heads), responses(transcript)) == (2, [said("b"), None])


def test_a_request_that_was_sent_again() -> None:
    transcript = run_of(body(user("a")), body(user("a")), body(user("a"), said("b"), user("c")))
    assert responses(transcript) == [None, said("b"), None]
    assert [call.captured for call in transcript.calls] == [0, 0, 2]


def test_another_spelling_and_moved_marks_extend_the_run() -> None:
    def parts(text: str, **more: Any) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "text", "text": text, **more}]}

    mark = {"cache_control": {"type": "ephemeral"}}
    transcript = run_of(body(parts("a", **mark)), body(user("a"), said("b"), parts("c", **mark)))
    assert (len(transcript.messages), responses(transcript), transcript.notes) == (3, [said("b"), None], ())


def test_a_rewritten_prompt_keeps_its_history() -> None:
    before = [user("a"), said("b"), user("c"), said("d"), user("e")]
    after = [user("a"), user("summary of b and c"), said("d"), user("e"), said("f"), user("g")]
    transcript = run_of(body(*before), body(*after), body(*after, said("h"), user("i")))
    assert transcript.notes == ("the prompt was rewritten before call 1",)
    assert transcript.history(1)["messages"] == [*before, said("f"), user("g")]
    assert transcript.history(2)["messages"] == [*before, said("f"), user("g"), said("h"), user("i")]
    assert responses(transcript) == [said("f"), said("h"), None]


def test_an_edited_message_starts_a_branch_without_the_old_one() -> None:
    transcript = run_of(body(user("a"), said("b"), user("c")), body(user("a"), said("b"), user("C")))
    assert transcript.history(1)["messages"] == [user("a"), said("b"), user("C")]
    assert transcript.notes == ("the prompt was rewritten before call 1",)


def test_masked_results_keep_what_really_happened() -> None:
    first = [user("a"), calling("1"), result("1", "long"), calling("2"), result("2")]
    masked = [user("a"), calling("1"), result("1", "[cleared]"), calling("2"), result("2"), said("b"), user("c")]
    transcript = run_of(body(*first), body(*masked))
    assert transcript.history(1)["messages"] == [*first, said("b"), user("c")]
    assert responses(transcript) == [said("b"), None]


def test_two_conversations_that_take_turns() -> None:
    a = [body(user("a")), body(user("a"), said("1"), user("x"))]
    b = [body(user("b")), body(user("b"), said("2"), user("y"))]
    found = read(lines([a[0], b[0], a[1], b[1]]))
    assert [prompts(transcript) for transcript in found.transcripts] == [
        [one["messages"] for one in a],
        [one["messages"] for one in b],
    ]


@pytest.mark.parametrize("key", ["session_id", "instance_id", "conversation_id"])
def test_sessions_keep_equal_conversations_apart(key: str) -> None:
    bodies = [body(user("a"), metadata={key: name}) for name in ("s", "t", "s")]
    found = read(lines(bodies))
    assert [(transcript.session, len(transcript.calls)) for transcript in found.transcripts] == [("s", 2), ("t", 1)]


def test_a_session_holds_what_extends_nothing() -> None:
    transcript = run_of(
        body(user("a"), metadata={"session_id": "s"}), body(user("title?"), metadata={"session_id": "s"})
    )
    assert transcript.notes == ("another conversation of the same session begins with call 1",)


def test_claude_codes_user_id_names_the_session() -> None:
    request = {"model": "claude-sonnet-4", "max_tokens": 9, "system": "s", "messages": [user("a")]}
    transcript = only({**request, "metadata": {"user_id": "user_1_account__session_42-a"}})
    assert (transcript.session, transcript.dialect) == ("42-a", "anthropic")


def test_whole_conversations_that_grow_are_one_run() -> None:
    bodies = [{"messages": [user("a"), said("b")]}, {"messages": [user("a"), said("b"), user("c"), said("d")]}]
    transcript = run_of(*bodies)
    assert transcript.notes == ("system prompt not recorded", "each recorded request ends with an assistant message")


def test_runs_that_rest_are_given_out_and_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "OPEN_RUNS", 3)
    rows = [{"messages": [user(f"{n}"), said("x")]} for n in range(20)]
    given = []

    def watched() -> str:
        return lines(rows)

    for transcript in read_stream(watched()):
        given.append(transcript.title)
    assert given == [f"{n}" for n in range(20)]


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


# What is wrong with a file


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            body(user("a"), "text", None, said("b")),
            ["message 2: the message is a str", "message 3: the message is null"],
        ),
        (body({"role": "critic", "content": "x"}, user("a")), ["message 1: the role 'critic' is not known"]),
        (body({"role": "user", "content": None}), ["message 1: the message has no content"]),
        (body(user("a"), result("9")), ["message 2: the tool result answers '9', and no call before it has this id"]),
        (
            body(SYSTEM, user("a"), calling("1"), result("1"), calling("1"), result("1")),
            ["message 5: the tool call id '1' is used again"],
        ),
        (body(), ["the request holds no messages"]),
        ({"request": body(user("a")), "response": {"x": 1}}, ["the response is of no known shape"]),
    ],
)
def test_messages_that_no_provider_takes(content: Any, expected: list[str]) -> None:
    found = read(json.dumps(content))
    sentences = [str(problem) for problem in found.problems]
    assert all(
        f"the text, {text}" in sentence or f"the text: {text}" in sentence
        for text, sentence in zip(expected, sentences, strict=False)
    )
    assert len(sentences) >= len(expected)
    assert len(found.transcripts) == (1 if content["messages"] else 0) if "messages" in content else 1


def test_places_name_line_and_message() -> None:
    found = read(lines([body(user("a")), body(user("a"), calling("1"), result("2"))]))
    assert str(found.problems[0]).startswith("the text, line 2, message 3: the tool result answers '2'")


def test_old_problems_are_not_told_again_for_each_request() -> None:
    bad = [user("a"), result("9"), said("b")]
    assert len(read(lines([body(*bad, user("c")), body(*bad, user("c"), said("d"), user("e"))])).problems) == 1


def test_legacy_functions_without_ids() -> None:
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    transcript = only(body(user("a"), call, {"role": "function", "name": "f", "content": "r"}))
    assert len(transcript.calls) == 2


def test_lines_of_another_kind_are_left_out_and_counted() -> None:
    found = read(lines([body(user("a")), {"x": 1}, body(user("b")), 7]) + "\n{oops")
    assert [transcript.title for transcript in found.transcripts] == ["a", "b"]
    assert (found.counts.read, found.counts.used, found.counts.ignored, found.counts.broken) == (5, 2, 0, 3)
    assert [problem.place for problem in found.problems] == ["line 2", "line 4", "line 5"]


@pytest.mark.parametrize(
    "content",
    ["", "  \n", "hello", "{}", "[]", "null", "42", '{"a": 1}', b"\x89PNG\r\n", b"\x00" * 100, '{"messages": []}'],
)
def test_without_transcripts_there_is_a_problem(content: Any) -> None:
    found = read(content)
    assert (found.transcripts, len(found.problems)) == ([], 1)
    assert str(found.problems[0]).endswith(".")


def test_an_unknown_file_is_told_what_was_expected() -> None:
    problem = str(read('{"trajectory": [], "info": {}}').problems[0])
    assert problem.startswith(
        "the text: the format was not recognised (the first record has the keys trajectory, info)."
    )
    assert "OpenAI chat" in problem and "Claude Code" in problem


def test_the_format_can_be_named() -> None:
    plain = [user("a"), said("b")]
    assert only(plain).dialect == "openai_chat"
    assert only(plain, format="anthropic").dialect == "anthropic"
    found = read(json.dumps(plain), format="grok")
    assert [str(problem) for problem in found.problems] == [
        f"the text: there is no format 'grok'. Use one of {', '.join(format_names())}."
    ]


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    found = read(tmp_path / "none.json")
    assert str(found.problems[0]).startswith("none.json: the file cannot be read (no such file or directory)")


def test_the_source_is_the_files_name(tmp_path: Path) -> None:
    path = tmp_path / "support.request.json"
    path.write_text(json.dumps(body({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]})))
    transcript = read(path).transcripts[0]
    assert (transcript.source, transcript.title) == ("support.request.json", "support")


@pytest.mark.parametrize(
    ("text", "title"),
    [("a\n\n b\x00c", "a b c"), ("x" * 200, "x" * 79 + "…"), ("\ud83d hi", "hi"), ("帮我检查", "帮我检查")],
)
def test_titles(text: str, title: str) -> None:
    assert only(body(SYSTEM, user(text))).title == title


def test_a_stream_reports_beside_its_transcripts() -> None:
    report = Report()
    stream = read_stream(lines([body(user("a")), {"x": 1}]), report=report)
    assert [transcript.title for transcript in stream] == ["a"]
    assert (report.format, report.counts.read, len(report.problems)) == ("openai_chat", 2, 1)


def test_a_reader_that_fails_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(self: Any, request: Any) -> None:
        raise PromptInspectorError("no")

    monkeypatch.setattr(runs._Growing, "add", failing)
    problem = str(read(json.dumps(body(user("a")))).problems[0])
    assert problem.startswith("the text: the reader for openai_chat failed (PromptInspectorError: no).")


_text = st.text(max_size=3)
_message = st.one_of(
    st.builds(user, _text),
    st.builds(said, _text),
    st.builds(lambda id: calling(id), st.sampled_from("12")),
    st.builds(lambda id: result(id), st.sampled_from("123")),
)


@given(st.lists(st.lists(_message, min_size=1, max_size=5), min_size=1, max_size=6))
def test_every_line_comes_back_as_one_call_of_a_log(conversations: list[list[Any]]) -> None:
    pairs = [{"request": body(*messages), "response": None} for messages in conversations]
    found = read(lines(pairs))
    sent = sorted(
        dump(transcript.captured(i)) for transcript in found.transcripts for i in range(len(transcript.calls))
    )
    assert sent == sorted(dump(pair["request"]) for pair in pairs)
    assert all(
        len(transcript.history(i)["messages"]) >= 1
        for transcript in found.transcripts
        for i in range(len(transcript.calls))
    )
