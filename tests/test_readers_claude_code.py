import json
from datetime import UTC, datetime
from typing import Any

import pytest

from core.readers import ReadResult, read
from core.transcript import Fidelity, Transcript, Usage

NOTES = ("system prompt not recorded", "tool definitions not recorded")


class Session:
    """Writes lines as Claude Code does: each follows the line before unless told otherwise."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.last: str | None = None

    def line(self, type: str, **fields: Any) -> str:
        uuid = f"u{len(self.lines)}"
        second = len(self.lines)
        base = {"type": type, "uuid": uuid, "parentUuid": self.last, "sessionId": "s", "isSidechain": False}
        self.lines.append({**base, "timestamp": f"2025-01-01T00:00:{second:02}Z", **fields})
        if not fields.get("isSidechain"):
            self.last = uuid
        return uuid

    def user(self, content: Any, **fields: Any) -> str:
        return self.line("user", message={"role": "user", "content": content}, **fields)

    def reply(self, id: str, *blocks: Any, usage: Any = None, model: str = "m", **fields: Any) -> str:
        message = {"id": id, "type": "message", "role": "assistant", "model": model, "content": list(blocks)}
        return self.line("assistant", message={**message, **({"usage": usage} if usage else {})}, **fields)

    def text(self) -> str:
        return "\n".join(json.dumps(line) for line in self.lines) + "\n"

    def read(self) -> ReadResult:
        return read(self.text())

    def only(self) -> Transcript:
        found = self.read()
        assert ([str(problem) for problem in found.problems], len(found.transcripts)) == ([], 1)
        return found.transcripts[0]


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id: str, name: str = "f", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def result(id: str, content: str = "r") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def said(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def spoken(transcript: Transcript) -> list[Any]:
    """Return the newest branch as what was said in short."""
    return [
        message["content"]
        for message in (transcript.messages[i] for i in transcript.path(len(transcript.messages) - 1))
    ]


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


def test_several_lines_of_one_reply_are_one_message_and_one_call() -> None:
    session = Session()
    session.user("hi")
    for number, block in enumerate(({"type": "thinking", "thinking": "t"}, text("a"), use("t1"))):
        session.reply("m1", block, usage={"input_tokens": 9, "output_tokens": number * 10})
    session.user([result("t1")])
    transcript = session.only()
    assert len(transcript.calls) == 1
    assert transcript.calls[0].usage == Usage(9, output=20)
    assert transcript.calls[0].response == said(
        "assistant", [{"type": "thinking", "thinking": "t"}, text("a"), use("t1")]
    )


def chained(session: Session) -> None:
    session.reply("m1", use("t1"))
    session.user([result("t1", "one")])
    session.reply("m1", use("t2"))
    session.user([result("t2", "two")])


def as_siblings(session: Session) -> None:
    session.reply("m1", use("t1"))
    session.reply("m1", use("t2"))
    reply = session.last
    session.user([result("t2", "two")], parentUuid=reply)
    session.user([result("t1", "one")], parentUuid=reply)


def before_the_text(session: Session) -> None:
    session.reply("m1", use("t1"), use("t2"))
    reply = session.last
    session.user([text("stop")])
    session.user([result("t1", "one"), result("t2", "two")], parentUuid=reply)


@pytest.mark.parametrize(("write", "order"), [(chained, "12"), (as_siblings, "21"), (before_the_text, "12")])
def test_results_of_parallel_calls_are_one_message_right_behind_the_reply(write: Any, order: str) -> None:
    session = Session()
    session.user("hi")
    write(session)
    session.reply("m2", text("done"))
    assert session.only().captured(1)["messages"] == [
        said("user", "hi"),
        said("assistant", [use("t1"), use("t2")]),
        said("user", [result(f"t{number}", {"1": "one", "2": "two"}[number]) for number in order]),
    ]


def test_results_stand_before_what_else_the_message_says() -> None:
    session = Session()
    session.user("hi")
    session.reply("m1", use("t1"))
    session.user([text("and this"), result("t1")])
    assert session.only().messages[2] == said("user", [result("t1"), text("and this")])


def test_parents_are_followed_through_records_that_are_no_messages() -> None:
    session = Session()
    session.line("progress", data={"type": "hook_progress"})
    session.user("hi")
    session.line("attachment", attachment={})
    session.reply("m1", text("a"))
    session.line("system", subtype="turn_duration")
    session.user("more")
    session.reply("m2", text("b"))
    transcript = session.only()
    assert len(transcript.captured(1)["messages"]) == 3
    assert transcript.meta == {"ignored": {"progress": 1, "attachment": 1, "system/turn_duration": 1}}


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


def test_an_edited_message_is_a_branch_and_the_newest_one_lives() -> None:
    session = Session()
    session.user("hi")
    fork = session.reply("m1", text("a"))
    session.user("first try")
    session.reply("m2", text("b"))
    session.user("second try", parentUuid=fork)
    session.reply("m3", text("c"))
    transcript = session.only()
    assert [[message["content"] for message in transcript.history(i)["messages"]] for i in range(3)] == [
        ["hi"],
        ["hi", [text("a")], "first try"],
        ["hi", [text("a")], "second try"],
    ]
    assert transcript.notes == (*NOTES, "1 call stands on branches that were given up")


def compacted(**boundary: Any) -> Session:
    session = Session()
    session.user("hi")
    last = session.reply("m1", text("a"))
    fields = {"subtype": "compact_boundary", "parentUuid": None, "logicalParentUuid": last, **boundary}
    session.line("system", **fields)
    session.user("summary", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    session.user("more")
    session.reply("m2", text("b"))
    session.user("and more")
    session.reply("m3", text("c"))
    return session


@pytest.mark.parametrize("boundary", [{}, {"logicalParentUuid": "elsewhere"}, {"logicalParentUuid": None}])
def test_a_compaction_restarts_the_prompt_and_not_the_history(boundary: dict[str, Any]) -> None:
    transcript = compacted(**boundary).only()
    first = [said("user", "hi"), said("assistant", [text("a")])]
    summary, more, reply = said("user", "summary"), said("user", "more"), said("assistant", [text("b")])
    assert transcript.captured(1)["messages"] == [summary, more]
    assert transcript.history(1)["messages"] == [*first, more]
    assert transcript.captured(2)["messages"] == [summary, more, reply, said("user", "and more")]
    assert transcript.history(2)["messages"] == [*first, more, reply, said("user", "and more")]
    assert transcript.notes == (*NOTES, "the conversation was compacted before call 1")


def test_a_summary_without_a_boundary_restarts_the_prompt_too() -> None:
    session = Session()
    session.user("hi")
    session.reply("m1", text("a"))
    session.user("summary", isCompactSummary=True, parentUuid=None)
    session.reply("m2", text("b"))
    transcript = session.only()
    assert transcript.captured(1)["messages"] == [said("user", "summary")]
    assert len(transcript.history(1)["messages"]) == 2


def test_a_compaction_at_the_end() -> None:
    session = Session()
    session.user("hi")
    session.reply("m1", text("a"))
    session.line("system", subtype="compact_boundary", parentUuid=None, logicalParentUuid=session.last)
    session.user("summary", isCompactSummary=True)
    assert session.only().notes == (*NOTES, "the conversation was compacted after the last call")


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


def test_a_side_chain_is_a_transcript_of_its_own() -> None:
    session = Session()
    session.user("hi")
    session.reply("m1", use("t1", "Task", prompt="look around", description="Looking", subagent_type="explorer"))
    root = session.user("look around", isSidechain=True, parentUuid=None)
    session.reply("x1", text("found"), isSidechain=True, parentUuid=root)
    session.user([result("t1", "found")])
    session.reply("m2", text("done"))
    found = session.read()
    main, side = found.transcripts
    assert [len(main.calls), len(side.calls)] == [2, 1]
    assert [message["content"] for message in side.captured(0)["messages"]] == ["look around"]
    assert (side.title, side.session) == ("Looking", root)
    assert side.meta == {"parent_session": "s", "agent": root, "task": "t1", "agent_type": "explorer"}
    assert found.problems == []


def test_side_chains_of_two_agents_do_not_mix() -> None:
    session = Session()
    session.user("hi")
    for agent in ("a1", "a2"):
        session.user(f"task {agent}", isSidechain=True, agentId=agent, parentUuid=None)
    session.reply("x2", text("2"), isSidechain=True, agentId="a2", parentUuid="u2")
    session.reply("x1", text("1"), isSidechain=True, agentId="a1", parentUuid="u1")
    _, first, second = session.read().transcripts
    assert [(side.session, spoken(side)) for side in (first, second)] == [
        ("a1", ["task a1", [text("1")]]),
        ("a2", ["task a2", [text("2")]]),
    ]


def test_the_file_of_a_sub_agent() -> None:
    session = Session()
    root = session.user("task", isSidechain=True, agentId="a1")
    session.reply("x1", text("1"), isSidechain=True, agentId="a1", parentUuid=root)
    transcript = session.only()
    assert (transcript.title, transcript.meta) == ("task", {"parent_session": "s", "agent": "a1", "task": ""})


@pytest.mark.parametrize("parent", [None, "lost"])
def test_lines_that_name_no_parent_in_the_file_follow_in_order(parent: str | None) -> None:
    session = Session()
    session.user("hi", parentUuid=parent)
    session.reply("m1", text("a"), parentUuid=parent)
    session.user("more", parentUuid=parent)
    session.reply("m2", text("b"), parentUuid=parent)
    assert spoken(session.only()) == ["hi", [text("a")], "more", [text("b")]]


def test_a_lost_line_breaks_no_chain() -> None:
    session = Session()
    session.user("hi")
    session.reply("m1", text("a"))
    session.user("more")
    session.reply("m2", text("b"))
    del session.lines[1]
    assert spoken(session.only()) == ["hi", "more", [text("b")]]


def test_a_line_that_names_itself_as_its_parent() -> None:
    session = Session()
    for content in ("a", "b", "c"):
        session.user(content, uuid="same", parentUuid="same")
    assert spoken(session.only()) == ["a", "b", "c"]


def test_a_message_that_is_logged_again_is_not_doubled() -> None:
    session = Session()
    session.user("hi")
    session.reply("m1", text("a"))
    session.reply("m1", text("a"), use("t1"))
    assert session.only().messages[1] == said("assistant", [text("a"), use("t1")])


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
    found = read(json.dumps(session.lines), format="claude-code")
    assert spoken(found.transcripts[0]) == ["hi", [text("a")]]
    assert (found.counts.read, found.counts.used) == (1, 1)


def test_sessions_that_stream_are_not_taken() -> None:
    lines = [
        {"type": "system", "subtype": "init", "session_id": "x"},
        {"type": "assistant", "message": {"role": "assistant", "content": []}, "session_id": "x", "uuid": "u"},
    ]
    assert read("\n".join(map(json.dumps, lines))).format is None
