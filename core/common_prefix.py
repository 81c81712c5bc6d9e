"""How much of one prompt the next one repeats from its beginning, in tokens as sent.

Nothing is compared byte by byte: two plans of one conversation share its units, so the prefix ends at the first unit
with another fate, and its tokens are differences of running sums. Only where a conversation was read anew are units
compared one by one. The order is the providers': tools, then system, then messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .decisions import NO_REPLACEMENTS, Action, Edit, Fate, Replacement, Run
from .fixed_prefix import fixed_prefix, head_tokens
from .plan import Plan
from .prefix import Cause, Prefix
from .shrunk_plan import ShrunkPlan
from .strategies.published import PublishedPlan
from .strategies.triage_plan import TriagePlan
from .unit_prefix import OWN, Count, Rendered, shared_tokens

__all__ = ["Cause", "Prefix", "common_prefix", "head_tokens", "inner"]


def common_prefix(before: Plan, after: Plan, shared: int, count: Count) -> Prefix:
    """Return what a prompt repeats of the one before.

    `shared` messages are the first of both branches; `count` counts messages that a unit begins with.
    """
    before, after = inner(before), inner(after)
    fixed = fixed_prefix(before, after)
    if fixed is not None:
        return fixed
    if before.log is not after.log or _is_first(before, after, PublishedPlan):
        return _read_anew(before, after, shared, count)
    if type(before) is type(after) is Plan:
        return _in_runs(before, after, count)
    if isinstance(before, PublishedPlan) and isinstance(after, PublishedPlan):
        return _published(before, after)
    if isinstance(before, TriagePlan) and isinstance(after, TriagePlan) and before.history is not after.history:
        return _read_anew(before, after, shared, count)
    if isinstance(before, TriagePlan) or isinstance(after, TriagePlan):
        return _triaged(before, after)
    return _in_runs(before, after, count)


def _in_runs(before: Plan, after: Plan, count: Count) -> Prefix:
    """Compare two plans of one conversation that are made of runs."""
    unit = _first_difference(before, after)
    if unit is None:
        return Prefix(before.tokens_after)
    tokens = sent_before(after, unit)
    if _has_edits(before) or _has_edits(after):
        now = _rendered(after, unit)
        was = now and _rendered(before, unit)
        tokens = min(tokens + _within(was, now, count), before.tokens_after)
    return Prefix(tokens, Cause.DECISION, unit)


def _has_edits(plan: Plan) -> bool:
    return bool(plan.edits) or plan.replacements.action is Action.STUB


def _rendered(plan: Plan, index: int) -> Rendered | None:
    """Return a unit as a plan made of runs sends it; None where something else, or nothing, stands in its place."""
    fate, _ = plan.fate(index)
    made = plan.made(index, fate)
    if isinstance(made, Replacement) or fate not in _IN_PLACE:
        return None
    return Rendered(plan.log.units[index], made)


def _within(before: Rendered | None, after: Rendered | None, count: Count) -> int:
    return 0 if before is None or after is None else shared_tokens(before, after, count)


def _is_first(before: Plan, after: Plan, kind: type[Plan]) -> bool:
    return isinstance(before, kind) is not isinstance(after, kind)


def _published(before: PublishedPlan, after: PublishedPlan) -> Prefix:
    found = after.first_difference(before)
    if found is None:
        return Prefix(before.tokens_after)
    place, tokens = found
    return Prefix(head_tokens(after) + tokens, Cause.DECISION, after.log.unit_of_message(place))


def inner(plan: Plan) -> Plan:
    """Return the plan whose tokens are those sent: the strategy's, also where shrinkers came before it."""
    return plan.inner if isinstance(plan, ShrunkPlan) else plan


def _first_difference(before: Plan, after: Plan) -> int | None:
    """Return the first unit of the later prompt that is not sent as in the earlier one; None if all are repeated."""
    stop = before.count
    found = _first_in_runs(before, after, stop)
    if before.edits is not after.edits and (before.edits or after.edits):
        found = _first_edited(before, after, found)
    return found if found < stop else None


def _first_in_runs(before: Plan, after: Plan, stop: int) -> int:
    """Walk both lists of runs at once, and look at single units only where their fates differ."""
    new, theirs, start = iter(after.runs), _NO_RUN, 0
    for mine in before.runs:
        while start < mine.stop:
            while start >= theirs.stop:
                theirs = next(new)
            end = mine.stop if mine.stop < theirs.stop else theirs.stop
            if mine.fate is not theirs.fate and _sends(mine) is not _sends(theirs):
                for index in range(start, end):
                    was, now = before.fate_in(mine, index), after.fate_in(theirs, index)
                    if was is not now and not _made_alike(before.made(index, was), after.made(index, now), was, now):
                        return index
            start = end
    return stop


_NO_RUN = Run(0, 0, Fate.KEEP)


def _made_alike(old: Replacement | Edit | None, new: Replacement | Edit | None, was: Fate, now: Fate) -> bool:
    """Whether a unit is sent with the same texts, once by an edit of its own and once among many replaced."""
    if was not in _IN_PLACE or now not in _IN_PLACE or isinstance(old, Replacement) or isinstance(new, Replacement):
        return False
    return (old.texts if old else OWN) == (new.texts if new else OWN)


_IN_PLACE = (Fate.KEEP, Fate.REPLACE)


def _sends(run: Run) -> Fate:
    """Return the fate by what is sent in the unit's place: what is folded elsewhere is as gone as what is dropped."""
    return Fate.DROP if run.fate is Fate.FOLD else run.fate


def _first_edited(before: Plan, after: Plan, stop: int) -> int:
    first = stop
    for at in before.edits.keys() | after.edits.keys():
        if at < first and before.edits.get(at) != after.edits.get(at) and not _sent_alike(before, after, at):
            first = at
    return first


def _sent_alike(before: Plan, after: Plan, index: int) -> bool:
    was, now = before.fate(index)[0], after.fate(index)[0]
    return _made_alike(before.made(index, was), after.made(index, now), was, now)


def _triaged(before: Plan, after: Plan) -> Prefix:
    """Compare two plans of one conversation by span triage, or one of them untouched."""
    if isinstance(before, TriagePlan) and isinstance(after, TriagePlan):
        unit, tokens = _first_change(before, after)
    else:
        triaged = before if isinstance(before, TriagePlan) else after
        assert isinstance(triaged, TriagePlan)
        unit = triaged.first_evicted
        tokens = after.log.totals[unit]
    if unit >= before.count:
        return Prefix(before.tokens_after)
    return Prefix(head_tokens(after) + tokens, Cause.DECISION, unit)


def _first_change(before: TriagePlan, after: TriagePlan) -> tuple[int, int]:
    """Return the first unit that is sent otherwise, and the tokens sent of the conversation before it."""
    if after.history is None or after.history is not before.history or after.mark == before.mark + 1:
        return after.changed_from, after.sent_before_change
    between = (after.history.settled(mark) for mark in range(before.mark + 1, after.mark + 1))
    changes = [(made.first_change, made.shift) for made in between if made.first_change is not None]
    # What later plans changed stands behind the first change, so its shift is still that of what is sent before it.
    unit, shift = min(reversed(changes), key=lambda change: change[0], default=(after.count, 0))
    return unit, after.log.totals[unit] + shift


def _read_anew(before: Plan, after: Plan, shared: int, count: Count) -> Prefix:
    """Compare piece by piece where a conversation was read anew, as after a branch."""
    old, new, tokens = list(_pieces(before)), list(_pieces(after)), head_tokens(after)
    if _is_first(before, after, PublishedPlan):
        old, new = (list(_by_message(pieces, count)) for pieces in (old, new))
    same = 0
    for mine, theirs in zip(old, new, strict=False):
        if mine.content != theirs.content:
            tokens += _within(mine.rendered, theirs.rendered, count)
            break
        tokens += theirs.tokens
        same += 1
    if same == len(old) or (same == len(old) - 1 and same < len(new) and _goes_on(old[same], new[same])):
        return Prefix(before.tokens_after)
    tokens = min(tokens, before.tokens_after)
    if same == len(new):
        return Prefix(tokens, Cause.BRANCH, after.count)
    was, now = old[same].unit, new[same].unit
    if before.log.units[was].stop > shared and after.log.units[now].stop > shared:
        return Prefix(tokens, Cause.BRANCH, now)
    return Prefix(tokens, Cause.DECISION, min(was, now))  # both prompts had the unit, and one leaves it out


class _Piece(NamedTuple):
    """What is sent in one place; `rendered` where it is a unit with all its messages."""

    unit: int
    content: Any
    tokens: int
    rendered: Rendered | None = None


def _goes_on(mine: _Piece, theirs: _Piece) -> bool:
    """Return whether a unit is the beginning of another: the prompt before ended with a reply without its results."""
    if mine.rendered is None or theirs.rendered is None or mine.rendered.edit or theirs.rendered.edit:
        return False
    begun = mine.rendered.unit.messages
    return theirs.rendered.unit.messages[: len(begun)] == begun


def _pieces(plan: Plan) -> Iterator[_Piece]:
    """Yield what is sent unit by unit, or message by message where a plan works so."""
    if isinstance(plan, PublishedPlan):
        yield from (_Piece(plan.log.unit_of_message(place), *sent) for place, *sent in plan.pieces())
    elif isinstance(plan, TriagePlan):
        for start, stop, evicted in plan.parts():
            yield _Piece(start, *plan.stand_in(start, stop)) if evicted else _unit_piece(plan, start, None)
    else:
        for index, fate, _ in plan.fates():
            made = plan.made(index, fate)
            if isinstance(made, Replacement):
                yield _Piece(index, made, made.tokens)
            elif fate in (Fate.KEEP, Fate.REPLACE):
                yield _unit_piece(plan, index, made)


def _unit_piece(plan: Plan, index: int, edit: Edit | None) -> _Piece:
    unit = plan.log.units[index]
    content: Any = unit.messages if edit is None else (unit.messages, edit)
    return _Piece(index, content, (edit or unit).tokens, Rendered(unit, edit))


def _by_message(pieces: Iterable[_Piece], count: Count) -> Iterator[_Piece]:
    """Yield what is sent message by message, as the published program sends it."""
    for piece in pieces:
        if piece.rendered is None or piece.rendered.edit is not None:
            yield piece
        else:
            yield from (_Piece(piece.unit, message, count([message])) for message in piece.rendered.unit.messages)


def sent_before(plan: Plan, unit: int) -> int:
    """Return the tokens that a plan made of runs sends before a unit, the fixed part included."""
    tokens, log = head_tokens(plan), plan.log
    for run in plan.runs:
        stop = min(run.stop, unit)
        if run.start >= stop:
            break
        sums = log.totals if run.fate is Fate.KEEP else log.staying
        if run.fate is Fate.REPLACE and plan.replacements is not NO_REPLACEMENTS:
            sums = plan.replacements.totals
        tokens += sums[stop] - sums[run.start]
    return tokens + sum(edit.tokens - log.units[at].tokens for at, edit in plan.edits.items() if at < unit)
