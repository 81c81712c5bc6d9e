"""Messages as OpenTelemetry's conventions for generative AI write them: `{"role", "parts": [{"type", ...}]}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..wire import Wire, text_of
from . import chat_wire
from .fields import inner, listed, text

ROLES = {"model": "assistant", "ai": "assistant", "human": "user", "developer": "system"}
REASONING = frozenset({"reasoning", "thinking", "thought"})


def is_message(value: Any) -> bool:
    """Tell whether a value is such a message: parts have a type, which those of Gemini have not."""
    if not isinstance(value, Mapping) or not isinstance(value.get("parts"), list):
        return False
    parts = value["parts"]
    typed = [isinstance(part, Mapping) and isinstance(part.get("type"), str) for part in parts]
    return isinstance(value.get("role"), str) and all(typed) and "id" not in value


def to_chat(message: Wire) -> list[Wire]:
    """Return the messages of OpenAI chat that it stands for: each result is one, before what else was said."""
    role = ROLES.get(message["role"], message["role"])
    parts = [part for part in message["parts"] if isinstance(part, Mapping)]
    results = [_result(part) for part in parts if part.get("type") == "tool_call_response"]
    calls = [_call(part) for part in parts if part.get("type") == "tool_call"]
    thoughts = [said for part in parts if text(part, "type") in REASONING and (said := _text(part))]
    content = chat_wire.slim([kept for part in parts if (kept := _content(part)) is not None])
    if role == "assistant" or calls:
        return [*results, chat_wire.assistant(content, calls, "\n".join(thoughts))]
    if role == "tool":
        return results or [chat_wire.result(content)]
    rest = [{"role": role, "content": content}] if content or not results else []
    return [*results, *rest]


def _call(part: Wire) -> Wire:
    function = inner(part, "function")
    arguments = part.get("arguments", part.get("input", function.get("arguments")))
    return chat_wire.call(part.get("name") or function.get("name"), arguments, part.get("id"))


def _result(part: Wire) -> Wire:
    content = next((part[key] for key in ("response", "result", "content", "output") if key in part), "")
    return chat_wire.result(content, part.get("id"), part.get("name"))


def _text(part: Wire) -> str:
    found = part.get("content", part.get("text"))
    return text_of(found.get("text") if isinstance(found, Mapping) else found)


def _content(part: Wire) -> Any:
    """Return a part of the content; None for one that stands elsewhere. What is not known is kept as it is."""
    kind = part["type"] if isinstance(part.get("type"), str) else ""
    if kind in ("tool_call", "tool_call_response") or (kind in REASONING and _text(part)):
        return None
    if kind == "text":
        said = _text(part)
        return chat_wire.text_part(said) if said else None
    if kind in ("blob", "uri") and (part.get("modality") == "image" or "image" in text_of(part.get("mime_type"))):
        data = part.get("uri", part.get("data", part.get("content")))
        return chat_wire.image(chat_wire.data_url(part.get("mime_type"), data))
    return dict(part)


def system_texts(instructions: Any) -> list[str]:
    """Return the texts of `gen_ai.system_instructions`: a list of parts, a message or a text."""
    value = chat_wire.decoded(instructions)
    if isinstance(value, Mapping):
        value = listed(value, "parts") or [value]
    parts = value if isinstance(value, list) else [value]
    texts = [part if isinstance(part, str) else _text(part) for part in parts if isinstance(part, str | Mapping)]
    return [found for found in texts if found]
