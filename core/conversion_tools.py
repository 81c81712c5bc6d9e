"""Tool definitions in another dialect: name, description and JSON Schema, which is what all dialects have."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .dialects import ToolDefinition
from .dialects.content import CACHE_MARK

_WRAPS = ("function", "custom")
_SCHEMAS = ("parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema")
_PLAIN = frozenset({"type", "name", "description", CACHE_MARK, *_WRAPS, *_SCHEMAS})


class Tool(NamedTuple):
    """A tool as every dialect has it."""

    name: str
    description: str
    schema: Any


def plain_tool(tool: ToolDefinition) -> Tool:
    """Return what every dialect has of a tool."""
    body = _body(tool)
    return Tool(tool.name, str(body.get("description") or ""), next((body[key] for key in _SCHEMAS if key in body), {}))


def is_plain(tool: ToolDefinition) -> bool:
    """Return whether a tool is a function: none of the provider's own, and none that takes a free text."""
    whole, body = _parsed(tool), _body(tool)
    if any(key in body for key in _SCHEMAS) or isinstance(whole.get("function"), dict):
        return True
    return whole.get("type") == "function" or ("type" not in whole and "name" in whole)


def other_settings(tool: ToolDefinition) -> Iterator[str]:
    """Yield the settings of a function that other dialects lack, such as `strict`; those that say nothing are none."""
    whole = {**_parsed(tool), **_body(tool)}
    yield from (key for key, value in whole.items() if key not in _PLAIN and value not in (None, False))


def written_tools(target: str, tools: Sequence[Tool]) -> list[Any]:
    """Return tools as a dialect has them in `tools`."""
    plain = [{"name": tool.name, "description": tool.description, "parameters": tool.schema} for tool in tools]
    if target == "openai_chat":
        return [{"type": "function", "function": tool} for tool in plain]
    if target == "openai_responses":
        return [{"type": "function", **tool} for tool in plain]
    if target == "gemini":
        return [{"functionDeclarations": plain}]
    return [{"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in tools]


def _parsed(tool: ToolDefinition) -> dict[str, Any]:
    return dict(json.loads(tool.text)) if tool.text.startswith("{") else {}


def _body(tool: ToolDefinition) -> dict[str, Any]:
    whole = _parsed(tool)
    return next((whole[key] for key in _WRAPS if isinstance(whole.get(key), dict)), whole)
