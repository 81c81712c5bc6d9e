"""A bounded memo: the oldest values go, and threads that fill it at a time all get what they asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.newest import Newest
from core.reading import MOST_READINGS
from core.replay import replay
from core.stand_ins import MOST_TEXTS
from tests.runs import result, run, says, user, uses


@pytest.fixture
def restless() -> Iterator[None]:
    """Let threads take turns as often as can be."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def test_a_value_is_made_once_and_the_oldest_goes() -> None:
    made: list[int] = []
    known: Newest[int, int] = Newest(2)
    for key in (1, 2, 1, 3, 2, 1):
        assert known.get(key, lambda key=key: made.append(key) or 10 * key) == 10 * key  # type: ignore[misc]
    assert made == [1, 2, 3, 1] and list(known) == [3, 1] and len(known) == 2


def test_what_is_not_kept_is_forgotten() -> None:
    known: Newest[int, str] = Newest(9)
    for key in range(5):
        known.get(key, str)
    known.keep({1, 3, 77})
    assert list(known) == [1, 3]


@pytest.mark.usefixtures("restless")
def test_threads_may_ask_at_a_time() -> None:
    known: Newest[int, int] = Newest(3)

    def ask(start: int) -> bool:
        return all(
            known.get(key % 11, lambda key=key: -(key % 11)) == -(key % 11) for key in range(start, start + 4000)
        )  # type: ignore[misc]

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, range(4)))
    assert len(known) == 3


@pytest.mark.usefixtures("restless")
def test_threads_may_replay_more_than_is_remembered() -> None:
    body = "def total_price(order):\n    return order.net_sum\n" * 30
    steps = [one for at in range(4) for one in (uses(f"c{at}", "read", path="a.py"), result(f"c{at}", body))]
    transcript = run([user("Fix total_price."), *steps, says("total_price has order.net_sum.")])
    count = 2 * max(MOST_TEXTS, MOST_READINGS)

    def lost(number: int) -> list[int | None]:
        mask = {"kind": "mask_tool_results", "keep": 0, "trigger": 0, "placeholder": f"{number % count}: {{tool}}"}
        counter = {"kind": "tiktoken", "scale": 1 + number % count / 100}
        made = replay(transcript, {"strategy": mask, "counter": counter})
        assert len(made.cost.calls) == len(transcript.calls)
        return made.loss.lost

    expected = lost(0)
    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(lost, range(3 * count)))
