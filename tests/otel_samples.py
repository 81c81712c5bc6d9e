"""OpenTelemetry spans in the words of each convention, and the files that hold them."""

from __future__ import annotations

import json
from typing import Any

from tests.recordings import ASKED, CALL, REPLY

SYSTEM, USER = ASKED["messages"]
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "r"}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
BODY = {"model": "gpt-4o", "messages": [SYSTEM, USER, REPLY, RESULT], "tools": [TOOL]}

PARTS = [
    {"role": "user", "parts": [{"type": "text", "content": "question"}]},
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "f", "arguments": '{"a": 1}'}]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "r"}]},
]
GENAI = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "s"}]),
    "gen_ai.input.messages": json.dumps(PARTS),
    "gen_ai.output.messages": json.dumps(
        [{"role": "assistant", "parts": [{"type": "text", "content": "done"}], "finish_reason": "stop"}]
    ),
    "gen_ai.tool.definitions": json.dumps([{"type": "function", **TOOL["function"]}]),
    "gen_ai.usage.input_tokens": 20,
    "gen_ai.usage.cache_read.input_tokens": 8,
    "gen_ai.usage.output_tokens": 5,
}
OPENINFERENCE = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "gpt-4o",
    "llm.input_messages.0.message.role": "system",
    "llm.input_messages.0.message.content": "s",
    "llm.input_messages.1.message.role": "user",
    "llm.input_messages.1.message.contents.0.message_content.type": "text",
    "llm.input_messages.1.message.contents.0.message_content.text": "question",
    "llm.input_messages.2.message.role": "assistant",
    "llm.input_messages.2.message.tool_calls.0.tool_call.id": "c1",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.name": "f",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments": '{"a": 1}',
    "llm.input_messages.3.message.role": "tool",
    "llm.input_messages.3.message.tool_call_id": "c1",
    "llm.input_messages.3.message.content": "r",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "done",
    "llm.tools.0.tool.json_schema": json.dumps(TOOL),
    "llm.token_count.prompt": 20,
    "llm.token_count.completion": 5,
    "llm.token_count.prompt_details.cache_read": 8,
}
OPENLLMETRY = {
    "llm.request.type": "chat",
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "s",
    "gen_ai.prompt.1.role": "user",
    "gen_ai.prompt.1.content": "question",
    "gen_ai.prompt.2.role": "assistant",
    "gen_ai.prompt.2.tool_calls.0.id": "c1",
    "gen_ai.prompt.2.tool_calls.0.name": "f",
    "gen_ai.prompt.2.tool_calls.0.arguments": '{"a": 1}',
    "gen_ai.prompt.3.role": "tool",
    "gen_ai.prompt.3.tool_call_id": "c1",
    "gen_ai.prompt.3.content": "r",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "done",
    "llm.request.functions.0.name": "f",
    "llm.request.functions.0.description": "d",
    "llm.request.functions.0.parameters": '{"type": "object"}',
    "gen_ai.usage.prompt_tokens": 20,
    "gen_ai.usage.cache_read_input_tokens": 8,
    "gen_ai.usage.completion_tokens": 5,
}
VERCEL = {
    "ai.operationId": "ai.streamText.doStream",
    "ai.model.id": "gpt-4o",
    "ai.prompt.messages": json.dumps(
        [
            SYSTEM,
            {"role": "user", "content": [{"type": "text", "text": "question"}]},
            {
                "role": "assistant",
                "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": '{"a": 1}'}],
            },
            {
                "role": "tool",
                "content": [
                    {
                        "type": "tool-result",
                        "toolCallId": "c1",
                        "toolName": "f",
                        "output": {"type": "text", "value": "r"},
                    }
                ],
            },
        ]
    ),
    "ai.prompt.tools": [
        json.dumps({"type": "function", "name": "f", "description": "d", "inputSchema": {"type": "object"}})
    ],
    "ai.response.text": "done",
    "ai.usage.inputTokens": 20,
    "ai.usage.cachedInputTokens": 8,
    "ai.usage.outputTokens": 5,
}
CONVENTIONS = {"genai": GENAI, "openinference": OPENINFERENCE, "openllmetry": OPENLLMETRY, "vercel": VERCEL}


def value(plain: Any) -> dict[str, Any]:
    if isinstance(plain, bool):
        return {"boolValue": plain}
    if isinstance(plain, int):
        return {"intValue": str(plain)}
    if isinstance(plain, list):
        return {"arrayValue": {"values": [value(one) for one in plain]}}
    if isinstance(plain, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": value(one)} for key, one in plain.items()]}}
    return {"stringValue": plain}


def typed(attributes: dict[str, Any]) -> list[Any]:
    return [{"key": key, "value": value(plain)} for key, plain in attributes.items()]


def otlp_span(
    attributes: Any, number: int = 1, parent: str = "", events: Any = (), trace: str = "t1"
) -> dict[str, Any]:
    return {
        "traceId": trace,
        "spanId": f"s{number}",
        "parentSpanId": parent,
        "name": f"span {number}",
        "startTimeUnixNano": f"17303712{50 + number}000000000",
        "attributes": typed(attributes),
        "events": [{"name": name, "attributes": typed(told)} for name, told in events],
    }


def otlp(*spans: Any) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "x"}, "spans": list(spans)}]}]}


def printed(attributes: Any) -> dict[str, Any]:
    context = {"trace_id": "0xt1", "span_id": "0xs1", "trace_state": "[]"}
    return {
        "name": "chat",
        "context": context,
        "parent_id": None,
        "start_time": "2025-01-01T00:00:01Z",
        "attributes": attributes,
        "events": [],
    }


def jaeger(attributes: Any) -> dict[str, Any]:
    tags = [{"key": key, "type": "string", "value": plain} for key, plain in attributes.items()]
    span = {
        "traceID": "t1",
        "spanID": "s1",
        "operationName": "chat",
        "references": [],
        "startTime": 1730371250000000,
        "tags": tags,
        "logs": [],
    }
    return {"data": [{"traceID": "t1", "spans": [span]}]}


EVENTS = [
    ("gen_ai.system.message", {"content": "s"}),
    ("gen_ai.user.message", {"gen_ai.event.content": json.dumps({"content": "question", "role": "user"})}),
    ("gen_ai.assistant.message", {"tool_calls": json.dumps([CALL])}),
    ("gen_ai.tool.message", {"id": "c1", "content": "r"}),
    (
        "gen_ai.choice",
        {"index": 0, "finish_reason": "stop", "message": json.dumps({"role": "assistant", "content": "done"})},
    ),
]
USED = {"gen_ai.operation.name": "chat", "gen_ai.response.model": "gpt-4o", "gen_ai.usage.input_tokens": 20}


def log_records(span: str = "s1") -> dict[str, Any]:
    records = []
    for at, (name, told) in enumerate(EVENTS):
        plain = json.loads(told["gen_ai.event.content"]) if "gen_ai.event.content" in told else dict(told)
        body = value({key: json.loads(one) if key in ("message", "tool_calls") else one for key, one in plain.items()})
        record = {"traceId": "t1", "spanId": span, "timeUnixNano": str(1730371250000000000 + at), "body": body}
        records.append({**record, "attributes": typed({"event.name": name})})
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}


def monocle(number: int, kind: str, events: Any = (), parent: str = "", **entities: str) -> dict[str, Any]:
    named = {
        f"entity.{at}.{field}": told
        for at, pair in enumerate(entities.items(), 1)
        for field, told in zip(("name", "type"), pair, strict=True)
    }
    told = {"span.type": kind, "scope.agentic.session": "session", **named}
    return {
        **printed(told),
        "context": {"trace_id": "t", "span_id": f"s{number}"},
        "parent_id": parent,
        "events": [{"name": name, "attributes": one} for name, one in events],
    }
