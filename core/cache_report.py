"""Predicted cache reads beside the reported ones, with the cause of each miss.

Three predictions: from the usage reported for the call before, which shows that the mechanism is understood; from our
own counts with the calls before that one known, which is what counting alone can do; and that of the replay, which
comparison and cost take, and which knows of each call what is not recorded. A prediction that needs what is not there
is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .cache import CachedCall
from .cache_misses import Reads
from .cache_rules import CacheRule
from .output_tokens import output_tokens
from .prefix import Cause

if TYPE_CHECKING:
    from .replay import Replay

SAME = 0.01
"""A prediction within this share of the prompt is as good as a replay needs."""


@dataclass(frozen=True, slots=True)
class ComparedCall:
    """One call's cache reads in tokens: reported, and predicted in three ways; why each differs, "" if it agrees.

    `low` and `high` bound what the replay predicts.
    """

    call: int
    sent: int
    reported: int
    from_reported: int | None
    from_counts: int | None
    replayed: int | None
    why: str = ""
    why_counts: str = ""
    why_replayed: str = ""
    low: int = 0
    high: int = 0

    @property
    def error(self) -> float | None:
        """How far the prediction from counts is off, as a share of the prompt."""
        return None if self.from_counts is None else abs(self.from_counts - self.reported) / self.sent


def compared_call(replay: Replay, call: int) -> ComparedCall | None:
    """Return one call (0-based) beside what was predicted for it as recorded; None where no read was reported."""
    captured = replay.as_captured
    usage, row, rule = captured.transcript.calls[call].usage, captured.cache.calls[call], captured.cache.rules[call]
    if usage.cache_read is None or not usage.input:
        return None
    whole = by_usage = by_counts = None
    before = row.before if row.before >= 0 else call - 1
    if rule is not None and row.cause is not Cause.FIRST_CALL:
        whole = rule.after(captured.transcript.calls[before].usage)
        by_usage = _as_far(row, whole)
        by_counts = _as_far(row, _from_counts(captured, before, rule))
    misses, reads = captured.misses, Reads(call, before, usage.input, usage.cache_read, row, rule, whole, by_usage)
    return ComparedCall(
        call=call,
        sent=usage.input,
        reported=usage.cache_read,
        from_reported=by_usage,
        from_counts=by_counts,
        replayed=row.cached,
        why=misses.of_usage(reads),
        why_counts=misses.of_counts(reads, by_counts),
        why_replayed=misses.of_replay(reads),
        low=row.low,
        high=row.high,
    )


def _from_counts(replay: Replay, before: int, rule: CacheRule) -> int | None:
    """Return what follows from the counted prompt of the call before and the calls known before that one."""
    expected = replay.calibration.calls[before].expected
    if expected is None:
        return None
    if rule.with_output:
        call = replay.transcript.calls[before]
        expected += output_tokens(replay.transcript, call, replay.counter_of(before)).tokens or 0
    return rule.rounded(expected)


def _as_far(row: CachedCall, whole: int | None) -> int | None:
    """Return how much of the whole prompt before is read, where it broke, expired or was not marked."""
    if row.cause is Cause.NO_MARKS or row.cached == 0:
        return 0
    if not row.breaks:
        return whole
    return None if whole is None or row.cached is None else min(whole, row.cached)
