"""What a recording cost by its own usage, call by call: the bill as far as it was reported, beside what is predicted.

A prediction says what the cache should have held; a report says what was read and written, misses included. Both have
the prices of a call's day and the same length of a reply. How long a write is kept is not reported, so it is taken from
the marks and pauses of the recording, as in a prediction. Where a price needs a figure that nobody reported, or where
figures contradict each other, the cost of the call is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import isclose
from typing import TYPE_CHECKING

from .cache_lives import HourLife, hour_life, hour_written
from .output_tokens import output_tokens
from .prices import Rates, Tokens, rates_of
from .transcript import Usage
from .unknown_calls import NO_PRICE, NO_REPLY, NO_USAGE, Unknown

if TYPE_CHECKING:
    from .replay import Replay

NOT_BELIEVABLE = "the reported figures contradict each other"
NO_CACHE_USAGE = "what was read from the cache or written to it was not reported"
SAME = 1e-9
"""Two costs that differ by less than this share are one."""


class ReportedCost:
    """The cost of a recording by its usage: US dollars by call, None where it is unknown, and why it is."""

    def __init__(self, calls: Sequence[float | str]) -> None:
        """`calls` are US dollars, or the reason why nobody knows them."""
        self.usd = [None if isinstance(call, str) else call for call in calls]
        self.unknown: Unknown = {}
        for place, call in enumerate(calls):
            if isinstance(call, str):
                self.unknown.setdefault(call, []).append(place)

    @property
    def known(self) -> float | None:
        """US dollars of the calls whose cost is known; None where there is none."""
        known = [usd for usd in self.usd if usd is not None]
        return sum(known) if known else None

    @property
    def unknown_calls(self) -> int:
        """Calls without a known cost."""
        return sum(usd is None for usd in self.usd)


def reported_cost(replay: Replay) -> ReportedCost:
    """Return what the recording of a replay cost by its own usage, whatever its strategy, at its own models' prices.

    The configuration's model is taken for calls that name none. It is worked out once for all strategies of a counter.
    """
    known: dict[tuple[str, str], ReportedCost] = replay.transcript.memo.setdefault("reported_costs", {})
    counted_by = (replay.config.model.model_dump_json(), replay.config.counter.model_dump_json())
    if counted_by not in known:
        known[counted_by] = ReportedCost(list(_calls(replay.as_captured)))
    return known[counted_by]


def _calls(captured: Replay) -> Iterator[float | str]:
    life = hour_life(captured.transcript)
    for call, made in enumerate(captured.transcript.calls):
        rates = rates_of(captured.transcript.model_of(call) or captured.config.model.name, made.at)
        reply = output_tokens(captured.transcript, made, captured.counter_of(call)).tokens
        if made.usage.input is None:
            yield NO_USAGE
        elif rates is None:
            yield NO_PRICE
        elif reply is None:
            yield NO_REPLY
        else:
            pairs = _reads_and_writes(made.usage, made.usage.input)
            sizes = (Tokens(made.usage.input, read, write, reply) for read, write in pairs)
            yield _only([_usd(captured, call, rates, life, tokens) for tokens in sizes])


def _only(usd: Sequence[float]) -> float | str:
    """Return the one cost that all possible figures lead to, else why there is none."""
    if not usd:
        return NOT_BELIEVABLE
    return usd[0] if all(isclose(each, usd[0], rel_tol=SAME) for each in usd) else NO_CACHE_USAGE


def _reads_and_writes(usage: Usage, sent: int) -> list[tuple[int, int]]:
    """Return what may have been read and written, the least and the most where it is not reported.

    There is nothing where the figures contradict each other.
    """
    reads = [0, sent - (usage.cache_write or 0)] if usage.cache_read is None else [usage.cache_read]
    writes = [0, sent - (usage.cache_read or 0)] if usage.cache_write is None else [usage.cache_write]
    pairs = list(product(reads, writes))
    return [(read, write) for read, write in pairs if min(read, write) >= 0 and read + write <= sent]


def _usd(captured: Replay, call: int, rates: Rates, life: HourLife, tokens: Tokens) -> float:
    if not tokens.cache_write:
        return rates.usd(tokens)
    hidden = captured.calibration.not_recorded[call] or 0
    hour = hour_written(life, captured.plan(call), hidden, tokens.cache_read)
    return rates.usd(tokens._replace(hour_write=max(0, min(tokens.cache_write, hour))))
