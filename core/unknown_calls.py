"""Of which calls a figure is unknown, and why: what stands behind "in 19 of 20 calls".

Each function returns calls (0-based) by a reason that ends a sentence on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .cache_misses import NO_RULE
from .prefix import Cause

if TYPE_CHECKING:
    from .cache import Cache
    from .cost import Cost
    from .transcript import Transcript

NO_PRICE = "no price of the model is known"
NO_REPLY = "no reply is recorded"
NO_USAGE = "no usage was reported"
_READS = {
    Cause.FIRST_CALL: "what was cached before is not recorded",
    Cause.UNUSED: "no report of the provider has cached tokens",
}

Unknown = dict[str, list[int]]


def unknown_reads(cache: Cache) -> Unknown:
    """Return the calls of which nobody can say what was read from the prompt cache."""
    found: Unknown = {}
    for call, (row, rule) in enumerate(zip(cache.calls, cache.rules, strict=True)):
        if row.cached is None:
            why = NO_RULE if rule is None else _READS.get(row.cause, str(row.cause))
            found.setdefault(why, []).append(call)
    return found


def unknown_costs(cost: Cost) -> Unknown:
    """Return the calls whose predicted cost is unknown."""
    found: Unknown = {}
    for call, made in enumerate(cost.calls):
        if made.usd is None:
            found.setdefault(NO_REPLY if made.output.tokens is None else NO_PRICE, []).append(call)
    return found


def unreported(transcript: Transcript) -> Unknown:
    """Return the calls of which the provider reported no input."""
    calls = [call for call, made in enumerate(transcript.calls) if made.usage.input is None]
    return {NO_USAGE: calls} if calls else {}
