"""Fields of a record made safe: a log may hold anything anywhere.

Records are parsed JSON, so an object is a `dict`; asking for that is several times faster than asking for a mapping.
"""

from __future__ import annotations

from typing import Any

from ..wire import Wire


def text(owner: Any, *keys: str) -> str:
    """Return the first of some fields that is a text and not empty, else an empty text."""
    if isinstance(owner, dict):
        for key in keys:
            value = owner.get(key)
            if isinstance(value, str) and value:
                return value
    return ""


def inner(owner: Any, *path: str) -> Wire:
    """Return the object at the end of a path of keys; an empty one if there is none."""
    for key in path:
        owner = owner.get(key) if isinstance(owner, dict) else None
    return owner if isinstance(owner, dict) else {}


def listed(owner: Any, key: str) -> list[Any]:
    """Return a field's list; an empty one if it holds none."""
    value = owner.get(key) if isinstance(owner, dict) else None
    return value if isinstance(value, list) else []


def objects(owner: Any, key: str) -> list[Wire]:
    """Return the objects in a field's list."""
    return [value for value in listed(owner, key) if isinstance(value, dict)]


def texts_of(content: Any, key: str = "text") -> str:
    """Return the text of a content: a text, or a list of texts and of parts with a text, joined by line feeds."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    found = [part if isinstance(part, str) else text(part, key) for part in parts]
    return "\n".join(part for part in found if part)
