"""The rules of every strategy on random requests of both dialects."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import strategies as st

from core.plan import Status
from core.runtime import Hints
from core.wire import dump
from tests.engine_bodies import DIALECTS, bodies
from tests.engine_checks import KINDS, STUBBING, assemble, check, configurations, size, with_budget
from tests.explore import examples, explore

BOTH = pytest.mark.parametrize("dialect", DIALECTS)
EACH = pytest.mark.parametrize("kind", [*KINDS, *STUBBING])


def budgets(whole: int) -> st.SearchStrategy[int | None]:
    """A budget: impossible, tight, about the size of the input, or none."""
    near = st.integers(-2, 2).map(lambda d: max(0, whole + d))
    tight = st.integers(0, whole + 10)
    return st.one_of(st.none(), st.just(0), near, tight, tight, tight)


@st.composite
def hints(draw: Any, body: dict[str, Any]) -> Hints | None:
    """Pins and retrieval by span id or call id."""
    if draw(st.booleans()):
        return None
    ids = st.sampled_from(["c0", "c1", "c2", *(f"m{at}.0" for at in range(len(body["messages"])))])
    return Hints(
        pins=tuple(draw(st.lists(ids, max_size=2))),
        retrieval=tuple(draw(st.lists(ids, max_size=2))),
        active_tools=tuple(draw(st.lists(st.just("run_python"), max_size=1))),
    )


def drawn(data: st.DataObject, kind: str, dialect: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a request body and a configuration with a budget."""
    body, config = data.draw(bodies(dialect)), data.draw(configurations(kind, dialect))
    return body, with_budget(config, data.draw(budgets(size(config, body))))


@examples(60)
@BOTH
@EACH
def test_every_result(kind: str, dialect: str, count: int) -> None:
    def run(data: st.DataObject) -> None:
        body, config = drawn(data, kind, dialect)
        check(config, body, dialect, data.draw(hints(body)))

    explore(count, run)


@examples(25)
@BOTH
@EACH
def test_a_lower_budget_never_sends_more(kind: str, dialect: str, count: int) -> None:
    def run(data: st.DataObject) -> None:
        body, config = data.draw(bodies(dialect)), data.draw(configurations(kind, dialect))
        most = size(config, body) + 5
        limits = sorted(data.draw(st.lists(st.integers(0, most), min_size=2, max_size=10, unique=True)))
        for less, more in combinations([assemble(with_budget(config, limit), body) for limit in limits], 2):
            if not less.excess:
                assert less.tokens_after <= more.tokens_after
            elif more.excess:
                assert dump(less.request) == dump(more.request), "not the same floor"

    explore(count, run)


@examples(60)
@BOTH
@EACH
def test_a_result_assembled_again_is_the_same(kind: str, dialect: str, count: int) -> None:
    def run(data: st.DataObject) -> None:
        body, config = drawn(data, kind, dialect)
        once = assemble(config, body)
        again = assemble(config, once.request)
        assert again.tokens_after <= once.tokens_after
        unchanged = once.status not in (Status.TRIMMED, Status.OVER_BUDGET)
        if unchanged or (not once.excess and goes_by_budget_alone(config)):
            assert dump(again.request) == dump(once.request)

    explore(count, run)


def goes_by_budget_alone(config: dict[str, Any]) -> bool:
    """Whether nothing is asked for at any size, and no keyword counts that may be cut with its message."""
    groups = config["strategy"].get("groups") or any("group" in rule for rule in config["rules"])
    return config["strategy"].get("trigger", 1.0) in (1.0, None) and not groups


@examples(40)
@BOTH
@EACH
def test_a_budget_above_the_input_changes_nothing(kind: str, dialect: str, count: int) -> None:
    def run(data: st.DataObject) -> None:
        body, config = data.draw(bodies(dialect)), data.draw(configurations(kind, dialect, rules=st.just([])))
        if "trigger" in config["strategy"]:
            config["strategy"] |= {"trigger": 1.0}
        if kind == "tiered_injection":
            config["strategy"] |= {"groups": []}
        enough = size(config, body) + config["strategy"].get("overhead", 0)
        for budget in (enough, enough + data.draw(st.integers(1, 1000)), None):
            result = assemble(with_budget(config, budget), body)
            assert (result.status, result.excess) == (Status.FITS, 0)
            assert dump(result.request) == dump(body)

    explore(count, run)
