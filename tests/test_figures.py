"""The figures at the head of a transcript: a part of a prompt is never larger than the whole."""

from __future__ import annotations

import pytest

from core.replay import replay
from core.transcript import Transcript
from pages.parts.figures import Figures, figures
from tests.runs import run, says, user
from tests.test_advice_sizes import reported

SYSTEM = "Rule: " + "x y z " * 200


def made(beyond: int, transcript: Transcript | None = None) -> Figures:
    spoken = transcript or run([user("Hello."), says("Hi.")], system=SYSTEM)
    return figures(replay(reported(spoken, beyond), {"strategy": {"kind": "as_captured"}}))


@pytest.mark.parametrize("beyond", [-500, -100, -1, 0, 100])
def test_the_fixed_floor_is_no_larger_than_the_peak_as_sent(beyond: int) -> None:
    found = made(beyond)
    assert 0 < found.floor <= found.peak_sent == found.peak + beyond


def test_a_floor_that_was_counted_too_high_is_corrected_in_proportion() -> None:
    found = made(-500)
    assert found.floor == found.counted_floor * found.peak_sent // found.peak < found.counted_floor
    assert found.smallest_floor == found.floor


@pytest.mark.parametrize("beyond", [0, 100])
def test_a_floor_that_was_not_counted_too_high_is_as_counted(beyond: int) -> None:
    found = made(beyond)
    assert found.floor == found.counted_floor
