"""Which items of a Responses input belong to the head."""

from __future__ import annotations

from typing import Any

import pytest

from core.dialects import dialect
from tests.recordings import RESPONSES_ITEM

RESPONSES = dialect("openai_responses")
USER = {"role": "user", "content": "hi"}
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}


@pytest.mark.parametrize(
    ("item", "leads"),
    [
        ({"role": "system", "content": "s"}, True),
        ({"role": "developer", "content": None}, True),
        ({"type": "message", "role": "system", "content": [{"type": "input_text", "text": "s"}]}, True),
        ({"type": "", "role": "system", "content": "s"}, True),
        ({"type": "anything", "role": "developer"}, True),
        ({"type": 7, "role": "system"}, True),
        (USER, False),
        ({"content": "no role"}, False),
        ({"role": ["system"], "content": "s"}, False),
        ({"type": "anything"}, False),
        ("system", False),
        (None, False),
        ({"type": "reasoning", "role": "system", "summary": []}, False),
        ({**CALL, "role": "system"}, False),
        ({"type": "function_call_output", "call_id": "c", "output": "r", "role": "system"}, False),
        ({"type": "web_search_call", "id": "w", "role": "system"}, False),
        ({"type": "program", "id": "p", "code": "x", "role": "system"}, False),
        ({"role": "system", "output": [RESPONSES_ITEM]}, False),
    ],
)
def test_leading_items_are_those_read_as_the_systems(item: Any, leads: bool) -> None:
    assert (RESPONSES.message(item).role == "system") == leads
    head, messages = RESPONSES.split({"input": [item, USER]})
    assert (head["input"], messages) == (([item], [USER]) if leads else ([], [item, USER]))
