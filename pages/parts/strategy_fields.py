"""The fields of a strategy's form, read from its configuration model: one definition for files, checks and forms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.config import strategy_models
from core.errors import ConfigError
from core.json_faults import json_fault
from core.strategy_config import KEEP_UNITS

KEEP = tuple(f"keep_{unit}" for unit in KEEP_UNITS)


@dataclass(frozen=True, slots=True)
class Field:
    """One setting; bounds are None where open.

    Its kind is "integer", "number", "boolean", "choice", "text", "list" (of texts), "json" (objects), or "any" for
    one that may be a word or an object.
    """

    name: str
    kind: str
    default: Any
    help: str = ""
    optional: bool = False
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()


def fields_of(kind: str) -> list[Field]:
    """Return the settings of a strategy, without its kind and the four that say how much is kept."""
    schema = strategy_models()[kind].model_json_schema()
    return [_field(name, spec) for name, spec in schema["properties"].items() if name != "kind" and name not in KEEP]


def keeps(kind: str) -> bool:
    """Return whether a strategy has the settings that say how much is kept."""
    return KEEP[0] in strategy_models()[kind].model_fields


def describe(kind: str) -> str:
    """Return what a strategy does, in a sentence or two."""
    return (strategy_models()[kind].__doc__ or "").strip()


def kept(strategy: Mapping[str, Any]) -> tuple[str, int | None]:
    """Return the unit and number of what a strategy keeps; turns and None where it goes by its default."""
    for unit in KEEP_UNITS:
        if strategy.get(f"keep_{unit}") is not None:
            return unit, strategy[f"keep_{unit}"]
    return KEEP_UNITS[0], None


def strategy_said(kind: str, values: Mapping[str, Any], unit: str, number: int | None) -> dict[str, Any]:
    """Return a strategy's section from the values of its form, without what is the default anyway."""
    said: dict[str, Any] = {"kind": kind}
    if keeps(kind) and number is not None:
        said[f"keep_{unit}"] = number
    for field in fields_of(kind):
        if field.name in values and values[field.name] != field.default:
            said[field.name] = values[field.name]
    return said


def from_form(field: Field, value: Any) -> Any:
    """Return a setting from what its widget holds. ConfigError if that is not readable."""
    if field.kind == "list":
        return [item for item in (part.strip() for part in str(value).split(",")) if item]
    if field.kind == "json" or (field.kind == "any" and str(value).lstrip().startswith("{")):
        return json_value(field.name, value, field.default)
    return value


def to_form(field: Field, value: Any) -> Any:
    """Return what a setting's widget shows: a list as one line, objects as JSON."""
    if field.kind == "list":
        return ", ".join(value or ())
    if field.kind == "json" or (field.kind == "any" and not isinstance(value, str)):
        return json_text(value)
    return value


def json_value(name: str, text: str, empty: Any = None) -> Any:
    """Return the JSON value of a text; `empty` for an empty one. ConfigError if it is no list and no object."""
    if not text.strip():
        return [] if empty is None else empty
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(name, f"this is not JSON: {json_fault(error)}.", "Correct it, or leave it empty.") from None
    if not isinstance(value, list | dict):
        raise ConfigError(name, "this is no list and no object.", "Correct it, or leave it empty.")
    return value


def json_text(value: Any) -> str:
    """Return a list or an object as it stands in a form; empty for an empty one."""
    return json.dumps(value, ensure_ascii=False, indent=1) if value else ""


def _field(name: str, spec: Mapping[str, Any]) -> Field:
    options = spec.get("anyOf", [spec])
    optional = any(option.get("type") == "null" for option in options)
    several = [option for option in options if option.get("type") != "null"]
    said = several[0]
    kind = "any" if len(several) > 1 else "choice" if "enum" in said else _kind(said)
    return Field(
        name=name,
        kind=kind,
        default=spec.get("default"),
        help=str(spec.get("description") or said.get("description") or ""),
        optional=optional,
        least=said.get("minimum", said.get("exclusiveMinimum")),
        most=said.get("maximum"),
        choices=tuple(said.get("enum", ())) if kind == "choice" else (),
    )


def _kind(said: Mapping[str, Any]) -> str:
    if said.get("type") == "array":
        return "list" if said.get("items", {}).get("type") == "string" else "json"
    return {"string": "text", "object": "json"}.get(said.get("type", ""), str(said.get("type", "json")))
