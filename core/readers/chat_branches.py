"""Chats whose messages form a tree: an edited question or another answer is a branch beside the first one.

The visible branch is what its user sees and what the transcript is. Every other branch is kept beside it in the
transcript's `meta["alternatives"]`, with the number of messages of the visible branch that it goes on from: the
model's provider was asked for them too, but they are no part of the conversation that went on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from ..wording import agreeing, counted
from .event_log import EventLog


class Tree:
    """Nodes by id in the order of the file. A parent that is not among them, or that makes a ring, is none."""

    def __init__(self, parents: Mapping[str, str]) -> None:
        self.parents = parents

    def path(self, leaf: str, until: Iterable[str] = ()) -> list[str]:
        """Return the nodes from a root to a leaf, or from below one of the nodes in `until`."""
        found: list[str] = []
        seen = set(until)
        while leaf in self.parents and leaf not in seen:
            seen.add(leaf)
            found.append(leaf)
            leaf = self.parents[leaf]
        return found[::-1]

    def others(self, visible: Sequence[str]) -> list[tuple[str, list[str]]]:
        """Return the branches that are not visible: the visible node that each goes on from, and its own nodes."""
        inner, shown = set(self.parents.values()), set(visible)
        branches = []
        for leaf in self.parents:
            if leaf not in inner and leaf not in shown:
                own = self.path(leaf, until=shown)
                branches.append((self.parents[own[0]], own))
        return branches


def with_alternatives(
    log: EventLog,
    tree: Tree,
    visible: Sequence[str],
    sizes: Mapping[str, int],
    wires_of: Callable[[Sequence[str]], list[Wire]],
    **names: Any,
) -> Transcript:
    """Return a transcript with its other branches. `sizes` are the messages that stood after each visible node."""
    alternatives: list[dict[str, Any]] = []
    for start, own in tree.others(visible):
        wires = wires_of(own)
        if wires:
            alternatives.append({"after": sizes.get(start, 0), "messages": wires})
    meta = dict(names.pop("meta", {}))
    if alternatives:
        number = len(alternatives)
        branches = f"{counted(number, 'other branch')} of the chat {agreeing(number, 'is', 'are')}"
        log.notes.append(f"{branches} kept in the transcript's alternatives, beside the visible one")
        meta["alternatives"] = alternatives
    return log.transcript(meta=meta, **names)
