"""What is wrong with the type of a setting, in the words of JSON, where pydantic speaks of tuples and instances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EXPECTED: Mapping[str, str] = {
    "tuple_type": "a list",
    "list_type": "a list",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dict_type": "an object",
    "string_type": "a text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
}
"""What is expected, by pydantic's name of the fault."""
LONGEST = 40


def type_fault(fault: str, given: Any) -> tuple[str, str] | None:
    """Return problem and suggestion for a value of a wrong type; None for a fault of another kind."""
    expected = EXPECTED.get(fault)
    if expected is None:
        return None
    lone = expected == "a list" and isinstance(given, Mapping | str | int | float) and not isinstance(given, bool)
    return f"{expected} is expected, and this is {_said(given)}.", "Put it in square brackets." if lone else ""


def _said(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the text {value!r}" if len(value) <= LONGEST else f"the text {value[:LONGEST]!r} …"
    if isinstance(value, int | float):
        return f"the number {value}"
    return "an object" if isinstance(value, Mapping) else "a list" if isinstance(value, list | tuple) else "no JSON"
