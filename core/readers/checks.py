"""Messages that no provider would take as they are, kept and named: a recording with them is still worth looking at.

They have an unknown role, no content, NaN, a result without a call or an id used twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from math import isfinite
from typing import Any

from ..dialects import Dialect, Message, PartKind
from ..wire import Wire

MOST_NAMED = 2
_JSON_NAMES = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


class MessageChecks:
    """Looks at the messages of one conversation in their order."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._called: set[str] = set()
        self._named_twice: set[str] = set()

    def seen(self, wire: Wire) -> None:
        """Take in a message that was looked at before, or is not to be reported."""
        self._called.update(call.call_id for call in self.dialect.message(wire).calls)

    def problems(self, wire: Wire) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the next message, and what was expected."""
        message = self.dialect.message(wire)
        if message.role == "other":
            yield f"the role {_short(wire.get('role'))} is not known", "The message was kept as it is."
        elif _is_empty(message, wire):
            yield "the message has no content", "A text or a list of parts was expected; it was kept as it is."
        yield from _not_json(wire)
        yield from self._calls(message)
        yield from self._results(message)

    def _calls(self, message: Message) -> Iterator[tuple[str, str]]:
        for call in message.calls:
            if call.call_id in self._called and call.call_id not in self._named_twice and call.call_id:
                self._named_twice.add(call.call_id)
                yield f"the tool call id {_short(call.call_id)} is used again", "Each call needs an id of its own."
            self._called.add(call.call_id)

    def _results(self, message: Message) -> Iterator[tuple[str, str]]:
        for result in message.results:
            if result.call_id and result.call_id not in self._called:
                text = f"the tool result answers {_short(result.call_id)}, and no call before it has this id"
                yield text, "It was kept as it is."
            elif not result.call_id and any(self._called):
                yield "the tool result names no call", "It was kept as it is."


def _not_json(wire: Wire) -> Iterator[tuple[str, str]]:
    """Yield which values of a message are no JSON: Python writes and reads NaN and Infinity, and providers refuse them.

    A number beyond the machine's is read as Infinity too.
    """
    found = list(islice(_endless(wire, ""), MOST_NAMED + 1))
    if not found:
        return
    named = " and ".join(f"{path} is {_JSON_NAMES.get(repr(value), repr(value))}" for path, value in found[:MOST_NAMED])
    more = ", and there are more such values" if len(found) > MOST_NAMED else ""
    yield (
        f"{named}, which JSON does not have{more}",
        "It was kept as it is, but no provider takes it: a number, a text or null belongs there.",
    )


def _endless(value: Any, path: str) -> Iterator[tuple[str, float]]:
    """Yield the numbers in a JSON value that are not finite, each with its path."""
    if isinstance(value, float):
        if not isfinite(value):
            yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(inner, str):
                yield from _endless(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _endless(inner, f"{path}[{place}]")


def _is_empty(message: Message, wire: Wire) -> bool:
    """Only null counts: an empty text or list is what some providers write beside calls and what tools return."""
    if any(wire.get(key) is not None for key in ("content", "output", "parts", "tools")) or wire.get("refusal"):
        return False
    return not any(part.kind is not PartKind.TOOL_RESULT for part in message.parts)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
