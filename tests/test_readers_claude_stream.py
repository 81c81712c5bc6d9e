"""Streams of Claude's stream-json output and of the Agent SDK."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity, Usage
from tests.agent_sessions import claude_stream, lines, only, prompts, usages

NOTHING = ("system prompt not recorded", "tool definitions not recorded")
START = {"type": "system", "subtype": "init", "session_id": "s1", "cwd": "/w", "tools": []}


def line(type: str, content: Any, id: str = "", **more: Any) -> dict[str, Any]:
    message = {"role": type, "content": content}
    if type == "assistant":
        message |= {"id": id, "model": "claude-x", "usage": {"input_tokens": 3, "output_tokens": 1}}
    return {"type": type, "message": message, "session_id": "s1", "parent_tool_use_id": None, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def said(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def test_a_session_and_its_sub_agent() -> None:
    found = read(lines(claude_stream()))
    main, agent = found.transcripts
    task = {"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "count", "description": "Count"}}
    first = said(text("let me see"), task)
    result = user([{"type": "tool_result", "tool_use_id": "t1", "content": "two"}])
    assert prompts(main) == [[user("how many?")], [user("how many?"), first, result]]
    assert [call.response for call in main.calls] == [first, said(text("2"))]
    assert usages(main) == [Usage(10, 7, None, 1), Usage(3, output=1)]
    assert main.meta == {"cwd": "/w", "tools": ["Task"], "num_turns": 2}
    assert (main.session, main.title, main.notes) == ("s1", "how many?", NOTHING)
    assert prompts(agent) == [[user("count")]]
    assert agent.meta == {"parent_session": "s1", "agent": "t1", "task": "t1"}
    assert (agent.session, agent.title) == ("t1", "Count")
    assert {call.fidelity for made in found.transcripts for call in made.calls} == {Fidelity.PARTIAL}
    assert (found.counts.read, found.counts.used, found.problems) == (9, 9, [])


def test_lines_in_a_list_and_in_a_recording_of_the_sdk() -> None:
    plain = read(lines(claude_stream())).transcripts
    wrapped = [{"direction": "recv", "message": made} for made in claude_stream()]
    for written in (claude_stream(), {"metadata": {}, "messages": wrapped}):
        found = read(json.dumps(written))
        assert [made.calls for made in found.transcripts] == [made.calls for made in plain]
        assert (found.counts.read, found.counts.used) == (1, 1)


def test_the_stream_knows_the_output_that_the_message_does_not() -> None:
    def event(**event: Any) -> dict[str, Any]:
        return {"type": "stream_event", "event": event, "session_id": "s1", "parent_tool_use_id": None}

    records = [
        START,
        line("user", "q"),
        event(type="message_start", message={"id": "m1"}),
        event(type="content_block_delta", index=0, delta={"type": "text_delta", "text": "a"}),
        line("assistant", [text("a")], "m1"),
        event(type="message_delta", delta={}, usage={"output_tokens": 40}),
        event(type="message_stop"),
    ]
    transcript = only(records)
    assert usages(transcript) == [Usage(3, output=40)]
    assert transcript.meta["ignored"] == {"stream_event": 2}


def test_the_result_of_a_session_of_one_call_has_its_usage() -> None:
    result = {
        "type": "result",
        "subtype": "success",
        "session_id": "s1",
        "usage": {"input_tokens": 3, "output_tokens": 8},
    }
    assert usages(only([START, line("user", "q"), line("assistant", [text("a")], "m1"), result])) == [
        Usage(3, output=8)
    ]


@pytest.mark.parametrize("summary", [True, False])
def test_a_compaction(summary: bool) -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "session_id": "s1", "compact_metadata": {}}
    told = [line("user", "summary")] if summary else []
    records = [START, line("user", "q"), line("assistant", [text("a")], "m1"), boundary, *told]
    transcript = only([*records, line("assistant", [text("b")], "m2")])
    assert prompts(transcript)[1] == ([user("summary")] if summary else [])
    assert prompts(transcript, history=True)[1] == [user("q"), said(text("a"))]


def test_copies_and_replays_are_left_out() -> None:
    talk = [line("user", "q", uuid="u1"), line("user", "q", uuid="u1"), line("user", "old", uuid="u2", isReplay=True)]
    transcript = only([START, *talk, line("assistant", [text("a")], "m1")])
    assert prompts(transcript) == [[user("q")]]
    assert transcript.meta["ignored"] == {"user/replay": 2}


def test_lines_of_another_kind() -> None:
    found = read(lines([*claude_stream(), 3, {"type": "assistant", "message": {"content": 3}, "session_id": "s"}]))
    assert (found.counts.read, found.counts.used, found.counts.broken) == (11, 9, 2)
    assert [problem.problem for problem in found.problems] == [
        "this is no line of a Claude stream",
        "the message has no content",
    ]


def test_a_result_alone_is_refused_with_advice() -> None:
    found = read(json.dumps({"type": "result", "subtype": "success", "session_id": "s", "result": "2"}))
    assert [str(problem) for problem in found.problems] == [
        "the text: this is only the result of a session, without its messages."
        " Record it with `--output-format stream-json --verbose`."
    ]


def test_unknown_lines_are_told_of() -> None:
    found = read(lines([*claude_stream(), {"type": "hologram", "session_id": "s"}]))
    assert "1 record of the unknown type 'hologram' was left out" in str(found.problems[0])


def test_a_real_recording(transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "claude-stream-json" / "logfire-agent-sdk-basic.json")
    (transcript,) = found.transcripts
    assert usages(transcript) == [Usage(3 + 2175 + 7166, 7166, 2175, 5)]
    assert (len(transcript.messages), len(transcript.meta["tools"])) == (2, 24)
    assert transcript.meta["ignored"] == {"control_request": 1, "control_response": 1}
    assert found.problems == []
