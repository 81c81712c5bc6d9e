"""Dates in texts are written as the columns of tables write them, without a zero before the day."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from pages.parts.dates import day


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        (date(2026, 12, 1), "1 Dec 2026"),
        (datetime(2020, 1, 31, 23, 59, tzinfo=UTC), "31 Jan 2020"),
    ],
)
def test_a_day(moment: date, said: str) -> None:
    assert day(moment) == said
