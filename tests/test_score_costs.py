"""Predicted costs: what their row says of how sure they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.cost import Cost
from core.replay import Replay, replay
from core.scorecard import Scorecard, scorecard
from pages.parts.score import measures
from pages.parts.score_notes import notes
from tests.pages_app import sample
from tests.test_cost import FULL, talk

SAID = "Where that is unknown, a predicted cost counts the least as read, and is the most that it may be."


@pytest.mark.parametrize(
    ("cost", "other", "at_most"),
    [
        ((0.0609, 0.0073, 0.0609), (0.0606, 0.0071, 0.0606), True),
        ((0.0609, 0.0073, 0.0609), (0.0606, 0.0606, 0.0606), True),
        ((0.0609, 0.0073, 0.0609), (None, None, None), True),
        ((0.0609, 0.0073, 0.0609), (0.0300, 0.0071, 0.0606), False),
        ((0.0609, 0.0609, 0.0609), (0.0606, 0.0606, 0.0606), False),
        ((0.0609, 0.0608, 0.0609), (0.0606, 0.0606, 0.0606), False),
    ],
)
def test_a_cost_at_the_upper_end_of_its_range_is_told_as_the_most(cost: Any, other: Any, at_most: bool) -> None:
    def made(usd: float | None, low: float | None, high: float | None) -> Scorecard:
        return replace(card, cost_unknown_calls=0, cost_known_usd=usd, cost_low_usd=low, cost_high_usd=high)

    card = scorecard(replay(sample(), FULL))
    names = [row.name for row in measures(made(*cost), [made(*other)])]
    assert ("Cost, predicted at most, US dollars" in names, "Cost, predicted, US dollars" in names) == (
        at_most,
        not at_most,
    )


def costing(made: Replay, **bounds: Any) -> Replay:
    """Return a replay whose first call has these bounds."""
    first, *rest = made.cost.calls
    made.__dict__["cost"] = Cost([first._replace(**bounds), *rest])
    return made


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"usd": 0.3, "low": 0.1, "high": 0.3, "without_cache": True}, True),
        ({"usd": 0.2, "low": 0.1, "high": 0.3, "without_cache": True}, False),
        ({"usd": 0.3, "low": 0.3, "high": 0.3, "without_cache": True}, False),
        ({"usd": 0.3, "low": 0.1, "high": 0.3, "without_cache": False}, False),
    ],
)
def test_what_a_cost_takes_for_read_is_told_where_nobody_knows_it(bounds: dict[str, Any], said: bool) -> None:
    captured = costing(replay(talk(), FULL), **bounds)
    assert (SAID in notes(scorecard(replay(talk(), FULL)), captured, {})) is said


def test_the_sample_says_that_its_costs_are_the_most_they_may_be() -> None:
    captured = replay(sample(), FULL)
    kept = replay(sample(), {"budget": {"soft_limit": 4_500}, "strategy": {"kind": "keep_last", "keep_turns": 2}})
    assert SAID in notes(scorecard(captured), captured, {"kept": kept})
    assert SAID not in notes(scorecard(captured), captured, {"whole": captured})  # the range is too narrow to be told
    names = [row.name for row in measures(scorecard(captured), [scorecard(kept)])]
    assert "Cost, predicted at most, USD, 19 of 20 calls" in names
