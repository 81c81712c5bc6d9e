"""The counting of work sees calls in Python and in C, and ends what does not end by itself."""

from __future__ import annotations

import sys

import pytest

from tests.work import TooMuchWork, counted_work


def square(size: int) -> int:
    return sum(abs(left - right) for left in range(size) for right in range(size))


def test_calls_are_counted() -> None:
    with counted_work() as small:
        square(10)
    with counted_work() as large:
        square(20)
    assert 100 <= small.calls < 250
    assert 3 < large.calls / small.calls < 4.5
    assert sys.getprofile() is None


def test_too_much_work_is_ended_whatever_guards_it() -> None:
    def endless() -> None:
        while True:
            try:
                len(())
            except Exception:
                continue

    with pytest.raises(TooMuchWork, match="more than 1,000 calls"), counted_work(1_000):
        endless()
    assert sys.getprofile() is None
