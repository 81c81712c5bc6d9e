"""Small recordings of coding agents' runs: SWE-agent, mini-swe-agent, OpenHands, inspect_ai, Harbor, Muse Code."""

from __future__ import annotations

import json
from typing import Any

Values = list[Any]


def swe_agent(form: str = "messages", shorten: bool = True) -> dict[str, Any]:
    """Return a run of three replies; the steps' lists are taken after (`messages`) or before (`query`) the reply."""
    system = {"role": "system", "content": "s", "agent": "main", "message_type": "system_prompt"}
    demo = {"role": "user", "content": "demo", "agent": "main", "is_demo": True}
    shown = {"role": "assistant", "content": "shown", "agent": "main", "is_demo": True}
    task = {"role": "user", "content": "task", "agent": "main", "message_type": "observation"}
    history = [system, demo, shown, task]
    steps = []
    for number in range(3):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
        reply = {"role": "assistant", "content": f"a{number}", "action": "ls", "agent": "main", "tool_calls": [call]}
        result = {"role": "tool", "content": f"r{number}", "agent": "main", "tool_call_ids": [f"c{number}"]}
        before = list(history)
        history += [reply, result]
        kept = history if form == "messages" else before
        listed = [dict(entry) for entry in kept]
        for entry in listed[:-2] if shorten else ():
            if entry["role"] == "tool":
                entry["content"] = "omitted"
        steps.append(
            {"action": "ls", "observation": f"r{number}", "response": f"a{number}", "thought": "", form: listed}
        )
    config = {
        "agent": {"model": {"name": "gpt-4o"}, "tools": {"parse_function": {"type": "function_calling"}}},
        "problem_statement": {"id": "astropy-1"},
    }
    return {
        "environment": "main",
        "trajectory": steps,
        "history": history,
        "info": {"exit_status": "submitted", "model_stats": {"api_calls": 3, "tokens_sent": 10}},
        "replay_config": json.dumps(config),
    }


SWE_AGENT_0: Values = [
    {
        "environment": "swe_main",
        "trajectory": [{"action": "ls", "observation": "o", "response": "t\nls", "state": "{}", "thought": "t"}],
        "history": [
            {"role": "system", "content": "s", "agent": "primary"},
            {"role": "user", "content": "task", "agent": "primary"},
            {"role": "assistant", "content": "t\nls", "thought": "t", "action": "ls", "agent": "primary"},
            {"role": "user", "content": "sub task", "agent": "helper"},
            {"role": "assistant", "content": "helped", "agent": "helper"},
            {"role": "user", "content": "o", "agent": "primary"},
        ],
        "info": {"exit_status": "exit_cost", "model_stats": {"api_calls": 2}},
    }
]

NEBIUS: Values = [
    {
        "instance_id": "x-1",
        "model_name": "llama",
        "target": False,
        "trajectory": [
            {"role": "system", "system_prompt": "s", "text": None, "mask": False},
            {"role": "user", "system_prompt": None, "text": "task", "mask": False},
            {"role": "ai", "text": "reply", "mask": True},
            {"role": "user", "text": "result", "mask": False},
        ],
        "exit_status": "submitted",
    }
]


def mini_swe_agent() -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 64},
    }
    response = {"model": "deepseek-chat", "usage": usage}
    reply = {"role": "assistant", "content": "", "tool_calls": [call], "function_call": None}
    return {
        "info": {
            "mini_version": "2.2.7",
            "exit_status": "Submitted",
            "model_stats": {"api_calls": 2, "instance_cost": 0.5},
            "config": {"model": {"model_name": "deepseek/x"}, "model_type": "litellm"},
        },
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "task"},
            {**reply, "extra": {"response": response, "timestamp": 1775816138.7}},
            {"role": "tool", "tool_call_id": "c1", "content": "out", "extra": {"returncode": 0}},
            {"role": "exit", "content": "done", "extra": {}},
        ],
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": "django-1",
    }


def openhands() -> Values:
    """Return the events of a run: two parallel calls of one response, a think, a condensation, a delegate."""

    def response(name: str, *ids: str, content: str = "") -> dict[str, Any]:
        calls = [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in ids]
        message = {"role": "assistant", "content": content, "tool_calls": calls, "function_call": None}
        usage = {"prompt_tokens": 100 + len(name), "completion_tokens": 5, "cache_read_input_tokens": 40}
        return {
            "id": name,
            "model": "claude-x",
            "created": 1737433775,
            "choices": [{"message": message}],
            "usage": usage,
        }

    def tool(id: str, told: dict[str, Any]) -> dict[str, Any]:
        return {"function_name": "f", "tool_call_id": id, "model_response": told, "total_calls_in_response": 1}

    one, two, three = response("r1", "c1", "c2", content="both"), response("r22", "c3"), response("r333", "c4")
    run = {"metadata": {"exit_code": 0, "working_dir": "/w"}}
    return [
        {"id": 0, "source": "agent", "action": "system", "args": {"content": "sys", "tools": [{"type": "function"}]}},
        {"id": 1, "source": "user", "action": "message", "args": {"content": "task", "image_urls": None}},
        {"id": 2, "source": "user", "action": "recall", "args": {}},
        {
            "id": 3,
            "source": "environment",
            "observation": "recall",
            "content": "Added",
            "extras": {"repo_instructions": "be careful", "microagent_knowledge": [{"content": "know this"}]},
        },
        {"id": 4, "source": "agent", "action": "run", "args": {"command": "a"}, "tool_call_metadata": tool("c1", one)},
        {"id": 5, "source": "agent", "action": "run", "args": {"command": "b"}, "tool_call_metadata": tool("c2", one)},
        {
            "id": 6,
            "source": "agent",
            "observation": "run",
            "content": "out a",
            "cause": 4,
            "extras": run,
            "tool_call_metadata": tool("c1", one),
        },
        {
            "id": 7,
            "source": "agent",
            "observation": "error",
            "content": "bad b",
            "cause": 5,
            "tool_call_metadata": tool("c2", one),
        },
        {"id": 8, "source": "environment", "observation": "agent_state_changed", "content": ""},
        {"id": 9, "source": "agent", "action": "think", "args": {}, "tool_call_metadata": tool("c3", two)},
        {
            "id": 10,
            "source": "agent",
            "observation": "think",
            "content": "Your thought has been logged.",
            "tool_call_metadata": tool("c3", two),
        },
        {
            "id": 11,
            "source": "agent",
            "action": "condensation",
            "args": {
                "forgotten_events_start_id": 4,
                "forgotten_events_end_id": 7,
                "summary": "ab",
                "summary_offset": 2,
            },
        },
        {"id": 12, "source": "agent", "action": "finish", "args": {}, "tool_call_metadata": tool("c4", three)},
    ]


def openhands_row(**more: Any) -> dict[str, Any]:
    metadata = {"agent_class": "CodeActAgent", "llm_config": {"model": "m"}}
    return {"instance_id": "x-1", "history": openhands(), "metadata": metadata, "metrics": {}, "error": None, **more}


def openhands_old() -> Values:
    """Return events without ids and sources, as pairs of an action and its observation."""
    return [
        [{"action": "message", "args": {"content": "task"}}, {"observation": "null", "content": ""}],
        [
            {"action": "run", "args": {"command": "ls", "thought": "look"}},
            {"observation": "run", "content": "files", "extras": {}},
        ],
        [{"action": "finish", "args": {"thought": "bye"}}, {"observation": "null", "content": ""}],
    ]


def openhands_sdk() -> Values:
    text = {"type": "text", "text": "look"}

    def event(kind: str, name: str, **more: Any) -> dict[str, Any]:
        return {"kind": kind, "id": name, "timestamp": "2025-11-01T10:00:00", "source": "agent", **more}

    def action(name: str, call_id: str, response: str) -> dict[str, Any]:
        call = {"id": call_id, "name": "bash", "arguments": '{"command": "ls"}'}
        return event(
            "ActionEvent",
            name,
            thought=[text] if call_id == "c1" else [],
            tool_name="bash",
            tool_call_id=call_id,
            tool_call=call,
            llm_response_id=response,
        )

    return [
        event(
            "SystemPromptEvent",
            "e0",
            system_prompt={"type": "text", "text": "sys"},
            tools=[{"type": "function", "function": {"name": "bash", "parameters": {}}}],
        ),
        event("MessageEvent", "e1", source="user", llm_message={"role": "user", "content": [text]}),
        action("e2", "c1", "r1"),
        action("e3", "c2", "r1"),
        event("ObservationEvent", "e4", tool_call_id="c1", observation={"content": [{"type": "text", "text": "o1"}]}),
        event("AgentErrorEvent", "e5", tool_call_id="c2", error="no"),
        event("ConversationStateUpdateEvent", "e6"),
        event("Condensation", "e7", forgotten_event_ids=["e2", "e3", "e4", "e5"], summary="so far", summary_offset=1),
        event("MessageEvent", "e8", llm_message={"role": "assistant", "content": [{"type": "text", "text": "done"}]}),
    ]


def inspect_log(with_requests: bool = True, with_events: bool = True) -> dict[str, Any]:
    """Return a log of one sample: two calls of an agent, one of a grader."""
    call = {"id": "c1", "function": "look", "arguments": {"x": 1}, "type": "function"}
    asked = {"id": "m1", "role": "user", "content": "attachment://aaa", "source": "input"}
    answered = {"id": "m2", "role": "assistant", "content": "", "tool_calls": [call], "model": "gpt-x"}
    shown = {"role": "tool", "content": "seen", "tool_call_id": "c1", "function": "look"}
    final = {"role": "assistant", "content": "done", "model": "gpt-x"}
    tools = [{"name": "look", "description": "d", "parameters": {"type": "object", "properties": {}}}]

    def model(messages: Values, reply: Any, given: int, span: str, sent: Any) -> dict[str, Any]:
        usage = {"input_tokens": given, "output_tokens": 5, "total_tokens": given + 5, "input_tokens_cache_read": 8}
        output = {"model": "gpt-x", "choices": [{"message": reply}], "usage": usage}
        event = {"event": "model", "model": "openai/gpt-x", "input": messages, "tools": tools, "output": output}
        event |= {"span_id": span, "timestamp": "2025-05-12T20:27:38-04:00"}
        return {**event, "call": sent} if with_requests else event

    wire_call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"x": 1}'}}
    wire = [
        {"role": "user", "content": "attachment://aaa"},
        {"role": "assistant", "content": "", "tool_calls": [wire_call]},
        {"role": "tool", "tool_call_id": "c1", "content": "seen"},
    ]

    def sent(messages: Values, message: Any, given: int) -> dict[str, Any]:
        usage = {"prompt_tokens": given, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 8}}
        response = {"object": "chat.completion", "model": "gpt-x-1", "choices": [{"message": message}], "usage": usage}
        return {"request": {"messages": messages, "model": "gpt-x", "tools": None}, "response": response}

    grade = [{"role": "user", "content": "grade it"}]
    good = {"role": "assistant", "content": "C"}
    events = [
        {"event": "span_begin", "id": "sc", "type": "scorer", "name": "judge"},
        model([asked], answered, 10, "so", sent(wire[:1], wire[1], 10)),
        model([asked, answered, shown], final, 20, "so", sent(wire, final, 20)),
        model(grade, good, 30, "sc", sent(grade, good, 30)),
    ]
    sample = {
        "id": "s1",
        "epoch": 2,
        "input": "look at it",
        "messages": [asked, answered, shown, final],
        "output": {"model": "gpt-x", "usage": {"input_tokens": 20, "output_tokens": 5}},
        "scores": {"judge": {"value": "C"}},
        "events": events if with_events else [],
        "attachments": {"aaa": "look at it " * 20},
    }
    return {"version": 2, "status": "success", "eval": {"task": "t", "eval_id": "e"}, "plan": {}, "samples": [sample]}


ATIF: Values = [
    {
        "schema_version": "ATIF-v1.5",
        "session_id": "s1",
        "agent": {"name": "acme", "version": "1", "model_name": "m1", "tool_definitions": [{"name": "sh"}]},
        "steps": [
            {"step_id": 1, "source": "system", "message": "sys"},
            {"step_id": 2, "source": "user", "message": "task", "timestamp": "2026-01-01T00:00:00Z"},
            {"step_id": 3, "source": "agent", "message": "old", "is_copied_context": True},
            {
                "step_id": 4,
                "source": "agent",
                "message": "",
                "reasoning_content": "hm",
                "model_name": "m2",
                "tool_calls": [{"tool_call_id": "c1", "function_name": "sh", "arguments": {"c": "ls"}}],
                "observation": {
                    "results": [{"source_call_id": "c1", "content": "out"}, {"content": "a note"}],
                },
                "metrics": {"prompt_tokens": 100, "cached_tokens": 60, "completion_tokens": 9},
            },
            {"step_id": 5, "source": "agent", "message": "done"},
        ],
        "subagent_trajectories": [
            {
                "schema_version": "ATIF-v1.5",
                "trajectory_id": "s1-sub",
                "agent": {"name": "helper"},
                "steps": [{"source": "user", "message": "q"}, {"source": "agent", "message": "a"}],
            }
        ],
    }
]


def muse_code() -> Values:
    events = [
        {"kind": "metadata", "record": {"model_id": "muse-1"}},
        {"kind": "started", "prompt": "task"},
        {"kind": "model_completed", "usage": {"input_tokens": 20, "output_tokens": 3, "cache_read_tokens": 8}},
        {"kind": "assistant_message_committed", "response_id": "r1", "text": "I look"},
        {
            "kind": "assistant_tool_calls_committed",
            "response_id": "r1",
            "tool_calls": [{"id": "f1", "call_id": "c1", "name": "bash", "args": "{}"}],
        },
        {"kind": "tool_result_batch_committed", "results": [{"tool_call_id": "c1", "text": "out"}]},
        {"kind": "assistant_message_committed", "response_id": "r2", "text": "done"},
        {"kind": "model_completed", "usage": {"input_tokens": 30, "output_tokens": 4}, "model": "muse-2"},
        {"kind": "terminal", "terminal": "completed"},
        {"kind": "grown", "x": 1},
    ]
    lines = []
    for number, event in enumerate(events):
        payload = event if event["kind"] == "metadata" else {"kind": "run", "event": event}
        told = {"schema_version": 1, "stream": {"kind": "session", "id": "s1"}, "payload_type": "runtime.session"}
        lines.append({**told, "recorded_at": 1786140000000000 + number, "payload": payload})
    framed = {"frame": "retained", "children": [{"record_json": json.dumps(line)} for line in lines[1:3]]}
    return [lines[0], framed, *lines[3:]]
