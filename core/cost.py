"""What a replay would have cost, call by call: input, cache reads and writes, the recorded reply, and new summaries.

Every strategy is charged the reply that was recorded, for nobody knows another. Where the cache's share is a range,
the cost is one too; where nothing is known about the cache, the figure is that without it, and `without_cache` says
so. Tokens that the recording does not hold (a hidden system prompt) are charged as far as reported calls show them.
A configuration whose summaries a model writes pays for each when it is first needed, at the price of its own model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from .cache_lives import hour_life, hour_written
from .output_tokens import Output, output_tokens
from .prices import PriceTable, Rates, Tokens, cost_in_usd, price_table, rates_of
from .summary_calls import SummaryCall, SummaryCalls

if TYPE_CHECKING:
    from .replay import Replay


class CallCost(NamedTuple):
    """What one call costs in US dollars, with bounds by what the cache may have held; None where unknown.

    All three include `summaries_usd`: what a model is paid for the summaries that this call is the first to need.
    """

    usd: float | None
    low: float | None
    high: float | None
    output: Output
    not_recorded: int = 0
    """Tokens charged that the recording does not hold."""
    without_cache: bool = False
    summaries: tuple[SummaryCall, ...] = ()
    summaries_usd: float | None = 0.0


class Cost:
    """The cost of a replay, one value a call."""

    def __init__(self, calls: Sequence[CallCost]) -> None:
        self.calls = calls

    @property
    def usd(self) -> list[float | None]:
        """US dollars by call; None where the model, its price or the reply's length is unknown."""
        return [call.usd for call in self.calls]

    @property
    def summaries_usd(self) -> list[float | None]:
        """US dollars by call for new summaries, which `usd` includes; None where the model has no known price."""
        return [call.summaries_usd for call in self.calls]

    @property
    def total(self) -> float | None:
        """US dollars of all calls; None where one of them is unknown or there is none."""
        return _sum(self.usd) if self.calls else None

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
        summaries = [summary for call in self.calls for summary in call.summaries]
        return {
            "usd": self.total,
            "usd_known": sum(call.usd or 0 for call in known) if known else None,
            "low": sum(call.low or 0 for call in known) if known else None,
            "high": sum(call.high or 0 for call in known) if known else None,
            "unknown_calls": self.unknown_calls,
            "without_cache": sum(call.without_cache for call in known),
            "output_too_low": sum(call.output.reported_too_low for call in self.calls),
            "output_not_reported": sum(call.output.is_not_reported for call in self.calls),
            "summaries": len(summaries),
            "summaries_estimated": sum(summary.stands_in for summary in summaries),
            "summaries_usd": _sum(self.summaries_usd),
            "currency": self.prices.currency,
            "prices": self.prices.source,
        }


def _sum(values: Sequence[float | None]) -> float | None:
    """Return the sum; None if a summand is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def cost(replay: Replay) -> Cost:
    """Return what each call of a replay costs."""
    return Cost(list(_calls(replay)))


def _calls(replay: Replay) -> Iterator[CallCost]:
    priced = _Pricing(replay)
    by_model = getattr(replay.config.strategy, "summary", None) == "model"
    written = SummaryCalls(replay.summaries) if by_model else None
    for call in range(len(replay.transcript.calls)):
        found = priced.call(call)
        needed = written.needed(replay.plan(call), replay.counter_of(call)) if written else ()
        at = replay.transcript.calls[call].at
        yield _with_summaries(found, needed, replay.model_of(call), at) if needed else found


class _Pricing:
    """Prices calls by what the cache of a replay says of them."""

    def __init__(self, replay: Replay) -> None:
        self._replay, self._cache, self._rows = replay, replay.cache, replay.cache.calls
        self._life = hour_life(replay.transcript)
        self._bills = replay.shared("bills", lambda: _bills(replay))

    def call(self, call: int) -> CallCost:
        """Return the cost of a call without summaries."""
        output, rates = self._bills[call]
        if output.tokens is None or rates is None:
            return CallCost(None, None, None, output)
        row = self._rows[call]
        known = row.low if row.cached is None else row.cached
        usd = self._usd(rates, call, known, output.tokens)
        low = usd if row.low == known else self._usd(rates, call, row.low, output.tokens)
        high = usd if row.high == known else self._usd(rates, call, row.high, output.tokens)
        return CallCost(usd, min(low, high), max(low, high), output, row.hidden, row.cached is None)

    def _usd(self, rates: Rates, call: int, read: int, output: int) -> float:
        row = self._rows[call]
        writes = bool(row.written) or (row.cached is None and self._cache.writes(call, read))
        if not writes:
            return rates.usd(Tokens(row.sent, read, 0, output))
        write = row.sent - read
        for_an_hour = hour_written(self._life, self._replay.plan(call), row.hidden, read) if write else 0
        return rates.usd(Tokens(row.sent, read, write, output, min(write, for_an_hour)))


def _bills(replay: Replay) -> list[tuple[Output, Rates | None]]:
    """Return the reply and the prices of each call, None where they are unknown."""
    return [
        (
            output_tokens(replay.transcript, made, replay.counter_of(call)),
            rates_of(replay.model_of(call), made.at),
        )
        for call, made in enumerate(replay.transcript.calls)
    ]


def _with_summaries(
    call: CallCost, summaries: tuple[SummaryCall, ...], model: str | None, at: datetime | None
) -> CallCost:
    """Return a call's cost with that of new summaries: nothing of theirs is in the cache."""
    spent = _sum([cost_in_usd(model, at, Tokens(each.input, 0, 0, each.output)) for each in summaries])
    usd, low, high = (_sum([value, spent]) for value in (call.usd, call.low, call.high))
    return call._replace(usd=usd, low=low, high=high, summaries=summaries, summaries_usd=spent)
