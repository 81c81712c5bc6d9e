"""Which uses the texts that stand for spans still tell, found out once a text for all plans of a transcript.

A message that is replaced is mostly replaced by the same text whatever the budget, so what is left of the uses that
stood in it is known before the next strategy asks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from .branch import Place
from .newest import Newest
from .watched_texts import Use, plain, stands_in, watch_word

if TYPE_CHECKING:
    from .transcript import Transcript
    from .uses import Uses

STAND_INS = "stand-ins"
MOST_TEXTS = 16
"""Texts remembered for one span: each strategy has mostly one."""
NOTHING_TOLD: frozenset[Use] = frozenset()

Standing = dict[Use, str]
"""The uses that stand in a span, each with its watch word."""
NO_SPANS: Mapping[Place, Standing] = {}


class StandIns:
    """What stands in the spans of a transcript's messages, and what other texts tell of it."""

    def __init__(self, uses: Uses) -> None:
        self._spans: dict[int, dict[Place, Standing]] = {}
        for use, places in uses.all_places():
            word = watch_word(use)
            for place in places:
                self._spans.setdefault(place.node, {}).setdefault(place, {})[use] = word
        self._told: dict[Place, Newest[str, Collection[Use]]] = {}

    def spans(self, node: int) -> Mapping[Place, Standing]:
        """Return the spans of a message in which uses stand."""
        return self._spans.get(node, NO_SPANS)

    def told(self, place: Place, text: str) -> Collection[Use]:
        """Return which of the uses that stand in a span are told by a text in its place."""
        known = self._told.get(place) or self._told.setdefault(place, Newest(MOST_TEXTS))
        return known.get(text, lambda: self._looked_for(place, text))

    def _looked_for(self, place: Place, text: str) -> Collection[Use]:
        standing = self.spans(place.node).get(place) if text else None
        return frozenset(_told(standing, text)) if standing else NOTHING_TOLD


def _told(standing: Standing, text: str) -> Iterator[Use]:
    spelled = plain(text)
    return (use for use, word in standing.items() if stands_in(use, word, spelled))


def stand_ins_of(transcript: Transcript, uses: Uses) -> StandIns:
    """Return the stand-ins of a transcript, made when first asked for."""
    made: StandIns | None = transcript.memo.get(STAND_INS)
    if made is None:
        made = transcript.memo[STAND_INS] = StandIns(uses)
    return made
