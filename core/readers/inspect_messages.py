"""Messages, tools and usage of inspect_ai as OpenAI chat has them; and the request that an event keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Usage
from ..wire import Wire
from .chat_wire import assistant, call, result, slim, text_part
from .fields import inner, listed, objects, text
from .figures import figure
from .tool_definitions import tools_of

REMOVED = "<base64-data-removed>"
"""What the log keeps of an image in a request."""
NOT_SENT = frozenset({"extra_headers", "model_name"})
ROLES = frozenset({"system", "user", "assistant", "tool", "developer"})


def message_wire(message: Wire) -> dict[str, Any]:
    """Return a message; of a tool that failed, what the model was told of it."""
    role, content = text(message, "role"), message.get("content")
    thoughts, parts = [], []
    for part in content if isinstance(content, list) else [content]:
        if text(part, "type") == "reasoning":
            thoughts.append(text(part, "reasoning", "summary"))
        else:
            parts += _part(part)
    said = slim(parts)
    if role == "tool":
        failed = text(inner(message, "error"), "message")
        return result(said or failed, message.get("tool_call_id"), message.get("function"))
    if role == "assistant":
        calls = [
            call(one.get("function"), one.get("arguments"), one.get("id")) for one in objects(message, "tool_calls")
        ]
        return assistant(said, calls, "\n".join(filter(None, thoughts)))
    return {"role": role if role in ROLES else "user", "content": said}


def _part(part: Any) -> list[Any]:
    if isinstance(part, str):
        return [text_part(part)]
    kind = text(part, "type")
    if kind == "text":
        return [text_part(text(part, "text"))]
    if kind == "image":
        detail = {"detail": part["detail"]} if text(part, "detail") else {}
        return [{"type": "image_url", "image_url": {"url": text(part, "image"), **detail}}]
    if kind == "audio":
        return [{"type": "input_audio", "input_audio": {"data": text(part, "audio"), "format": text(part, "format")}}]
    if kind in ("video", "document"):
        return [{"type": "file", "file": {"file_data": text(part, kind), "filename": text(part, "filename") or kind}}]
    return [part] if isinstance(part, Mapping) else []


def tool_wires(tools: Any) -> list[Wire]:
    """Return tool definitions as functions."""
    return tools_of(tools, "openai_chat") if isinstance(tools, list) and tools else []


def request_of(kept: Wire, pool: Sequence[Any]) -> Any:
    """Return the request that an event keeps; a list that events share is put together from the pool."""
    request = kept.get("request")
    key = text(kept, "call_key")
    if not isinstance(request, Mapping):
        return request
    if "model" not in request and text(request, "model_name"):
        request = {"model": request["model_name"], **request}
    if key and listed(kept, "call_refs"):
        request = {**request, key: slices(pool, listed(kept, "call_refs"))}
    return {name: value for name, value in request.items() if value is not None and name not in NOT_SENT}


def slices(pool: Sequence[Any], refs: Sequence[Any]) -> list[Any]:
    """Return the parts of a pool that pairs of indices name."""
    found: list[Any] = []
    for pair in refs:
        if isinstance(pair, list) and len(pair) == 2 and all(type(at) is int and at >= 0 for at in pair):
            found += pool[pair[0] : pair[1]]
    return found


def images_of(messages: Sequence[Any]) -> list[str]:
    """Return the images in some messages of inspect_ai, in order."""
    parts = [part for message in messages for part in objects(message, "content")]
    return [text(part, "image") for part in parts if text(part, "type") == "image"]


def with_images(value: Any, images: Iterator[str], key: str = "") -> Any:
    """Return a request with images in the places that the log emptied; a field `data` holds base64 alone."""
    if value == REMOVED:
        image = next(images, REMOVED)
        return image.partition("base64,")[2] if key == "data" and "base64," in image else image
    if isinstance(value, list):
        return [with_images(one, images) for one in value]
    if isinstance(value, Mapping):
        return {name: with_images(one, images, name) for name, one in value.items()}
    return value


def inspect_usage(usage: Wire) -> Usage:
    """Return usage as inspect_ai counts it. For some providers input leaves cached tokens out, as the total shows."""
    given, answered, total = (figure(usage.get(f"{name}_tokens")) for name in ("input", "output", "total"))
    read, written = figure(usage.get("input_tokens_cache_read")), figure(usage.get("input_tokens_cache_write"))
    cached = (read or 0) + (written or 0)
    apart = given is not None and cached and total == given + cached + (answered or 0)
    return Usage(
        input=given + cached if apart and given is not None else given,
        cache_read=read,
        cache_write=written,
        output=answered,
        reasoning=figure(usage.get("reasoning_tokens")),
    )
