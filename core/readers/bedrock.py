"""Amazon Bedrock's Converse API as Anthropic Messages, which it is modelled on.

Blocks have their kind as key (`{"toolUse": {...}}`), tools stand in `toolConfig`, the model in the address.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..transcript import Usage
from ..wire import Wire, text_of
from .chat_wire import decoded
from .fields import inner, listed, objects, text
from .figures import figure
from .packed import named_frames
from .responses import ResponseFacts

KINDS = frozenset(
    ["text", "toolUse", "toolResult", "image", "document", "reasoningContent", "cachePoint", "guardContent"]
)


def is_body(body: Any) -> bool:
    """Tell whether a request body is one of Converse: its blocks have a kind as their only key, and no type."""
    if not isinstance(body, Mapping) or not isinstance(body.get("messages"), list):
        return False
    blocks = [block for message in objects(body, "messages") for block in objects(message, "content")]
    return bool(blocks) and all(len(block) == 1 and not KINDS.isdisjoint(block) for block in blocks)


def request(body: Wire) -> dict[str, Any]:
    """Return a request as one of Anthropic Messages."""
    settings = inner(body, "inferenceConfig")
    made: dict[str, Any] = {"model": body["modelId"]} if text(body, "modelId") else {}
    if isinstance(settings.get("maxTokens"), int):
        made["max_tokens"] = settings["maxTokens"]
    if "temperature" in settings:
        made["temperature"] = settings["temperature"]
    system = [{"type": "text", "text": part["text"]} for part in objects(body, "system") if text(part, "text")]
    made |= {"system": system} if system else {}
    tools = [_tool(spec) for one in listed(inner(body, "toolConfig"), "tools") if (spec := inner(one, "toolSpec"))]
    made["messages"] = [_message(message) for message in objects(body, "messages")]
    return {**made, "tools": tools} if tools else made


def facts(response: Any) -> ResponseFacts | None:
    """Return what a response says; None if it is none of Converse. Its input leaves out cached tokens."""
    message = inner(response, "output", "message")
    usage = inner(response, "usage")
    if not message and "inputTokens" not in usage:
        return None
    plain = figure(usage.get("inputTokens"))
    read, written = figure(usage.get("cacheReadInputTokens")), figure(usage.get("cacheWriteInputTokens"))
    given = None if plain is None else plain + (read or 0) + (written or 0)
    reply = _message(message) if message else None
    return ResponseFacts(reply, Usage(given, read, written, figure(usage.get("outputTokens"))), dialect="anthropic")


def joined(response: Any) -> Any:
    """Return a stream of Converse as the response that it makes up; any other response as it is."""
    frames = named_frames(response) if isinstance(response, str) else []
    if not frames:
        return response
    usage: Wire = {}
    blocks: dict[int, dict[str, Any]] = {}
    for name, told in frames:
        index = told.get("contentBlockIndex") if isinstance(told, Mapping) else None
        block = blocks.setdefault(index if isinstance(index, int) else 0, {}) if index is not None else {}
        if name == "contentBlockStart":
            block |= inner(told, "start")
        elif name == "contentBlockDelta":
            _grow(block, inner(told, "delta"))
        elif name == "metadata":
            usage = inner(told, "usage")
    content = [_whole(blocks[index]) for index in sorted(blocks) if blocks[index]]
    return {"output": {"message": {"role": "assistant", "content": content}}, "usage": usage}


def _grow(block: dict[str, Any], delta: Wire) -> None:
    if isinstance(delta.get("text"), str):
        block["text"] = text(block, "text") + delta["text"]
    if used := inner(delta, "toolUse"):
        known = inner(block, "toolUse")
        block["toolUse"] = {**known, "input": text(known, "input") + text(used, "input")}
    if thought := inner(delta, "reasoningContent"):
        known = inner(block, "reasoningContent", "reasoningText")
        grown = {key: text(known, key) + text(thought, key) for key in ("text", "signature")}
        block["reasoningContent"] = {"reasoningText": grown}


def _whole(block: dict[str, Any]) -> dict[str, Any]:
    used = inner(block, "toolUse")
    return {**block, "toolUse": {**used, "input": decoded(used.get("input") or "{}")}} if used else block


def _message(message: Wire) -> dict[str, Any]:
    blocks = [made for block in objects(message, "content") if (made := _block(block)) is not None]
    return {"role": text(message, "role") or "assistant", "content": blocks}


def _block(block: Wire) -> dict[str, Any] | None:
    """Return a block of Anthropic's; None for a cache mark, which is no content. Others are kept as they are."""
    if isinstance(block.get("text"), str):
        return {"type": "text", "text": block["text"]}
    if used := inner(block, "toolUse"):
        return {
            "type": "tool_use",
            "id": text(used, "toolUseId"),
            "name": text(used, "name"),
            "input": used.get("input"),
        }
    if result := inner(block, "toolResult"):
        failed = {"is_error": True} if result.get("status") == "error" else {}
        content = [_result_part(part) for part in objects(result, "content")]
        return {"type": "tool_result", "tool_use_id": text(result, "toolUseId"), "content": content, **failed}
    thought = inner(block, "reasoningContent", "reasoningText")
    if text(thought, "text"):
        return {"type": "thinking", "thinking": thought["text"], "signature": text(thought, "signature")}
    return None if "cachePoint" in block else dict(block)


def _result_part(part: Wire) -> dict[str, Any]:
    if isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    return {"type": "text", "text": text_of(part["json"])} if "json" in part else dict(part)


def _tool(spec: Wire) -> dict[str, Any]:
    named = {key: spec[key] for key in ("name", "description") if text(spec, key)}
    return {**named, "input_schema": inner(spec, "inputSchema").get("json") or {"type": "object"}}
