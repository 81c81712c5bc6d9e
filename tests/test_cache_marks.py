"""Cache marks are found wherever a provider takes them, and null marks nothing."""

from __future__ import annotations

from typing import Any

import pytest

from core.cache_lives import HourLife, hour_life
from core.cache_marks import has_marks, marks_in
from core.transcript import Transcript

MARK, HOUR = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}


@pytest.mark.parametrize(
    ("wire", "marks"),
    [
        ({"role": "user", "content": "x"}, []),
        ({"role": "user", "content": "x", "cache_control": MARK}, [MARK]),
        ({"content": [{"text": "x"}, {"text": "y", "cache_control": HOUR}]}, [HOUR]),
        ({"content": [{"content": [{"text": "inner", "cache_control": MARK}], "cache_control": HOUR}]}, [HOUR, MARK]),
        ({"system": [{"cache_control": MARK}], "tools": [{"cache_control": HOUR}]}, [MARK, HOUR]),
        ({"messages": ({"content": [{"cache_control": MARK}]},)}, [MARK]),
        ({"cache_control": None, "content": [{"cache_control": None}]}, []),
        ({"metadata": {"cache_control": MARK}}, []),
        ({"content": ["x", None, 3]}, []),
        ("cache_control", []),
    ],
)
def test_marks_of_a_wire_value(wire: Any, marks: list[dict[str, str]]) -> None:
    assert list(marks_in(wire)) == marks
    if isinstance(wire, dict):
        made = Transcript("anthropic", (), (), (wire,), ())
        assert has_marks(made) is bool(marks)
        assert hour_life(made) == HourLife(HOUR in marks, False)
