"""What is told of a configuration with several faults, and of what is none at all."""

from __future__ import annotations

from typing import Any

import pytest

from tests.test_config import MINIMAL, fault


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"messages": [], "model": "gpt-4o"}, "'messages', which"),
        ({"model": {"name": "gpt-4o"}, "input": "", "tools": []}, "'input', 'tools', which"),
        ({"one": 1, "two": 2, "three": 3, "four": 4}, "'one', 'two', 'three' and more, which"),
        ({"role": "user", "content": "hi"}, "'role', 'content', which"),
        ({1: 2}, "'1', which"),
    ],
)
def test_what_is_something_else_altogether_is_told_once(given: dict[Any, Any], named: str) -> None:
    made = fault(given)
    assert (made.key, made.more) == ("configuration", ())
    assert made.problem == f"this is no configuration: it has no 'strategy', but {named} no configuration has."
    assert "Export JSON" in made.suggestion


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"stratgy": {}}, [("strategy", ""), ("stratgy", "Did you mean 'strategy'?")]),
        ({"budget": {}}, [("strategy", "")]),
        ({}, [("strategy", "")]),
    ],
)
def test_what_may_be_meant_as_a_configuration_is_told_by_key(given: dict[str, Any], told: list[Any]) -> None:
    made = fault(given)
    assert [(one.key, one.suggestion) for one in (made, *made.more)] == told


def test_what_to_do_about_several_faults_is_said_once() -> None:
    made = fault({**MINIMAL, "zzz": 1, "yyy": 2, "nam": 3, "xxx": 4})
    assert [one.suggestion[:12] for one in (made, *made.more)] == ["Known here: ", "", "Did you mean", ""]
