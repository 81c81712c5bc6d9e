"""The names that belong to the tools and not to the task: an agent writes them in each call, whatever it read.

Where the schema was not recorded they are learnt from the calls, and from the tags of text-style tool calls. Only
tags in lower case: `</TodoList>` is a component of somebody's code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from .dialects.base import Message, PartKind, ToolDefinition

_TAG = re.compile(r"</([a-z][a-z0-9_:-]{1,60})>|<(?:function|parameter|invoke)(?:=| name=\")([A-Za-z][\w.-]{0,60})")


def tool_names(tools: Iterable[ToolDefinition], messages: Iterable[Message]) -> frozenset[str]:
    """Return the names of tools, of their parameters, and of the tags that a model calls them by."""
    return frozenset(_names(tools, messages))


def _names(tools: Iterable[ToolDefinition], messages: Iterable[Message]) -> Iterator[str]:
    for tool in tools:
        yield tool.name
        yield from _parameters(tool.text)
    for message in messages:
        for part in message.parts:
            if part.kind is PartKind.TOOL_CALL:
                yield part.name
                yield from _keys(part.text)
            elif part.kind is PartKind.TEXT and message.role in ("assistant", "system") and "<" in part.text:
                yield from (name for found in _TAG.findall(part.text) for name in found if name)


def _parameters(definition: str) -> Iterator[str]:
    """Yield the keys of all `properties` in a schema."""
    stack = [_parsed(definition)]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            properties = value.get("properties")
            if isinstance(properties, dict):
                yield from map(str, properties)
            stack += value.values()
        elif isinstance(value, list):
            stack += value


def _keys(arguments: str) -> Iterator[str]:
    parsed = _parsed(arguments)
    if isinstance(parsed, dict):
        yield from map(str, parsed)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
