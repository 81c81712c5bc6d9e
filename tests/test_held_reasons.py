"""Why a prompt over the budget is sent whole: the reason of its spans names what holds the strategy back."""

from __future__ import annotations

from typing import Any

import pytest

from core.config import load_config
from core.decisions import Action, Status
from core.presets import preset
from core.replay import replay
from pages.parts.fates import fate_text
from tests.advice_runs import agent, chat

WHOLE = ("always sent whole, whatever the budget", "")
NO_TRIGGER = ("sent whole, as no trigger is set", "strategy.trigger")
BELOW = ("below the trigger, so sent whole", "strategy.trigger")
NOTHING = ("nothing that may go would make it smaller", "")


@pytest.mark.parametrize(
    ("strategy", "reason"),
    [
        ({"kind": "full_history"}, WHOLE),
        ({"kind": "as_captured"}, WHOLE),
        ({"kind": "tiered_injection", "trigger": None}, NO_TRIGGER),
        (preset("writing").config().strategy.model_dump(mode="json"), NO_TRIGGER),
        ({"kind": "tiered_injection", "trigger": 90.0}, BELOW),
        ({"kind": "mask_tool_results", "trigger": None}, NO_TRIGGER),
        ({"kind": "mask_tool_results", "trigger": 90.0}, BELOW),
        (
            {"kind": "mask_tool_results", "min_cleared": 90_000},
            ("sent whole, as masking would gain too little", "strategy.min_cleared"),
        ),
        ({"kind": "mask_tool_results", "keep": 90}, NOTHING),
        ({"kind": "keep_last", "exact_recall": True}, ("exact recall is required", "")),
        ({"kind": "keep_last", "min_turns": 90, "min_steps": 90}, ("the task is too short to touch", "")),
    ],
    ids=lambda value: value.get("kind", "") if isinstance(value, dict) else "",
)
def test_a_prompt_that_is_sent_whole_says_why(strategy: dict[str, Any], reason: tuple[str, str]) -> None:
    made = replay(agent(20), {"budget": {"soft_limit": 600}, "strategy": strategy})
    plan = made.plan(made.calls["before"].index(max(made.calls["before"])))
    assert (plan.changed, plan.excess > 0) == (False, True)
    told = {(one.reason, one.setting) for one in plan.decisions if one.span_id.startswith("m")}
    assert told == {reason}


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("keep_last", "keep · the newest user message always stays"),
        *((kind, f"keep · {NOTHING[0]}") for kind in ("summarize_and_keep", "tiered_injection", "span_triage")),
    ],
)
def test_where_all_has_to_stay_no_setting_is_to_blame(kind: str, reason: str) -> None:
    short = {"min_turns": 0, "min_steps": 0}
    made = replay(chat(1, words=900), {"budget": {"soft_limit": 100}, "strategy": {"kind": kind, **short}})
    assert made.plan(0).status is Status.OVER_BUDGET
    told = [(fate_text(one), one.setting) for one in made.plan(0).decisions if one.span_id == "m0.0"]
    assert told == [(reason, "")]


def test_what_fits_is_still_said_to_fit() -> None:
    said = {"budget": {"soft_limit": 100_000}, "strategy": {"kind": "tiered_injection", "trigger": None}}
    plan = replay(agent(20), load_config(said)).plan(5)
    kept = {one.reason for one in plan.decisions if one.span_id.startswith("m") and one.action is Action.KEEP}
    assert (plan.status, kept) == (Status.FITS, {"the whole prompt fits"})
