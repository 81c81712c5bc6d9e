"""LangChain messages in the three forms they are written in, as messages of OpenAI chat.

`message_to_dict` gives `{"type", "data"}`, `model_dump` a flat object, and LangChain's own serialisation a
constructor with `kwargs`. Contents may hold blocks of any provider beside `tool_calls` that say the same: what is
said twice is taken once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..transcript import Usage
from ..wire import Wire, text_of
from . import chat_wire
from .fields import inner, listed, objects, text
from .responses import DetailKeys, anthropic_usage, detailed_usage, openai_usage

ROLES = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "chat": "",
    "remove": "remove",
}
CALL_BLOCKS = frozenset(
    {"tool_use", "tool_call", "tool_call_chunk", "input_json_delta", "function_call", "invalid_tool_call"}
)
METADATA = DetailKeys("input_token_details", "cache_read", "cache_creation", "output_token_details", "reasoning")
"""Where LangChain keeps what the tokens of a call consist of."""
THOUGHT_BLOCKS = frozenset({"thinking", "reasoning", "reasoning_content"})


def is_message(value: Any) -> bool:
    """Tell whether a value is a LangChain message in one of its forms."""
    if not isinstance(value, Mapping):
        return False
    if value.get("lc") is not None and value.get("type") == "constructor":
        return _kind(value) in ROLES
    if isinstance(value.get("data"), Mapping):
        return _kind(value) in ROLES and "content" in value["data"]
    return _kind(value) in ROLES and "content" in value and "role" not in value and isinstance(value["type"], str)


def plain(value: Wire) -> dict[str, Any]:
    """Return a message of any form as one flat object with its `type`."""
    fields = inner(value, "data") or inner(value, "kwargs") or value
    return {**_snake(fields), "type": _kind(value)}


def role_of(value: Wire) -> str:
    """Return the role in OpenAI chat; `remove` for one that takes another out of the list."""
    return ROLES.get(_kind(value), "") or text(plain(value), "role") or "user"


def to_chat(value: Wire) -> Wire:
    """Return the message as one of OpenAI chat."""
    message, role = plain(value), role_of(value)
    if role == "tool":
        return chat_wire.result(message.get("content"), message.get("tool_call_id"), message.get("name"))
    calls = _calls(message) if role == "assistant" else []
    content = _content(message.get("content"), calls)
    if role == "assistant":
        return chat_wire.assistant(content, calls, _reasoning(message))
    named = {"name": message["name"]} if isinstance(message.get("name"), str) and message["name"] else {}
    return {"role": role, "content": content, **named}


def usage_of(value: Wire) -> Usage:
    """Return the usage that a reply reports: LangChain's own figures, which include cached tokens, come first."""
    message = plain(value)
    found = metadata_usage(message.get("usage_metadata"))
    if found != Usage():
        return found
    meta = inner(message, "response_metadata")
    reported = inner(meta, "token_usage") or inner(meta, "usage") or inner(meta, "tokenUsage")
    return anthropic_usage(reported) if "input_tokens" in reported else openai_usage(_snake(reported))


def metadata_usage(usage: Any) -> Usage:
    """Return the usage that LangChain's and LangSmith's `usage_metadata` hold."""
    return detailed_usage(usage, METADATA)


def model_of(value: Wire) -> str | None:
    """Return the model that a reply names."""
    meta = inner(plain(value), "response_metadata")
    return text(meta, "model_name", "model", "model_id", "ls_model_name") or None


def is_answered(value: Wire) -> bool:
    """Tell whether a model gave this message: one that a program wrote says nothing of a model or of tokens."""
    message = plain(value)
    return bool(inner(message, "response_metadata") or inner(message, "usage_metadata"))


def _kind(value: Wire) -> str:
    """Return the kind in short: `AIMessageChunk` and a constructor's class are `ai`."""
    named = value.get("type")
    if named == "constructor":
        path = value.get("id")
        named = path[-1] if isinstance(path, list) and path else ""
    name = named if isinstance(named, str) else ""
    for ending in ("MessageChunk", "Message"):
        if name.endswith(ending) and name != ending:
            return name.removesuffix(ending).lower()
    return name


def _snake(fields: Wire) -> dict[str, Any]:
    """Return fields with the names that LangChain for Python has, where its JavaScript sister has others."""
    found = {
        "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in key) if isinstance(key, str) else key: value
        for key, value in fields.items()
    }
    return found


def _calls(message: Wire) -> list[Wire]:
    listed_calls = [*_objects(message, "tool_calls"), *_objects(message, "invalid_tool_calls")]
    calls: list[Wire] = [chat_wire.call(one.get("name"), one.get("args"), one.get("id")) for one in listed_calls]
    if calls:
        return calls
    extra = inner(message, "additional_kwargs")
    for one in objects(extra, "tool_calls"):
        function = inner(one, "function")
        calls.append(chat_wire.call(function.get("name"), function.get("arguments"), one.get("id")))
    legacy = inner(extra, "function_call")
    if legacy and not calls:
        calls.append(chat_wire.call(legacy.get("name"), legacy.get("arguments")))
    return calls or [_call_of_block(block) for block in objects(message, "content") if _is_call(block)]


def _objects(message: Wire, key: str) -> list[Wire]:
    return [inner(one, "kwargs") or one for one in objects(message, key)]


def _is_call(block: Wire) -> bool:
    return block.get("type") in ("tool_use", "tool_call", "function_call")


def _call_of_block(block: Wire) -> Wire:
    arguments = next((block[key] for key in ("input", "args", "arguments") if key in block), None)
    return chat_wire.call(block.get("name"), arguments, block.get("call_id") or block.get("id"))


def _reasoning(message: Wire) -> str:
    extra = inner(message, "additional_kwargs")
    found = [text(extra, "reasoning_content")]
    found += [_thought(block) for block in objects(message, "content") if text(block, "type") in THOUGHT_BLOCKS]
    return "\n".join(dict.fromkeys(filter(None, found)))


def _thought(block: Wire) -> str:
    summary = "\n".join(text(part, "text") for part in listed(block, "summary"))
    return text(block, "thinking", "reasoning", "text") or text(inner(block, "reasoning_content"), "text") or summary


def _content(content: Any, calls: list[Wire]) -> Any:
    if isinstance(content, str) or content is None:
        return content
    if not isinstance(content, list):
        return text_of(content)
    parts = [part for block in content if (part := _part(block)) is not None]
    return chat_wire.slim(parts) if parts or calls else ""


def _part(block: Any) -> Any:
    """Return a content part; None for one that is said elsewhere. What is not known is kept as it is."""
    if isinstance(block, str):
        return chat_wire.text_part(block) if block else None
    if not isinstance(block, Mapping):
        return chat_wire.text_part(text_of(block))
    kind = text(block, "type")
    if kind in CALL_BLOCKS or (kind in THOUGHT_BLOCKS and _thought(block)):
        return None
    if kind in ("text", "output_text", "input_text") and isinstance(block.get("text"), str):
        return chat_wire.text_part(block["text"]) if block["text"] else None
    return _image(block) if kind == "image" else dict(block)


def _image(block: Wire) -> Any:
    source = inner(block, "source")
    mime = text(block, "mime_type", "media_type") or text(source, "media_type")
    data = text(block, "url", "base64", "data") or text(source, "url", "data")
    return chat_wire.image(chat_wire.data_url(mime, data)) if data else dict(block)
