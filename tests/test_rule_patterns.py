"""Patterns of rules: searched in linear time, refused where they cannot be, never an exception for a text."""

from __future__ import annotations

import pytest

from core.errors import ConfigError
from core.rules import Match, pattern_fault
from core.runtime import ContextRuntime


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"\bfoo\b", "a foo b", True),
        (r"\bfoo\b", "food", False),
        (r"(?i)ERROR \d+", "error 17", True),
        (r"订单\d+", "订单12 已发货", True),
        (r"(\w+\s?)+$!", "word " * 20_000, False),
        (r"(a|a)*b", "a" * 100_000, False),
        ("b", "\ud83d b", True),
        ("c", "\ud83d b", False),
    ],
)
def test_what_a_pattern_finds(pattern: str, text: str, found: bool) -> None:
    assert Match(pattern=pattern).fits((), "user", "user", "", "", text) is found


@pytest.mark.parametrize("pattern", ["(", "a(?=b)", r"(x)\1", "[z-a]", "*"])
def test_a_pattern_that_cannot_be_searched_is_told(pattern: str) -> None:
    assert pattern_fault(pattern)
    config = {"strategy": {"kind": "keep_last"}, "rules": [{"match": {"pattern": pattern}, "priority": 1}]}
    with pytest.raises(ConfigError, match=r"rules\.0\.match\.pattern: is not a regular expression"):
        ContextRuntime.load(config)
