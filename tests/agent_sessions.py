"""Short sessions in the forms in which coding agents write them, record by record."""

import json
from collections.abc import Iterable
from typing import Any

from core.readers import read
from core.transcript import Transcript, Usage

Records = list[Any]
UNKNOWN = Usage()


def lines(records: Iterable[Any]) -> str:
    return "\n".join(json.dumps(record) for record in records)


def only(records: Any, **options: Any) -> Transcript:
    """Read records that hold one transcript and nothing that is wrong."""
    found = read(lines(records) if isinstance(records, list) else json.dumps(records), **options)
    assert [str(problem) for problem in found.problems] == []
    assert len(found.transcripts) == 1
    return found.transcripts[0]


def prompts(transcript: Transcript, history: bool = False) -> list[Any]:
    """Return the conversation of each call's prompt, without the head."""
    calls = transcript.calls
    ends = [call.history if history else call.captured for call in calls]
    return [[transcript.messages[node] for node in transcript.path(end)] for end in ends]


def usages(transcript: Transcript) -> list[Usage]:
    return [call.usage for call in transcript.calls]


def function_call(id: str, name: str = "shell") -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": name, "arguments": '{"command":"ls"}'}


def function_output(id: str, output: Any = "a.txt") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": output}


def item(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def reasoning(text: str = "hm") -> dict[str, Any]:
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}], "encrypted_content": "x"}


def rollout_line(kind: str, payload: Any, second: int = 0) -> dict[str, Any]:
    return {"timestamp": f"2026-01-01T00:00:{second:02}.000Z", "type": kind, "payload": payload}


def token_count(input: int, cached: int, output: int, total: int, **more: Any) -> dict[str, Any]:
    last = {"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output, "reasoning_output_tokens": 1}
    info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": last, "model_context_window": 1000}
    return rollout_line("event_msg", {"type": "token_count", "info": {**info, **more}})


def codex_rollout() -> Records:
    """The newer order: a reply, its count, the count again, the result."""
    meta = {"id": "s1", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w", "base_instructions": {"text": "be Codex"}}
    return [
        rollout_line("session_meta", meta),
        rollout_line("response_item", item("developer", "permissions")),
        rollout_line("response_item", item("user", "<environment_context>here</environment_context>")),
        rollout_line("turn_context", {"model": "gpt-x", "cwd": "/w"}),
        rollout_line("response_item", item("user", "list files"), 1),
        rollout_line("event_msg", {"type": "user_message", "message": "list files"}),
        rollout_line("event_msg", {"type": "token_count", "info": None}),
        rollout_line("response_item", reasoning(), 2),
        rollout_line("response_item", function_call("c1"), 3),
        token_count(10, 4, 5, 15),
        rollout_line("response_item", function_output("c1"), 4),
        token_count(10, 4, 5, 15),
        rollout_line("response_item", item("assistant", "a.txt"), 6),
        token_count(20, 8, 6, 41),
        rollout_line("event_msg", {"type": "agent_message", "message": "a.txt"}),
    ]


def codex_exec() -> Records:
    done = {"type": "command_execution", "id": "i1", "command": "ls", "aggregated_output": "a.txt", "exit_code": 0}
    return [
        {"type": "thread.started", "thread_id": "t1"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "i0", "type": "reasoning", "text": "hm"}},
        {"type": "item.started", "item": {**done, "status": "in_progress"}},
        {"type": "item.completed", "item": {**done, "status": "completed"}},
        {"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": "one file"}},
        {"type": "turn.completed", "usage": {"input_tokens": 30, "cached_input_tokens": 9, "output_tokens": 8}},
    ]


def gemini_reply(id: str, text: str, tokens: Any = None, **more: Any) -> dict[str, Any]:
    base = {"id": id, "timestamp": "2026-01-01T00:00:01Z", "type": "gemini", "content": text, "model": "gemini-x"}
    return {**base, **({"tokens": tokens} if tokens else {}), **more}


def gemini_user(id: str, text: str) -> dict[str, Any]:
    return {"id": id, "timestamp": "2026-01-01T00:00:00Z", "type": "user", "content": [{"text": text}]}


def gemini_tool(id: str, status: str = "success") -> dict[str, Any]:
    answer = {"functionResponse": {"id": id, "name": "ls", "response": {"output": "a.txt"}}}
    return {"id": id, "name": "ls", "args": {"dir": "."}, "status": status, "result": [answer]}


def gemini_chat() -> Records:
    tokens = {"input": 10, "output": 2, "cached": 4, "thoughts": 3, "tool": 1, "total": 16}
    thoughts = [{"subject": "Look", "description": "first"}]
    return [
        {"sessionId": "s1", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z", "kind": "main"},
        gemini_user("u1", "list files"),
        {"$set": {"lastUpdated": "2026-01-01T00:00:01Z"}},
        gemini_reply("g1", "", tokens, thoughts=thoughts),
        gemini_reply("g1", "", tokens, thoughts=thoughts, toolCalls=[gemini_tool("t1")]),
        {"id": "i1", "timestamp": "2026-01-01T00:00:02Z", "type": "info", "content": "Request cancelled."},
        gemini_reply("g2", "a.txt", {"input": 20, "output": 3}),
    ]


def qwen_line(type: str, uuid: str, parent: str | None, parts: Any = None, **more: Any) -> dict[str, Any]:
    base = {"uuid": uuid, "parentUuid": parent, "sessionId": "s1", "timestamp": "2026-01-01T00:00:00Z", "type": type}
    message = {"role": "model" if type == "assistant" else "user", "parts": parts}
    return {**base, "cwd": "/w", **({"message": message} if parts is not None else {}), **more}


def qwen_session() -> Records:
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 4, "thoughtsTokenCount": 1, "cachedContentTokenCount": 5}
    calls = [{"functionCall": {"id": id, "name": "ls", "args": {}}} for id in ("t1", "t2")]
    results = [{"functionResponse": {"id": id, "name": "ls", "response": {"output": id}}} for id in ("t1", "t2")]
    return [
        qwen_line("user", "u1", None, [{"text": "list files"}]),
        qwen_line("assistant", "u2", "u1", calls, usageMetadata=usage, model="qwen-x", contextWindowSize=1000),
        qwen_line("tool_result", "u3", "u2", results[:1]),
        qwen_line("system", "u4", "u3", subtype="ui_telemetry"),
        qwen_line("tool_result", "u5", "u4", results[1:]),
        qwen_line("assistant", "u6", "u5", [{"text": "two"}], model="qwen-x"),
    ]


def iflow_line(type: str, content: Any, id: str = "", **usage: int) -> dict[str, Any]:
    base = {"type": type, "sessionId": "session-1", "uuid": id, "parentUuid": None, "timestamp": "2026-01-01T00:00:00Z"}
    named = {"id": f"response-{id}", "model": "glm", "usage": {"input_tokens": 0, "output_tokens": 0, **usage}}
    return {**base, "message": {"role": type, "content": content, **(named if type == "assistant" else {})}}


def tool_use(id: str, name: str = "ls") -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": {"dir": "."}}


def iflow_result(id: str, output: str) -> dict[str, Any]:
    answer = {"functionResponse": {"id": id, "name": "ls", "response": {"output": output}}}
    return {"type": "tool_result", "tool_use_id": id, "content": {"callId": id, "responseParts": answer}}


def iflow_session() -> Records:
    text = {"type": "text", "text": "looking"}
    return [
        iflow_line("user", "list files"),
        iflow_line("assistant", [text, tool_use("t1")], "1"),
        iflow_line("assistant", [tool_use("t1"), tool_use("t2")], "2"),
        iflow_line("assistant", [tool_use("t2")], "3"),
        iflow_line("user", [iflow_result("t1", "one")]),
        iflow_line("user", [iflow_result("t2", "two")]),
        iflow_line("assistant", [tool_use("t2"), {"type": "text", "text": "done"}], "4", input_tokens=9),
    ]


def opencode_message(id: str, role: str, at: int, *parts: Any, **info: Any) -> dict[str, Any]:
    base = {"id": id, "role": role, "time": {"created": at, "completed": at + 1}}
    return {"info": {**base, **info}, "parts": [{"id": f"p{n}", **part} for n, part in enumerate(parts)][::-1]}


def opencode_tool(id: str, status: str = "completed", **state: Any) -> dict[str, Any]:
    return {"type": "tool", "callID": id, "tool": "ls", "state": {"status": status, "input": {"dir": "."}, **state}}


def opencode_export() -> dict[str, Any]:
    tokens = {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 20, "write": 3}}
    text = {"type": "text", "text": "one file"}
    return {
        "info": {
            "id": "ses_1",
            "title": "Files",
            "version": "1",
            "directory": "/w",
            "time": {"created": 1769203363000},
        },
        "messages": [
            opencode_message("m3", "assistant", 1769203365000, text, modelID="gpt-x"),
            opencode_message("m1", "user", 1769203363000, {"type": "text", "text": "list files"}),
            opencode_message(
                "m2",
                "assistant",
                1769203364000,
                {"type": "step-start"},
                {"type": "reasoning", "text": "hm"},
                opencode_tool("c1", output="a.txt"),
                {"type": "step-finish"},
                modelID="gpt-x",
                tokens=tokens,
            ),
        ],
    }


def cline_history() -> Records:
    """Native calls whose results stand as texts; one document that is a list."""
    used = {"modelInfo": {"modelId": "claude-x"}, "metrics": {"tokens": {"prompt": 3, "completion": 5, "cached": 100}}}
    texts = ["[read_file for 'b'] Result:\nB", "[read_file for 'a'] Result:\nA", "<environment_details>e"]
    return [
        [
            {"role": "user", "content": [{"type": "text", "text": "<task>\nlook\n</task>"}], "ts": 1758742986010},
            {"role": "assistant", "content": [tool_use("t1", "read_file"), tool_use("t2", "read_file")], **used},
            {"role": "user", "content": [{"type": "text", "text": text} for text in texts]},
            {"role": "assistant", "content": "done", "ts": 1758742999000},
        ]
    ]


def cline_screen() -> Records:
    def request(text: str, **facts: Any) -> dict[str, Any]:
        return {"ts": 2, "type": "say", "say": "api_req_started", "text": json.dumps({"request": text, **facts})}

    def shown(kind: str, what: str, text: str, **more: Any) -> dict[str, Any]:
        return {"ts": 3, "type": kind, kind: what, "text": text, **more}

    return [
        [
            {"ts": 1758742985875, "type": "say", "say": "text", "text": "look"},
            request("<task>look</task>", apiProtocol="openai", tokensIn=10, tokensOut=2, cacheReads=4, cacheWrites=0),
            shown("say", "reasoning", "hm", partial=True),
            shown("say", "text", "reading", partial=False),
            shown("ask", "tool", '{"tool":"readFile"}', partial=False),
            shown("say", "command_output", "shown only"),
            request("[read_file] Result: A", tokensIn=3, tokensOut=2, cacheReads=4, cacheWrites=5),
            shown("say", "completion_result", "done", partial=False),
        ]
    ]


def claude_stream() -> Records:
    def line(type: str, content: Any, id: str = "", parent: str | None = None, **usage: int) -> dict[str, Any]:
        message = {"role": type, "content": content}
        if type == "assistant":
            message |= {"id": id, "model": "claude-x", "usage": {"input_tokens": 3, "output_tokens": 1, **usage}}
        return {"type": type, "message": message, "parent_tool_use_id": parent, "session_id": "s1"}

    task = {"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "count", "description": "Count"}}
    return [
        {"type": "system", "subtype": "init", "session_id": "s1", "cwd": "/w", "tools": ["Task"], "model": "claude-x"},
        line("user", "how many?"),
        line("assistant", [{"type": "text", "text": "let me see"}], "m1"),
        line("assistant", [task], "m1", cache_read_input_tokens=7),
        line("user", "count", parent="t1"),
        line("assistant", [{"type": "text", "text": "two"}], "m2", parent="t1"),
        line("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "two"}]),
        line("assistant", [{"type": "text", "text": "2"}], "m3"),
        {"type": "result", "subtype": "success", "session_id": "s1", "num_turns": 2, "usage": {"input_tokens": 99}},
    ]


def kimi_step(number: int, *events: Any, **usage: int) -> Records:
    step = {"type": "context.append_loop_event", "time": 1785612812825}
    begin = {**step, "event": {"type": "step.begin", "uuid": f"s{number}"}}
    end = {**step, "event": {"type": "step.end", "uuid": f"s{number}", "usage": usage}}
    return [begin, *({**step, "event": event} for event in events), end]


def kimi_prompt(text: str, origin: str = "user") -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": text}], "toolCalls": [], "origin": {"kind": origin}}
    return {"type": "context.append_message", "message": message, "time": 1785612812820}


def kimi_session() -> Records:
    call = {"type": "tool.call", "toolCallId": "b0", "name": "Bash", "args": {"command": "ls"}}
    result = {"type": "tool.result", "toolCallId": "b0", "result": {"output": "a.txt"}}
    think = {"type": "content.part", "part": {"type": "think", "think": "hm"}}
    said = {"type": "content.part", "part": {"type": "text", "text": "one file"}}
    return [
        {"type": "metadata", "protocol_version": "1.4", "created_at": 1785612803281},
        {"type": "config.update", "systemPrompt": "be Kimi", "time": 1},
        {"type": "llm.request", "kind": "loop", "model": "kimi-x", "messageCount": 1, "time": 1},
        kimi_prompt("list files"),
        *kimi_step(1, think, call, result, inputOther=10, inputCacheRead=20, inputCacheCreation=3, output=4),
        {"type": "usage.record", "usageScope": "turn", "usage": {"inputOther": 10}, "time": 1},
        *kimi_step(2, said, inputOther=5, output=6),
    ]


def pi_entry(id: str, parent: str | None, role: str, content: Any, **message: Any) -> dict[str, Any]:
    said = [{"type": "text", "text": content}] if isinstance(content, str) else content
    base = {"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:00Z"}
    return {**base, "message": {"role": role, "content": said, **message}}


def pi_session() -> Records:
    call = {"type": "toolCall", "id": "t1", "name": "ls", "arguments": {"dir": "."}}
    usage = {"input": 10, "output": 4, "cacheRead": 20, "cacheWrite": 3, "totalTokens": 37}
    return [
        {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"},
        {"type": "model_change", "id": "e0", "parentId": None, "provider": "p", "modelId": "model-x"},
        pi_entry("e1", "e0", "user", "list files"),
        pi_entry("e2", "e1", "assistant", [{"type": "thinking", "thinking": "hm"}, call], usage=usage),
        pi_entry("e3", "e2", "toolResult", "a.txt", toolCallId="t1", toolName="ls"),
        pi_entry("e4", "e3", "assistant", "one file", model="model-y"),
    ]


def copilot_event(type: str, second: int = 0, **data: Any) -> dict[str, Any]:
    return {
        "type": type,
        "data": data,
        "id": f"e{second}",
        "parentId": None,
        "timestamp": f"2026-01-01T00:00:{second:02}Z",
    }


def copilot_session() -> Records:
    request = {"toolCallId": "t1", "name": "ls", "arguments": {"dir": "."}, "type": "function"}
    return [
        copilot_event("session.start", sessionId="s1", copilotVersion="1", startTime="2026-01-01T00:00:00Z"),
        copilot_event("session.model_change", newModel="claude-x"),
        copilot_event("system.message", role="system", content="be Copilot"),
        copilot_event("user.message", content="list files", transformedContent="<now>list files"),
        copilot_event("assistant.turn_start", turnId="0"),
        copilot_event("assistant.message", 1, content="", toolRequests=[request], reasoningText="hm", outputTokens=7),
        copilot_event("tool.execution_start", toolCallId="t1"),
        copilot_event("tool.execution_complete", toolCallId="t1", success=True, result={"content": "a.txt"}),
        copilot_event("tool.execution_complete", toolCallId="hidden", success=True, result={"content": "x"}),
        copilot_event("assistant.message", 2, content="one file", toolRequests=[], outputTokens=3),
        copilot_event("session.shutdown", modelMetrics={"claude-x": {"usage": {"inputTokens": 50}}}),
    ]


def copilot_chat() -> dict[str, Any]:
    rounds = [
        {"response": "looking", "toolCalls": [{"id": "t1", "name": "ls", "arguments": "{}"}]},
        {"response": "one"},
    ]
    told = {"toolCallRounds": rounds, "toolCallResults": {"t1": {"content": [{"value": "a.txt"}]}}}
    turn = {"requestId": "r1", "message": {"text": "list files"}, "result": {"metadata": told}, "modelId": "gpt-x"}
    return {"version": 3, "sessionId": "s1", "requests": [turn]}


def kimi_context() -> Records:
    called = {"id": "c1", "type": "function", "function": {"name": "Bash", "arguments": "{}"}}
    return [
        {"role": "_system_prompt", "content": "be Kimi"},
        {"role": "user", "content": "list files"},
        {"role": "assistant", "content": [{"type": "think", "think": "hm"}], "tool_calls": [called]},
        {"role": "_usage", "token_count": 99},
        {"role": "tool", "tool_call_id": "c1", "content": "a.txt"},
    ]


def kimi_old() -> Records:
    def old(kind: str, /, **payload: Any) -> dict[str, Any]:
        return {"timestamp": 1785612812.8, "message": {"type": kind, "payload": payload}}

    function = {"name": "Bash", "arguments": "{"}
    return [
        {"type": "metadata", "protocol_version": "1.1"},
        old("TurnBegin", user_input="list files"),
        old("StepBegin", n=1),
        old("ToolCall", id="c1", function=function),
        old("ToolCallPart", arguments_part="}"),
        old("StatusUpdate", token_usage={"input_other": 1}),
        old("SubagentEvent", task_tool_call_id="c1", event={"type": "TurnBegin", "payload": {"user_input": "x"}}),
        old("ToolResult", tool_call_id="c1", return_value={"output": "a.txt"}),
        old("CompactionEnd"),
    ]
