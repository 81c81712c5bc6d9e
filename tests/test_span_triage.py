"""The stubs of span triage: what they say of the messages they stand for."""

from __future__ import annotations

from typing import Any

import pytest

from core.assembler import NEWEST
from core.decisions import Action
from core.plan import Status
from core.rules import Eviction
from core.strategies.triage_plan import IMPORTANT, OPEN_STEP
from core.unit_decisions import NOT_SMALLER, STAYS
from tests.talks import DIALECTS, body, run, said, step, user

EVERY = pytest.mark.parametrize("dialect", DIALECTS)
ANSWERS = [{"match": {"kind": "assistant"}, "evict": "reconstructible"}]
ALL = [{"match": {}, "evict": "reconstructible"}]
SHORT = " x" * 30
"""Longer than the stub below, and shorter than an extract in its place, which shows 40 characters and says so."""


def stubs(dialect: str, rules: list[dict[str, Any]], merge: bool) -> list[tuple[str, str | None]]:
    events = [user("u0" + SHORT), said("a0" + SHORT), user("u1" + SHORT), said("a1" + SHORT), user("u2")]
    strategy = {"stub": "{id} {class}", "merge_stubs": merge}
    result = run(body(dialect, *events), dialect, "span_triage", 0, strategy=strategy, rules=rules)
    found = [made for made in result.decisions if made.action is Action.STUB]
    return [(made.span_id, made.replacement) for made in found if made.replacement]


@EVERY
@pytest.mark.parametrize(
    ("rules", "classes"),
    [
        ([], ["recoverable"] * 4),
        (ANSWERS, ["recoverable", "reconstructible"] * 2),
        (ALL, ["reconstructible"] * 4),
    ],
    ids=["no rule", "answers", "all"],
)
def test_a_stub_names_the_class_of_its_message(rules: list[dict[str, Any]], classes: list[str], dialect: str) -> None:
    assert stubs(dialect, rules, merge=False) == [(f"m{at}.0", f"m{at}.0 {name}") for at, name in enumerate(classes)]


@EVERY
@pytest.mark.parametrize(
    ("rules", "named"), [([], Eviction.RECOVERABLE), (ANSWERS, Eviction.RECOVERABLE), (ALL, Eviction.RECONSTRUCTIBLE)]
)
def test_a_stub_of_several_is_reconstructible_only_where_all_are(
    rules: list[dict[str, Any]], named: Eviction, dialect: str
) -> None:
    assert stubs(dialect, rules, merge=True) == [("m0.0", f"m0.0 to m3.0 {named}")]


@EVERY
def test_the_default_stub_says_one_message_of_one(dialect: str) -> None:
    long = " x" * 200
    events = [user("u0" + long), said("a0" + long), user("u1" + long), said("a1" + long), user("u2")]
    for merge, said_of in ((False, "1 message, "), (True, "4 messages, ")):
        result = run(body(dialect, *events), dialect, "span_triage", 0, strategy={"merge_stubs": merge})
        texts = [made.replacement for made in result.decisions if made.replacement]
        assert texts and all(f", {said_of}" in text and " tokens; ask for it" in text for text in texts)


@EVERY
def test_what_stays_says_why(dialect: str) -> None:
    long = " x" * 200
    events = [user("u0" + long), said("a0"), user("u1" + long), said("keep" + long), user("u2")]
    pins = [{"match": {"pattern": "^keep"}, "evict": "pinned"}]
    result = run(body(dialect, *events), dialect, "span_triage", 0, strategy={"merge_stubs": False}, rules=pins)
    why = {made.span_id: (made.reason, made.setting) for made in result.decisions if made.action is Action.KEEP}
    assert [why.get(f"m{at}.0") for at in range(5)] == [
        None,
        (NOT_SMALLER, "strategy.stub"),
        None,
        (STAYS, "rules"),
        (NEWEST, ""),
    ]


@EVERY
def test_a_message_is_important_only_where_the_budget_has_room_for_it(dialect: str) -> None:
    long = " x" * 200
    events = [user("u0" + long), said("a0" + long), user("u1"), step("A", text="look" + long)]
    made = body(dialect, *events)
    for budget in range(0, 1_200, 50):
        result = run(made, dialect, "span_triage", budget)
        reasons = [one.reason for one in result.decisions]
        assert not (result.excess and IMPORTANT in reasons)
        assert result.status is Status.FITS or OPEN_STEP in reasons
