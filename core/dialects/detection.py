"""In which dialect a request body is written, seen from the body alone.

Without system prompt, tools and blocks the two dialects with `messages` may look alike: `detect` then says which is
likelier, for recordings that name none; `other_dialect` says only what is certain, as it refuses a live request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..errors import RequestError
from .content import type_of

__all__ = ["Seen", "detect", "other_dialect"]

_ANTHROPIC_KEYS = frozenset({"system", "anthropic_version"})
_ANTHROPIC_BLOCKS = frozenset({"thinking", "redacted_thinking", "document", "search_result", "container_upload"})
_LISTS = {"openai_chat": "messages", "anthropic": "messages", "gemini": "contents", "openai_responses": "input"}
_CHAT_ROLES = ("system", "developer", "tool", "function")


class Seen(NamedTuple):
    """The dialects that a body may be of, none of which is the one expected, and what tells it."""

    dialects: tuple[str, ...]
    sign: str


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


def other_dialect(body: Any, named: str) -> Seen | None:
    """Return what a body is if it certainly is not of the dialect named; None where it may be, or is no body."""
    if not isinstance(body, Mapping):
        return None
    if _is_listed(body, named):
        return _with_messages(body, named) if named in _SIGNS else None
    possible = [name for name in _LISTS if _is_listed(body, name)]
    possible = [name for name in possible if name not in _SIGNS or _with_messages(body, name) is None]
    return Seen(tuple(possible), f"`{_LISTS[possible[0]]}`") if possible else None


def _with_messages(body: Mapping[str, Any], named: str) -> Seen | None:
    """Tell the two dialects with `messages` apart. What has signs of both, or of neither, may be of either."""
    (other,) = _SIGNS.keys() - {named}
    sign = "" if _SIGNS[named](body) else _SIGNS[other](body)
    return Seen((other,), sign) if sign else None


def _is_listed(body: Mapping[str, Any], name: str) -> bool:
    """Return whether a body has the list that a dialect's messages stand in."""
    given = body.get(_LISTS[name])
    return isinstance(given, list) or (isinstance(given, str) and _LISTS[name] != "messages")


def _chat_sign(body: Mapping[str, Any]) -> str:
    """Return what only an OpenAI chat body has; an empty text if there is nothing.

    Of its system messages only a leading one is: Anthropic takes some later in the conversation.
    """
    messages = body["messages"]
    first = messages[0].get("role") if messages and isinstance(messages[0], Mapping) else None
    if first in ("system", "developer"):
        return f"a first message of the role `{first}`"
    if any(isinstance(tool.get("function"), Mapping) for tool in _objects(body, "tools")):
        return "a tool with `function`"
    for message in _objects(body, "messages"):
        if message.get("role") in ("tool", "function", "developer"):
            return f"a message of the role `{message['role']}`"
        if _list(message, "tool_calls"):
            return "a message with `tool_calls`"
    return ""


def _anthropic_sign(body: Mapping[str, Any]) -> str:
    """Return what only an Anthropic body has; an empty text if there is nothing.

    Thinking does not count, as Mistral's chat has blocks of that name, nor do images and documents, which gateways take
    in chats, nor the model's name, as they take any.
    """
    for key in ("system", "anthropic_version"):
        if body.get(key) and isinstance(body[key], str | list):
            return f"`{key}` beside `messages`"
    if any(isinstance(tool.get("input_schema"), Mapping) for tool in _objects(body, "tools")):
        return "a tool with `input_schema`"
    return next((f"a block `{type_of(block)}`" for block in _blocks(body) if _is_anthropics_alone(block)), "")


_SIGNS = {"openai_chat": _chat_sign, "anthropic": _anthropic_sign}


def _is_anthropics_alone(block: Mapping[str, Any]) -> bool:
    kind = type_of(block)
    if kind.endswith("tool_result"):
        return isinstance(block.get("tool_use_id"), str)
    return kind.endswith("tool_use") and isinstance(block.get("id"), str) and isinstance(block.get("name"), str)


def _looks_anthropic(body: Mapping[str, Any]) -> bool:
    """Return whether a body with `messages` is likelier Anthropic's.

    What tells plain texts apart is the model, whose name the API takes bare, together with `max_tokens`, which
    Anthropic demands and OpenAI has put aside; a gateway's chat body for the same model mostly has a system message in
    its list. Whoever sends another body to a Claude model sets `model.dialect`.
    """
    tools = _objects(body, "tools")
    if _ANTHROPIC_KEYS & body.keys() or any("input_schema" in tool for tool in tools):
        return True
    messages = list(_objects(body, "messages"))
    if any(message.get("role") in _CHAT_ROLES for message in messages):
        return False
    if any("tool_calls" in message or "function_call" in message for message in messages):
        return False
    if any(_is_anthropic_block(block) for block in _blocks(body)):
        return True
    model = body.get("model")
    return isinstance(model, str) and model.startswith("claude") and "max_tokens" in body


def _is_anthropic_block(block: Any) -> bool:
    kind = type_of(block)
    if kind == "image":
        return isinstance(block.get("source"), Mapping)
    return kind in _ANTHROPIC_BLOCKS or kind.endswith(("tool_use", "tool_result"))


def _blocks(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (block for message in _objects(body, "messages") for block in _objects(message, "content"))


def _objects(owner: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    return (value for value in _list(owner, key) if isinstance(value, Mapping))


def _list(owner: Mapping[str, Any], key: str) -> list[Any]:
    value = owner.get(key)
    return value if isinstance(value, list) else []
