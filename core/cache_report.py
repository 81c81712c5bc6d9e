"""Predicted cache reads beside the reported ones, with the cause of each miss.

Two predictions: from the usage reported for the call before, which shows that the mechanism is understood; and from
our own counts with the calls before that one known, which is what a replay can do. A prediction that needs what is
not there is None.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .cache import CachedCall
from .cache_rules import CacheRule
from .common_prefix import Cause
from .output_tokens import output_tokens

if TYPE_CHECKING:
    from .replay import Replay

SAME = 0.01
"""A prediction within this share of the prompt is no miss that needs a cause."""


@dataclass(frozen=True, slots=True)
class ComparedCall:
    """One call's cache reads in tokens: reported, and predicted in two ways; why they differ, "" if they agree."""

    call: int
    sent: int
    reported: int
    from_reported: int | None
    from_counts: int | None
    why: str = ""

    @property
    def error(self) -> float | None:
        """How far the prediction from counts is off, as a share of the prompt."""
        return None if self.from_counts is None else abs(self.from_counts - self.reported) / self.sent


def against_reported(replay: Replay) -> list[ComparedCall]:
    """Return every call with a reported cache read, beside what was predicted for the recorded prompts."""
    return list(_compared(replay.as_captured))


def _compared(replay: Replay) -> Iterator[ComparedCall]:
    for call, row in enumerate(replay.cache.calls):
        usage = replay.transcript.calls[call].usage
        rule = replay.cache.rules[call]
        if usage.cache_read is None or not usage.input:
            continue
        reported = counted = None
        if rule is not None and row.cause is not Cause.FIRST_CALL:
            reported = _as_far(row, rule, rule.after(replay.transcript.calls[call - 1].usage))
            counted = _as_far(row, rule, _from_counts(replay, call, rule))
        why = _why(row, rule, usage.cache_read, reported, usage.input)
        yield ComparedCall(call, usage.input, usage.cache_read, reported, counted, why)


def _from_counts(replay: Replay, call: int, rule: CacheRule) -> int | None:
    """Return what follows from the counted prompt before and the calls known before that one."""
    expected = replay.calibration.calls[call - 1].expected
    if expected is None:
        return None
    if rule.with_output:
        before = replay.transcript.calls[call - 1]
        expected += output_tokens(replay.transcript, before, replay.counter_of(call - 1)).tokens or 0
    return rule.rounded(expected)


def _as_far(row: CachedCall, rule: CacheRule, whole: int | None) -> int | None:
    """Return how much of the whole prompt before is read, where it broke, expired or was not marked."""
    if row.cause is Cause.NO_MARKS or row.cached == 0:
        return 0
    if not row.breaks:
        return whole
    return None if whole is None or row.cached is None else min(whole, row.cached)


def _why(row: CachedCall, rule: CacheRule | None, reported: int, predicted: int | None, sent: int) -> str:
    if predicted is None:
        unknown = "no rule is known for this provider" if rule is None else "the call before is unknown"
        return str(row.cause) or unknown
    if reported == predicted:
        return ""
    if row.cause is not Cause.NONE:
        return str(row.cause)
    if abs(reported - predicted) <= SAME * sent:
        return "rounding"
    if reported > predicted:
        return "more was read than was sent before"
    if rule is not None and rule.provider == "openai":
        return "routing: the provider decides which machine's cache is asked"
    return "history rewritten, or sent otherwise than recorded"
