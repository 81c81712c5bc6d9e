"""Which keys of a message or a head say how things hang together, so that they stay when what was said is dropped.

They stay only where a dialect puts them: a `name` in arguments or in a result is no tool's name, and a `status` there
is nobody's state. What no dialect knows is taken for something that was said. Definitions of tools and settings keep
their keys and figures and lose their texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import Any

from .dialects.content import CACHE_MARK, FILE_TYPES, IMAGE_TYPES, SEALED, TEXT_TYPES, type_of
from .dropped_values import anonymous, anonymous_json, fitted
from .wire import text_of

__all__ = ["dropped_head", "dropped_part"]

LINKS = frozenset({"role", "type", "id", "call_id", "tool_call_id", "tool_use_id", "tool_id", "caller_id"})
MEDIA_TYPES = frozenset({"mimeType", "mime_type", "media_type"})
STATES = {
    "status": frozenset({"completed", "in_progress", "incomplete", "failed"}),
    "detail": frozenset({"auto", "low", "high", "original"}),
}
FLAGS = frozenset({"is_error", "thought"})
SAID = frozenset(
    {
        *("content", "text", "parts", "output", "tool_calls", "summary"),
        *("thinking", "reasoning", "reasoning_content", "refusal", "title", "context", "transcript"),
    }
)
"""Texts, and lists of parts."""
VALUES = frozenset({"input", "args", "arguments", "response", "action", "code", "result", "results", "outputs"})
"""What a call was given and came to."""
RESULT_KEYS = ("output", "result", "content")
"""A response of one text under one of these is read as that text."""
HOLDERS = frozenset(
    {
        *("source", "image_url", "file", "input_audio", "inlineData", "inline_data", "fileData", "file_data"),
        *("caller", "function", "custom", "function_call", "functionCall", "functionResponse"),
    }
)
"""Objects within a part that the dialects know."""
CALLED = frozenset({"function", "custom", "function_call", "functionCall", "functionResponse"})
NAMED_TYPES = ("tool_use", "_call", "_call_output", "tool_result")
NAMED_ROLES = frozenset({"tool", "function"})
BYTES = frozenset({"data", "encrypted_content", "signature", "thoughtSignature", "thought_signature"})
PART_TYPES = (
    TEXT_TYPES
    | IMAGE_TYPES
    | FILE_TYPES
    | SEALED.keys()
    | {"refusal", "summary_text", "reasoning_text", "encrypted_content", "thinking", "search_result", "tool_reference"}
)
"""What may stand in a list of content, beside the calls and results whose types end as below."""
PART_ENDS = ("tool_use", "tool_result")
BARE_TEXT = frozenset({"text", CACHE_MARK})
DEEPEST = 6
"""Levels on which a dialect has parts: a message, a reply's item, a block, what it holds, its source, and one more."""

KNOWN = LINKS | MEDIA_TYPES | STATES.keys() | FLAGS | SAID | VALUES | HOLDERS | BYTES
KNOWN |= {"name", CACHE_MARK}
UNTYPED = KNOWN - LINKS - {"name"}
"""What is known of a part that is told by its keys alone, as Gemini's are."""

CONVERSATION = frozenset({"messages", "input", "contents", "system", "systemInstruction", "system_instruction"})
MESSAGES = frozenset({"messages", "input", "contents"})
SETTINGS = frozenset(
    {
        *("model", "tools", "functions", "tool_choice", "function_call", "toolConfig", "tool_config"),
        *(
            "max_tokens",
            "max_completion_tokens",
            "max_output_tokens",
            "max_tool_calls",
            "temperature",
            "top_p",
            "top_k",
        ),
        *("n", "seed", "stop", "stop_sequences", "frequency_penalty", "presence_penalty", "logprobs", "top_logprobs"),
        *("stream", "stream_options", "parallel_tool_calls", "response_format", "text", "instructions", "truncation"),
        *("reasoning", "reasoning_effort", "thinking", "output_config", "verbosity", "modalities", "audio", "store"),
        *("include", "background", "service_tier", "previous_response_id", "conversation", "anthropic_version"),
        *("betas", "context_management", "mcp_servers", "container", "user", "prompt_cache_key", "prompt"),
        *("cachedContent", "cached_content"),
        *("prompt_cache_retention", "web_search_options", "generationConfig", "generation_config", "options", "think"),
        *("safetySettings", "safety_settings", "format", "keep_alive", CACHE_MARK),
    }
)
DEFINED = LINKS | {"name", "model", "object", "service_tier", "format", "conversation", "previous_response_id", "ttl"}
"""Keys of definitions and settings whose texts stay."""
PROPERTIES = frozenset({"properties", "$defs", "definitions"})
"""What holds definitions by names that are free."""
EXAMPLES = frozenset({"default", "const", "enum", "example", "examples", "metadata", "variables"})
"""What a definition quotes of possible values."""

_IDENTIFIER = re.compile(r"\S{1,256}")


def dropped_part(wire: Any, known: Set[str] = KNOWN, named: bool = False, depth: int = 0) -> Any:
    """Return a message, or a part of one, without what it says. `named` if it is what holds a tool's name."""
    if not isinstance(wire, Mapping) or depth >= DEEPEST:
        return anonymous(wire)
    named = named or type_of(wire).endswith(NAMED_TYPES) or _role(wire) in NAMED_ROLES
    made = {key: _kept(wire, key, value, named, depth) for key, value in wire.items() if key in known}
    return made | _unknown(wire, known)


def _role(wire: Mapping[str, Any]) -> str:
    role = wire.get("role")
    return role if isinstance(role, str) else ""


def dropped_head(head: Mapping[str, Any]) -> dict[str, Any]:
    """Return a head without what it says: with its settings, and the names and shapes of its tools."""
    made: dict[str, Any] = {}
    for key, value in head.items():
        if key in MESSAGES and value is None:  # of an input that is one text, which could hold no fingerprint
            made[key] = []
        elif key in CONVERSATION:
            made[key] = dropped_part(value) if isinstance(value, Mapping) else _listed(value, key in MESSAGES, 0)
        elif key in SETTINGS:
            made[key] = _defined(key, value)
    made.update(_unknown(head, CONVERSATION | SETTINGS))
    return made


def _unknown(wire: Mapping[str, Any], known: Set[str]) -> Any:
    """Return what stands for all that no dialect knows, whatever the order that it is in."""
    return anonymous({key: wire[key] for key in sorted(wire, key=str) if key not in known and wire[key] is not None})


def _kept(wire: Mapping[str, Any], key: str, value: Any, named: bool, depth: int) -> Any:
    """Return what is left of the value of a known key."""
    if isinstance(value, str):
        return _kept_text(wire, key, value, named)
    if key in FLAGS and isinstance(value, bool):
        return value
    if key == CACHE_MARK:
        return _defined(key, value)
    if key in HOLDERS and isinstance(value, Mapping):
        return dropped_part(value, named=key in CALLED, depth=depth + 1)
    return _said(wire, key, value, depth) if key in SAID else _value(key, value)


def _kept_text(wire: Mapping[str, Any], key: str, text: str, named: bool) -> str:
    is_link = key in LINKS or key in MEDIA_TYPES or (key == "name" and named)
    if text in STATES.get(key, ()) or (is_link and _IDENTIFIER.fullmatch(text)):
        return text
    if key in BYTES and key == SEALED.get(type_of(wire), "encrypted_content" if type_of(wire) == "reasoning" else ""):
        return "a" * len(text)  # what only the provider reads is counted by its length
    return anonymous_json(text) if key == "arguments" else str(anonymous(text))


def _said(wire: Mapping[str, Any], key: str, value: Any, depth: int) -> Any:
    if key == "parts" and isinstance(value, list):
        return [dropped_part(item, UNTYPED, depth=depth + 1) for item in value]
    is_reply = key == "output" and "type" not in wire
    return _listed(value, is_reply or key == "tool_calls", depth + 1)


def _listed(value: Any, of_items: bool, depth: int) -> Any:
    """Return what is left of a text or of a list: of items or calls, whatever their types, or of parts of content."""
    if isinstance(value, list):
        return [dropped_part(item, depth=depth) if of_items else _content(item, depth) for item in value]
    return _content(value, depth)


def _content(part: Any, depth: int) -> Any:
    """Return a part of content. One of an unknown type is an object like any other, as results hold them."""
    kind = type_of(part)
    is_part = kind in PART_TYPES or kind.endswith(PART_ENDS) or (isinstance(part, Mapping) and part.keys() <= BARE_TEXT)
    return dropped_part(part, depth=depth) if is_part else _value("", part)


def _value(key: str, value: Any) -> Any:
    """Return what stands for an argument or a result. Under a key that is read as its text, the key stays.

    An `input` is counted value by value, all others as they are written.
    """
    if isinstance(value, Mapping) and len(value) == 1:
        for name in RESULT_KEYS:
            if isinstance(value.get(name), str):
                return {name: anonymous(value[name])}
    return anonymous(value) if key == "input" else fitted(anonymous(value), text_of(value))


def _defined(key: str, value: Any) -> Any:
    """Return a definition or a setting without its texts."""
    if isinstance(value, str):
        return value if key in DEFINED and _IDENTIFIER.fullmatch(value) else anonymous(value)
    if key in EXAMPLES:
        return anonymous(value)
    if isinstance(value, Mapping):
        free = key in PROPERTIES
        return {name: _defined("" if free else str(name), item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_defined(key if isinstance(item, str) else "", item) for item in value]
    return value
