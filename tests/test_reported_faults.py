"""Faults that were reported about programs of this kind: each has a test here, or a reason why it cannot occur.

The list holds a number, the fault's kind and a few words for each. What a test covers is the whole kind: all
strategies, both ends of a conversation, every dialect.
"""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
FAULTS = json.loads((TESTS / "data" / "reported_faults.json").read_text(encoding="utf-8"))
ROWS = [(group, row) for group, rows in FAULTS.items() for row in rows]


@cache
def functions_in(name: str) -> frozenset[str]:
    """The test functions of a file."""
    parsed = ast.parse((TESTS / name).read_text(encoding="utf-8"))
    return frozenset(
        node.name for node in parsed.body if isinstance(node, ast.FunctionDef) and node.name[:5] == "test_"
    )


@pytest.mark.parametrize(("group", "row"), ROWS, ids=[f"{group} {row['number']}" for group, row in ROWS])
def test_every_fault_has_a_test_or_a_reason(group: str, row: dict[str, Any]) -> None:
    assert row.keys() in ({"number", "kind", "fault", "test"}, {"number", "kind", "fault", "reason"})
    assert len(row["fault"]) < 60
    if "test" in row:
        file, _, name = row["test"].partition("::")
        assert name in functions_in(file)
    else:
        assert len(row["reason"]) > 40


def test_no_fault_is_passed_over() -> None:
    assert {group: [row["number"] for row in rows] for group, rows in FAULTS.items()} == {
        "public": list(range(1, 109)),
        "measured": list(range(1, 50)),
    }


def test_no_test_of_reported_faults_stands_for_nothing() -> None:
    """Every file of them covers at least one fault of the list."""
    named = {row["test"].partition("::")[0] for _, row in ROWS if "test" in row}
    assert named == {path.name for path in TESTS.glob("test_reported_faults_*.py")}
