"""Logs of iFlow, pi and Copilot CLI; and what holds for all agents' logs."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.replay import replay
from core.transcript import Usage
from core.validity import validate
from tests.agent_sessions import (
    copilot_event,
    copilot_session,
    iflow_line,
    iflow_result,
    iflow_session,
    lines,
    only,
    pi_entry,
    pi_session,
    prompts,
    tool_use,
    usages,
)

NO_SYSTEM, NO_TOOLS = "system prompt not recorded", "tool definitions not recorded"


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def said(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def system(content: str) -> dict[str, Any]:
    return {"role": "system", "content": content}


def result(id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def call(id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


class TestIflow:
    def test_a_session(self) -> None:
        """Lines that repeat calls are one reply; results in Gemini's form become texts; zeros are unknown."""
        transcript = only(iflow_session())
        text = {"type": "text", "text": "looking"}
        step = said([text, tool_use("t1"), tool_use("t2")])
        outputs = [
            {"type": "tool_result", "tool_use_id": id, "content": out} for id, out in (("t1", "one"), ("t2", "two"))
        ]
        assert prompts(transcript) == [[user("list files")], [user("list files"), step, user(outputs)]]
        assert [made.response for made in transcript.calls] == [step, said([{"type": "text", "text": "done"}])]
        assert usages(transcript) == [Usage(), Usage(9, output=0)]
        assert (transcript.format, transcript.dialect, transcript.session) == ("iflow", "anthropic", "session-1")
        assert transcript.notes == (NO_SYSTEM, NO_TOOLS)

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ({"responseParts": {"functionResponse": {"response": {"error": "no"}}}}, "no"),
            ({"responseParts": {"functionResponse": {"response": {"a": 1}}}}, '{"a":1}'),
            ({"other": 1}, '{"other":1}'),
            ("plain", "plain"),
        ],
    )
    def test_results(self, content: Any, expected: str) -> None:
        answer = {**iflow_result("t1", ""), "content": content}
        records = [
            iflow_line("user", "q"),
            iflow_line("assistant", [tool_use("t1")], "1"),
            iflow_line("user", [answer]),
        ]
        assert only(records).messages[2]["content"][0]["content"] == expected

    def test_broken_lines(self) -> None:
        found = read(lines([*iflow_session(), {"x": 1}, iflow_line("user", None)]))
        assert (found.counts.read, found.counts.used, found.counts.broken) == (9, 7, 2)

    def test_a_real_session(self, transcripts_folder: Path) -> None:
        found = read(transcripts_folder / "iflow-qwen" / "iflow-zh-session.jsonl")
        (transcript,) = found.transcripts
        blocks = [block for message in transcript.messages for block in message["content"] if isinstance(block, dict)]
        kinds = [block["type"] for block in blocks]
        assert (kinds.count("tool_use"), kinds.count("tool_result"), len(transcript.calls)) == (6, 6, 4)
        assert (found.counts.used, found.problems) == (16, [])


class TestPi:
    def test_a_session(self) -> None:
        transcript = only(pi_session())
        step = said(None, reasoning_content="hm", tool_calls=[call("t1", "ls", '{"dir":"."}')])
        assert prompts(transcript) == [[user("list files")], [user("list files"), step, result("t1", "a.txt")]]
        assert [made.response for made in transcript.calls] == [step, said("one file")]
        assert usages(transcript) == [Usage(33, 20, 3, 4), Usage()]
        assert [made.model for made in transcript.calls] == ["model-x", "model-y"]
        assert (transcript.format, transcript.session, transcript.notes) == ("pi", "s1", (NO_SYSTEM, NO_TOOLS))
        assert transcript.meta == {"cwd": "/w", "ignored": {"model_change": 1}}

    def test_branches(self) -> None:
        branch = [pi_entry("e5", "e1", "user", "instead"), pi_entry("e6", "e5", "assistant", "ok")]
        transcript = only([*pi_session(), *branch])
        assert prompts(transcript)[2] == [user("list files"), user("instead")]
        assert "1 call stands on branches that were given up" in transcript.notes

    def test_a_compaction_keeps_the_newest_entries(self) -> None:
        compaction = {"type": "compaction", "id": "c", "parentId": "e4", "summary": "sum", "firstKeptEntryId": "e2"}
        later = [pi_entry("e5", "c", "user", "more"), pi_entry("e6", "e5", "assistant", "ok")]
        transcript = only([*pi_session(), compaction, *later])
        window = prompts(transcript)[2]
        assert [message["role"] for message in window] == ["user", "assistant", "tool", "assistant", "user"]
        assert window[0]["content"].endswith("summary:\n\nsum")
        assert len(prompts(transcript, history=True)[2]) == 5
        assert "the conversation was compacted before call 3" in transcript.notes

    @pytest.mark.parametrize(
        ("message", "expected"),
        [
            ({"role": "bashExecution", "command": "ls", "output": "a"}, user("Ran `ls`\na")),
            ({"role": "bashExecution", "command": "ls", "output": "", "excludeFromContext": True}, None),
            ({"role": "custom", "content": "note"}, user("note")),
            ({"role": "branchSummary", "summary": "sum"}, user("sum")),
            (
                {"role": "user", "content": [{"type": "image", "data": "x", "mimeType": "image/png"}]},
                user([{"type": "image_url", "image_url": {"url": "data:image/png;base64,x"}}]),
            ),
        ],
    )
    def test_messages(self, message: dict[str, Any], expected: Any) -> None:
        entry = {"type": "message", "id": "e5", "parentId": "e4", "message": message}
        transcript = only([*pi_session(), entry])
        assert list(transcript.messages[4:]) == ([expected] if expected else [])

    def test_entries_without_ids_follow_each_other(self) -> None:
        bare = [{key: value for key, value in entry.items() if key not in ("id", "parentId")} for entry in pi_session()]
        found = read(lines([pi_session()[0], *bare[1:]]))
        assert prompts(found.transcripts[0]) == prompts(only(pi_session()))

    def test_titles_and_parents(self) -> None:
        named = {"type": "session_info", "id": "e5", "parentId": "e4", "name": "Mine"}
        header = {**pi_session()[0], "parentSession": "s0"}
        transcript = only([header, *pi_session()[1:], named])
        assert (transcript.title, transcript.meta["parent_session"]) == ("Mine", "s0")

    def test_a_real_session_with_branches(self, transcripts_folder: Path) -> None:
        (transcript,) = read(transcripts_folder / "pi" / "agentlogs-branched.jsonl").transcripts
        figures = [(2960, 121), (3112, 72), (3206, 122), (3359, 67), (3204, 135), (3369, 114)]
        assert [(usage.input, usage.output) for usage in usages(transcript)] == figures
        assert [len(prompt) for prompt in prompts(transcript)] == [1, 3, 5, 7, 5, 7]
        roles = [message["role"] for message in transcript.messages]
        assert [roles.count(role) for role in ("user", "assistant", "tool")] == [4, 6, 3]


class TestCopilot:
    def test_a_session(self) -> None:
        transcript = only(copilot_session())
        step = said(None, reasoning_content="hm", tool_calls=[call("t1", "ls", '{"dir":"."}')])
        first = [user("<now>list files")]
        assert prompts(transcript) == [first, [*first, step, result("t1", "a.txt")]]
        assert transcript.captured(0) == {"model": "claude-x", "messages": [system("be Copilot"), *first]}
        assert usages(transcript) == [Usage(output=7), Usage(output=3)]
        assert transcript.calls[1].at == datetime(2026, 1, 1, 0, 0, 2, tzinfo=UTC)
        assert (transcript.format, transcript.title, transcript.notes) == ("copilot_cli", "list files", (NO_TOOLS,))
        assert transcript.meta["usage_of_session"] == {"claude-x": {"usage": {"inputTokens": 50}}}
        ignored = {"assistant.turn_start": 1, "tool.execution_start": 1, "tool.execution_complete": 1}
        assert transcript.meta["ignored"] == ignored

    def test_a_failed_tool_and_a_compaction(self) -> None:
        records = copilot_session()
        failed = copilot_event("tool.execution_complete", toolCallId="t1", success=False, error={"message": "no"})
        compacted = copilot_event("session.compaction_complete", success=True, summaryContent="sum")
        later = [copilot_event("user.message", content="more"), copilot_event("assistant.message", content="ok")]
        transcript = only([*records[:6], failed, *records[9:10], compacted, *later])
        assert prompts(transcript)[1][-1] == result("t1", "no")
        assert prompts(transcript)[2] == [user("sum"), user("more")]
        assert transcript.captured(2)["messages"][0] == system("be Copilot")

    def test_a_sub_agent(self) -> None:
        started = copilot_event("subagent.started", toolCallId="t1", agentName="explore", agentDisplayName="Explore")
        inside = copilot_event("assistant.message", content="found", parentToolCallId="t1")
        found = read(lines([*copilot_session(), started, inside]))
        main, agent = found.transcripts
        assert len(main.calls) == 2
        assert agent.meta == {"parent_session": "s1", "agent": "t1", "task": "t1", "agent_type": "explore"}
        assert (agent.title, agent.calls[0].response) == ("Explore", said("found"))

    def test_a_real_session(self, transcripts_folder: Path) -> None:
        """Two results of the file answer calls that no message holds."""
        found = read(transcripts_folder / "copilot" / "vct-copilot-cli.jsonl")
        (transcript,) = found.transcripts
        assert [len((made.response or {}).get("tool_calls", ())) for made in transcript.calls] == [4, 3, 2, 1, 0, 1]
        assert sum(usage.output or 0 for usage in usages(transcript)) == 2848
        roles = [message["role"] for message in transcript.messages]
        assert [roles.count(role) for role in ("user", "assistant", "tool")] == [2, 6, 11]
        assert (found.counts.read, found.counts.broken, found.problems) == (55, 0, [])


class TestCopilotChat:
    def chat(self, **turn: Any) -> dict[str, Any]:
        asked = {"requestId": "r1", "message": {"text": "list files"}, "modelId": "gpt-x", "timestamp": 1769203363000}
        return {"version": 3, "sessionId": "s1", "requests": [{**asked, **turn}]}

    def test_rounds_are_calls(self) -> None:
        listed = {"id": "t1", "name": "ls", "arguments": "{}"}
        told = {
            "renderedUserMessage": [{"type": 1, "text": "<now>list files"}],
            "renderedGlobalContext": [{"type": 1, "text": "context"}],
            "toolCallRounds": [
                {"response": "looking", "toolCalls": [listed]},
                {"response": "one file", "toolCalls": []},
            ],
            "toolCallResults": {"t1": {"content": [{"value": "a.txt"}]}},
        }
        transcript = only(self.chat(result={"metadata": told}))
        step = said("looking", tool_calls=[call("t1", "ls", "{}")])
        first = [user("context"), user("<now>list files")]
        assert prompts(transcript) == [first, [*first, step, result("t1", "a.txt")]]
        assert [made.response for made in transcript.calls] == [step, said("one file")]
        assert (transcript.format, transcript.title, transcript.session) == ("copilot_chat", "list files", "s1")

    def test_a_turn_without_rounds_has_what_was_shown(self) -> None:
        shown = [
            {"value": "one "},
            {"kind": "progress", "value": "x"},
            {"kind": "markdownContent", "content": {"value": "file"}},
        ]
        usage = {"promptTokens": 9, "completionTokens": 2}
        transcript = only(self.chat(response=shown, result={"usage": usage}))
        assert [(made.response, made.usage) for made in transcript.calls] == [(said("one file"), Usage(9, output=2))]


FOLDERS = (
    *("openai-responses", "codex", "gemini-contents", "gemini-cli", "iflow-qwen", "opencode", "cline-roo"),
    *("claude-stream-json", "kimi-cli", "pi", "copilot", "anthropic-messages"),
)
WRONG_IN_THE_RECORDING = {
    "agent-sessions-2026-08.jsonl": {"call_without_result", "result_without_call"},  # texts and ids were taken out
    "exec-json-stream-5.jsonl": {"no_message", "first_not_user"},  # prompts are not recorded
    "gemini-cli-trajectory.json": {"result_without_call", "call_after_reply"},
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_real_sessions_replay(folder: str, transcripts_folder: Path) -> None:
    for path in sorted((transcripts_folder / folder).iterdir()):
        for transcript in read(path).transcripts:
            for kind in ("keep_last", "as_captured"):
                played = replay(transcript, {"strategy": {"kind": kind}, "budget": {"soft_limit": 5000}})
                assert len(played.calls["in_window"]) == len(transcript.calls)
            found = {
                violation.rule
                for made in range(len(transcript.calls))
                for violation in validate(transcript.captured(made), transcript.dialect)
            }
            alone = {"no_message"} if not transcript.messages else set()
            assert found <= WRONG_IN_THE_RECORDING.get(path.name, alone)


def test_real_usage_agrees_with_what_was_established(transcripts_folder: Path) -> None:
    truth: dict[str, list[Any]] = {}
    listed = (transcripts_folder.parent / "cases" / "usage_truth.jsonl").read_text(encoding="utf-8")
    for line in listed.splitlines():
        known = json.loads(line)
        truth.setdefault(known["file"], []).append(known)
    for file, known in truth.items():
        if file.split("/")[0] in FOLDERS:
            calls = [made for transcript in read(transcripts_folder / file).transcripts for made in transcript.calls]
            reported = [(made.usage.input, made.usage.cache_read) for made in calls if made.usage.input is not None]
            assert reported == [(entry["reported_input"], entry["reported_cached"]) for entry in known]
