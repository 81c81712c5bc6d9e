"""What a replay sends in all, for a scorecard: what was recorded and counted, what was not recorded, what is cached.

Prompts as recorded and what is not recorded of them add up to what is sent, and that is what is read from the cache,
written to it, and paid. Where counts were too high the difference is a correction, which is taken off in the open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from .cache import Cache, CachedCall
from .replay import Replay, plan_exactness
from .reported_cost import reported_cost
from .tokens import Exactness


def bill(replay: Replay) -> dict[str, Any]:
    """Return the tokens that a replay sends, as recorded and beyond it, beside those reported for the recording."""
    beyond = [tokens for tokens in replay.calls["not_recorded"] if tokens is not None]
    reported = [call.usage.input for call in replay.transcript.calls if call.usage.input is not None]
    return {
        "sum_tokens": sum(replay.calls["in_window"]),
        "not_recorded_tokens": sum(max(0, tokens) for tokens in beyond) if beyond else None,
        "corrected_tokens": sum(min(0, tokens) for tokens in beyond) if beyond else None,
        "not_recorded_unknown_calls": len(replay.transcript.calls) - len(beyond),
        "sent_tokens": sum(replay.calls["sent"]),
        "sent_known_as": dict(Counter(str(mark) for mark in marks(replay))),
        "billed_tokens": sum(reported) if reported else None,
        "billed_calls": len(reported),
        "drift": {model: asdict(found) for model, found in replay.calibration.by_model.items()},
    }


def marks(replay: Replay) -> list[Exactness]:
    """Return how far the tokens that each call sends in all can be trusted."""
    return [_mark(replay, call) for call in range(len(replay.transcript.calls))]


def _mark(replay: Replay, call: int) -> Exactness:
    row, plan, counter = replay.calibration.calls[call], replay.plan(call), replay.counter_of(call)
    if row.reported is not None and not plan.changed and plan.tokens_after == row.counted:
        return Exactness.REPORTED
    if row.floor is None or counter.exactness is Exactness.ESTIMATE:
        return plan_exactness(plan, counter)
    return Exactness.CALIBRATED


def cached(cache: Cache) -> dict[str, Any]:
    """Return what is read from the cache and written to it, over the calls where that is known, in tokens."""
    known = [row for row in cache.calls if row.cached is not None]
    beyond = [_beyond(row) for row in known]
    return {
        "cached_share": cache.share,
        "cached_tokens": sum(row.cached or 0 for row in known) if known else None,
        "cached_not_recorded_tokens": sum(max(0, tokens) for tokens in beyond) if known else None,
        "cached_corrected_tokens": sum(min(0, tokens) for tokens in beyond) if known else None,
        "written_tokens": sum(row.written or 0 for row in known) if known else None,
        "uncached_tokens": sum(row.uncached or 0 for row in known) if known else None,
        "cache_unknown_calls": len(cache.calls) - len(known),
        "prefix_breaks": cache.break_count,
        "break_causes": counts_of(str(row.cause) for row in cache.calls if row.breaks),
    }


def _beyond(row: CachedCall) -> int:
    """Return the tokens read beyond those counted, of what is not recorded; below 0 where the count was too high."""
    return (row.cached or 0) - (row.cached_of_window or 0)


def reported_share(replay: Replay) -> float | None:
    """Return the tokens that the provider reported as read from the cache, of those that it reported as sent."""
    usages = (call.usage for call in replay.transcript.calls)
    told = [(usage.cache_read, usage.input) for usage in usages if usage.cache_read is not None and usage.input]
    return sum(read for read, _ in told) / sum(sent for _, sent in told) if told else None


def paid(replay: Replay) -> dict[str, Any]:
    """Return what a replay would have cost in US dollars, beside what the recording cost by its own usage."""
    totals, reported = replay.cost.totals(), reported_cost(replay)
    return {
        "cost_usd": totals["usd"],
        "cost_known_usd": totals["usd_known"],
        "cost_low_usd": totals["low"],
        "cost_high_usd": totals["high"],
        "cost_unknown_calls": totals["unknown_calls"],
        "cost_without_cache_calls": totals["without_cache"],
        "cost_reported_usd": reported.known,
        "cost_reported_unknown_calls": reported.unknown_calls,
        "replies_reported_too_low": totals["output_too_low"],
        "replies_not_reported": totals["output_not_reported"],
        **{name: totals[name] for name in ("summaries", "summaries_estimated", "summaries_usd")},
    }


def counts_of(names: Iterable[str]) -> dict[str, int]:
    """Return how often each name occurs, as a plain value for JSON."""
    return dict(Counter(names))
