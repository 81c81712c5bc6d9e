"""Findings about what a strategy did from call to call: too often, back and forth, or nothing at all."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from .cache import CachedCall
from .decisions import Action, Decision
from .dialects import dialect
from .finding import Finding, Level, calls_before, calls_of, is_baseline
from .plan import Plan
from .replay import Replay
from .summary_sizes import swaps
from .wording import agreeing, counted

LEAST = 3
"""Fewer repetitions are no pattern."""
FALL = 0.1
"""A window that shrinks by more than this share from one call to the next has fallen."""


def did_nothing(replay: Replay) -> Iterator[Finding]:
    """Find a strategy that sent every prompt as it was: then nothing can be said about it here."""
    calls = calls_of(replay)
    if is_baseline(replay) or not calls or any(replay.plan(call).changed for call in calls):
        return
    over = any(replay.calls["sent_excess"])
    why = _though(replay) if over else "so this transcript says nothing about it"
    yield Finding(
        name="did_nothing",
        level=Level.WARNING if over else Level.NOTICE,
        sentence=f"The strategy did nothing: it changed none of {counted(len(calls), 'call')}, {why}.",
        figures={"calls": len(calls)},
    )


def _though(replay: Replay) -> str:
    """Return in which way calls are over the budget of a strategy that did nothing about it."""
    if any(replay.calls["excess"]):
        return "though calls are over the budget"
    return "though calls are over the budget as sent: what is recorded keeps to it, and it sees no more"


def not_steady(replay: Replay) -> Iterator[Finding]:
    """Find a window that falls again and again by more than a tenth."""
    sent, before = replay.calls["in_window"], calls_before(replay)
    steps = [call for call in calls_of(replay) if before[call] >= 0]
    falls = [call for call in steps if sent[call] < sent[before[call]] * (1 - FALL)]
    if len(falls) < LEAST or len(falls) < len(steps) * FALL:
        return
    worst = max(falls, key=lambda call: sent[before[call]] - sent[call])
    high, low = sent[before[worst]], sent[worst]
    yield Finding(
        name="not_steady",
        level=Level.NOTICE,
        sentence=f"The window is not steady: it falls by more than {FALL:.0%} in {len(falls):,} of"
        f" {counted(len(steps), 'call')}, most from call {before[worst] + 1} to call {worst + 1}: {high:,} to {low:,}.",
        call=worst,
        figures={"falls": len(falls), "largest_fall": high - low},
    )


def thrash(replay: Replay) -> Iterator[Finding]:
    """Find a cut that goes back and forth: what was left out is sent again, and left out again."""
    before = calls_before(replay)
    starts = [_untouched_from(replay.plan(call)) for call in calls_of(replay)]
    back = {call for call, last in enumerate(before) if last >= 0 and starts[call] < starts[last]}
    later = ((call, one) for call in calls_of(replay) for one in _earlier(call, before) if one in back)
    again = sorted({one for call, one in later if starts[call] > starts[one]})
    if len(again) >= 2:
        yield Finding(
            name="thrash",
            level=Level.WARNING,
            sentence=f"The cut goes back and forth: in {counted(len(again), 'call')}, first call {again[0] + 1},"
            " messages that had been left out are sent again, and soon left out once more.",
            call=again[0],
            figures={"returns": len(again)},
        )


def _earlier(call: int, before: list[int]) -> Iterator[int]:
    """Yield the calls that a call's conversation went through, the newest first, as far back as counts for thrash."""
    for _ in range(LOOK_AHEAD):
        call = before[call]
        if call < 0:
            return
        yield call


LOOK_AHEAD = 8
"""Calls of a conversation after which a return is no longer called thrash."""


def _untouched_from(plan: Plan) -> int:
    return min(plan.whole_from, sys.maxsize) if plan.changed else 0


def summary_larger(replay: Replay) -> Iterator[Finding]:
    """Find summaries that are larger than what they stand for, both with their frames."""
    changed = {id(replay.plan(call).log): call for call in calls_of(replay) if replay.plan(call).changed}
    spoken = dialect(replay.transcript.dialect)
    found = [
        (call, swap)
        for call in changed.values()
        for swap in swaps(replay.plan(call), spoken, replay.counter_of(call))
        if swap.after > swap.before
    ]
    if found:
        call, worst = max(found, key=lambda item: item[1].after - item[1].before)
        number = sum(made == call for made, _ in found)
        yield Finding(
            name="summary_larger",
            level=Level.WARNING,
            sentence=f"{counted(number, 'summary')} in call {call + 1}"
            f" {agreeing(number, 'is', 'are')} larger than what {agreeing(number, 'it stands', 'they stand')}"
            f" for; the worst has {counted(worst.after, 'token')} for {worst.before:,}, frames included.",
            call=call,
            span_ids=(worst.span_id,),
            figures={"summaries": number, "before": worst.before, "after": worst.after},
        )


def prefix_broken(replay: Replay) -> Iterator[Finding]:
    """Find a plan that changes early with each call, so that the provider's prompt cache never holds."""
    rows, goes_on = replay.cache.calls, [before >= 0 for before in calls_before(replay)]
    broken = [call for call in calls_of(replay) if goes_on[call] and rows[call].is_decided]
    if not broken:
        return
    steps = sum(goes_on[broken[0] :])
    if len(broken) < LEAST or 2 * len(broken) < steps:
        return
    decision = replay.cache.break_at(broken[0]).decision
    yield Finding(
        name="prefix_broken",
        level=Level.WARNING,
        sentence=f"The strategy breaks the cached prefix in {len(broken):,} of {counted(steps, 'call')} from call"
        f" {broken[0] + 1} on: {_what_moves(str(rows[broken[0]].cause), decision)}.{_advice(replay)}",
        call=broken[0],
        span_ids=() if decision is None else (decision.span_id,),
        figures={"breaks": len(broken), "calls": steps},
    )


def _what_moves(cause: str, decision: Decision | None) -> str:
    """Return what a plan changes with each call."""
    if cause == "decision" or decision is None:
        return "the cut moves with each call"
    if cause == "tools changed":
        return f"the tools that it puts aside change, first {decision.span_id}"
    if decision.action is Action.SUMMARISE and not decision.tokens_before:
        return f"the {decision.span_id} that it puts at the end of the system part changes with each call"
    return f"what it sends of the system part changes, first {decision.span_id}"


def fixed_part_changes(replay: Replay) -> Iterator[Finding]:
    """Find a recorded fixed part that changes in most calls, so that the cache begins anew each time."""
    rows, goes_on = replay.cache.calls, [before >= 0 for before in calls_before(replay)]
    changed = [call for call in calls_of(replay) if goes_on[call] and _is_recorded_change(rows[call])]
    if len(changed) < LEAST or 2 * len(changed) < sum(goes_on):
        return
    cause = "the tools" if rows[changed[0]].cause == "tools changed" else "the system part"
    yield Finding(
        name="fixed_part_changes",
        level=Level.WARNING,
        sentence=f"{len(changed):,} of {counted(sum(goes_on), 'call')} do not begin like the one that they go on from"
        f" (first call {changed[0] + 1}: {cause}), so the prompt cache starts over each time.{_advice(replay)}",
        call=changed[0],
        figures={"changes": len(changed), "calls": sum(goes_on)},
    )


def _is_recorded_change(row: CachedCall) -> bool:
    return row.cause in ("tools changed", "system changed") and not row.is_decided


def _advice(replay: Replay) -> str:
    """Return what would mend it, where the strategy has such a setting."""
    strategy = replay.config.strategy
    step: int | None = getattr(strategy, "step", None)
    if step is None or getattr(strategy, "mode", "right") == "published":
        return ""
    return f" A larger `step` (now {step:,}) changes it less often."
