"""Small recordings of benchmark runs, data sets and chats, one function a format; `of` reads one."""

from __future__ import annotations

import json
from typing import Any

from core.readers import ReadResult, read

Values = list[Any]


def of(*values: Any, format: str | None = None) -> ReadResult:
    """Read values as JSON Lines, a single one as a document."""
    return read("\n".join(json.dumps(value) for value in values), format)


def seen(found: ReadResult, call: int, transcript: int = 0) -> list[tuple[str, str]]:
    """Return the prompt of a call as roles and texts; a call by its name, an image or a file by its type."""
    body = found.transcripts[transcript].captured(call)
    return [(message.get("role", message.get("type", "")), said(message)) for message in body["messages"]]


def said(message: Any) -> str:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    texts = [str(part.get("text", part.get("type"))) for part in parts]
    called = [one["function"]["name"] + "()" for one in message.get("tool_calls") or ()]
    called += [message["function_call"]["name"] + "()"] if message.get("function_call") else []
    return " ".join(filter(None, [*texts, *called]))


def usages(found: ReadResult, transcript: int = 0) -> list[tuple[int | None, ...]]:
    """Return input, cached and output tokens of each call."""
    calls = found.transcripts[transcript].calls
    return [(call.usage.input, call.usage.cache_read, call.usage.output) for call in calls]


SHAREGPT: Values = [
    {
        "id": "a",
        "system": "be kind",
        "tools": json.dumps([{"name": "rain", "description": "d", "parameters": {"type": "object"}}]),
        "conversations": [
            {"from": "human", "value": "will it rain?"},
            {"from": "function_call", "value": json.dumps({"name": "rain", "arguments": {"day": 1}})},
            {"from": "observation", "value": "no"},
            {"from": "gpt", "value": "It will not."},
        ],
    },
    {"instruction": "add", "input": "1 and 2", "output": "3", "history": [["hello", "hi"]]},
]

FINE_TUNING: Values = [
    {
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "q1"},
            {"role": "assistant", "content": "a1", "weight": 0},
            {"role": "user", "content": "q2"},
            {"role": "assistant", "content": "a2", "weight": 1},
        ]
    },
    {
        "messages": [
            {"role": "user", "content": [{"type": "text", "value": "q"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "reasoning", "value": "think"},
                    {"type": "tool_call", "value": json.dumps({"name": "f", "arguments": {"x": 1}})},
                ],
            },
            {"role": "tool", "content": [{"type": "text", "value": "r"}]},
            {"role": "assistant", "content": [{"type": "text", "value": "done"}], "loss_weight": 1.0},
        ],
        "tools": json.dumps([{"type": "function", "function": {"name": "f", "parameters": {}}}]),
    },
]

PREFERENCE: Values = [
    {
        "input": {"messages": [{"role": "user", "content": "q"}], "tools": [], "parallel_tool_calls": True},
        "preferred_output": [{"role": "assistant", "content": "good"}],
        "non_preferred_output": [{"role": "assistant", "content": "bad"}],
    }
]

ARENA: Values = [
    {
        "conversation_id": "c1",
        "model": "vicuna",
        "language": "English",
        "turn": 1,
        "conversation": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}],
    },
    {
        "question_id": "b",
        "model_a": "gpt-4",
        "model_b": "claude",
        "winner": "model_a",
        "tstamp": 1700000000.5,
        "conversation_a": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "from a"}],
        "conversation_b": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "from b"}],
    },
    {
        "uid": "u",
        "ans_id": "x",
        "model": "m",
        "tstamp": 1700000000.5,
        "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": {"answer": "a"}}],
    },
]

MT_BENCH_QUESTION: Values = [{"question_id": 81, "category": "writing", "turns": ["q1", "q2"]}]
MT_BENCH_ANSWER: Values = [
    {
        "question_id": 81,
        "answer_id": "x",
        "model_id": "m",
        "choices": [{"index": 0, "turns": ["a1", "a2"]}],
        "tstamp": 1686286924.8,
    }
]

TAU: Values = [
    [
        {
            "task_id": 7,
            "trial": 1,
            "reward": 1.0,
            "info": {"task": {"user_id": "mia"}},
            "traj": [
                {"role": "system", "content": "policy"},
                {"role": "user", "content": "cancel it"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                },
                {"role": "tool", "tool_call_id": "c1", "name": "f", "content": "ok"},
                {"role": "assistant", "content": "done"},
                {"role": "user", "content": "###STOP###"},
            ],
        },
        {"task_id": 8, "trial": 0, "info": {"error": "timeout"}, "traj": []},
    ]
]


def _tau2_message(role: str, content: Any, turn: int, usage: Any = None, calls: Any = None) -> dict[str, Any]:
    return {"role": role, "content": content, "tool_calls": calls, "turn_idx": turn, "usage": usage, "cost": 0.0}


TAU2: Values = [
    {
        "info": {
            "agent_info": {"llm": "gpt-agent", "llm_args": {"temperature": 0.0}},
            "user_info": {"llm": "gpt-user", "llm_args": {}},
            "environment_info": {"policy": "the policy", "tool_defs": None},
        },
        "tasks": [],
        "simulations": [
            {
                "id": "s1",
                "task_id": "t1",
                "trial": 0,
                "start_time": "2025-08-01T16:23:24",
                "reward_info": {"reward": 1.0},
                "termination_reason": "user_stop",
                "messages": [
                    _tau2_message("assistant", "Hi!", 0),
                    _tau2_message("user", "no signal", 1, {"prompt_tokens": 50, "completion_tokens": 2}),
                    _tau2_message(
                        "assistant",
                        None,
                        2,
                        {"prompt_tokens": 100, "completion_tokens": 5},
                        [{"id": "a1", "name": "find", "arguments": {"x": 1}, "requestor": "assistant"}],
                    ),
                    {"role": "tool", "id": "a1", "content": "found", "requestor": "assistant", "turn_idx": 3},
                    _tau2_message("assistant", "look at it", 4, {"prompt_tokens": 120, "completion_tokens": 6}),
                    _tau2_message(
                        "user",
                        None,
                        5,
                        {"prompt_tokens": 60, "completion_tokens": 3},
                        [{"id": "u1", "name": "see", "arguments": {}, "requestor": "user"}],
                    ),
                    {
                        "role": "tool",
                        "tool_messages": [{"role": "tool", "id": "u1", "content": "off", "requestor": "user"}],
                    },
                    _tau2_message("user", "it is off", 7, {"prompt_tokens": 70, "completion_tokens": 4}),
                ],
            }
        ],
    }
]

VOICE: Values = [
    {
        "id": "v",
        "task_id": "40",
        "termination_reason": "user_stop",
        "ticks": [
            {"tick_id": 0, "user_chunk": {"role": "user", "content": "hel"}, "agent_chunk": {"role": "assistant"}},
            {"tick_id": 1, "user_chunk": {"role": "user", "content": "lo"}, "agent_chunk": {"role": "assistant"}},
            {"tick_id": 2, "user_chunk": {"role": "user"}, "agent_chunk": {"role": "assistant", "content": "hi"}},
        ],
    }
]

AGENTBENCH: Values = [
    {
        "index": 3,
        "error": None,
        "info": None,
        "output": {
            "index": 3,
            "status": "completed",
            "result": "[1]",
            "history": [
                {"role": "user", "content": "do it"},
                {"role": "agent", "content": "GET x"},
                {"role": "user", "content": "y"},
                {"role": "agent", "content": "FINISH([1])"},
            ],
        },
        "time": {"timestamp": 1737158137875, "str": "2025-01-17 15:55:37"},
    }
]

EPISODES: Values = [{"react_put_0": ["you see a door", "think: open it", "OK."], "act_clean_1": ["a room", "go on"]}]


def toolbench() -> Values:
    system, query = {"role": "system", "content": "s"}, {"role": "user", "content": "q"}
    first = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    answer = {"role": "assistant", "content": None, "function_call": {"name": "Finish", "arguments": "{}"}}
    result, retry = (
        {"role": "function", "name": "f", "content": "r"},
        {"role": "user", "content": "not the first time"},
    )
    done = {"node_type": "Action Input", "description": "{}", "observation": "end", "children": []}
    finish = {"node_type": "Action", "description": "Finish", "children": [done]}
    given_up = {"node_type": "Thought", "description": "give up", "children": []}
    called = {"node_type": "Action Input", "description": "{}", "observation": "r"}
    root = {
        "node_type": "Action Input",
        "description": "",
        "children": [
            {
                "node_type": "Action",
                "description": "f",
                "children": [
                    {
                        **called,
                        "children": [
                            given_up,
                            {"node_type": "Thought", "description": "go on", "children": [finish]},
                        ],
                    }
                ],
            }
        ],
    }
    generated = {
        "query": "q",
        "function": [{"name": "f", "parameters": {}}],
        "train_messages": [[system, query, first], [system, query, first, result, retry, answer]],
        "total_tokens": 99,
        "query_count": 4,
        "finish_type": "give_answer",
    }
    return [{"win": True, "tree": {"size": 5, "tree": root}, "answer_generation": generated}]


def tooleval() -> Values:
    def entry(role: str, message: str, *following: Any) -> dict[str, Any]:
        return {"role": role, "message": message, "next": list(following)}

    finish = entry("tool", "{'name': 'Finish', 'arguments': '{\"x\": 1}'}")
    cut = "{'name': 'g', 'arguments': '{\"query\": \"" + "z" * 100
    second = entry("tool", cut[:100], entry("assistant", "so then", finish))
    first = entry("tool", "{'name': 'f', 'arguments': '{}', 'response': 'it\\'s \"ok\"'}", second)
    details = [entry("system", "", entry("user", "q", first))]
    answer = {"method": "CoT", "total_steps": 6, "final_answer": "", "answer_details": details}
    return [{"11": {"query": "q", "available_tools": [{"name": "f", "parameters": {}}], "answer": answer}}]
