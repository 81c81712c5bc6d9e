"""What a conversion to another dialect loses, counted: parts, settings, marks, and what changes its kind or place.

Each thing is counted once, however many requests repeat it, so that the numbers are those of the transcript.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .cache_marks import marks_in
from .conversion_tools import is_plain, other_settings
from .dialects import Dialect, Part, PartKind, ToolDefinition
from .dialects.content import CACHE_MARK
from .dropped_content import FINGERPRINTS
from .transcript import Transcript
from .wire import Wire
from .wording import agreeing, counted

if TYPE_CHECKING:
    from .replay import Replay

__all__ = ["Losses", "conversion_told"]

_CARRIED_KEYS = frozenset(
    {"model", "messages", "input", "contents", "system", "instructions", "tools", "functions", CACHE_MARK}
    | {"systemInstruction", "system_instruction"}
    | {FINGERPRINTS}  # of what was said: no request has it
)
_PARTS = {
    PartKind.THINKING: ("thinking part", ""),
    PartKind.IMAGE: ("image", ""),
    PartKind.FILE: ("file", ""),
    PartKind.OPAQUE: ("part", "that cannot be read"),
}
_TOLD = {PartKind.TOOL_CALL: "tool call", PartKind.TOOL_RESULT: "tool result"}
_BESIDE = {
    "is_error": "error flag",
    "citations": "list of citations",
    "annotations": "list of annotations",
    "thoughtSignature": "signature",
    "thought_signature": "signature",
}
"""What stands beside the text of a part, by its key."""
MOST_NAMES = 5
"""Names that are listed; of more it says how many."""


class Losses:
    """Counts what is lost, and tells it."""

    def __init__(self) -> None:
        self._parts: Tally[PartKind] = Tally()
        self._beside: Tally[str] = Tally()
        self._head_parts: set[Part] = set()
        self._settings: dict[str, None] = {}
        self._tools: dict[ToolDefinition, None] = {}
        self._marks_of_heads = self._marks = 0
        self._told: Tally[PartKind] = Tally()
        self.moved = 0
        """System messages that go to the system part."""
        self.hinted: set[str] = set()
        """Spans that hints name and that are left out."""

    def head(self, head: Wire, source: Dialect) -> None:
        """Count what the fixed part of a request loses."""
        self._settings |= dict.fromkeys(key for key in head if key not in _CARRIED_KEYS)
        self._head_parts.update(replace(part, place=0) for part in source.head_parts(head))
        self._tools |= dict.fromkeys(replace(tool, place=0) for tool in source.tools(head))
        self._marks_of_heads = max(self._marks_of_heads, sum(1 for _ in marks_in(head)))

    def part(self, part: Part) -> None:
        """Count a part that has no place in the other dialect."""
        self._parts[part.kind] += 1

    def told(self, part: Part) -> None:
        """Count a call or a result that becomes a text."""
        self._told[part.kind] += part.kind is not PartKind.TEXT

    def beside(self, wire: Any) -> None:
        """Count what a message says of its parts, and its marks for the cache."""
        self._marks += sum(1 for _ in marks_in(wire))
        for key in ("content", "parts"):
            held = wire.get(key) if isinstance(wire, Mapping) else None
            for block in held if isinstance(held, list) else ():
                found = _BESIDE.keys() & block.keys() if isinstance(block, Mapping) else ()
                self._beside.update(_BESIDE[name] for name in found if block[name])

    def variants(self, transcript: Transcript) -> None:
        """Count the marks of messages that were sent again with others."""
        for _, wire in (variant for call in transcript.calls for variant in call.variants):
            self._marks += sum(1 for _ in marks_in(wire))

    def phrases(self) -> Iterator[str]:
        """Yield what is lost, one phrase a kind, with its number."""
        for kind, (noun, which) in _PARTS.items():
            if number := self._parts[kind]:
                yield counted(number, noun, which, which)
            if number := sum(part.kind is kind for part in self._head_parts):
                yield f"{counted(number, noun, which, which)} in the system part"
        yield from (_counted_of(number, what) for what, number in sorted(self._beside.items()))
        if marks := self._marks_of_heads + self._marks:
            yield counted(marks, "cache mark")
        if self._settings:
            yield f"the {agreeing(len(self._settings), 'setting', 'settings')} {_named([*self._settings])}"
        yield from self._of_tools()
        yield from self._changed()

    def _of_tools(self) -> Iterator[str]:
        plain = [tool for tool in self._tools if is_plain(tool)]
        settings = Tally(key for tool in plain for key in other_settings(tool))
        yield from (f"the setting {key} of {counted(number, 'tool')}" for key, number in sorted(settings.items()))
        others = list(dict.fromkeys(tool.name for tool in self._tools if tool not in plain))
        if others:
            become = agreeing(len(others), "becomes a function", "become functions")
            which = f"{counted(len(others), 'tool')} ({_named(others)}), which {become} without parameters"
            yield f"the kind of {which}"

    def _changed(self) -> Iterator[str]:
        told = [counted(number, noun) for kind, noun in _TOLD.items() if (number := self._told[kind])]
        if told:
            becomes = agreeing(self._told.total(), "becomes text", "become text")
            yield f"the form of {' and '.join(told)}, which {becomes}"
        if self.moved:
            now = agreeing(self.moved, "stands", "stand")
            messages = counted(self.moved, "later system message")
            yield f"the place of {messages}, which now {now} in the system part"
        if self.hinted:
            yield f"{counted(len(self.hinted), 'hint', 'for a part', 'for parts')} left out here"


def conversion_told(made: Replay) -> str:
    """Return in a sentence what the conversion that a replay needed lost; "" where none was needed."""
    before, after = made.original.dialect, made.transcript.dialect
    if before == after:
        return ""
    if not made.dropped:
        return f"Converted from {before} to {after}; nothing is lost by it."
    return f"Converted from {before} to {after}. Lost by it: {'; '.join(made.dropped)}."


def _counted_of(number: int, what: str) -> str:
    """Return a number of "list of citations", whose plural is in its first noun."""
    noun, of, rest = what.partition(" of ")
    return f"{counted(number, noun)}{of}{rest}"


def _named(names: Sequence[str]) -> str:
    """Return names, the first few of many."""
    shown, more = ", ".join(names[:MOST_NAMES]), len(names) - MOST_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown
