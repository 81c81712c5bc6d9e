"""One message written in each dialect: the wire messages that say what its parts say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from .dialects import Message, Part, PartKind


def _object(arguments: str) -> Any:
    try:
        parsed = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return {"arguments": arguments}
    return parsed if isinstance(parsed, dict) else {"arguments": parsed}


def _openai_chat(message: Message, parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    calls = [
        {"id": part.call_id, "type": "function", "function": {"name": part.name, "arguments": part.text}}
        for part in parts
        if part.kind is PartKind.TOOL_CALL
    ]
    text = "".join(part.text for part in parts if part.kind is PartKind.TEXT)
    for part in parts:
        if part.kind is PartKind.TOOL_RESULT:
            yield {"role": "tool", "tool_call_id": part.call_id, "content": part.text}
    role = "user" if message.role in ("tool", "other") else message.role
    if text or calls:
        yield {"role": role, "content": text or None} | ({"tool_calls": calls} if calls else {})


def _anthropic(message: Message, parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in parts:
        if part.kind is PartKind.TEXT:
            blocks += [] if not part.text.strip() else [{"type": "text", "text": part.text}]
        elif part.kind is PartKind.TOOL_CALL:
            blocks.append({"type": "tool_use", "id": part.call_id, "name": part.name, "input": _object(part.text)})
        else:
            blocks.append({"type": "tool_result", "tool_use_id": part.call_id, "content": part.text})
    if blocks:
        yield {"role": "assistant" if message.role == "assistant" else "user", "content": blocks}


def _openai_responses(message: Message, parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    for part in parts:
        if part.kind is PartKind.TEXT:
            yield {"role": "user" if message.role in ("tool", "other") else message.role, "content": part.text}
        elif part.kind is PartKind.TOOL_CALL:
            yield {"type": "function_call", "call_id": part.call_id, "name": part.name, "arguments": part.text}
        else:
            yield {"type": "function_call_output", "call_id": part.call_id, "output": part.text}


def _id(part: Part) -> dict[str, str]:
    return {"id": part.call_id} if part.call_id else {}


def _gemini(message: Message, parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for part in parts:
        if part.kind is PartKind.TEXT:
            made.append({"text": part.text})
        elif part.kind is PartKind.TOOL_CALL:
            made.append({"functionCall": {**_id(part), "name": part.name, "args": _object(part.text)}})
        else:
            answer = {**_id(part), "name": part.name, "response": {"output": part.text}}
            made.append({"functionResponse": answer})
    if made:
        yield {"role": "model" if message.role == "assistant" else "user", "parts": made}


WRITERS = {
    "openai_chat": _openai_chat,
    "anthropic": _anthropic,
    "openai_responses": _openai_responses,
    "gemini": _gemini,
}
