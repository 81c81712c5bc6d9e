"""Findings about calls that are over the soft budget: which, whether anything could have helped, and whether in time.

A call is over it by what is sent, recorded or not; whether a strategy was in time is asked only where it was over by
what the strategy was given. What must stay whatever the strategy is the floor of a call: the fixed part, what is
pinned, the newest user message and the open unit. A strategy is too late only where its own settings held it back, and
that is tried: the same configuration is planned with these settings open. A prompt of which nothing could go is no
fault of a strategy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .assembler import Context, UnitAssembler
from .dialects import dialect
from .engine import soft_budget
from .finding import Finding, Level, calls_by_log, calls_of, is_baseline
from .replay import Replay, replay
from .sent_sizes import fits_as_recorded, sizes_of
from .spans import Span
from .wording import agreeing, counted

OPEN = {"trigger": 0, "min_turns": 0, "min_steps": 0, "min_cleared": 0, "keep": 0, "step": 0}
"""The settings that hold a strategy back, with the value at which they do not."""


def over_budget(replay: Replay) -> Iterator[Finding]:
    """Find calls that are over the soft budget as sent, and those of them that are not by what is recorded."""
    excess, fits = replay.calls["sent_excess"], fits_as_recorded(replay)
    over = [call for call in calls_of(replay) if excess[call] > 0]
    if not over:
        return
    worst = max(over, key=lambda call: excess[call])
    by = f"{counted(excess[worst], 'token')}{_beside(replay, worst)}"
    yield Finding(
        name="over_budget",
        level=Level.ERROR,
        sentence=f"{len(over):,} of {counted(len(excess), 'call')} {agreeing(len(over), 'is', 'are')} over the soft"
        f" budget as sent, first call {over[0] + 1}; the worst, call {worst + 1}, by {by}."
        f"{_although(len(fits), len(over))}",
        call=worst,
        span_ids=replay.plan(worst).blockers[:3],
        figures={"calls": len(over), "largest_excess": excess[worst], "fit_as_recorded": len(fits)},
    )


def _beside(replay: Replay, call: int) -> str:
    """Return what has to be said beside what a call is over: what is not recorded, or how much that is as counted."""
    sizes = sizes_of(replay, call)
    if sizes.allowed <= sizes.budget:
        return sizes.beside
    measured = "as reported" if replay.of_captured else "as corrected by the reports"  # of its own prompts none are
    return f" {measured}, {sizes.over(replay.calls['in_window'][call]):,} as counted here"


def _although(fits: int, over: int) -> str:
    """Return in how many of the calls over the budget a strategy has no reason to take anything; "" for none."""
    if not fits:
        return ""
    some = f"{fits:,} of these {agreeing(fits, 'is', 'are')}"
    which = "it is" if over == 1 else f"all {over:,} are" if fits == over else some
    return f" By what is recorded alone, which is all that a strategy sees, {which} within the budget."


def in_time(replay: Replay) -> Iterator[Finding]:
    """Find calls over the budget that nothing can help, and a strategy that its settings let act too late."""
    excess, budget = replay.calls["sent_excess"], soft_budget(replay.config)
    over = [call for call in calls_of(replay) if excess[call] > 0]
    if not over or budget is None:
        return
    floors = _floors(replay, over)
    hopeless = [call for call in over if not sizes_of(replay, call).fits(floors[call])]
    if hopeless:
        yield _cannot_help(replay, hopeless, floors[hopeless[0]], budget)
    if is_baseline(replay) or replay.config.strategy.exact_recall:
        return
    idle = [call for call in over if replay.plan(call).excess and not replay.plan(call).changed]
    held = _Held(replay)
    spare = [call for call in idle if held.could_act(call)]
    yield from _too_late(replay, spare, held)
    told = {*hopeless, *spare}
    stuck = [call for call in idle if call not in told]
    if stuck and not hopeless:
        yield _nothing_to_take(replay, stuck, floors[stuck[0]], budget)


def _floors(replay: Replay, wanted: Sequence[int]) -> dict[int, int]:
    """Return the floors of some calls, in tokens."""
    asked = frozenset(wanted)
    return {call: behind.kept_tokens(behind.log.deepest) for call, behind in _prompts(replay) if call in asked}


def _prompts(replay: Replay) -> Iterator[tuple[int, UnitAssembler]]:
    """Yield each call with its prompt, which grows as the next one is asked for."""
    for calls in calls_by_log(replay):
        behind = UnitAssembler(Context(None, replay.counter_of(calls[0]), dialect(replay.transcript.dialect)))
        for call in calls:
            plan = replay.plan(call)
            behind.extend(plan.log.units[behind.count : plan.count])
            behind.fix(plan.fixed)
            yield call, behind


def _largest(replay: Replay, call: int) -> tuple[str, ...]:
    """Return the largest spans of what must stay in a call."""
    behind = next(behind for made, behind in _prompts(replay) if made == call)
    log = behind.log
    kept = {*range(log.deepest, behind.count), *behind.extras(log.deepest), *log.stays}
    spans: list[Span] = [*behind.fixed.spans, *(span for index in sorted(kept) for span in log.units[index].spans)]
    return tuple(span.id for span in sorted(spans, key=lambda span: -span.tokens)[:3])


def _cannot_help(replay: Replay, calls: Sequence[int], floor: int, budget: int) -> Finding:
    stays = "the fixed part, what is pinned, the newest user message and the open step"
    sizes = sizes_of(replay, calls[0])
    hidden = f"; about {sizes.hidden:,} more {agreeing(sizes.hidden, 'is', 'are')} not recorded" if sizes.hidden else ""
    return Finding(
        name="cannot_help",
        level=Level.ERROR,
        sentence=f"In {counted(len(calls), 'call')}, first call {calls[0] + 1}, the floor alone"
        f" ({counted(floor, 'token')} that cannot go: {stays}{hidden}) is over the budget of"
        f" {budget:,}{'' if hidden else sizes.beside}: no strategy that cuts history can"
        f" help {agreeing(len(calls), 'it', 'any of these')}.",
        call=calls[0],
        span_ids=_largest(replay, calls[0]),
        figures={"calls": len(calls), "floor": floor, "budget": budget},
    )


class _Held:
    """Whether a strategy could have sent less than it did, had its settings let it; replayed where that is asked."""

    def __init__(self, made: Replay) -> None:
        self._made = made
        self._said = made.config.strategy.model_dump(mode="json")
        self.settings = {name: self._said[name] for name in OPEN if name in self._said and self._holds(name)}
        """The settings that hold the strategy back."""
        self._free: Replay | None = None

    def _holds(self, name: str) -> bool:
        value = self._said[name]
        if name == "trigger":
            return value is None or value > 1  # what is over the budget is above any lower trigger
        return bool(value != OPEN[name])

    def could_act(self, call: int) -> bool:
        """Return whether less would have been sent in a call."""
        if not self.settings:
            return False
        if self._free is None:
            opened = {**self._said, **{name: OPEN[name] for name in self.settings}}
            config = {**self._made.planned.model_dump(mode="json"), "strategy": opened}
            self._free = replay(self._made.transcript, config, self._made.summaries)
        return self._free.plan(call).tokens_after < self._made.plan(call).tokens_after

    @property
    def told(self) -> str:
        """The settings in words."""
        said = [f"{name} {'null' if value is None else value}" for name, value in self.settings.items()]
        return f"{', '.join(said)} {agreeing(len(said), 'holds', 'hold')} it back"


def _too_late(replay: Replay, spare: Sequence[int], held: _Held) -> Iterator[Finding]:
    """Yield that calls could have been made smaller before the strategy changed the first one."""
    first = next((call for call in calls_of(replay) if replay.plan(call).changed), None)
    late = [call for call in spare if first is not None and call < first]
    if first is None or not late:
        return
    excess = counted(replay.calls["sent_excess"][late[0]], "token")
    yield Finding(
        name="fires_too_late",
        level=Level.WARNING,
        sentence=f"Call {late[0] + 1} is over the budget by {excess} and could have been smaller, yet the strategy"
        f" changes nothing before call {first + 1}: {held.told}.",
        call=late[0],
        figures={"calls": len(late), "first_change": first},
    )


def _nothing_to_take(replay: Replay, calls: Sequence[int], floor: int, budget: int) -> Finding:
    excess = counted(replay.calls["sent_excess"][calls[0]], "token")
    return Finding(
        name="cannot_help",
        level=Level.WARNING,
        sentence=f"In {counted(len(calls), 'call')}, first call {calls[0] + 1} ({excess} over the budget of"
        f" {budget:,}), {replay.config.strategy.kind} finds nothing that it may take; what must stay has only"
        f" {counted(floor, 'token')}, so a strategy that cuts history could help.",
        call=calls[0],
        span_ids=_largest(replay, calls[0]),
        figures={"calls": len(calls), "floor": floor, "budget": budget},
    )
