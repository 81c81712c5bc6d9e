"""What the provider keeps between requests of OpenAI Responses, where the log shows it.

A request with `previous_response_id` sends only what is new. If the request and the response before it are in the
same log, its whole input is known: theirs, then its own. It is written out, so that the run can be replayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..wire import Wire
from .items import Item

MOST_RESPONSES = 10_000
"""Responses remembered; older ones are forgotten, and requests that name them stay as they were sent."""


class _Known(NamedTuple):
    """A response with its request: the response before it, the items that were sent, and those that came back."""

    before: str
    sent: list[Any]
    answered: list[Any]


class ServerState:
    """The responses of one log."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def completed(self, item: Item) -> Item:
        """Return an item with its whole input, if what stands before it is known; remember its response."""
        if item.dialect != "openai_responses" or item.body is None:
            return item
        before, sent = response_before(item.body), sent_items(item.body)
        self._remember(item, before, sent)
        earlier = self._earlier(before) if before else None
        if earlier is None:
            return item
        first = item.numbers[0] if item.numbers else 1
        numbers = [first] * len(earlier) + list(item.numbers)
        return replace(item, body=with_earlier(item.body, earlier), numbers=numbers, is_completed=True)

    def _remember(self, item: Item, before: str, sent: list[Any]) -> None:
        if item.facts is not None and item.facts.id and item.facts.id != before:
            self._known[item.facts.id] = _Known(before, sent, answered_items(item.facts.message))
            if len(self._known) > MOST_RESPONSES:
                del self._known[next(iter(self._known))]

    def _earlier(self, name: str) -> list[Any] | None:
        """Return all items up to a response; None if one of the requests is not known."""
        found: list[_Known] = []
        while name:
            if name not in self._known or len(found) > len(self._known):
                return None
            found.append(self._known[name])
            name = self._known[name].before
        return [item for known in reversed(found) for item in (*known.sent, *known.answered)]


def response_before(body: Wire) -> str:
    """Return the name of the response that a request goes on from; empty if it names none."""
    name = body.get("previous_response_id") if "input" in body else None
    return name if isinstance(name, str) else ""


def sent_items(body: Wire) -> list[Any]:
    """Return the items of a request's input."""
    given = body.get("input")
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return list(given) if isinstance(given, list) else []


def answered_items(message: Wire | None) -> list[Any]:
    """Return the items of a reply, as the next request would send them."""
    if message is None:
        return []
    whole = message.get("output") if "type" not in message else None
    return list(whole) if isinstance(whole, list) else [message]


def with_earlier(body: Wire, earlier: Sequence[Any]) -> dict[str, Any]:
    """Return a request body that sends the items before its own, instead of naming the response that they led to."""
    plain = {key: value for key, value in body.items() if key != "previous_response_id"}
    return {**plain, "input": [*earlier, *sent_items(body)]}
