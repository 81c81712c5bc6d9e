"""LangGraph: a thread's state, its history, and checkpoints of a store."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity, Usage
from tests.recordings import check


def human(text: str, id: str) -> dict[str, Any]:
    return {"type": "human", "content": text, "id": id}


def ai(text: str, id: str, tokens: int = 9) -> dict[str, Any]:
    usage = {"input_tokens": tokens, "output_tokens": 1}
    return {"type": "ai", "content": text, "id": id, "response_metadata": {"model_name": "m"}, "usage_metadata": usage}


def said(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}


def state(number: int, messages: list[Any], parent: int | None = None, thread: str = "t") -> dict[str, Any]:
    parent = number - 1 if parent is None else parent
    return {
        "values": {"messages": messages, "title": "A thread"},
        "next": [],
        "created_at": f"2026-01-01T00:00:{number:02}+00:00",
        "checkpoint": {"thread_id": thread, "checkpoint_id": f"c{number}", "checkpoint_ns": ""},
        "parent_checkpoint": {"thread_id": thread, "checkpoint_id": f"c{parent}"},
    }


def stored(number: int, messages: list[Any]) -> dict[str, Any]:
    return {
        "config": {"configurable": {"thread_id": "t", "checkpoint_id": f"c{number}"}},
        "checkpoint": {
            "v": 1,
            "ts": f"2026-01-01T00:00:{number:02}+00:00",
            "id": f"c{number}",
            "channel_values": {"messages": messages},
        },
        "parent_config": {"configurable": {"thread_id": "t", "checkpoint_id": f"c{number - 1}"}},
    }


Q, A, Q2, A2 = human("q", "1"), ai("a", "2", 9), human("q2", "3"), ai("a2", "4", 11)


def test_a_state_alone_shows_its_calls() -> None:
    found = read(json.dumps(state(4, [Q, A, Q2, A2])))
    (transcript,) = found.transcripts
    assert (found.format, transcript.session, transcript.title) == ("langgraph", "t", "A thread")
    assert transcript.captured(1)["messages"] == [said("user", "q"), said("assistant", "a"), said("user", "q2")]
    assert [call.usage for call in transcript.calls] == [Usage(9, output=1), Usage(11, output=1)]
    assert [call.fidelity for call in transcript.calls] == [Fidelity.PARTIAL] * 2
    assert transcript.notes == ("system prompt not recorded", "tool definitions not recorded")
    assert transcript.meta == {"checkpoint": "c4"}
    check(found)


@pytest.mark.parametrize("make", [state, stored])
@pytest.mark.parametrize("write", [json.dumps, lambda states: "\n".join(map(json.dumps, states))])
def test_a_history_is_read_from_its_oldest_state(make: Any, write: Any) -> None:
    states = [make(n, messages) for n, messages in enumerate(([], [Q], [Q, A], [Q, A, Q2], [Q, A, Q2, A2]))]
    found = read(write(states[::-1]))
    (transcript,) = found.transcripts
    assert (found.counts.read, found.counts.used, found.counts.ignored) == (5, 4, 1)
    assert [call.response for call in transcript.calls] == [said("assistant", "a"), said("assistant", "a2")]
    assert transcript.captured(1)["messages"] == [said("user", "q"), said("assistant", "a"), said("user", "q2")]
    assert transcript.session == "t"
    assert [str(call.at)[17:19] for call in transcript.calls] == ["02", "04"]
    check(found)


def test_a_summary_that_took_the_place_of_messages() -> None:
    summary = human("summary of the beginning", "s")
    states = [
        state(1, [Q, A]),
        state(2, [Q, A, Q2, A2]),
        state(3, [summary, Q2, A2]),
        state(4, [summary, Q2, A2, human("q3", "5"), ai("a3", "6")]),
    ]
    (transcript,) = read(json.dumps(states[::-1])).transcripts
    texts = [message["content"] for message in transcript.captured(2)["messages"]]
    assert texts == ["summary of the beginning", "q2", "a2", "q3"]
    assert [message["content"] for message in transcript.history(2)["messages"]] == ["q", "a", "q2", "a2", "q3"]
    assert "the prompt was rewritten before call 3" in transcript.notes


def test_a_fork_of_a_thread_keeps_both_branches() -> None:
    states = [
        state(1, [Q]),
        state(2, [Q, A]),
        state(3, [human("other q", "9")], parent=0),
        state(4, [human("other q", "9"), ai("other a", "10")], parent=3),
    ]
    (transcript,) = read(json.dumps(states)).transcripts
    assert [call.response for call in transcript.calls] == [said("assistant", "a"), said("assistant", "other a")]
    assert transcript.captured(1)["messages"] == [said("user", "other q")]


def test_states_that_tell_of_no_model_show_a_call_for_each_reply() -> None:
    plain = {"type": "ai", "content": "a", "id": "2"}
    (transcript,) = read(json.dumps([state(2, [Q, plain]), state(1, [Q])])).transcripts
    assert [call.response for call in transcript.calls] == [said("assistant", "a")]


def test_threads_are_a_transcript_each() -> None:
    found = read("\n".join(map(json.dumps, [state(1, [Q, A]), state(1, [Q, A], thread="u")])))
    assert [transcript.session for transcript in found.transcripts] == ["t", "u"]


def test_what_is_no_state() -> None:
    found = read("\n".join(map(json.dumps, [state(1, [Q, A]), {"values": 7}, state(2, [])])))
    assert (found.counts.read, found.counts.used, found.counts.ignored, found.counts.broken) == (3, 1, 1, 1)
    assert [problem.place for problem in found.problems] == ["line 2"]


def test_messages_written_by_a_constructor() -> None:
    def made(name: str, content: str) -> dict[str, Any]:
        path = ["langchain", "schema", "messages", name]
        return {"lc": 1, "type": "constructor", "id": path, "kwargs": {"content": content}}

    messages = [made("HumanMessage", "q"), made("AIMessage", "a")]
    (transcript,) = read(json.dumps(stored(1, messages))).transcripts
    assert transcript.calls[0].response == said("assistant", "a")


@pytest.mark.parametrize(
    ("name", "messages", "calls", "tools", "title"),
    [
        ("deerflow-research-74msgs.json", 74, 37, 35, "Deer-Flow Research and Analysis"),
        ("deerflow-trends-2026.json", 60, 29, 27, "Forecasting 2026 Trends and Opportunities"),
        ("deerflow-zh-football.json", 39, 19, 17, "苏超联赛酷炫网站设计"),
    ],
)
def test_real_threads(transcripts_folder: Path, name: str, messages: int, calls: int, tools: int, title: str) -> None:
    found = read(transcripts_folder / "langgraph-thread" / name)
    (transcript,) = found.transcripts
    assert (len(transcript.messages), len(transcript.calls), transcript.title) == (messages, calls, title)
    results = [message for message in transcript.messages if message["role"] == "tool"]
    called = [one["id"] for message in transcript.messages for one in message.get("tool_calls") or ()]
    assert (len(results), found.problems) == (tools, [])
    assert {message["tool_call_id"] for message in results} <= set(called)
    check(found, surprises=17)
