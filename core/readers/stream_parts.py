"""What the joiners of all providers' streams share: texts that grow, and what of a stream the response lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..wire import Wire

__all__ = ["NOT_READ", "Text", "extend", "filled", "grow", "index_of", "not_read", "object_of", "remarks", "settled"]

MOST_INDEX = 10_000
"""Choices, blocks or items of one response: an index above this is damage."""
NOT_READ = "stream_not_read"
"""Where a joined response keeps what of its stream it lacks, as objects whose `type` is that of the event."""
ERROR = "error"
MOST_NAMED, LONGEST_NAME = 5, 60


class Text(list[str]):
    """A text that grows with each delta, in pieces: adding to a string would copy it each time."""


class Listed(list[Any]):
    """A list that grows with each delta: a copy of the one that an event held, made once."""


def grow(owner: dict[str, Any], delta: Wire) -> None:
    """Join texts and lists to what is there; nothing never replaces something."""
    for key, value in delta.items():
        there = owner.get(key)
        if isinstance(value, str) and isinstance(there, Text):
            there.append(value)
        elif isinstance(value, str) and isinstance(there, str):
            owner[key] = Text((there, value))
        elif isinstance(value, list) and isinstance(there, list):
            extend(owner, key, value)
        elif isinstance(value, Mapping) and isinstance(there, Mapping):
            owner[key] = dict(there)
            grow(owner[key], value)
        elif value is not None or key not in owner:
            owner[key] = value


def extend(owner: dict[str, Any], key: str, values: Iterable[Any]) -> None:
    """Put values at the end of an object's list; what stands there and is no list gives way."""
    there = owner.get(key)
    if not isinstance(there, Listed):
        there = owner[key] = Listed(there if isinstance(there, list) else ())
    there.extend(values)


def settled(value: Any) -> Any:
    """Return a value whose grown texts are whole."""
    if isinstance(value, Text):
        return "".join(value)
    if isinstance(value, dict):
        return {key: settled(inner) for key, inner in value.items()}
    return [settled(inner) for inner in value] if isinstance(value, list) else value


def filled(owner: Wire) -> dict[str, Any]:
    """Return an object without its nulls."""
    return {key: value for key, value in owner.items() if value is not None}


def object_of(owner: Wire, key: str) -> Wire:
    """Return an object's object; an empty one where there is none."""
    value = owner.get(key)
    return value if isinstance(value, Mapping) else {}


def index_of(value: Any) -> int:
    """Return an index that an event names; 0 for what can be none."""
    return value if isinstance(value, int) and 0 <= value < MOST_INDEX else 0


def not_read(kinds: Iterable[Any]) -> dict[str, Any]:
    """Return what a joined response says of events that it could not take in; nothing where there are none."""
    named = dict.fromkeys(str(kind)[:LONGEST_NAME] for kind in kinds)
    return {NOT_READ: [{"type": kind} for kind in named]} if named else {}


def with_errors(response: dict[str, Any], events: Iterable[Any]) -> dict[str, Any]:
    """Return a joined response that also says which errors its stream reported."""
    errors = [{"type": ERROR, "name": _name(error)} for event in events if (error := error_of(event)) is not None]
    listed = response.get(NOT_READ)
    before = listed if isinstance(listed, list) else []
    return {**response, NOT_READ: [*before, *errors]} if errors else response


def error_of(event: Any) -> Wire | None:
    """Return the error that an event of a stream, or a response, reports; None if it reports none."""
    if not isinstance(event, Mapping):
        return None
    found = event.get("error") or object_of(event, "response").get("error")
    if isinstance(found, Mapping):
        return found
    return event if event.get("type") == ERROR else None


def remarks(response: Wire) -> Iterator[tuple[str, str]]:
    """Yield in sentences what a joined response lacks of its stream, and what became of it."""
    listed = response.get(NOT_READ)
    found = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    kinds = [str(one.get("type")) for one in found if one.get("type") != ERROR]
    if kinds:
        more = f" and {len(kinds) - MOST_NAMED} more" if len(kinds) > MOST_NAMED else ""
        named = ", ".join(kinds[:MOST_NAMED]) + more
        yield (
            f"the stream has deltas of a kind that is not known here ({named})",
            "The response may lack what they say.",
        )
    for name in dict.fromkeys(str(one.get("name") or "") for one in found if one.get("type") == ERROR):
        told = f" ({name})" if name else ""
        yield f"the stream reported an error{told}", "What had arrived before was read."


def _name(error: Wire) -> str:
    named = (error.get(key) for key in ("code", "type", "status"))
    return next((one for one in named if isinstance(one, str) and one != ERROR), "")[:LONGEST_NAME]
