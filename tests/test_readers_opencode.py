"""Exports of opencode."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity, Usage
from tests.agent_sessions import lines, only, opencode_export, opencode_message, opencode_tool, prompts, usages

NOTHING = ("system prompt not recorded", "tool definitions not recorded")
AT = 1769203363000


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def result(id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def export(*messages: Any, **info: Any) -> dict[str, Any]:
    return {"info": {"id": "ses_1", "title": "T", **info}, "messages": list(messages)}


def asked(at: int, words: str, **info: Any) -> dict[str, Any]:
    return opencode_message(f"u{at}", "user", AT + at, text(words), **info)


def answered(at: int, *parts: Any, **info: Any) -> dict[str, Any]:
    return opencode_message(f"a{at}", "assistant", AT + at, *parts, **info)


def call(id: str, arguments: str = '{"dir":"."}') -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "ls", "arguments": arguments}}


def test_an_export() -> None:
    """Messages and parts do not stand in order there."""
    transcript = only(opencode_export())
    step = {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [call("c1")]}
    assert prompts(transcript) == [[user("list files")], [user("list files"), step, result("c1", "a.txt")]]
    assert [made.response for made in transcript.calls] == [step, said("one file")]
    assert usages(transcript) == [Usage(33, 20, 3, 5, 2), Usage()]
    assert transcript.calls[0].at == datetime.fromtimestamp(1769203364.001, UTC)
    assert {(made.model, made.fidelity) for made in transcript.calls} == {("gpt-x", Fidelity.PARTIAL)}
    assert (transcript.dialect, transcript.title, transcript.session) == ("openai_chat", "Files", "ses_1")
    assert transcript.meta == {"directory": "/w", "version": "1", "ignored": {"step-start": 1, "step-finish": 1}}
    assert transcript.notes == NOTHING


@pytest.mark.parametrize(
    ("tool", "results"),
    [
        (opencode_tool("c", "error", error="no"), [result("c", "no")]),
        (opencode_tool("c", "running"), []),
        (opencode_tool("c", output={"a": 1}), [result("c", '{"a":1}')]),
        (
            opencode_tool("c", output="seen", attachments=[{"mime": "image/png", "url": "data:x"}]),
            [result("c", [text("seen"), {"type": "image_url", "image_url": {"url": "data:x"}}])],
        ),
    ],
    ids=["failed", "still running", "not a text", "with a picture"],
)
def test_results(tool: dict[str, Any], results: list[Any]) -> None:
    transcript = only(export(asked(1, "q"), answered(2, tool)))
    assert list(transcript.messages[2:]) == results


def test_files_and_texts_that_are_not_sent() -> None:
    picture = {"type": "file", "mime": "image/png", "url": "data:x"}
    paper = {"type": "file", "mime": "application/pdf", "filename": "a.pdf", "url": "file:a.pdf"}
    message = opencode_message("u1", "user", AT, text("q"), text("hidden", ignored=True), picture, paper)
    transcript = only(export(message, answered(2, text("a"))))
    file = {"filename": "a.pdf", "mime": "application/pdf", "url": "file:a.pdf"}
    assert transcript.messages[0]["content"] == [
        text("q"),
        {"type": "image_url", "image_url": {"url": "data:x"}},
        {"type": "file", "file": file},
    ]
    assert transcript.meta == {"ignored": {"text/ignored": 1}}


def test_a_system_prompt_of_the_message_is_the_heads() -> None:
    transcript = only(export(asked(1, "q", system="be brief"), answered(2, text("a"))))
    assert transcript.captured(0) == {"messages": [{"role": "system", "content": "be brief"}, user("q")]}
    assert transcript.notes == NOTHING[1:]


def test_a_compaction_keeps_its_summary() -> None:
    transcript = only(
        export(
            asked(1, "q1"),
            answered(2, text("a")),
            answered(3, text("sum"), summary=True),
            asked(4, "q2"),
            answered(5, text("b")),
        )
    )
    assert prompts(transcript)[2] == [user("What did we do so far?"), said("sum"), user("q2")]
    assert prompts(transcript, history=True)[2] == [user("q1"), said("a"), said("sum"), user("q2")]
    assert "the conversation was compacted before call 3" in transcript.notes


def test_results_that_were_pruned_are_short_in_later_prompts() -> None:
    pruned = opencode_tool("c1", output="long", time={"start": 1, "end": 2, "compacted": AT + 5})
    transcript = only(
        export(asked(1, "q"), answered(2, pruned), answered(4, text("a")), asked(6, "q2"), answered(7, text("b")))
    )
    step = {"role": "assistant", "content": None, "tool_calls": [call("c1")]}
    assert prompts(transcript)[1] == [user("q"), step, result("c1", "long")]
    assert prompts(transcript)[2] == [
        user("q"),
        step,
        result("c1", "[Old tool result content cleared]"),
        said("a"),
        user("q2"),
    ]
    assert prompts(transcript, history=True)[2][2] == result("c1", "long")
    assert "old tool results were cleared before call 3" in transcript.notes


def test_a_child_session_names_its_parent() -> None:
    assert only(export(asked(1, "q"), parentID="ses_0")).meta == {"parent_session": "ses_0"}


def test_several_exports_and_strange_messages() -> None:
    strange = {**export(asked(1, "q")), "messages": [asked(1, "q"), 3, {"info": {"role": "robot"}, "parts": []}]}
    found = read(lines([opencode_export(), strange]))
    assert [len(transcript.messages) for transcript in found.transcripts] == [4, 1]
    assert [str(problem) for problem in found.problems] == [
        "the text, line 2: 1 message is no object. It was left out.",
        "the text, line 2, message 1: the role 'robot' is not known."
        " The role user or assistant was expected; the message was left out.",
    ]


def test_unknown_parts_are_told_of() -> None:
    found = read(lines([export(asked(1, "q"), answered(2, text("a"), {"type": "hologram"}))]))
    assert "1 record of the unknown type 'hologram' was left out" in str(found.problems[0])


def test_a_real_export(transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "opencode" / "agentlogs-all-tools.json")
    (transcript,) = found.transcripts
    figures = [(usage.input or 0, usage.output or 0, usage.cache_read or 0) for usage in usages(transcript)]
    assert [sum(column) for column in zip(*figures, strict=True)] == [155986, 2065, 142720]
    assert [len(prompt[-1].get("tool_calls", ())) for prompt in [[made.response] for made in transcript.calls]] == [
        *[1, 0, 2],
        *[1] * 10,
        0,
    ]
    roles = [message["role"] for message in transcript.messages]
    assert [roles.count(role) for role in ("user", "assistant", "tool")] == [2, 14, 13]
    assert found.problems == []
