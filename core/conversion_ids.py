"""Ids of calls in a dialect that asks more of them: each call has one, no other call of its branch has the same.

Gemini's calls mostly have none and older ones go by the function's name, so results are told by their order. Some
recorders number calls anew in every step. An id that the other dialect takes stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from .dialects import Message, Part, PartKind
from .transcript import ROOT

_ALLOWED = {"anthropic": re.compile(r"[A-Za-z0-9_-]+"), "openai_responses": re.compile(r".{1,64}", re.DOTALL)}
_ANY = re.compile(r".+", re.DOTALL)


class _Renamed(NamedTuple):
    """A call that waits for its result under another id."""

    old: str
    name: str
    new: str


class CallIds:
    """Renames calls and results of a tree of messages, taken in an order in which parents come first."""

    def __init__(self, messages: Sequence[Message], parents: Sequence[int], depths: Sequence[int], target: str) -> None:
        self._parents, self._depths = parents, depths
        self._starts, self._sizes = _tree(parents)
        self._known = {call.call_id for message in messages for call in message.calls}
        self._allowed = _ALLOWED.get(target, _ANY)
        self._named = target != "gemini"
        self._used: dict[str, list[int]] = {}
        self._waiting: dict[int, tuple[_Renamed, ...]] = {}

    def message(self, node: int, message: Message) -> Message:
        """Return a message of the tree with ids that the other dialect takes."""
        waiting = self._waiting.get(self._parents[node], ())
        if not self._named or not (waiting or message.calls):
            return message
        if message.calls:
            waiting = tuple(call for call in waiting if call.old)  # results without an id follow their call at once
        parts: list[Part] = []
        for part in message.parts:
            made, waiting = self._part(node, len(parts), part, waiting)
            parts.append(made)
        if waiting:
            self._waiting[node] = waiting
        return replace(message, parts=tuple(parts))

    def _part(self, node: int, at: int, part: Part, waiting: tuple[_Renamed, ...]) -> tuple[Part, tuple[_Renamed, ...]]:
        if part.kind is PartKind.TOOL_CALL:
            new = self._id(node, at, part.call_id)
            renamed = (_Renamed(part.call_id, part.name, new),) if new != part.call_id else ()
            return replace(part, call_id=new), (*waiting, *renamed)
        same = [call for call in waiting if call.old == part.call_id] if part.kind is PartKind.TOOL_RESULT else []
        if not same:
            return part, waiting
        found = next((call for call in same if part.name in ("", call.name)), same[0])
        named = replace(part, call_id=found.new, name=part.name or found.name)
        return named, tuple(call for call in waiting if call is not found)

    def _id(self, node: int, at: int, given: str) -> str:
        used = self._used.setdefault(given, [])
        allowed = self._allowed.fullmatch(given) and not any(self._is_above(at, node) for at in reversed(used))
        used.append(node)
        if allowed:
            return given
        made = f"call_{self._depths[node]}_{at}"
        while made in self._known:
            made += "_"
        return made

    def _is_above(self, earlier: int, node: int) -> bool:
        start = self._starts[earlier]
        return start <= self._starts[node] < start + self._sizes[earlier]


def _tree(parents: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return where the branch below each node begins when branches are laid side by side, and how long it is."""
    sizes = [1] * len(parents)
    for node in range(len(parents) - 1, -1, -1):
        if parents[node] != ROOT:
            sizes[parents[node]] += sizes[node]
    free = dict.fromkeys(range(ROOT, len(parents)), 0)
    starts = []
    for node, parent in enumerate(parents):
        starts.append(free[parent])
        free[parent] += sizes[node]
        free[node] = starts[node] + 1
    return starts, sizes
