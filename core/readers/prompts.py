"""What a platform recorded as a model's input or output, as messages of a dialect.

Platforms record whatever their instrumentation saw: a request body, a list of messages of OpenAI, Anthropic, Gemini,
LangChain, OpenTelemetry or the Vercel AI SDK, one message, a text; as values or as JSON in texts, once or twice
encoded. What a provider's own dialect has is kept as it is, everything else becomes OpenAI chat. Messages that fit
several dialects say nothing: the others of the same recording decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..wire import Wire, text_of
from . import genai_parts, langchain_messages, openinference_messages, vercel_messages
from .chat_wire import assistant, decoded, paired, slim
from .fields import listed, objects, text
from .json_text import salvage
from .odd_messages import (
    ROLES,
    calls_in_text,
    gemini_content,
    of_speaker,
    plain_message,
    speaker_of,
    spoken_text,
)
from .shapes import GEMINI_KEYS, REQUEST_KEYS, RESPONSES_KEYS, as_rest, is_content, is_item

CHAT, ANTHROPIC, GEMINI, RESPONSES = "openai_chat", "anthropic", "gemini", "openai_responses"
BLOCKS = frozenset({"tool_use", "tool_result", "redacted_thinking", "server_tool_use", "thinking"})
_SIMPLE = {"role", "content"}
SHORTEST_CUT = 64
"""Characters below which no exporter cuts an attribute off."""
WITHIN = ("inputs", "input", "kwargs", "request", "body", "prompt", "prompts", "chat_history", "args", "data", "value")


@dataclass(frozen=True, slots=True)
class Loose:
    """Messages of one input or output, of whatever kind, and the request body that they stood in."""

    messages: Sequence[Any]
    rest: Mapping[str, Any] = field(default_factory=dict)
    whole: bool = False
    """It is a request body of a provider, so nothing of the request is missing."""
    cut: bool = False
    """The recording of it breaks off."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """Messages of one dialect. System texts and tool definitions that stood among them are apart."""

    messages: list[Wire]
    system: list[str] = field(default_factory=list)
    tools: list[Any] = field(default_factory=list)
    converted: bool = False


def prompt_of(value: Any, depth: int = 0) -> Loose | None:
    """Return what a recorded input holds; None if it is no input of a model."""
    value = decoded(value)
    if isinstance(value, str):
        said = spoken_text(value)
        return _cut(value, depth) or (Loose(said) if said else None)
    if isinstance(value, list):
        return _listed(value, depth)
    if not isinstance(value, Mapping):
        return None
    if isinstance(decoded(value.get("messages")), list):
        return _around(_listed(decoded(value["messages"]), depth), value, REQUEST_KEYS)
    if isinstance(value.get("contents"), list | str):
        return _contents(value)
    if isinstance(value.get("input"), list) and value.keys() <= RESPONSES_KEYS:
        return _around(_listed(value["input"], depth), value, RESPONSES_KEYS)
    if is_message(value):
        return Loose([value])
    found = (prompt_of(value[key], depth + 1) for key in WITHIN if depth < 4 and value.get(key))
    loose = next((one for one in found if one is not None), None)
    if loose is not None and isinstance(value.get("system"), str) and "system" not in loose.rest:
        return replace(loose, rest={**loose.rest, "system": value["system"]})
    return loose


def is_message(value: Any) -> bool:
    """Tell whether a value is a message of any kind that is known here."""
    if _is_simple(value):
        return True
    if not isinstance(value, Mapping):
        return False
    if langchain_messages.is_message(value) or is_item(value) or speaker_of(value):
        return True
    if isinstance(value.get("message"), Mapping) and "role" in value["message"] and "role" not in value:
        return True
    if not isinstance(value.get("role"), str):
        return any(isinstance(key, str) and key.startswith("message.") for key in value)
    keys = ("content", "tool_calls", "function_call", "parts", "toolInvocations", "contents", "additional_kwargs")
    return any(key in value for key in keys)


def evidence(messages: Iterable[Any]) -> set[str]:
    """Return the dialects that messages can only be of; nothing where they fit several."""
    return {found for message in messages if (found := _evidence(decoded(message)))}


def chosen(found: set[str], otherwise: str = "") -> str:
    """Return the dialect that evidence speaks for; mixed evidence is that of a chat with parts of others."""
    if len(found) == 1:
        return next(iter(found))
    if CHAT in found or not found:
        return otherwise or CHAT
    return next(name for name in (RESPONSES, GEMINI, ANTHROPIC) if name in found)


def spoken(messages: Iterable[Any], dialect: str) -> Spoken:
    """Return messages as those of a dialect that they were found to be of."""
    values = [decoded(message) for message in messages]
    if dialect == CHAT:
        return _chat(values)
    kept = [value for value in values if isinstance(value, Mapping)]
    if dialect == RESPONSES:
        return Spoken([dict(value) for value in kept], converted=len(kept) != len(values))
    system = [text_ for value in kept if value.get("role") == "system" and (text_ := _system_text(value))]
    said = [value for value in kept if value.get("role") != "system"]
    if dialect == GEMINI:
        said = [{**gemini_content(value), "role": _gemini_role(value)} for value in said]
    return Spoken(list(said), system, converted=len(said) != len(values))


def _gemini_role(value: Wire) -> str:
    role = text(value, "role") or "user"
    return "model" if role == "assistant" else role


def _listed(value: list[Any], depth: int) -> Loose | None:
    if value and isinstance(value[0], list):
        return _listed(value[0], depth + 1) if depth < 4 else None
    messages = [decoded(one) for one in value]
    known = [one for one in messages if is_message(one) or isinstance(one, str)]
    return Loose(known) if known else None


def _cut(value: str, depth: int) -> Loose | None:
    """Return what is whole of a JSON text that an exporter cut off."""
    if len(value) < SHORTEST_CUT or not value.lstrip().startswith(('[{"', '{"')):
        return None
    loose = prompt_of(salvage(value), depth + 1)
    return None if loose is None else replace(loose, cut=True)


def _around(loose: Loose | None, value: Wire, keys: frozenset[str]) -> Loose | None:
    if loose is None:
        return None
    rest = {key: value[key] for key in value if key in keys and value[key] is not None}
    return Loose(loose.messages, rest, whole=isinstance(value.get("model"), str))


def _contents(value: Wire) -> Loose:
    value = as_rest(value)
    given = value["contents"]
    messages = [{"role": "user", "parts": [{"text": given}]}] if isinstance(given, str) else given
    rest = {key: value[key] for key in value if key in GEMINI_KEYS and value[key] is not None}
    return Loose([one for one in messages if isinstance(one, Mapping)], rest, whole=True)


def _is_simple(value: Any) -> bool:
    """Tell whether a value is a role and a text, as most messages are: all that is asked of others is no question."""
    return isinstance(value, dict) and value.keys() == _SIMPLE and isinstance(value["content"], str)


def _evidence(message: Any) -> str:
    if _is_simple(message) and message["role"] in ("system", "user", "assistant"):
        return ""
    if not isinstance(message, Mapping):
        return ""
    if langchain_messages.is_message(message) or genai_parts.is_message(message) or speaker_of(message):
        return CHAT
    if vercel_messages.is_message(message) or isinstance(message.get("message"), Mapping):
        return CHAT
    if is_item(message):
        return RESPONSES
    if is_content(message) and message["parts"]:
        return GEMINI
    if message.get("role") in ("tool", "function") or "tool_calls" in message or "additional_kwargs" in message:
        return CHAT
    if any(isinstance(key, str) and key.startswith("message.") for key in message) or "contents" in message:
        return CHAT
    return ANTHROPIC if any(text(block, "type") in BLOCKS for block in objects(message, "content")) else ""


def _chat(values: list[Any]) -> Spoken:
    tools = [value["content"] for value in values if _is_tool_definition(value)]
    said: list[Wire] = []
    for value in values:
        if not _is_tool_definition(value):
            said += _chat_messages(value)
    kept = [value for value in values if isinstance(value, Mapping) and not _is_tool_definition(value)]
    changed = len(said) != len(kept) or any(new is not old for new, old in zip(said, kept, strict=True))
    return Spoken(paired(said), tools=tools, converted=changed)


def _chat_messages(value: Any) -> list[Wire]:
    if _is_simple(value) and value["role"] in ("system", "user", "assistant") and value["content"][:1] != "[":
        return [value]
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    if not isinstance(value, Mapping):
        return [{"role": "user", "content": text_of(value)}]
    if langchain_messages.is_message(value):
        removed = langchain_messages.role_of(value) == "remove"
        return [] if removed else [langchain_messages.to_chat(value)]
    if genai_parts.is_message(value):
        return genai_parts.to_chat(value)
    if vercel_messages.is_message(value):
        return vercel_messages.to_chat(value)
    return _plain_messages(value)


def _plain_messages(value: Wire) -> list[Wire]:
    if isinstance(value.get("message"), Mapping) or "contents" in value or _is_dotted(value):
        return openinference_messages.to_chat(openinference_messages.unwrapped(value, "message"))
    if speaker := speaker_of(value):
        return [of_speaker(speaker, value[speaker])]
    if calls := calls_in_text(value):
        return [assistant(None, calls)]
    if isinstance(value.get("additional_kwargs"), Mapping) and text(value, "role") in ROLES:
        kind = {"user": "human", "assistant": "ai"}.get(text(value, "role"), text(value, "role"))
        return [langchain_messages.to_chat({**value, "type": kind})]
    if value.get("role") == "model":
        return [{**value, "role": "assistant"}]
    if "content" not in value and not objects(value, "tool_calls") and listed(value, "parts"):
        return [{"role": value["role"], "content": [*value["parts"]]}]
    return [plain_message(value)]


def _is_tool_definition(value: Any) -> bool:
    """LangGraph's callback for Langfuse puts the tools among the messages."""
    content = value.get("content") if isinstance(value, Mapping) else None
    if not isinstance(content, Mapping):
        return False
    return content.get("type") == "function" and isinstance(content.get("function"), Mapping)


def _is_dotted(value: Wire) -> bool:
    return any(isinstance(key, str) and key.startswith("message.") for key in value)


def _system_text(value: Wire) -> str:
    content = value.get("content")
    if isinstance(content, str):
        return content
    parts = objects(value, "content") or objects(value, "parts")
    kept = slim([{"type": "text", "text": text(part, "text", "content")} for part in parts])
    return kept if isinstance(kept, str) else "\n".join(part["text"] for part in kept)
