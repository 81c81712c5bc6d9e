"""The checks of each leaf where they fail."""

from __future__ import annotations

from typing import Any

import pytest

from core.advice_checks import CHECKS, checked_leaves
from core.advice_checks_trim import contradictions
from core.advice_measures import prompt_of
from core.advice_tree import Leaf
from core.advice_trial import Check, Trial
from core.replay import replay
from core.transcript import Transcript
from tests.advice_runs import agent, chat, history, restated


@pytest.mark.parametrize(
    ("rules", "pairs"),
    [
        (["Always greet the user.", "Never greet the user."], 1),
        (["You must use tabs.", "You must not use tabs."], 1),
        (["Do not guess ids.", "Do not guess ids."], 0),
        (["Use tabs.", "Use spaces."], 0),
    ],
)
def test_contradictions_are_a_rule_and_its_negation(rules: list[str], pairs: int) -> None:
    assert len(list(contradictions(rules))) == pairs


def trial(transcript: Transcript, budget: int, said: dict[str, Any]) -> Trial:
    made = history(transcript, budget)
    prompt = prompt_of(made)
    assert prompt is not None
    return Trial(prompt, replay(transcript, {"budget": {"soft_limit": budget}, **said}), None)


def check(found: Trial, leaf: Leaf, begins: str) -> Check:
    return next(made for made in checked_leaves(found, (leaf,)) if made.name.startswith(begins))


@pytest.mark.parametrize(
    ("leaf", "begins", "strategy"),
    [
        (Leaf.SUMMARISE, "last 4 turns", {"kind": "keep_last", "keep_turns": 1}),
        (Leaf.SUMMARISE, "exactly one", {"kind": "keep_last", "keep_turns": 4}),
        (Leaf.SUMMARISE, "exactly one", {"kind": "summarize_and_keep", "mode": "published"}),
        (Leaf.SUMMARISE, "summary within", {"kind": "tiered_injection", "summary_tokens": 500, "summary_chars": 4000}),
        (Leaf.SUMMARISE, "total within", {"kind": "full_history"}),
    ],
)
def test_a_check_of_2a_that_fails(leaf: Leaf, begins: str, strategy: dict[str, Any]) -> None:
    made = check(trial(chat(), 1_500, {"strategy": strategy}), leaf, begins)
    assert made.passed is False
    assert made.why


def test_a_check_of_3a_fails_where_nothing_shrank_enough() -> None:
    said = {"shrink": [{"kind": "project_tool_results", "max_tokens": 250}], "strategy": {"kind": "full_history"}}
    made = check(trial(agent(6, 80), 1_000, said), Leaf.PROJECT, "size down")
    assert made.passed is False


def test_a_check_of_4a_fails_where_rules_repeat() -> None:
    made = check(trial(restated(), 100, {"strategy": {"kind": "full_history"}}), Leaf.DEDUPLICATE, "no exact duplicate")
    assert made.passed is False


def test_every_leaf_has_its_checks() -> None:
    assert {leaf for leaf, functions in CHECKS.items() if not functions} == {Leaf.FITS, Leaf.OUT_OF_REACH}
    assert set(CHECKS) == set(Leaf)
