"""Tool definitions as a dialect takes them, from the ways in which platforms record them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..wire import Wire
from .chat_wire import decoded
from .fields import inner, listed, text

SCHEMAS = ("parameters", "input_schema", "inputSchema", "parameters_json_schema", "args_schema", "schema")


def tools_of(value: Any, spoken: str) -> list[Wire]:
    """Return tool definitions in the form that a dialect takes; those that it takes as they are stay so."""
    return [made for one in _flat(decoded(value)) if (made := _tool(decoded(one), spoken)) is not None]


def _flat(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return [value]
    return value if isinstance(value, list) else []


def _tool(one: Any, spoken: str) -> Wire | None:
    if not isinstance(one, Mapping):
        return None
    if spoken == "gemini":
        return one
    if listed(one, "functionDeclarations"):
        return None
    function = inner(one, "function")
    named = function or one
    if not text(named, "name"):
        return one
    if spoken == "anthropic":
        return one if "input_schema" in one or not _is_function(one) else _anthropic(named)
    if spoken == "openai_responses":
        return one if not function else {"type": "function", **function}
    return one if function else {"type": "function", "function": _plain(named)}


def _is_function(one: Wire) -> bool:
    return one.get("type") in (None, "function", "custom")


def _anthropic(named: Wire) -> Wire:
    plain = _plain(named)
    return {key: plain[key] for key in ("name", "description") if key in plain} | {
        "input_schema": plain.get("parameters", {"type": "object"})
    }


def _plain(named: Wire) -> dict[str, Any]:
    """Return name, description and parameters, and what else a function definition holds."""
    schema = next((decoded(named[key]) for key in SCHEMAS if named.get(key) is not None), None)
    schema = inner(schema, "jsonSchema") or schema
    kept = {key: named[key] for key in ("name", "description", "strict") if named.get(key) is not None}
    return kept if schema is None else {**kept, "parameters": schema}
