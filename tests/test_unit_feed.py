"""A request costs what is new in it, also where only what its hints name changes."""

from __future__ import annotations

from typing import Any

import pytest

from core import unit_feed
from core.config import load_config
from core.engine import Engine, Step
from core.hints import Hints
from core.runtime import ContextRuntime
from core.unit_feed import UnitFeed
from tests.runs import result, says, tool, user, uses

TALK = [
    user("Read both."),
    uses("toolu_1", "read_file", path="a.py"),
    result("toolu_1", "text of a"),
    uses("toolu_2", "read_file", path="b.py"),
    result("toolu_2", "text of b"),
    says("Done."),
    user("And now?"),
]
HEAD = {"messages": [{"role": "system", "content": "Be brief."}], "tools": [tool("read_file")]}
AGED = {"rules": [{"match": {"kind": "tool_result", "min_age": 1}, "min_tokens": 5}]}


class Fed:
    """A feed that is given the first messages of a talk, with hints, and counts what it makes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any] | None = None) -> None:
        config = load_config({"strategy": {"kind": "full_history"}, **(settings or {})})
        self.engine, self.feed, self.read = Engine(config, "openai_chat", "gpt-4o"), UnitFeed(), 0
        self.units = self.heads = 0
        for name, counted in (("make_unit", self._unit), ("fixed_part", self._head)):
            monkeypatch.setattr(unit_feed, name, counted(getattr(unit_feed, name)))

    def _unit(self, made: Any) -> Any:
        def make(*given: Any) -> Any:
            self.units += 1
            return made(*given)

        return make

    def _head(self, made: Any) -> Any:
        def make(*given: Any) -> Any:
            self.heads += 1
            return made(*given)

        return make

    def step(self, count: int, **hints: Any) -> Step:
        shared, self.read = min(self.read, count), count
        return self.feed.read(self.engine, Hints.of(hints), HEAD, 0, shared, lambda start: TALK[start:count])


@pytest.mark.parametrize(
    ("first", "second", "anew", "pinned"),
    [
        ({}, {"pins": ["m2.0"]}, 1, [1]),
        ({"pins": ["m2.0"]}, {}, 1, []),
        ({"pins": ["m2.0"]}, {"pins": ["m4.0"]}, 2, [2]),
        ({"pins": ["toolu_1"]}, {"pins": ["toolu_2", "m0.0"]}, 3, [0, 2]),
        ({"pins": ["m2.0"]}, {"pins": ["m2.0"], "retrieval": ["m4.0"]}, 1, [1]),
        ({"pins": ["m2.0"]}, {"pins": ["m99.0"]}, 1, []),
        ({"pins": ["m2.0"]}, {"pins": ["m2.0"], "goal": "other"}, 0, None),
    ],
)
def test_units_are_made_anew_where_hints_name_them(
    monkeypatch: pytest.MonkeyPatch, first: Any, second: Any, anew: int, pinned: list[int] | None
) -> None:
    fed = Fed(monkeypatch)
    before, made = fed.step(7, **first).units, fed.units
    step = fed.step(7, **second)
    assert fed.units - made == anew
    if pinned is None:
        assert not step.fresh and not step.units
        return
    assert step.fresh and [at for at, unit in enumerate(step.units) if unit.stays] == pinned
    assert sum(one is not other for one, other in zip(before, step.units, strict=True)) == anew


def test_hints_that_come_back_find_their_units(monkeypatch: pytest.MonkeyPatch) -> None:
    fed = Fed(monkeypatch)
    first = fed.step(7, pins=["m2.0"]).units
    fed.step(7)
    made = fed.units
    assert all(one is other for one, other in zip(first, fed.step(7, pins=["m2.0"]).units, strict=True))
    assert fed.units == made


@pytest.mark.parametrize(
    ("named", "read"), [("m2.0", 1), ("toolu_1", 1), ("t0", 2), ("s0.0", 2)], ids=["message", "call", "tool", "section"]
)
def test_the_fixed_part_is_read_anew_where_hints_may_mean_it(
    monkeypatch: pytest.MonkeyPatch, named: str, read: int
) -> None:
    fed = Fed(monkeypatch)
    fed.step(7)
    fed.step(7, pins=[named])
    assert fed.heads == read


def test_a_new_turn_makes_those_units_anew_whose_age_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    fed = Fed(monkeypatch, AGED)
    fed.step(6)
    made = fed.units
    step = fed.step(7, pins=["m0.0"])
    assert step.fresh and fed.units - made == 5  # all four of the turn that ended, and the new one


def test_a_session_with_changing_pins_sends_what_a_single_request_does() -> None:
    runtime = ContextRuntime.load({"budget": {"soft_limit": 60}, "strategy": {"kind": "keep_last", "keep_messages": 1}})
    session = runtime.session()
    for count, pins in ((3, ["m2.0"]), (5, []), (5, ["toolu_1"]), (7, ["m4.0", "t0"]), (7, [])):
        body = {**HEAD, "messages": [*HEAD["messages"], *TALK[:count]]}
        assert session.assemble(body, {"pins": pins}).request == runtime.assemble(body, {"pins": pins}).request


@pytest.mark.parametrize(("grows", "made"), [(True, 11), (False, 12)], ids=["more and more", "one that moves"])
def test_what_is_made_for_changing_hints_is_bounded(monkeypatch: pytest.MonkeyPatch, grows: bool, made: int) -> None:
    fed = Fed(monkeypatch)
    for number in range(70):
        fed.step(7, pins=[f"m{at % 7}.0" for at in (range(number + 1) if grows else [number])])
    assert fed.units == made
    assert max(map(len, fed.feed._made.values())) <= unit_feed.MOST_VARIANTS


VARIANTS: list[dict[str, list[str]]] = [
    {"pins": ["m2.0"]},
    {"pins": ["toolu_1"]},
    {"pins": ["m2.0", "toolu_1"]},
    {"retrieval": ["m2.0"]},
    {"retrieval": ["toolu_1"]},
    {"pins": ["m2.0"], "retrieval": ["m2.0"]},
    {"pins": ["toolu_1"], "retrieval": ["m2.0"]},
]
"""As many ways to name one unit, each of which makes another of it."""


def test_of_the_variants_of_one_unit_the_oldest_go(monkeypatch: pytest.MonkeyPatch) -> None:
    fed = Fed(monkeypatch)
    made = []
    for hints in [{}, *VARIANTS, *VARIANTS[-unit_feed.MOST_VARIANTS :], VARIANTS[0]]:
        before = fed.units
        fed.step(7, **hints)
        made.append(fed.units - before)
    others = [unit_feed.MOST_VARIANTS, len(VARIANTS)]
    assert others[0] < others[1]
    assert made == [made[0], *[1] * others[1], *[0] * others[0], 1]  # the newest are known, the first no more
    assert [len(known) for known in fed.feed._made.values() if len(known) > 1] == [unit_feed.MOST_VARIANTS]


def test_heads_that_are_kept_are_bounded() -> None:
    engine = Engine(load_config({"strategy": {"kind": "full_history"}}), "openai_chat", "gpt-4o")
    heads = unit_feed.Heads()
    for number in range(3 * unit_feed.MOST_HEADS):
        head = {"messages": [{"role": "system", "content": f"You are number {number}."}]}
        rules = tuple(Hints(pins=(f"s{number}.0",)).rules())
        assert heads.fixed_part(engine, head, number, rules, frozenset()).spans[0].text.endswith(f"{number}.")
    assert len(heads._known) <= unit_feed.MOST_HEADS >= len(heads._readers)
