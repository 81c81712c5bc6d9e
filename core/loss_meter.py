"""What of the uses of each call a plan still sends: call after call, along the branch that the prompts follow.

Most calls use nothing that a plan touched, and that is one comparison: nothing from some message on is changed, and
the oldest use stands later. Where a use was folded, what its replacement tells is found out once for all plans of the
conversation, because a message that is replaced is always replaced by the same text.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .branch import Branch, Place
from .decisions import NO_STRETCH, Left
from .holders import Holder, holders_of
from .stand_ins import stand_ins_of
from .transcript import ROOT, Transcript
from .uses import Uses
from .watched_texts import Use, plain, stands_in

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


WHOLE_ROWS = "rows of whole prompts"


def _whole_rows(transcript: Transcript, uses: Uses) -> list[Row]:
    """Return the row of each call as it is where its prompt is sent whole."""
    known: list[Row] | None = transcript.memo.get(WHOLE_ROWS)
    if known is None:
        known = [Row(len(found.used), 0, (), len(found.copied), ()) for found in uses.calls]
        transcript.memo[WHOLE_ROWS] = known
    return known


_LOST, _TOLD, _SENT = range(3)
"""How much of a use is sent: nothing, its name in a stub or summary, a span that holds it as it was."""


class _Meter:
    def __init__(self, replay: Replay, uses: Uses) -> None:
        self._replay, self._uses = replay, uses
        self._branch = Branch(replay.transcript)
        self._holders, self._oldest = holders_of(uses, history=not replay.of_captured)
        self._whole = _whole_rows(replay.transcript, uses)
        self._stand_ins = stand_ins_of(replay.transcript, uses)
        self._logs: dict[int, _Replaced] = {}
        """By the identity of each log, of which conversations in turns have one each; plans hold them."""
        self._stretch, self._asked, self._last_node = NO_STRETCH, -1, ROOT
        """The stretch that was last asked for, the message up to which it is the last, and its own last message."""

    def row(self, call: int) -> Row:
        """Measure one call."""
        plan, oldest = self._replay.plan(call), self._oldest[call]
        if oldest == sys.maxsize or oldest >= (whole := plan.whole_from) or not plan.changed:
            return self._whole[call]
        found = self._uses.calls[call]
        fates = self._fates(call, plan, whole)
        references, lines = fates[: len(found.used)], fates[len(found.used) :]
        return Row(
            used=len(found.used),
            retold=references.count(_TOLD),
            lost=_lost(found.used, references),
            copied=len(found.copied),
            copied_lost=_lost(found.copied, lines),
        )

    def _fates(self, call: int, plan: Plan, whole: int) -> list[int]:
        """Return how much of each use is sent; many stand in messages so new that nothing touches them."""
        self._branch.to(self._replay.last_message(call))
        if id(plan.log) not in self._logs:
            self._logs[id(plan.log)] = _Replaced(self)
        self._replaced = self._logs[id(plan.log)]
        self._stretch, self._asked = NO_STRETCH, -1
        fates = [_SENT if held.newest >= whole else self._fate(plan, held) for held in self._holders[call]]
        inserted = plan.inserted if _LOST in fates else ()
        return self._with_inserted(call, fates, inserted) if inserted else fates

    def _with_inserted(self, call: int, fates: Sequence[int], inserted: Sequence[str]) -> list[int]:
        """Return how much of each use is sent with the texts that a strategy puts in beside the messages."""
        texts = [plain(text) for text in inserted]
        either = "\n".join(texts)  # that is one look, and most uses have no word in any of them
        return [
            _told_by(held, texts) if fate == _LOST and held.word in either else fate
            for held, fate in zip(self._holders[call], fates, strict=True)
        ]

    def _fate(self, plan: Plan, held: Holder) -> int:
        """Return how much of a use is sent, inserted texts aside; of most the newest place tells enough."""
        use, newest, oldest, spans, places, _ = held
        if spans or newest < 0:
            return self._in_head(plan, held)
        if not self._stretch.first <= newest <= self._asked:
            self._ask(plan, newest)
        if oldest > self._last_node:
            return _LOST
        first, last, left = self._stretch
        if left is Left.WHOLE and newest <= last:
            return _SENT
        if left is Left.REPLACED and oldest >= self._branch.path[first]:
            return self._replaced.fate(plan, use, first, min(newest, last))
        return self._in_places(plan, use, self._branch.still_sent(places, self._stretch, plan.stretch_at))

    def _ask(self, plan: Plan, message: int) -> None:
        """Find the last stretch up to a message."""
        self._stretch, self._asked = plan.stretch_at(message), message
        self._last_node = self._branch.path[self._stretch.last] if self._stretch.last >= 0 else ROOT

    def _in_head(self, plan: Plan, held: Holder) -> int:
        """Return how much of a use is sent that stands in the fixed part. What the history never had is not lost."""
        fates = (_of_text(plan.remains(-1, span_id), held) for span_id in held.spans)
        fate = max(fates, default=_SENT)
        if fate == _SENT or held.newest < 0:
            return fate
        return max(fate, self._fate(plan, held._replace(spans=())))

    def _in_places(self, plan: Plan, use: Use, places: Iterable[tuple[int, Place, Left]]) -> int:
        """Return the most that is sent of a use in some places."""
        fate = _LOST
        for message, place, left in places:
            if left is Left.WHOLE:
                return _SENT
            told = (self._replaced if left is Left.REPLACED else self).told(plan, message, place)
            if told is None:
                return _SENT
            if use in told:
                fate = _TOLD
        return fate

    def spans(self, message: int) -> Mapping[Place, Collection[Use]]:
        """Return the spans of a message on the branch in which uses stand, with these."""
        return self._stand_ins.spans(self._branch.path[message])

    def told(self, plan: Plan, message: int, place: Place) -> Collection[Use] | None:
        """Return which of the uses in a span are told by the text in its place; None where the span itself is sent."""
        text = plan.remains(message, f"m{message}.{place.part}")
        return None if text is None else self._stand_ins.told(place, text)


class _Replaced:
    """What is left of the uses in the replaced messages of one log: each of them tells the same in all of its plans.

    A log follows one branch, and its prompts only grow.
    """

    def __init__(self, meter: _Meter) -> None:
        self._meter = meter
        self._left: dict[Place, Collection[Use] | None] = {}
        self._first = self._stop = 0
        """The messages of which all is in these two sets."""
        self._sent: set[Use] = set()
        self._told: set[Use] = set()

    def fate(self, plan: Plan, use: Use, first: int, last: int) -> int:
        """Return the most that is sent of a use all whose places are in messages `first` to `last`, all replaced."""
        if first != self._first:
            self._first = self._stop = first
            self._sent, self._told = set(), set()
        while self._stop <= last:
            self._take(plan, self._stop)
            self._stop += 1
        return _SENT if use in self._sent else _TOLD if use in self._told else _LOST

    def _take(self, plan: Plan, message: int) -> None:
        for place, standing in self._meter.spans(message).items():
            told = self.told(plan, message, place)
            if told is None:
                self._sent.update(standing)
            else:
                self._told.update(told)

    def told(self, plan: Plan, message: int, place: Place) -> Collection[Use] | None:
        """Return what the meter tells of a span of a replaced message, found out once."""
        if place not in self._left:
            self._left[place] = self._meter.told(plan, message, place)
        return self._left[place]


def _lost(uses: Sequence[Use], fates: Sequence[int]) -> tuple[Use, ...]:
    return tuple([use for use, fate in zip(uses, fates, strict=True) if fate == _LOST]) if _LOST in fates else ()


def _told_by(held: Holder, texts: Sequence[str]) -> int:
    return _TOLD if any(stands_in(held.use, held.word, text) for text in texts) else _LOST


def _of_text(text: str | None, held: Holder) -> int:
    """Return how much of a use the text that stands for its span has; None is the span itself."""
    if text is None:
        return _SENT
    return _told_by(held, (plain(text),)) if text else _LOST
