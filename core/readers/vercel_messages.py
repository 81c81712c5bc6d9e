"""Messages of the Vercel AI SDK as messages of OpenAI chat.

What its models are given (`ModelMessage`) has a message of the role tool for results; what its interfaces show
(`UIMessage`) keeps a call with its result in one part, and several replies of the model in one message: a `step-start`
stands before each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..wire import Wire, text_of
from . import chat_wire
from .fields import inner, objects, text

PARTS = frozenset({"tool-call", "tool-result", "tool-invocation", "tool-approval-request"})
UI_PARTS = frozenset({"text", "reasoning", "step-start", "file", "source-url", "source-document", "dynamic-tool"})
DONE = ("output-available", "output-error", "output-denied", "result")


def is_message(value: Any) -> bool:
    """Tell whether a value can only be a message of this SDK."""
    if not isinstance(value, Mapping) or not isinstance(value.get("role"), str):
        return False
    return is_model_message(value) or is_ui_message(value)


def is_model_message(value: Wire) -> bool:
    """Tell whether a message is one that a model was given."""
    return any(text(part, "type") in PARTS or "mediaType" in part for part in objects(value, "content"))


def is_ui_message(value: Wire) -> bool:
    """Tell whether a message is one that an interface shows."""
    if isinstance(value.get("toolInvocations"), list):
        return True
    parts = objects(value, "parts")
    return "id" in value and bool(parts) and all(_is_ui_part(part) for part in parts)


def to_chat(message: Wire) -> list[Wire]:
    """Return the messages of OpenAI chat that it stands for."""
    if is_ui_message(message):
        return _shown(message)
    if message["role"] == "tool":
        return [_result(part) for part in objects(message, "content")]
    return _given(message)


def _given(message: Wire) -> list[Wire]:
    content = message.get("content")
    added = objects(message, "experimental_attachments")
    if not isinstance(content, list) and not added:
        return [{"role": message["role"], "content": content}]
    said: list[Wire] = [{"type": "text", "text": content}] if isinstance(content, str) else []
    parts = [*objects(message, "content"), *said, *({"type": "file", **one} for one in added)]
    kept = chat_wire.slim([part for block in parts if (part := _part(block)) is not None])
    if message["role"] != "assistant":
        return [{"role": message["role"], "content": kept}]
    calls = [_call(part) for part in parts if part.get("type") == "tool-call"]
    thoughts = [text(part, "text", "reasoning") for part in parts if part.get("type") == "reasoning"]
    reply = chat_wire.assistant(kept, calls, "\n".join(filter(None, thoughts)))
    return [reply, *(_result(part) for part in parts if part.get("type") == "tool-result")]


def _shown(message: Wire) -> list[Wire]:
    parts = objects(message, "parts")
    if message["role"] != "assistant":
        kept = [part for block in parts if (part := _part(block)) is not None]
        return [{"role": message["role"], "content": chat_wire.slim(kept) if parts else message.get("content")}]
    if not parts:
        parts = _older(message)
    return [wire for step in _steps(parts) for wire in _step(step)]


def _older(message: Wire) -> list[Wire]:
    """Return the parts of a message of version 4, whose calls stand beside its text."""
    calls = [{"type": "tool-invocation", "toolInvocation": one} for one in objects(message, "toolInvocations")]
    said = text(message, "content")
    return [*calls, *([{"type": "text", "text": said}] if said else [])]


def _steps(parts: Iterable[Wire]) -> list[list[Wire]]:
    """Cut parts at each step: where one is marked, and where something is said after a result."""
    steps: list[list[Wire]] = [[]]
    for part in parts:
        said = part.get("type") in ("text", "reasoning")
        if part.get("type") == "step-start" or (said and any(_has_result(one) for one in steps[-1])):
            steps.append([])
        if part.get("type") != "step-start":
            steps[-1].append(part)
    return [step for step in steps if step]


def _step(parts: list[Wire]) -> list[Wire]:
    tools = [_tool(part) for part in parts if _is_tool(part)]
    kept = [part for block in parts if not _is_tool(block) and (part := _part(block)) is not None]
    thoughts = [text(part, "text", "reasoning") for part in parts if part.get("type") == "reasoning"]
    calls = [_call(tool) for tool in tools]
    reply = chat_wire.assistant(chat_wire.slim(kept), calls, "\n".join(filter(None, thoughts)))
    return [reply, *(_result(tool) for tool in tools if tool.get("state") in DONE)]


def _tool(part: Wire) -> Wire:
    """Return a call with its result as one object with `toolName`, whatever the version."""
    made = {**part, **inner(part, "toolInvocation")}
    name = text(made, "toolName") or text_of(part.get("type")).removeprefix("tool-")
    return {**made, "toolName": name}


def _call(part: Wire) -> Wire:
    return chat_wire.call(part.get("toolName"), part.get("input", part.get("args")), part.get("toolCallId"))


def _result(part: Wire) -> Wire:
    output = next((part[key] for key in ("output", "result", "errorText") if part.get(key) is not None), "")
    if isinstance(output, Mapping) and output.keys() >= {"type", "value"}:
        output = output["value"]
    return chat_wire.result(output, part.get("toolCallId"), part.get("toolName"))


def _part(block: Wire) -> Any:
    """Return a content part; None for one that is said elsewhere. What is not known is kept as it is."""
    kind = text_of(block.get("type"))
    if kind in PARTS or kind == "step-start" or (kind == "reasoning" and text(block, "text", "reasoning")):
        return None
    if kind == "text":
        return chat_wire.text_part(block["text"]) if text(block, "text") else None
    media = text(block, "mediaType", "mimeType", "contentType")
    if kind == "image" or (kind == "file" and media.startswith("image/")):
        data = next((block[key] for key in ("url", "image", "data") if isinstance(block.get(key), str)), None)
        return dict(block) if data is None else chat_wire.image(chat_wire.data_url(media, data))
    return dict(block)


def _is_tool(part: Wire) -> bool:
    kind = text_of(part.get("type"))
    return kind in ("dynamic-tool", "tool-invocation") or (kind.startswith("tool-") and "toolCallId" in part)


def _has_result(part: Wire) -> bool:
    return _is_tool(part) and _tool(part).get("state") in DONE


def _is_ui_part(part: Wire) -> bool:
    kind = part.get("type")
    return isinstance(kind, str) and (kind in UI_PARTS or kind.startswith(("tool-", "data-")))
