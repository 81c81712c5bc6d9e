import json
from datetime import UTC, datetime
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity, Usage
from tests.claude_sessions import NOTES, Session, result, said, spoken, text, use


def test_a_plain_session() -> None:
    session = Session()
    session.user("hi")
    session.reply("m1", text("a"), usage={"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 2})
    session.user("go on")
    transcript = session.only()
    call = transcript.calls[0]
    assert transcript.messages == (said("user", "hi"), said("assistant", [text("a")]), said("user", "go on"))
    assert transcript.captured(0) == {"model": "m", "messages": [said("user", "hi")]}
    assert (call.response, call.usage) == (said("assistant", [text("a")]), Usage(12, 7, None, 2))
    assert (call.model, call.fidelity, call.at) == ("m", Fidelity.PARTIAL, datetime(2025, 1, 1, 0, 0, 1, tzinfo=UTC))
    assert (transcript.title, transcript.session, transcript.notes) == ("hi", "s", NOTES)
    assert (transcript.dialect, transcript.format) == ("anthropic", "claude_code")
    assert transcript.started == datetime(2025, 1, 1, tzinfo=UTC)


def test_counts_add_up() -> None:
    session = Session()
    session.user("hi")
    session.reply("m1", text("a"))
    session.line("file-history-snapshot")
    session.lines.append(dict(session.lines[0]))
    session.lines.append({"silly": "this"})
    session.line("user", message="error")
    found = session.read()
    counts = found.counts
    assert (counts.read, counts.used, counts.ignored, counts.broken) == (6, 2, 2, 2)
    assert [str(problem).split(". ")[0] for problem in found.problems] == [
        "the text, line 5: this is no record of Claude Code",
        "the text, line 6: the user record has no message",
    ]
    assert found.transcripts[0].meta["ignored"] == {"file-history-snapshot": 1, "copy of a line": 1}


def test_synthetic_messages_are_no_calls() -> None:
    session = Session()
    session.user("hi")
    session.reply("e1", text("API Error"), model="<synthetic>", isApiErrorMessage=True)
    session.reply("e2", text("No response requested."), model="<synthetic>")
    session.user("again")
    session.reply("m1", text("a"))
    transcript = session.only()
    assert len(transcript.calls) == 1
    assert [message["content"] for message in transcript.captured(0)["messages"]] == [
        "hi",
        [text("No response requested.")],
        "again",
    ]
    assert transcript.meta == {"ignored": {"error shown to the user": 1}}


@pytest.mark.parametrize(
    ("records", "title"),
    [
        ([{"type": "summary", "summary": "S", "leafUuid": "x"}], "S"),
        (
            [
                {"type": "summary", "summary": "S", "leafUuid": "x"},
                {"type": "ai-title", "aiTitle": "A", "sessionId": "s"},
                {"type": "custom-title", "customTitle": "C", "sessionId": "s"},
            ],
            "C",
        ),
        ([], "typed by hand"),
    ],
)
def test_titles(records: list[Any], title: str) -> None:
    session = Session()
    session.user("Caveat: the messages below", isMeta=True)
    session.user("<command-name>/clear</command-name>")
    session.user("typed by hand")
    session.lines += records
    assert session.only().title == title


def test_injected_texts_are_part_of_the_prompt() -> None:
    session = Session()
    session.user("a skill", isMeta=True)
    session.user("<command-name>/x</command-name>")
    session.user("for the user's eyes", isVisibleInTranscriptOnly=True)
    session.reply("m1", text("a"))
    assert [message["content"] for message in session.only().captured(0)["messages"]] == [
        "a skill",
        "<command-name>/x</command-name>",
    ]


def test_orphans_and_doubles_are_named_with_their_line() -> None:
    session = Session()
    session.user("hi")
    session.user([result("t9")])
    session.reply("m1", use("t1"))
    session.reply("m2", use("t1"))
    assert [str(problem).split(".")[0] for problem in session.read().problems] == [
        "the text, line 2: the tool result answers 't9', and no call before it has this id",
        "the text, line 4: the tool call id 't1' is used again",
    ]


def test_a_file_still_being_written() -> None:
    session = Session()
    session.user("hi")
    session.reply("m1", text("a"))
    session.user("more")
    found = read(session.text()[:-30])
    assert (len(found.transcripts[0].messages), found.counts.broken) == (2, 1)
    assert [(problem.place, problem.warning) for problem in found.problems] == [("line 3", True)]


@pytest.mark.parametrize(
    "content", ['{"type":"file-history-snapshot","snapshot":{}}', '{"type":"summary","summary":"x","leafUuid":"y"}']
)
def test_a_session_without_messages_is_a_problem(content: str) -> None:
    found = read(content)
    assert (found.format, found.transcripts, len(found.problems)) == ("claude_code", [], 1)


def test_records_in_one_list() -> None:
    session = Session()
    session.user("hi")
    session.reply("m1", text("a"))
    session.line("progress")
    found = read(json.dumps(session.lines))
    assert read(json.dumps(session.lines), format="claude-code") == found
    assert spoken(found.transcripts[0]) == ["hi", [text("a")]]
    assert (found.counts.read, found.counts.used) == (1, 1)


def test_streams_are_a_format_of_their_own() -> None:
    lines = [
        {"type": "system", "subtype": "init", "session_id": "x"},
        {"type": "assistant", "message": {"role": "assistant", "content": []}, "session_id": "x", "uuid": "u"},
    ]
    assert read("\n".join(map(json.dumps, lines))).format == "claude_stream_json"
