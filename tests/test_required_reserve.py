"""The context message of `required_reserve` says which of its sections were inferred and which come from hints."""

from __future__ import annotations

from typing import Any

import pytest

from core import marks
from core.runtime import Hints
from tests.talks import Event, body, long, run, said, step, user

TALK = [
    user(f"Fix 'slow start' in /srv/app/main.py {long('goal', 30)}"),
    step("A", text=long("I look", 30)),
    said(long("found it", 30)),
    user(f"is 'slow start' gone? {long('more', 30)}"),
    said(long("yes", 30)),
    user("thanks"),
]


@pytest.mark.parametrize(
    ("hints", "reason"),
    [
        (None, "inferred: goal, memory state, confirmed facts, resource bindings"),
        (
            Hints(goal="start fast", facts=("slow start is gone", "measured twice, on two machines, cold and warm")),
            "from hints: goal, confirmed facts; inferred: memory state, resource bindings",
        ),
        (
            Hints("g", ("slow start is gone, measured twice",), "all is well", ("/srv/app",)),
            "from hints: goal, memory state, confirmed facts, resource bindings",
        ),
        (Hints(facts=("",)), "inferred: goal, memory state, resource bindings"),
    ],
)
def test_where_the_sections_come_from(hints: Hints | None, reason: str) -> None:
    made = body("openai_chat", *TALK, system="rules")
    settings = {"optional_floor": 1, "caps": {"used_tools": 0}}
    result = run(made, "openai_chat", "required_reserve", 330, hints, strategy=settings)
    (context,) = [decision for decision in result.decisions if decision.span_id == "context"]
    assert context.reason == reason
    assert context.setting == "strategy.total"


def context(*events: Event, budget: int = 150, **config: Any) -> list[str]:
    """The lines of the context message that stands for what some events say."""
    result = run(body("openai_chat", *events), "openai_chat", "required_reserve", budget, **config)
    (text,) = result.plan.inserted
    heading, *lines = text.split("\n")
    assert heading == marks.CONTEXT
    return lines


PUT_IN = (marks.STUB, marks.SUMMARY, marks.CONTEXT, marks.ROLLING_SUMMARY, marks.TOOL_MENU)


@pytest.mark.parametrize("mark", PUT_IN)
def test_what_a_strategy_put_in_is_neither_goal_nor_fact_nor_memory(mark: str) -> None:
    stand_in = f"{mark} m0.0 to m3.0; 'login page' in /srv/old.py, order AB-1234]"
    events = (user(stand_in), said(stand_in), user(stand_in), said("Done." + " ok" * 200), user("go"))
    assert context(*events) == ["- Memory: Done. ok ok ok ok ok ok ok ok ok ok ok o"]
    events = (user(stand_in), user("Mend 'login page'"), said("Done." + " ok" * 200), said(stand_in), user("go"))
    assert context(*events) == [
        "- Current goal: Mend 'login page'",
        "- Memory: Done. ok ok ok ok ok ok ok ok ok ok ok o | Mend 'login page'",
    ]


PIN = {"rules": [{"match": {"pattern": "KEEP"}, "evict": "pinned"}]}
U0, A0, U1, A1 = user("Fix it. KEEP"), said("First." + " ok" * 200), user("Second." + " ok" * 200), said("Third. KEEP")


@pytest.mark.parametrize(
    ("events", "config", "lines"),
    [
        (
            (user("Fix it."), A0, user("And then?")),
            {},
            ["- Current goal: Fix it.", "- Memory: First. ok ok ok ok ok ok ok ok ok ok ok | Fix it."],
        ),
        (
            (U0, A0, U1, A1, user("And then?")),
            PIN,
            ["- Memory: Second. ok ok ok ok ok ok ok ok ok ok ok | First. ok ok ok ok ok ok ok ok ok ok ok"],
        ),
        (
            (A0, user("Fix it."), step("A", text="Open.")),
            {},
            ["- Memory: First. ok ok ok ok ok ok ok ok ok ok ok"],
        ),
    ],
    ids=["the newest user message", "pinned messages", "the open step and its question"],
)
def test_memory_and_goal_do_not_repeat_what_is_sent(
    events: tuple[Event, ...], config: dict[str, Any], lines: list[str]
) -> None:
    assert context(*events, **{"strategy": {"caps": {"memory_state": None, "used_tools": 0}}, **config}) == lines
