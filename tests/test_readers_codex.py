"""Codex rollouts and the event stream of `codex exec`."""

from datetime import UTC, datetime
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity, Usage
from tests.agent_sessions import (
    codex_exec,
    codex_rollout,
    function_call,
    function_output,
    item,
    lines,
    only,
    prompts,
    reasoning,
    rollout_line,
    token_count,
    usages,
)

NO_TOOLS = "tool definitions not recorded"


def rollout(*records: Any) -> list[Any]:
    meta = rollout_line("session_meta", {"id": "s", "timestamp": "2026-01-01T00:00:00Z", "instructions": "be Codex"})
    return [meta, rollout_line("turn_context", {"model": "gpt-x"}), *records]


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return rollout_line("event_msg", {"type": kind, **fields})


def total(tokens: int) -> dict[str, Any]:
    return event("token_count", info={"total_token_usage": {"input_tokens": tokens}})


def said(role: str, text: str) -> dict[str, Any]:
    return rollout_line("response_item", item(role, text))


def line(wire: dict[str, Any]) -> dict[str, Any]:
    return rollout_line("response_item", wire)


def test_a_rollout() -> None:
    transcript = only(codex_rollout())
    context = item("user", "<environment_context>here</environment_context>")
    first = [context, item("user", "list files")]
    step = [reasoning(), function_call("c1"), function_output("c1")]
    assert prompts(transcript) == [first, [*first, *step]]
    assert transcript.captured(0) == {
        "model": "gpt-x",
        "instructions": "be Codex",
        "input": [item("developer", "permissions"), *first],
    }
    assert [call.response for call in transcript.calls] == [
        {"role": "assistant", "output": [reasoning(), function_call("c1")]},
        item("assistant", "a.txt"),
    ]
    assert usages(transcript) == [Usage(10, 4, None, 5, 1), Usage(20, 8, None, 6, 1)]
    assert [call.at for call in transcript.calls] == [
        datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC) for second in (3, 6)
    ]
    assert {(call.model, call.fidelity) for call in transcript.calls} == {("gpt-x", Fidelity.PARTIAL)}
    assert (transcript.dialect, transcript.format, transcript.session) == ("openai_responses", "codex", "s1")
    assert (transcript.title, transcript.notes) == ("list files", (NO_TOOLS,))
    ignored = {"event_msg/user_message": 1, "event_msg/token_count": 2, "event_msg/agent_message": 1}
    assert transcript.meta == {"cwd": "/w", "ignored": ignored, "window": 1000}


def test_counts_before_their_replies_as_older_versions_wrote_them() -> None:
    records = rollout(
        said("user", "go"),
        token_count(10, 0, 1, 11),
        line(reasoning()),
        line(function_call("c1")),
        line(function_output("c1")),
        token_count(20, 5, 2, 33),
        token_count(20, 5, 2, 33),
        said("assistant", "done"),
    )
    assert usages(only(records)) == [Usage(10, 0, None, 1, 1), Usage(20, 5, None, 2, 1)]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([token_count(0, 0, 0, 0)], Usage()),
        ([event("token_count", info=None)], Usage()),
        ([token_count(7, 3, 2, 9), token_count(7, 3, 2, 9)], Usage(7, 3, None, 2, 1)),
        ([event("token_count", input_tokens=7, output_tokens=2)], Usage(7, output=2)),
        ([total(7)], Usage(7)),
    ],
    ids=["zeros", "nothing", "twice", "the flat form of 2025", "only a total"],
)
def test_what_a_count_says(counts: list[Any], expected: Usage) -> None:
    assert usages(only(rollout(said("user", "go"), said("assistant", "done"), *counts))) == [expected]


def test_totals_grow_and_the_last_counts() -> None:
    talk = [said("user", "a"), said("assistant", "b"), total(10), said("user", "c"), said("assistant", "d"), total(25)]
    assert usages(only(rollout(*talk))) == [Usage(10), Usage(15)]


def test_a_reply_without_a_count_leaves_the_next_turns_count_alone() -> None:
    talk = [
        said("user", "a"),
        said("assistant", "b"),
        said("user", "c"),
        said("assistant", "d"),
        token_count(9, 0, 1, 10),
    ]
    assert usages(only(rollout(*talk))) == [Usage(), Usage(9, 0, None, 1, 1)]


def test_counts_without_replies_are_told() -> None:
    transcript = only(rollout(said("user", "a"), token_count(9, 0, 1, 10)))
    assert transcript.calls == ()
    assert "the usage of 1 more call is recorded without its reply" in transcript.notes


def test_a_compaction_with_its_replacement() -> None:
    replacement = [item("developer", "rules"), item("user", "short"), {"type": "compaction", "encrypted_content": "x"}]
    records = rollout(
        said("user", "a"),
        said("assistant", "b"),
        rollout_line("compacted", {"message": "", "replacement_history": replacement}),
        rollout_line("event_msg", {"type": "context_compacted"}),
        said("user", "c"),
        said("assistant", "d"),
    )
    transcript = only(records)
    assert prompts(transcript) == [[item("user", "a")], [*replacement[1:], item("user", "c")]]
    assert prompts(transcript, history=True)[1] == [item("user", "a"), item("assistant", "b"), item("user", "c")]
    assert transcript.captured(1)["input"][0] == item("developer", "rules")
    assert "the conversation was compacted before call 2" in transcript.notes


def test_a_compaction_of_2025_is_a_call_and_a_message() -> None:
    """The count before `compacted` is that of the request which wrote the summary."""
    records = rollout(
        said("user", "<environment_context>e"),
        said("user", "a"),
        said("assistant", "b"),
        token_count(5, 0, 1, 6),
        token_count(8, 0, 2, 16),
        rollout_line("compacted", {"message": "summary"}),
        said("user", "c"),
        said("assistant", "d"),
        token_count(3, 0, 1, 20),
    )
    transcript = only(records)
    assert [usage.input for usage in usages(transcript)] == [5, 8, 3]
    summary = {"role": "user", "content": "summary"}
    assert prompts(transcript)[2] == [item("user", "<environment_context>e"), summary, item("user", "c")]
    assert transcript.calls[1].response == item("assistant", "summary")


def test_turns_that_were_rolled_back() -> None:
    records = rollout(
        said("user", "a"),
        said("assistant", "b"),
        said("user", "c"),
        said("assistant", "d"),
        rollout_line("event_msg", {"type": "thread_rolled_back", "num_turns": 1}),
        said("user", "e"),
        said("assistant", "f"),
    )
    transcript = only(records)
    assert prompts(transcript)[2] == [item("user", "a"), item("assistant", "b"), item("user", "e")]
    assert "1 call stands on branches that were given up" in transcript.notes


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Context from my IDE setup:\n\n## My request for Codex:\nfix it\nnow", "fix it now"),
        ("plain", "plain"),
    ],
)
def test_titles(text: str, title: str) -> None:
    assert only(rollout(said("user", "<user_instructions>x"), said("user", text))).title == title


def test_a_thread_has_the_name_that_the_user_gave() -> None:
    named = rollout_line("event_msg", {"type": "thread_name_updated", "thread_name": "Mine"})
    assert only(rollout(said("user", "a"), named)).title == "Mine"


def test_a_sub_agent_names_its_parent() -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "p", "agent_nickname": "n", "agent_role": "explorer"}}}
    meta = rollout_line("session_meta", {"id": "s", "timestamp": "", "source": spawned, "forked_from_id": "f"})
    transcript = only([meta, said("user", "a")])
    assert transcript.meta == {"parent_session": "p", "agent": "n", "agent_type": "explorer", "forked_from": "f"}
    assert transcript.notes == ("system prompt not recorded", NO_TOOLS)


def test_the_header_of_a_parent_is_a_copy() -> None:
    other = rollout_line("session_meta", {"id": "other", "instructions": "else"})
    transcript = only(rollout(other, said("user", "a"), said("assistant", "b")))
    assert (transcript.session, transcript.captured(0)["instructions"]) == ("s", "be Codex")
    assert transcript.meta["ignored"] == {"session_meta": 1}


def test_bare_items_of_mid_2025() -> None:
    records = [
        {"id": "s", "timestamp": "2025-07-01T00:00:00Z", "instructions": "be Codex", "git": {}},
        item("user", "a"),
        {"record_type": "state"},
        item("assistant", "b"),
    ]
    transcript = only(records)
    assert (transcript.session, prompts(transcript)) == ("s", [[item("user", "a")]])
    assert transcript.captured(0)["instructions"] == "be Codex"


def test_the_document_of_april_2025() -> None:
    session = {"id": "s", "timestamp": "2025-04-20T00:00:00Z", "instructions": "be Codex"}
    document = {"session": session, "items": [item("user", "a"), item("assistant", "b")]}
    transcript = only(document)
    assert (transcript.session, transcript.format, prompts(transcript)) == ("s", "codex", [[item("user", "a")]])


def test_unknown_records_are_told_of_once() -> None:
    records = rollout(said("user", "a"), *(rollout_line("new_thing", {"x": 1}) for _ in range(3)))
    found = read(lines(records))
    assert [str(problem) for problem in found.problems] == [
        "the text, line 4: 3 records of the unknown type 'new_thing' were left out."
        " They may hold messages of a newer version of the format."
    ]
    assert (found.counts.read, found.counts.used, found.counts.ignored) == (6, 3, 3)


def test_records_of_another_kind_are_broken() -> None:
    found = read(lines([*codex_rollout(), {"x": 1}, [1]]), format="codex")
    assert found.counts.broken == 2
    assert "this is no record of a Codex rollout" in str(found.problems[0])


def test_an_exec_stream() -> None:
    transcript = only(codex_exec())
    call = {"type": "function_call", "call_id": "i1", "name": "shell", "arguments": '{"command":"ls"}'}
    thought = {"type": "reasoning", "id": "i0", "summary": [{"type": "summary_text", "text": "hm"}]}
    assert [call.response for call in transcript.calls] == [
        {"role": "assistant", "output": [thought, call]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "one file"}]},
    ]
    assert prompts(transcript)[1] == [thought, call, function_output("i1")]
    assert usages(transcript) == [Usage(), Usage()]
    assert transcript.meta["usage"] == {"input_tokens": 30, "cached_input_tokens": 9, "output_tokens": 8}
    assert (transcript.session, transcript.notes[0]) == ("t1", "the user's prompts are not recorded")


def test_a_turn_of_one_call_has_the_growth_of_the_total() -> None:
    def answer(name: str) -> dict[str, Any]:
        return {"type": "item.completed", "item": {"id": name, "type": "agent_message", "text": name}}

    def done(given: int, output: int) -> dict[str, Any]:
        return {"type": "turn.completed", "usage": {"input_tokens": given, "output_tokens": output}}

    records = [{"type": "thread.started", "thread_id": "t"}, answer("a"), done(10, 2), answer("b"), done(35, 5)]
    assert usages(only(records)) == [Usage(10, output=2), Usage(25, output=3)]


ITEMS = [
    ({"type": "file_change", "changes": [1], "status": "completed"}, "apply_patch", '{"changes":[1]}', "completed"),
    (
        {"type": "mcp_tool_call", "server": "s", "tool": "t", "arguments": {"a": 1}, "result": {"ok": 1}},
        "mcp__s__t",
        '{"a":1}',
        '{"ok":1}',
    ),
    ({"type": "todo_list", "items": []}, "update_plan", '{"plan":[]}', "Plan updated"),
]


@pytest.mark.parametrize(("shown", "name", "arguments", "result"), ITEMS)
def test_tools_of_an_exec_stream(shown: dict[str, Any], name: str, arguments: str, result: str) -> None:
    records = [{"type": "thread.started"}, {"type": "item.completed", "item": {"id": "i", **shown}}]
    transcript = only(records)
    call = {"type": "function_call", "call_id": "i", "name": name, "arguments": arguments}
    assert list(transcript.messages) == [call, function_output("i", result)]


def test_an_item_that_never_ended_and_a_turn_that_failed() -> None:
    started = {"type": "item.started", "item": {"id": "i", "type": "command_execution", "command": "x"}}
    records = [{"type": "thread.started"}, started, {"type": "turn.failed", "error": {"message": "no"}}]
    transcript = only(records)
    assert len(transcript.calls) == 1
    assert "command_execution i did not end" in transcript.notes
    assert "a turn failed before call 1" in transcript.notes


FILES = [
    ("agentlogs-crud.jsonl", 5, 16, 38, 47257, 44160, 300, 64),
    ("vct-codex-2025-09.jsonl", 19, 59, 110, 270530, 136832, 12551, 9536),
]


@pytest.mark.parametrize(("name", "calls", "messages", "records", "given", "cached", "output", "thought"), FILES)
def test_real_rollouts(
    name: str,
    calls: int,
    messages: int,
    records: int,
    given: int,
    cached: int,
    output: int,
    thought: int,
    transcripts_folder: Any,
) -> None:
    found = read(transcripts_folder / "codex" / name)
    (transcript,) = found.transcripts
    figures = [(u.input or 0, u.cache_read or 0, u.output or 0, u.reasoning or 0) for u in usages(transcript)]
    assert [sum(column) for column in zip(*figures, strict=True)] == [given, cached, output, thought]
    assert (len(transcript.calls), len(transcript.messages), found.counts.read) == (calls, messages, records)
    assert found.problems == []


def test_a_real_rollout_with_compactions(transcripts_folder: Any) -> None:
    found = read(transcripts_folder / "codex" / "agent-sessions-2026-08.jsonl")
    (transcript,) = found.transcripts
    assert [usage.input for usage in usages(transcript)] == [16341, *[None] * 7]
    assert (found.counts.read, found.counts.broken) == (118, 0)
    assert sum("compacted" in note for note in transcript.notes) == 4
    assert found.counts.used + found.counts.ignored == 118
    ignored = transcript.meta["ignored"].items()
    assert sum(number for kind, number in ignored if kind.startswith("event_msg/")) == 68 - 2  # a count and a name
