"""Hints of a converted transcript: the spans and calls that they name, by the names that these have there.

Messages are split, joined and numbered anew, and calls may have other ids: under its old name a pin would hold another
span. A name that means nothing in the recorded request stays, so that this is told of it as before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from .branch import Branch
from .conversion_heads import Heads
from .conversion_losses import Losses
from .conversion_runs import MessageTree
from .conversion_writers import Origin
from .dialects import Message
from .sections import sections
from .transcript import Call, Transcript

_SPAN_ID = re.compile(r"m([0-9]{1,12})\.([0-9]{1,12})")
_NAMING = ("pins", "retrieval")


class Went(NamedTuple):
    """Where a message went: how many messages stand before each that has something of it, or the system part."""

    depths: tuple[int, ...]
    moved: int | None = None


class HintNames:
    """Translates hints of the calls of one transcript."""

    def __init__(self, read: Sequence[Message], went: Sequence[Went], tree: MessageTree, heads: Heads) -> None:
        self._read, self._went, self._tree, self._heads = read, went, tree, heads
        self._called: dict[str, list[Origin]] = {}
        for node, message in enumerate(read):
            for place, part in enumerate(message.parts):
                self._called.setdefault(part.call_id, []).append((node, place))
        self._origins: dict[int, dict[Origin, list[tuple[int, str]]]] = {}

    def calls(self, before: Transcript, after: Transcript, losses: Losses) -> tuple[Call, ...]:
        """Return the calls of a converted transcript with their hints."""
        old, new, made = Branch(before), Branch(after), []
        for given, call in zip(before.calls, after.calls, strict=True):
            old.to(given.history)
            new.to(call.history)
            hints = {} if call.hints is None else self._hints(call.hints, old, new, call.head, losses)
            made.append(replace(call, hints={**(call.hints or {}), **hints}) if hints else call)
        return tuple(made)

    def _hints(
        self, hints: Mapping[str, Any], old: Branch, new: Branch, head: int, losses: Losses
    ) -> dict[str, list[str]]:
        found = {}
        for key in _NAMING:
            given = hints.get(key)
            if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
                continue
            names = [name for one in given for name in self._names(one, old, new, head, losses)]
            found[key] = list(dict.fromkeys(names))
        return found

    def _names(self, name: str, old: Branch, new: Branch, head: int, losses: Losses) -> Iterator[str]:
        """Yield what a name is called in the converted request; a span that is left out is called nothing."""
        as_span = _SPAN_ID.fullmatch(name)
        spans = self._span(int(as_span[1]), int(as_span[2]), old) if as_span else []
        called = [origin for origin in self._called.get(name, ()) if name and old.has(origin[0])]
        if not (spans or called):
            if as_span is None or int(as_span[1]) >= len(new.path):
                yield name
            return
        made = [span for origin in spans for span, _ in self._now(origin, new, head)]
        made += [call_id or span for origin in called for span, call_id in self._now(origin, new, head)]
        if not made:
            losses.hinted.add(name)
        yield from made

    def _span(self, message: int, place: int, old: Branch) -> list[Origin]:
        if message >= len(old.path):
            return []
        node = old.path[message]
        return [(node, place)] if place < max(1, len(self._read[node].parts)) else []

    def _now(self, origin: Origin, new: Branch, head: int) -> Iterator[tuple[str, str]]:
        """Yield the spans that a part has become, each with the id of its call; a text may be several sections."""
        depths, moved = self._went[origin[0]]
        if moved is not None:
            text = self._heads.text(moved)
            at = self._heads.place_of(head, text)
            yield from ((f"s{at}.{section}", "") for section in range(len(sections(text))))
        for depth in depths:
            if depth < len(new.path):
                for part, call_id in self._of(new.path[depth]).get(origin, ()):
                    yield f"m{depth}.{part}", call_id

    def _of(self, node: int) -> dict[Origin, list[tuple[int, str]]]:
        """Return the parts of a converted message by what they were, with the ids of their calls."""
        if node not in self._origins:
            found = self._origins[node] = {}
            for place, part in enumerate(self._tree.parts(node)):
                for origin in part.origins:
                    found.setdefault(origin, []).append((place, part.call_id))
        return self._origins[node]
