"""What is really sent of each call against the soft budget: with what the recording does not hold.

A strategy's budget is on what it is given, and its plans say by how much that is over. A system prompt or tools that
were not recorded are sent all the same, and a count that was too high is more than what is sent. So whatever tells a
person whether a call fits asks these functions, and the two answers can differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .advice_sizes import Sizes, unrecorded_parts
from .config import Configuration
from .engine import soft_budget

if TYPE_CHECKING:
    from .replay import Replay

__all__ = ["OverBudget", "excess_as_sent", "fits_as_recorded", "over_as_sent", "sizes_of"]


class OverBudget(NamedTuple):
    """How many calls are over the soft budget as sent, and by how many tokens the worst one is."""

    calls: int
    largest: int


def excess_as_sent(sent: Sequence[int], config: Configuration) -> list[int]:
    """Return by how many tokens each call is over the soft budget as sent; 0 where it is not, or where none is set."""
    budget = soft_budget(config)
    return [0 if budget is None else max(0, tokens - budget) for tokens in sent]


def over_as_sent(replay: Replay) -> OverBudget:
    """Return how many calls of a replay are over its soft budget as sent, and by how much."""
    excess = replay.calls["sent_excess"]
    return OverBudget(sum(tokens > 0 for tokens in excess), max(excess, default=0))


def fits_as_recorded(replay: Replay) -> list[int]:
    """Return the calls that are over the soft budget as sent, although what a strategy is given keeps to it."""
    pairs = zip(replay.calls["sent_excess"], replay.calls["excess"], strict=True)
    return [call for call, (sent, given) in enumerate(pairs) if sent and not given]


def sizes_of(replay: Replay, call: int) -> Sizes:
    """Return what a size of a call is compared with the soft budget by; a budget of 0 where none is set."""
    lacks = unrecorded_parts(replay.transcript.notes)
    return Sizes.of(soft_budget(replay.config) or 0, replay.calibration.calls[call], lacks)
