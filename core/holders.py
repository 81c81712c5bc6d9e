"""What holds each use in the prompt of the call that used it: found out once for all strategies of a transcript."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from .branch import Branch, Place
from .transcript import ROOT
from .uses import Uses
from .watched_texts import Use, watch_word


class Holder(NamedTuple):
    """The newest message that holds a use, -1 for none, and the ids of the spans of the fixed part that hold it.

    `places` are all in the transcript's messages, `oldest` is the node of the first, `word` the watch word.
    """

    use: Use
    newest: int
    oldest: int
    spans: tuple[str, ...]
    places: list[Place]
    word: str


class Holders(NamedTuple):
    """By call the holders of each use, and the oldest of their messages; `sys.maxsize` where nothing was used."""

    holders: list[list[Holder]]
    oldest: list[int]


def holders_of(uses: Uses, history: bool) -> Holders:
    """Return for each call where each use stands, references first, then lines.

    `history` asks for the whole history of a call, not for what was captured.
    """
    known: Holders | None = uses.transcript.memo.get(("holders", history))
    if known is None:
        found = list(_by_call(uses, history))
        oldest = [min((holder.newest for holder in holders), default=sys.maxsize) for holders in found]
        known = uses.transcript.memo[("holders", history)] = Holders(found, oldest)
    return known


def _by_call(uses: Uses, history: bool) -> Iterator[list[Holder]]:
    branch = Branch(uses.transcript)
    for made, found in zip(uses.transcript.calls, uses.calls, strict=True):
        branch.to(made.history if history else made.captured)
        yield [_holder(uses, branch, made.head, use) for use in chain(found.used, found.copied)]


def _holder(uses: Uses, branch: Branch, head: int, use: Use) -> Holder:
    places = uses.places(use)
    newest, _ = next(branch.newest_first(places), (-1, 0))
    oldest = places[0].node if places else ROOT
    return Holder(use, newest, oldest, uses.head_spans(head, use), places, watch_word(use))
