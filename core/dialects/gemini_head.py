"""The fixed part of a Gemini request: its system instruction and its tools, in all shapes that are sent.

A part or a key that is not understood stays where it is: only texts are edited, and only declarations are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from ..wire import Wire

SYSTEM_KEYS = ("systemInstruction", "system_instruction")
FUNCTION_KEYS = ("functionDeclarations", "function_declarations")
CONFIG_KEYS = ("toolConfig", "tool_config")
CALLING_KEYS = ("functionCallingConfig", "function_calling_config")


def system_texts(head: Wire) -> list[str]:
    """Return the texts of the system instruction."""
    return [text for part in system_parts(head) if (text := part_text(part))]


def with_system_text(head: Wire, text: str) -> Wire:
    """Return the head with one more part at the end of the system instruction."""
    key, system = _system(head)
    kept = system if isinstance(system, Mapping) else {}
    return {**head, key: {**kept, "parts": [*system_parts(head), {"text": text}]}}


def with_system_texts(head: Wire, texts: Sequence[str]) -> Wire:
    """Return the head with other system texts, one for each that it has; an empty one goes with its part."""
    key, system = _system(head)
    new = iter(texts)
    edited = [(part, next(new) if part_text(part) else None) for part in system_parts(head)]
    kept = [part if text is None else _with_text(part, text) for part, text in edited if text != ""]
    if not kept:
        return {name: value for name, value in head.items() if name != key}
    return {**head, key: {**(system if isinstance(system, Mapping) else {}), "parts": kept}}


def declarations(head: Wire) -> Iterator[tuple[str, Any]]:
    """Yield name and definition of every declared function and of every other tool; one object may hold both."""
    for tool in _tools(head):
        for key, value in tool.items() if isinstance(tool, Mapping) else ():
            if key in FUNCTION_KEYS and isinstance(value, list):
                yield from ((str(f.get("name") if isinstance(f, Mapping) else ""), f) for f in value)
            else:
                yield key, value


def with_declarations(head: Wire, places: Collection[int]) -> Wire:
    """Return the head with only the declarations at these places; settings that need tools go with the last one."""
    place = count()
    tools = [made for tool in _tools(head) if (made := _with_places(tool, places, place)) is not None]
    if not tools:
        return {name: value for name, value in head.items() if name not in ("tools", *CONFIG_KEYS)}
    sent = {**head, "tools": tools}
    return sent if any(map(_has_functions, tools)) else _without_calling(sent)


def system_parts(head: Wire) -> list[Any]:
    """Return the parts of the system instruction, whatever its shape: nothing that was sent may be lost."""
    _, system = _system(head)
    if isinstance(system, str):
        return [{"text": system}] if system else []
    parts = system.get("parts") if isinstance(system, Mapping) else system
    if parts is None:
        return []
    return parts if isinstance(parts, list) else [parts]


def _system(head: Wire) -> tuple[str, Any]:
    for key in SYSTEM_KEYS:
        if head.get(key) is not None:
            return key, head[key]
    return SYSTEM_KEYS[0], None


def part_text(part: Any) -> str:
    """Return the text of a part of the system instruction; empty for any other part."""
    text = part.get("text") if isinstance(part, Mapping) else part
    return text if isinstance(text, str) else ""


def _with_text(part: Any, text: str) -> Any:
    return {**part, "text": text} if isinstance(part, Mapping) else text


def _tools(head: Wire) -> list[Any]:
    tools = head.get("tools")
    return tools if isinstance(tools, list) else []


def _has_functions(tool: Any) -> bool:
    return isinstance(tool, Mapping) and any(tool.get(key) for key in FUNCTION_KEYS)


def _with_places(tool: Any, kept: Collection[int], place: Iterator[int]) -> Any:
    """Return a tool with the declarations at the places kept; None if that leaves nothing of it."""
    if not isinstance(tool, Mapping):
        return tool
    made: dict[str, Any] = {}
    for key, value in tool.items():
        if key in FUNCTION_KEYS and isinstance(value, list):
            functions = [function for function in value if next(place) in kept]
            if functions or not value:
                made[key] = functions
        elif next(place) in kept:
            made[key] = value
    return made if made or not tool else None


def _without_calling(head: Wire) -> Wire:
    """Return a head without the settings of function calling, which are refused without a function."""
    sent: dict[str, Any] = {}
    for name, value in head.items():
        if name in CONFIG_KEYS and isinstance(value, Mapping):
            value = {key: setting for key, setting in value.items() if key not in CALLING_KEYS}
            if not value:
                continue
        sent[name] = value
    return sent
