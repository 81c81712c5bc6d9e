"""Which earlier call each call goes on from, so that conversations recorded in turns are each compared with themselves.

It is the newest earlier call of the same model that shares most of the branch. Nodes that a branch leaves remember the
last call that went through them, so no call looks at all the earlier ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .transcript import ROOT, Transcript


class Link(NamedTuple):
    """The call that a call goes on from, -1 if its model has none, and how many first messages both share."""

    before: int
    shared: int = 0


NO_LINK = Link(-1)


def chain_links(transcript: Transcript, lasts: Sequence[int], models: Sequence[str | None]) -> list[Link]:
    """Return for each call the one that it goes on from.

    `lasts` are the nodes of the last messages of the calls' prompts, `models` those that the calls are made to.
    """
    tracks: dict[str | None, _Track] = {}
    links = []
    for call, (last, model) in enumerate(zip(lasts, models, strict=True)):
        track = tracks.get(model)
        if track is None:
            track = tracks[model] = _Track(transcript)
        links.append(track.link(call, last, transcript.calls[call].head))
    return links


class _Track:
    """The calls of one model: the branch of the newest, and what went through the nodes that it left."""

    def __init__(self, transcript: Transcript) -> None:
        self._parents, self._depths = transcript.parents, transcript.depths
        self._path: list[int] = []
        self._through: dict[int, int] = {}
        self._newest = -1
        self._by_head: dict[int, int] = {}

    def link(self, call: int, last: int, head: int) -> Link:
        """Return what a call goes on from, and take it."""
        node = last
        while node != ROOT and not self._is_on_path(node) and node not in self._through:
            node = self._parents[node]
        if self._newest < 0:
            found = NO_LINK
        elif node == ROOT:
            found = Link(self._by_head.get(head, self._newest))
        else:
            before = self._newest if self._is_on_path(node) else self._through[node]
            found = Link(before, self._depths[node] + 1)
        self._go(last)
        self._newest = self._by_head[head] = call
        return found

    def _is_on_path(self, node: int) -> bool:
        depth = self._depths[node]
        return depth < len(self._path) and self._path[depth] == node

    def _go(self, last: int) -> None:
        """Follow another branch, and remember what went through the nodes left."""
        new = []
        while last != ROOT and not self._is_on_path(last):
            new.append(last)
            last = self._parents[last]
        shared = 0 if last == ROOT else self._depths[last] + 1
        for node in self._path[shared:]:
            self._through[node] = self._newest
        self._path[shared:] = reversed(new)
