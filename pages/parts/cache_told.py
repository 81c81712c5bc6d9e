"""What a call read of the provider's prompt cache: reported beside predicted, with the cause of each miss."""

from __future__ import annotations

from core.cache_report import SAME, ComparedCall, compared_call
from core.replay import Replay
from core.wording import counted


def cache_told(captured: Replay, call: int) -> str:
    """Return the sentences on the cache reads of a call (0-based); empty where none were reported."""
    found = compared_call(captured, call)
    return "" if found is None else sentences(found)


def sentences(found: ComparedCall) -> str:
    """Return reported and predicted reads in tokens, each prediction with the cause of its miss.

    What counts alone say before the report of the call before is told where that report makes a difference.
    """
    said = [
        f"Prompt cache: {found.reported:,} of {counted(found.sent, 'token')} read as reported.",
        f"From the usage of the call before: {_predicted(found, found.from_reported, found.why)}.",
        f"From counts, as Compare and cost take it: {_predicted(found, found.replayed, found.why_replayed)}"
        f"{_taken_by_cost(found)}.",
    ]
    known = found.reported if found.from_reported is None else found.from_reported
    misses = found.error is not None and found.error > SAME
    if misses and abs((found.from_counts or 0) - known) > SAME * found.sent:
        alone = _predicted(found, found.from_counts, found.why_counts)
        said.append(f"From counts before the call before was reported: {alone}.")
    return " ".join(said)


def _predicted(found: ComparedCall, tokens: int | None, why: str) -> str:
    if tokens is None:
        known = f"{found.low:,} to {found.high:,}" if why == found.why_replayed and found.high else "not predicted"
        return f"{known} ({why})"
    return "the same" if tokens == found.reported else f"{tokens:,} ({why})"


def _taken_by_cost(found: ComparedCall) -> str:
    """Return which end of a range a cost is of; "" where what is read is not a range."""
    return f", of which cost counts {found.low:,}" if found.replayed is None and found.high > found.low else ""
