"""Messages as single frameworks record them, which fit no convention.

Monocle writes the speaker as the only key (`{"human": "..."}`), Koog the calls of a reply as the JSON of its text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..wire import Wire, text_of
from .chat_wire import assistant, call, decoded, result
from .fields import inner, text

_SPOKEN = re.compile(r"^(?:system|user|assistant): ", re.MULTILINE)
ROLES = frozenset(["system", "developer", "user", "assistant", "tool", "function", "model"])
_PARTS = {
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "inline_data": "inlineData",
    "file_data": "fileData",
    "executable_code": "executableCode",
    "code_execution_result": "codeExecutionResult",
    "thought_signature": "thoughtSignature",
}
SPEAKERS = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
}


def speaker_of(value: Any) -> str:
    """Return the name of the speaker where a message is `{"human": "..."}`; empty if it is not."""
    if isinstance(value, Mapping) and len(value) == 1:
        key = next(iter(value))
        return key if isinstance(key, str) and key in SPEAKERS else ""
    return ""


def of_speaker(speaker: str, said: Any) -> Wire:
    """Return what a speaker said as a message; calls and results are told by what they look like."""
    role = SPEAKERS[speaker]
    value = decoded(said)
    listed_calls = value if isinstance(value, list) else [value]
    if role == "assistant" and listed_calls and all(_is_call(one) for one in listed_calls):
        return assistant(None, [call(one["name"], one.get("args"), one.get("id")) for one in listed_calls])
    if role == "tool":
        return result(said)
    return {"role": role, "content": text_of(said)}


def _is_call(one: Any) -> bool:
    return isinstance(one, Mapping) and isinstance(one.get("name"), str) and "args" in one


def spoken_text(value: str) -> list[Wire]:
    """Return a text as messages: OpenLIT writes `role: ` before each; any other text is the user's."""
    if not value:
        return []
    starts = [match.start() for match in _SPOKEN.finditer(value)]
    if not starts or starts[0]:
        return [{"role": "user", "content": value}]
    parts = [value[start:end] for start, end in zip(starts, [*starts[1:], len(value)], strict=True)]
    split = [part.partition(": ") for part in parts]
    return [{"role": role, "content": said.removesuffix("\n")} for role, _, said in split]


def calls_of_list(value: Any) -> list[Wire]:
    """Return calls that were recorded without a message around them, as the Vercel AI SDK does."""
    if not isinstance(value, list) or not value:
        return []
    if not all(isinstance(one, Mapping) and "toolCallId" in one and "toolName" in one for one in value):
        return []
    return [call(one["toolName"], one.get("input", one.get("args")), one["toolCallId"]) for one in value]


def plain_message(value: Wire) -> Wire:
    """Return a message of a role and a content without what an event log adds (`event.name`), results by their call.

    A tool's message may have the tool's name as its role, and the id of its call as its own.
    """
    plain = {key: told for key, told in value.items() if not (isinstance(key, str) and "." in key)}
    role = text(plain, "role")
    if role not in ROLES:
        return result(plain.get("content"), plain.get("tool_call_id"), role)
    if role == "tool" and "tool_call_id" not in plain and text(plain, "id"):
        return result(plain.get("content"), plain["id"], plain.get("name"))
    return value if plain.keys() == value.keys() else plain


def gemini_content(value: Wire) -> Wire:
    """Return a content whose parts have the names that the service takes; Google's library for Python has others."""
    parts = [_gemini_part(part) for part in value["parts"]] if isinstance(value.get("parts"), list) else []
    return {**value, "parts": parts} if "parts" in value else value


def _gemini_part(part: Any) -> Any:
    if not isinstance(part, Mapping):
        return part
    return {
        _PARTS.get(key, key) if isinstance(key, str) else key: told for key, told in part.items() if told is not None
    }


def calls_in_text(value: Wire) -> list[Wire]:
    """Return the calls that a message's text is the JSON of, as one agent framework records them."""
    content = value.get("content")
    if not isinstance(content, str) or not content.startswith('[{"') or value.get("tool_calls"):
        return []
    found = decoded(content)
    if not isinstance(found, list) or not all(inner(one, "function").get("name") for one in found):
        return []
    calls = [(inner(one, "function"), one.get("id")) for one in found]
    return [call(function["name"], function.get("arguments"), call_id) for function, call_id in calls]
