"""What the parser says of a broken text becomes a part of a sentence, whatever it says."""

from __future__ import annotations

import json

import pytest

from core.config import load_config
from core.errors import ConfigError
from core.json_faults import json_fault
from core.readers.json_text import Unreadable, parse

BROKEN = {
    '{"a": "unended': ("unterminated string", 7),
    '{"a": "\\': ("unterminated string", 7),
    '{"a": "\\x"}': ("invalid \\escape", 8),
    '{"a": "\\u12"}': ("invalid \\uXXXX escape", 9),
    '{"a" 1}': ("expecting ':' delimiter", 6),
    '{"a": 1 "b"}': ("expecting ',' delimiter", 9),
    "{'a': 1}": ("expecting property name enclosed in double quotes", 2),
    '{"a": }': ("expecting value", 7),
}


@pytest.mark.parametrize("text", BROKEN)
def test_no_message_breaks_off_before_its_place(text: str) -> None:
    said, column = BROKEN[text]
    with pytest.raises(json.JSONDecodeError) as raised:
        json.loads(text)
    assert json_fault(raised.value) == f"{said}, line 1, column {column}"
    with pytest.raises(Unreadable, match=f", column {column}$") as unreadable:
        parse(text)
    assert str(unreadable.value) == f"{said.lower()}, column {column}"
    with pytest.raises(ConfigError) as refused:
        load_config(text)
    assert refused.value.problem == f"this is not JSON: {said}, line 1, column {column}."


def test_what_is_nested_too_deep_is_said_in_words() -> None:
    with pytest.raises(RecursionError) as raised:
        json.loads("[" * 100_000)
    assert json_fault(raised.value) == "it is nested too deep"
