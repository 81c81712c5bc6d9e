"""What a replay would have cost, call by call: input, cache reads and writes, and the recorded reply.

Every strategy is charged the reply that was recorded, for nobody knows another. Where the cache's share is a range,
the cost is one too; where nothing is known about the cache, the figure is that without it, and `without_cache` says
so. Tokens that the recording does not hold (a hidden system prompt) are charged as far as reported calls show them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .cache import CachedCall
from .output_tokens import Output, output_tokens
from .prices import PriceTable, Tokens, cost_in_usd, price_table
from .transcript import Usage

if TYPE_CHECKING:
    from .replay import Replay


@dataclass(frozen=True, slots=True)
class CallCost:
    """What one call costs in US dollars, with bounds by what the cache may have held; None where unknown."""

    usd: float | None
    low: float | None
    high: float | None
    output: Output
    not_recorded: int = 0
    """Tokens charged that the recording does not hold."""
    without_cache: bool = False


class Cost:
    """The cost of a replay, one value a call."""

    def __init__(self, calls: Sequence[CallCost]) -> None:
        self.calls = calls

    @property
    def usd(self) -> list[float | None]:
        """US dollars by call; None where the model, its price or the reply's length is unknown."""
        return [call.usd for call in self.calls]

    @property
    def total(self) -> float | None:
        """US dollars of all calls; None where one of them is unknown or there is none."""
        known = [call.usd for call in self.calls if call.usd is not None]
        return sum(known) if known and len(known) == len(self.calls) else None

    @property
    def unknown_calls(self) -> int:
        """Calls without a known cost."""
        return sum(call.usd is None for call in self.calls)

    @property
    def prices(self) -> PriceTable:
        """Where the prices come from."""
        return price_table()

    def totals(self) -> dict[str, Any]:
        """Return all totals as plain values for JSON; the same on every run."""
        known = [call for call in self.calls if call.usd is not None]
        return {
            "usd": self.total,
            "usd_known": sum(call.usd or 0 for call in known) if known else None,
            "low": sum(call.low or 0 for call in known) if known else None,
            "high": sum(call.high or 0 for call in known) if known else None,
            "unknown_calls": self.unknown_calls,
            "without_cache": sum(call.without_cache for call in known),
            "output_too_low": sum(call.output.reported_too_low for call in self.calls),
            "currency": self.prices.currency,
            "prices": self.prices.source,
        }


def cost(replay: Replay) -> Cost:
    """Return what each call of a replay costs."""
    return Cost(list(_calls(replay)))


def _calls(replay: Replay) -> Iterator[CallCost]:
    for call, row in enumerate(replay.cache.calls):
        made = replay.transcript.calls[call]
        output = output_tokens(replay.transcript, made, replay.counter_of(call))
        yield _call(replay, call, row, output)


def _call(replay: Replay, call: int, row: CachedCall, output: Output) -> CallCost:
    if output.tokens is None:
        return CallCost(None, None, None, output)
    model, at = replay.model_of(call), replay.transcript.calls[call].at
    known = row.cached if row.cached is not None else row.low
    writes = bool(row.written) or (row.cached is None and replay.cache.writes(call))

    def priced(read: int) -> float | None:
        return cost_in_usd(model, at, Tokens(row.sent, read, row.sent - read if writes else 0, output.tokens or 0))

    ends = [price for price in (priced(row.low), priced(row.high)) if price is not None]
    if not ends:
        return CallCost(None, None, None, output)
    return CallCost(priced(known), min(ends), max(ends), output, row.hidden, row.cached is None)


def recorded_cost(model: str | None, at: Any, usage: Usage, output: Output) -> float | None:
    """Return what a recorded call cost in US dollars by its reported usage; None where that is incomplete."""
    if usage.input is None or output.tokens is None:
        return None
    tokens = Tokens(usage.input, usage.cache_read or 0, usage.cache_write or 0, output.tokens)
    return cost_in_usd(model, at, tokens)
