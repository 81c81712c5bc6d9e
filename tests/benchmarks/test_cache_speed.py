"""Figures for cache, cost and calibration: all calls of a long transcript against counting it once.

Nothing here fails by the clock; `pytest tests/benchmarks -m slow -s` prints the table.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.cache import cache
from core.cost import cost
from core.replay import replay
from core.transcript import Transcript, Usage

from .test_replay_speed import BUDGET, STRATEGIES, _best, _count
from .transcripts import seeded

MORE: dict[str, dict[str, Any]] = {
    **STRATEGIES,
    "mask_tool_results": {"kind": "mask_tool_results", "trigger": 0},
    "required_reserve": {"kind": "required_reserve"},
    "span_triage": {"kind": "span_triage"},
}


@pytest.mark.slow
@pytest.mark.parametrize("messages", [1_000, 10_000])
def test_cache_and_cost_are_cheap_beside_counting(messages: int) -> None:
    transcript = reported(seeded(messages))
    once = _best(lambda: _count(transcript), times=2)
    print(f"\n{messages:,} messages, {len(transcript.calls):,} calls; counting once {once:.3f} s")
    for name, strategy in MORE.items():
        made = replay(transcript, {"model": {"name": "gpt-4o"}, "budget": BUDGET, "strategy": strategy})
        assert len(made.calibration.calls) == len(made.cache.calls) == len(made.cost.calls)
        times = [_best(lambda one=one, made=made: one(made), times=2) / once for one in (cache, cost)]  # type: ignore[misc]
        print(f"{name:32s} cache {times[0]:6.2f}  cost {times[1]:6.2f}")


def reported(transcript: Transcript) -> Transcript:
    """Return the transcript with a usage for each call, so that there is something to calibrate by."""
    calls = (replace(call, usage=Usage(1000 + 50 * at, 0, None, 50)) for at, call in enumerate(transcript.calls))
    return replace(transcript, calls=tuple(calls))
