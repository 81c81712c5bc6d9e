"""The request bodies of the providers, one file a dialect; adding one is a file and a line in `_DIALECTS`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ConfigError, RequestError
from .anthropic import Anthropic
from .base import Cost, Dialect, Message, Part, PartKind, ToolDefinition
from .content import type_of
from .gemini import Gemini
from .openai_chat import OpenAIChat
from .openai_responses import OpenAIResponses

__all__ = ["Cost", "Dialect", "Message", "Part", "PartKind", "ToolDefinition", "detect", "dialect", "dialect_names"]

_DIALECTS: dict[str, Dialect] = {
    known.name: known for known in (OpenAIChat(), OpenAIResponses(), Anthropic(), Gemini())
}

_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "document"})


def dialect_names() -> tuple[str, ...]:
    """Return the names of the dialects that can be read and written."""
    return tuple(_DIALECTS)


def dialect(name: str) -> Dialect:
    """Return a dialect by its name. ConfigError if there is none."""
    try:
        return _DIALECTS[name]
    except KeyError:
        raise ConfigError(
            "model.dialect", f"there is no dialect {name!r}.", f"Use one of {', '.join(_DIALECTS)}."
        ) from None


def detect(body: Any) -> str:
    """Return the name of the dialect that a request body is written in. RequestError if none is known."""
    if isinstance(body, Mapping):
        if isinstance(body.get("messages"), list):
            return "anthropic" if _looks_anthropic(body) else "openai_chat"
        if isinstance(body.get("contents"), list | str):
            return "gemini"
        if isinstance(body.get("input"), list | str):
            return "openai_responses"
    raise RequestError(
        "This is not a request body: an object with `messages` (OpenAI chat, Anthropic), `input` (OpenAI Responses)"
        " or `contents` (Gemini) is expected."
    )


def _looks_anthropic(body: Mapping[str, Any]) -> bool:
    if "system" in body or any(isinstance(tool, Mapping) and "input_schema" in tool for tool in _list(body, "tools")):
        return True
    messages = [message for message in body["messages"] if isinstance(message, Mapping)]
    if any(message.get("role") in ("system", "developer", "tool", "function") for message in messages):
        return False
    if any("tool_calls" in message or "function_call" in message for message in messages):
        return False
    blocks = [block for message in messages for block in _list(message, "content") if isinstance(block, Mapping)]
    if any(type_of(block) in _ANTHROPIC_BLOCKS for block in blocks):
        return True
    model = body.get("model")
    return isinstance(model, str) and model.startswith("claude") and "max_tokens" in body


def _list(owner: Mapping[str, Any], key: str) -> list[Any]:
    value = owner.get(key)
    return value if isinstance(value, list) else []
