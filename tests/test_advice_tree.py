"""The tree against the rule book's cases, in both orders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.advice_tree import Leaf, Measured, advise

CASES = json.loads((Path(__file__).parent / "data" / "span_triage_cases.json").read_text(encoding="utf-8"))["tree"]


def measured(said: dict[str, Any]) -> Measured:
    return Measured(
        total=said["total_tokens"],
        soft_budget=said["soft_budget"],
        old_history=said["old_history_tokens"],
        tool_output=said["tool_output_tokens"],
        tool_projected=said.get("tool_projected_tokens"),
        instruction_duplicates=said["instruction_duplicate_and_example_tokens"],
        largest_pinned=said["largest_pinned_tokens"],
        summary_cap=said["summary_cap"],
        exact_strings_needed=said["exact_strings_needed"],
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_leaf_of_every_case(case: dict[str, Any]) -> None:
    made = advise(measured(case["input"]))
    assert (made.leaf, list(made.then), made.overflow) == (case["leaf"], case["then"], case["overflow"])
    assert made.reclaim._asdict() == case["reclaim"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_published_order(case: dict[str, Any]) -> None:
    expected = case["leaf_in_published_order"]
    if expected is not None:
        assert advise(measured(case["input"]), published=True).leaf == expected


def test_projection_is_a_tenth_unless_measured() -> None:
    said = Measured(total=10_000, soft_budget=8_000, old_history=300, tool_output=6_000)
    assert advise(said).reclaim.tool == 5_400
    assert advise(said).leaf is Leaf.PROJECT
