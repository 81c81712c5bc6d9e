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

_ANTHROPIC_KEYS = frozenset({"system", "anthropic_version"})
_ANTHROPIC_BLOCKS = frozenset({"thinking", "redacted_thinking", "document", "search_result", "container_upload"})


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
    """Return whether a body with `messages` is Anthropic's.

    Without system prompt, tools and blocks both dialects may look alike: a text of the user's alone. What tells them
    apart then is the model, whose name the API takes bare, together with `max_tokens`, which Anthropic demands and
    OpenAI has put aside; a gateway's chat body for the same model mostly has a system message in its list. Whoever
    sends another body to a Claude model sets `model.dialect`.
    """
    tools = [tool for tool in _list(body, "tools") if isinstance(tool, Mapping)]
    if _ANTHROPIC_KEYS & body.keys() or any("input_schema" in tool for tool in tools):
        return True
    messages = [message for message in body["messages"] if isinstance(message, Mapping)]
    if any(message.get("role") in ("system", "developer", "tool", "function") for message in messages):
        return False
    if any("tool_calls" in message or "function_call" in message for message in messages):
        return False
    if any(_is_anthropic_block(block) for message in messages for block in _list(message, "content")):
        return True
    model = body.get("model")
    return isinstance(model, str) and model.startswith("claude") and "max_tokens" in body


def _is_anthropic_block(block: Any) -> bool:
    kind = type_of(block)
    if kind == "image":
        return isinstance(block.get("source"), Mapping)
    return kind in _ANTHROPIC_BLOCKS or kind.endswith(("tool_use", "tool_result"))


def _list(owner: Mapping[str, Any], key: str) -> list[Any]:
    value = owner.get(key)
    return value if isinstance(value, list) else []
