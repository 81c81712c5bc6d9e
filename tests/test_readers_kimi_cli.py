"""Wire logs of Kimi CLI, old and new, and its context files."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.readers import read
from core.transcript import Fidelity, Usage
from tests.agent_sessions import kimi_prompt, kimi_session, kimi_step, lines, only, prompts, usages

NO_TOOLS = "tool definitions not recorded"


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


def old(kind: str, /, **payload: Any) -> dict[str, Any]:
    return {"timestamp": 1785612812.8, "message": {"type": kind, "payload": payload}}


def test_a_session() -> None:
    transcript = only(kimi_session())
    step = said(None, reasoning_content="hm", tool_calls=[call("b0", "Bash", '{"command":"ls"}')])
    assert prompts(transcript) == [[user("list files")], [user("list files"), step, result("b0", "a.txt")]]
    assert transcript.captured(0) == {"model": "kimi-x", "messages": [system("be Kimi"), user("list files")]}
    assert [made.response for made in transcript.calls] == [step, said("one file")]
    assert usages(transcript) == [Usage(33, 20, 3, 4), Usage(5, output=6)]
    assert transcript.calls[0].at == datetime.fromtimestamp(1785612812.825, UTC)
    assert {(made.model, made.fidelity) for made in transcript.calls} == {("kimi-x", Fidelity.PARTIAL)}
    assert (transcript.format, transcript.title, transcript.notes) == ("kimi_cli", "list files", (NO_TOOLS,))
    assert transcript.meta == {"ignored": {"usage.record": 1}}


def test_tools_of_newer_versions() -> None:
    snapshot = {
        "type": "llm.tools_snapshot",
        "tools": [{"name": "Bash", "description": "d", "parameters": {}}],
        "time": 1,
    }
    records = kimi_session()
    transcript = only([*records[:3], snapshot, *records[3:]])
    function = {"name": "Bash", "description": "d", "parameters": {}}
    assert transcript.captured(0)["tools"] == [{"type": "function", "function": function}]
    assert {made.fidelity for made in transcript.calls} == {Fidelity.RECONSTRUCTED}
    assert transcript.notes == ()


def test_requests_that_failed_and_prompts_that_were_sent_again() -> None:
    begin = {"type": "context.append_loop_event", "event": {"type": "step.begin", "uuid": "x"}, "time": 1}
    answer = {"type": "content.part", "part": {"type": "text", "text": "hi"}}
    records = [kimi_session()[0], kimi_prompt("a"), begin, kimi_prompt("b"), *kimi_step(1, answer, inputOther=3)]
    transcript = only(records)
    parts = [{"type": "text", "text": text} for text in "ab"]
    assert prompts(transcript) == [[user(parts)]]
    assert "1 request got no response" in transcript.notes


def test_a_compaction() -> None:
    """The request that wrote the summary is a call; the newest prompts and the summary stay."""
    usage = {"type": "usage.record", "usageScope": "session", "usage": {"inputOther": 50, "output": 9}, "time": 1}
    applied = {
        "type": "context.apply_compaction",
        "summary": "s",
        "contextSummary": "so far: s",
        "keptUserMessageCount": 1,
        "time": 1,
    }
    answer = {"type": "content.part", "part": {"type": "text", "text": "ok"}}
    later = [kimi_prompt("more"), *kimi_step(3, answer, inputOther=7)]
    transcript = only([*kimi_session(), usage, applied, *later])
    assert prompts(transcript)[3] == [user("list files"), user("so far: s"), user("more")]
    assert (transcript.calls[2].response, transcript.calls[2].usage) == (said("s"), Usage(50, output=9))
    assert len(prompts(transcript, history=True)[3]) == 5
    assert transcript.captured(3)["messages"][0] == system("be Kimi")
    assert "the conversation was compacted before call 4" in transcript.notes


def test_an_older_wire_log() -> None:
    usage = {"input_other": 10, "output": 4, "input_cache_read": 20, "input_cache_creation": 3}
    function = {"name": "Bash", "arguments": '{"comm'}
    agent = [
        old("SubagentEvent", task_tool_call_id="c1", event={"type": kind, "payload": payload})
        for kind, payload in (
            ("TurnBegin", {"user_input": "count"}),
            ("StepBegin", {"n": 1}),
            ("ContentPart", {"type": "text", "text": "two"}),
        )
    ]
    records = [
        {"type": "metadata", "protocol_version": "1.1"},
        old("TurnBegin", user_input="list files"),
        old("StepBegin", n=1),
        old("ContentPart", type="think", think="hm"),
        old("ToolCall", type="function", id="c1", function=function),
        old("ToolCallPart", arguments_part='and":"ls"}'),
        old("StatusUpdate", token_usage=usage),
        *agent,
        old("ToolResult", tool_call_id="c1", return_value={"output": "a.txt", "is_error": False}),
        old("StepBegin", n=2),
        old("ContentPart", type="text", text="one file"),
        old("TurnEnd"),
    ]
    found = read(lines(records))
    main, sub = found.transcripts
    step = said(None, reasoning_content="hm", tool_calls=[call("c1", "Bash", '{"command":"ls"}')])
    assert prompts(main) == [[user("list files")], [user("list files"), step, result("c1", "a.txt")]]
    assert usages(main) == [Usage(33, 20, 3, 4), Usage()]
    assert (prompts(sub), sub.meta) == ([[user("count")]], {"agent": "c1", "task": "c1"})
    assert (found.counts.read, found.counts.used + found.counts.ignored, found.problems) == (14, 14, [])


def test_a_compaction_of_an_older_log_has_no_summary() -> None:
    step = [old("StepBegin", n=1), old("ContentPart", type="text", text="a"), old("TurnEnd")]
    talk = [old("TurnBegin", user_input="q"), *step, old("CompactionBegin"), old("CompactionEnd")]
    transcript = only([*talk, old("TurnBegin", user_input="r"), *step])
    assert prompts(transcript)[1] == [user("r")]
    assert len(prompts(transcript, history=True)[1]) == 3
    assert "the conversation was compacted, behind a summary that is not recorded, before call 2" in transcript.notes


def test_a_context_file() -> None:
    thinking = [{"type": "think", "think": "hm"}, {"type": "text", "text": "looking"}]
    records = [
        {"role": "_checkpoint", "id": 0},
        {"role": "user", "content": [{"type": "text", "text": "list files"}]},
        {"role": "assistant", "content": thinking, "tool_calls": [call("c1", "Bash", "{}")]},
        {"role": "_usage", "token_count": 99},
        {"role": "tool", "tool_call_id": "c1", "content": "a.txt"},
        {"role": "assistant", "content": "one file"},
    ]
    transcript = only(records)
    step = said("looking", tool_calls=[call("c1", "Bash", "{}")], reasoning_content="hm")
    assert prompts(transcript) == [[user("list files")], [user("list files"), step, result("c1", "a.txt")]]
    assert (transcript.format, usages(transcript)) == ("kimi_context", [Usage(), Usage()])
    assert transcript.meta == {"ignored": {"_checkpoint": 1, "_usage": 1}}


def test_messages_that_were_put_in_stay_apart() -> None:
    answer = {"type": "content.part", "part": {"type": "text", "text": "ok"}}
    talk = [kimi_prompt("a"), kimi_prompt("reminder", "injection"), *kimi_step(1, answer, inputOther=3)]
    assert prompts(only([kimi_session()[0], *talk])) == [[user("a"), user("reminder")]]


def test_a_real_session(transcripts_folder: Path) -> None:
    """The log names the number of messages of each request; the one that compacts adds an instruction."""
    path = transcripts_folder / "kimi-cli" / "agent-sessions-tools.jsonl"
    (transcript,) = read(path).transcripts
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    sent = [record["messageCount"] for record in records if record["type"] == "llm.request"]
    assert [len(prompt) for prompt in prompts(transcript)] == [*sent[2:-1], sent[-1] - 1]
    figures = [(usage.input or 0, usage.output or 0, usage.cache_read or 0) for usage in usages(transcript)]
    assert [sum(column) for column in zip(*figures, strict=True)] == [691678, 5515, 661504]
    assert "2 requests got no response" in transcript.notes
