"""Which earlier call each call goes on from, so that conversations recorded in turns are each compared with themselves.

It is the newest earlier call of the same model that shares most of the branch. A call walks up what no call of its
model had before, and a tree of maxima over the numbered messages tells the newest call below the message it comes to.
So each message is passed once, and no call looks at all the earlier ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .intervals import intervals
from .transcript import ROOT, Transcript


class Link(NamedTuple):
    """The call that a call goes on from, -1 if its model has none, and how many first messages both share."""

    before: int
    shared: int = 0


NO_LINK = Link(-1)


def links_of(transcript: Transcript, captured: bool, model: str | None = None) -> list[Link]:
    """Return what each call goes on from, as captured or by whole histories, made once; `model` stands for all."""
    key = ("chains", captured, model)
    known: list[Link] | None = transcript.memo.get(key)
    if known is None:
        lasts = [call.captured if captured else call.history for call in transcript.calls]
        models = [model or transcript.model_of(call) for call in range(len(lasts))]
        known = transcript.memo[key] = chain_links(transcript, lasts, models)
    return known


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
    """The calls of one model, by the messages that their prompts end with."""

    def __init__(self, transcript: Transcript) -> None:
        self._parents, self._depths = transcript.parents, transcript.depths
        self._intervals, self._size = intervals(transcript), len(transcript.parents)
        self._newest_in = [-1] * (2 * self._size)
        self._seen: set[int] = set()
        self._newest = -1
        self._by_head: dict[int, int] = {}

    def link(self, call: int, last: int, head: int) -> Link:
        """Return what a call goes on from, and take it."""
        node = last
        while node != ROOT and node not in self._seen:
            self._seen.add(node)
            node = self._parents[node]
        if self._newest < 0:
            found = NO_LINK
        elif node == ROOT:
            found = Link(self._by_head.get(head, self._newest))
        else:
            found = Link(self._through(node), self._depths[node] + 1)
        self._take(call, last)
        self._newest = self._by_head[head] = call
        return found

    def _take(self, call: int, last: int) -> None:
        """Note a call as the newest in each stretch of messages, halved again and again, that has its last one."""
        place = self._size + self._intervals.starts[last] if last != ROOT else 0
        while place:
            self._newest_in[place] = call
            place //= 2

    def _through(self, node: int) -> int:
        """Return the newest call whose prompt has a message."""
        first, stop = (self._size + end[node] for end in self._intervals)
        found = -1
        while first < stop:
            if first % 2:
                found = max(found, self._newest_in[first])
                first += 1
            if stop % 2:
                stop -= 1
                found = max(found, self._newest_in[stop])
            first, stop = first // 2, stop // 2
        return found
