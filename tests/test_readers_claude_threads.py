from typing import Any

import pytest

from core.transcript import Usage
from tests.claude_sessions import NOTES, Session, result, said, spoken, text, use


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
    assert transcript.notes == (*NOTES, "the conversation was compacted before call 2")


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
