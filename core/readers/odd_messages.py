"""Messages as single frameworks record them, which fit no convention.

Monocle writes the speaker as the only key (`{"human": "..."}`), Koog the calls of a reply as the JSON of its text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..wire import Wire, text_of
from .chat_wire import assistant, call, decoded, result
from .fields import inner

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
