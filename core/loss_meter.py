"""What of the uses of each call a plan still sends: call after call, along the branch that the prompts follow.

Most calls use nothing that a plan touched, and that is one comparison: nothing from some message on is changed, and
the oldest use stands later. Where a use was folded, what its replacement tells is found out once for all plans of the
conversation, because a message that is replaced is always replaced by the same text.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .branch import Branch, Place
from .decisions import NO_STRETCH, Left
from .uses import Holder, Uses
from .watched_texts import Use, stands_in

if TYPE_CHECKING:
    from .plan import Plan
    from .replay import Replay


class Row(NamedTuple):
    """One call: uses, those kept by a stub or summary alone, and those lost."""

    used: int
    retold: int
    lost: tuple[Use, ...]
    copied: int
    copied_lost: tuple[Use, ...]


def measured(replay: Replay, uses: Uses) -> list[Row]:
    """Return what each call of a replay used and no longer has."""
    meter = _Meter(replay, uses)
    return [meter.row(call) for call in range(len(replay.transcript.calls))]


_LOST, _TOLD, _SENT = range(3)
"""How much of a use is sent: nothing, its name in a stub or summary, a span that holds it as it was."""


class _Meter:
    def __init__(self, replay: Replay, uses: Uses) -> None:
        self._replay, self._uses = replay, uses
        self._branch = Branch(replay.transcript)
        self._holders, self._oldest = uses.held(history=not replay.of_captured)
        self._log: object = None
        self._replaced: dict[Use, dict[Place, int]] = {}
        self._stand_ins: dict[Place, str | None] = {}
        self._stretch, self._asked = NO_STRETCH, -1
        """The stretch that was last asked for, and the message up to which it is the last."""

    def row(self, call: int) -> Row:
        """Measure one call."""
        found, plan = self._uses.calls[call], self._replay.plan(call)
        oldest = self._oldest[call]
        if oldest == sys.maxsize or oldest >= plan.whole_from or not plan.changed:
            return Row(len(found.used), 0, (), len(found.copied), ())
        fates = self._fates(call, plan)
        references, lines = fates[: len(found.used)], fates[len(found.used) :]
        return Row(
            used=len(found.used),
            retold=references.count(_TOLD),
            lost=_lost(found.used, references),
            copied=len(found.copied),
            copied_lost=_lost(found.copied, lines),
        )

    def _fates(self, call: int, plan: Plan) -> list[int]:
        """Return how much of each use is sent; most stand in messages so new that nothing touches them."""
        self._branch.to(self._replay.last_message(call))
        if plan.log is not self._log:
            self._log, self._replaced, self._stand_ins = plan.log, {}, {}
        self._stretch, self._asked = NO_STRETCH, -1
        whole, inserted = plan.whole_from, plan.inserted
        return [_SENT if held.newest >= whole else self._fate(plan, held, inserted) for held in self._holders[call]]

    def _fate(self, plan: Plan, held: Holder, inserted: Sequence[str]) -> int:
        """Return how much of a use is sent. What the history never had is not lost."""
        use, newest, spans = held
        fate = max(_of_text(plan.remains(-1, span_id), use) for span_id in spans) if spans else _LOST
        if newest >= 0 and fate != _SENT:
            fate = max(fate, self._in_messages(plan, use, newest))
        if fate == _LOST:
            for text in inserted:
                if _of_text(text, use):
                    return _TOLD
        return fate if spans or newest >= 0 else _SENT

    def _in_messages(self, plan: Plan, use: Use, newest: int) -> int:
        """Return how much of a use is sent where the messages have it; of most the newest place tells enough."""
        stretch = self._stretch
        if not stretch.first <= newest <= self._asked:
            stretch = self._stretch = plan.stretch_at(newest)
            self._asked = newest
        if stretch.left is Left.WHOLE and newest <= stretch.last:
            return _SENT
        places = self._uses.places(use)
        if stretch.last < 0 or places[0].node > self._branch.path[stretch.last]:
            return _LOST
        return self._in_places(plan, use, self._branch.still_sent(places, stretch, plan.stretch_at))

    def _in_places(self, plan: Plan, use: Use, places: Iterable[tuple[int, Place, Left]]) -> int:
        """Return the most that is sent of a use in some places; whether changed texts tell it is asked last."""
        fate, known, changed = _LOST, self._replaced.setdefault(use, {}), []
        for message, place, left in places:
            if left is Left.REPLACED:
                found = known.get(place)
                if found is None:
                    found = known[place] = _of_text(self._stand_in(plan, message, place), use)
                fate = found or fate
            elif left is Left.CHANGED:
                changed.append(plan.remains(message, f"m{message}.{place.part}"))
            if fate == _SENT or left is Left.WHOLE or (changed and changed[-1] is None):
                return _SENT
        return max(fate, *(_of_text(text, use) for text in changed)) if changed else fate

    def _stand_in(self, plan: Plan, message: int, place: Place) -> str | None:
        """Return the text that stands for a span of a replaced message; many uses stand in the same one."""
        if place not in self._stand_ins:
            self._stand_ins[place] = plan.remains(message, f"m{message}.{place.part}")
        return self._stand_ins[place]


def _lost(uses: Sequence[Use], fates: Sequence[int]) -> tuple[Use, ...]:
    return tuple([use for use, fate in zip(uses, fates, strict=True) if fate == _LOST]) if _LOST in fates else ()


def _of_text(text: str | None, use: Use) -> int:
    """Return how much of a use the text that stands for its span has; None is the span itself."""
    if text is None:
        return _SENT
    return _TOLD if text and stands_in(use, text) else _LOST
