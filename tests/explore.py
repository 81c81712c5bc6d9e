"""Random examples for a check: few and always the same ones in an ordinary run, many new ones in a slow run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

MANY = 3000


def examples(few: int) -> pytest.MarkDecorator:
    """Parametrise a test with `count`: `few` examples, and many in a slow run."""
    return pytest.mark.parametrize("count", [few, pytest.param(MANY, marks=pytest.mark.slow)])


def explore(count: int, check: Callable[[st.DataObject], None]) -> None:
    """Run a check on random examples."""

    @settings(max_examples=count, derandomize=count < MANY, database=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def run(data: st.DataObject) -> None:
        check(data)

    run()
