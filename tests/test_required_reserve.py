"""The context message of `required_reserve` says which of its sections were inferred and which come from hints."""

from __future__ import annotations

import pytest

from core.runtime import Hints
from tests.talks import body, long, run, said, step, user

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
