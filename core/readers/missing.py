"""What of a prompt a request only names, because the provider keeps it: such a prompt is known to be incomplete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..wire import Wire
from .shapes import CACHED_KEYS

__all__ = ["COMPLETED", "NOTES", "missing_of", "whole_until"]

EARLIER = "earlier items of the conversation are kept by the provider and not recorded"
TEMPLATE = "the stored prompt that is named is kept by the provider and not recorded"
ITEMS = "items that are named by their ids are kept by the provider and not recorded"
CACHED = "the cached content that the prompt begins with is kept by the provider and not recorded"
COMPLETED = "what the provider kept of the conversation was put before what the requests sent"
NOTES = (EARLIER, TEMPLATE, ITEMS, CACHED, COMPLETED)
"""All that is said of what the provider keeps."""


def missing_of(head: Wire, wires: Sequence[Any]) -> tuple[str, ...]:
    """Return in sentences what is not in a request, given as its head and its conversation; nothing if all is."""
    named = tuple(_of_head(head))
    return (*named, ITEMS) if _first_reference(head, wires) < len(wires) else named


def whole_until(head: Wire, wires: Sequence[Any]) -> int:
    """Return how many of the messages a prompt may hold and lack nothing; -1 if it lacks something all the same."""
    return -1 if any(_of_head(head)) else _first_reference(head, wires)


def _of_head(head: Wire) -> Iterator[str]:
    if "input" in head:
        if head.get("previous_response_id") or head.get("conversation"):
            yield EARLIER
        if head.get("prompt"):
            yield TEMPLATE
    elif "contents" in head and any(map(head.get, CACHED_KEYS)):
        yield CACHED


def _first_reference(head: Wire, wires: Sequence[Any]) -> int:
    """Return the place of the first item that stands for one that the provider keeps; their number if there is none."""
    if "input" not in head:
        return len(wires)
    return next((place for place, wire in enumerate(wires) if _is_reference(wire)), len(wires))


def _is_reference(item: Any) -> bool:
    return isinstance(item, Mapping) and item.get("type") == "item_reference"
