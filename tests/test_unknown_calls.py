"""Which calls have no figure, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.replay import replay
from core.transcript import Usage
from core.unknown_calls import unknown_costs, unknown_reads, unreported
from tests.test_cost import FULL, talk

FIRST = "what was cached before is not recorded"


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("gpt-4o", {FIRST: [0]}),
        ("house-model", {"no rule is known for this provider": [0, 1]}),
        ("gemini-2.5-flash", {"no rule is known for this provider": [0, 1]}),
    ],
)
def test_unknown_reads_have_a_reason(model: str, why: dict[str, list[int]]) -> None:
    assert unknown_reads(replay(talk(model), FULL).cache) == why


def test_a_provider_that_never_cached_anything_leaves_it_open() -> None:
    made = talk()
    calls = tuple(replace(call, usage=Usage(3_100, 0, 0, 10)) for call in made.calls)
    found = unknown_reads(replay(replace(made, calls=calls), FULL).cache)
    assert found == {FIRST: [0], "no report of the provider has cached tokens": [1]}


def test_unknown_costs_have_a_reason() -> None:
    made = talk()
    assert unknown_costs(replay(made, FULL).cost) == {}
    calls = (replace(made.calls[0], response=None), replace(made.calls[1], model="house-model"))
    found = unknown_costs(replay(replace(made, calls=calls), FULL).cost)
    assert found == {"no reply is recorded": [0], "no price of the model is known": [1]}


def test_calls_without_a_report_are_named() -> None:
    made = talk()
    assert unreported(made) == {"no usage was reported": [0, 1]}
    assert unreported(replace(made, calls=tuple(replace(call, usage=Usage(9)) for call in made.calls))) == {}
