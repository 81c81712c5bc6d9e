"""The rules of every strategy on random requests of all dialects."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import strategies as st

from core.plan import Plan, Status
from core.wire import dump
from tests.engine_bodies import DIALECTS, LISTS, bodies
from tests.engine_checks import assemble, check, size, with_budget
from tests.engine_configurations import KINDS, PLAIN_RULES, STUBBING, asks_at_any_size, configurations, hints
from tests.explore import examples, explore

ALL = pytest.mark.parametrize("dialect", DIALECTS)
EACH = pytest.mark.parametrize("kind", [*KINDS, *STUBBING])


def budgets(whole: int) -> st.SearchStrategy[int | None]:
    """A budget: impossible, tight, about the size of the input, or none."""
    near = st.integers(-2, 2).map(lambda d: max(0, whole + d))
    tight = st.integers(0, whole + 10)
    return st.one_of(st.none(), st.just(0), near, tight, tight, tight)


def drawn(data: st.DataObject, kind: str, dialect: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a request body and a configuration with a budget."""
    body, config = data.draw(bodies(dialect)), data.draw(configurations(kind, dialect))
    return body, with_budget(config, data.draw(budgets(size(config, body))))


def every_result(kind: str, dialect: str, data: st.DataObject) -> None:
    body, config = drawn(data, kind, dialect)
    check(config, body, dialect, data.draw(hints(len(body[LISTS[dialect]]))))


def a_lower_budget(kind: str, dialect: str, data: st.DataObject) -> None:
    body, config = data.draw(bodies(dialect)), data.draw(configurations(kind, dialect))
    given = data.draw(hints(len(body[LISTS[dialect]])))
    most = size(config, body) + 5
    limits = sorted(data.draw(st.lists(st.integers(0, most), min_size=2, max_size=10, unique=True)))
    for less, more in combinations([assemble(with_budget(config, limit), body, given) for limit in limits], 2):
        if not less.excess:
            assert less.tokens_after <= more.tokens_after
        elif more.excess:
            assert dump(less.request) == dump(more.request), "not the same floor"


def assembled_again(kind: str, dialect: str, data: st.DataObject) -> None:
    body, config = drawn(data, kind, dialect)
    once = assemble(config, body)
    again = assemble(config, once.request)
    assert again.tokens_after <= once.tokens_after
    unchanged = once.status not in (Status.TRIMMED, Status.OVER_BUDGET)
    if unchanged or not (once.excess or asks_at_any_size(config)):
        assert dump(again.request) == dump(once.request)


def enough(kind: str, dialect: str, data: st.DataObject) -> None:
    body = data.draw(bodies(dialect))
    config = data.draw(configurations(kind, dialect, rules=PLAIN_RULES, shrinkers=st.just([])))
    if "trigger" in config["strategy"]:
        config["strategy"] |= {"trigger": 1.0}
    if kind == "tiered_injection":
        config["strategy"] |= {"groups": []}
    most = size(config, body) + config["strategy"].get("overhead", 0)
    for budget in (most, most + data.draw(st.integers(1, 1000)), None):
        result = assemble(with_budget(config, budget), body)
        assert (result.status, result.excess) == (Status.FITS, 0)
        assert dump(result.request) == dump(body)


def kept_from(plan: Plan) -> int:
    """Return the first unit of the kept part."""
    return next((run.start for run in plan.runs if run.reason == "in the kept part"), plan.count)


def on_the_grid(kind: str, dialect: str, data: st.DataObject) -> None:
    """A stepped cut is the last one before the grid's line below what is needed, or the first after the next line."""
    body, config = data.draw(bodies(dialect)), data.draw(configurations(kind, dialect, PLAIN_RULES, st.just([])))
    config = with_budget(config, data.draw(st.integers(0, size(config, body))))
    step = data.draw(st.sampled_from([20, 40, 150]))
    plain, stepped = (assemble({**config, "strategy": {**config["strategy"], "step": n}}, body) for n in (0, step))
    if plain.excess or not plain.plan.changed or not stepped.plan.changed:
        return
    before = plain.plan.log.totals
    needed, cut = before[kept_from(plain.plan)], kept_from(stepped.plan)
    below, above = needed // step * step, -(-needed // step) * step
    if before[cut] <= below:
        assert cut == len(stepped.plan.log.units) or before[cut + 1] > below
    else:
        assert before[cut - 1] < above
        assert before[cut] >= above or cut == stepped.plan.log.deepest


@examples(22)
@ALL
@EACH
def test_every_result(kind: str, dialect: str, count: int) -> None:
    explore(count, lambda data: every_result(kind, dialect, data))


@examples(9)
@ALL
@EACH
def test_a_lower_budget_never_sends_more(kind: str, dialect: str, count: int) -> None:
    explore(count, lambda data: a_lower_budget(kind, dialect, data))


@examples(18)
@ALL
@EACH
def test_a_result_assembled_again_is_the_same(kind: str, dialect: str, count: int) -> None:
    explore(count, lambda data: assembled_again(kind, dialect, data))


@examples(10)
@ALL
@EACH
def test_a_budget_above_the_input_changes_nothing(kind: str, dialect: str, count: int) -> None:
    explore(count, lambda data: enough(kind, dialect, data))


@examples(40)
@ALL
def test_a_stepped_cut_is_on_the_grid(dialect: str, count: int) -> None:
    explore(count, lambda data: on_the_grid("keep_last", dialect, data))
