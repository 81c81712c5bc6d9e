"""A message of a role and a text has the key that it has when it is written the long way."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dialects.content import content_key

TEXTS = st.text(st.characters(codec=None), max_size=20)


@given(TEXTS, TEXTS)
def test_the_short_way_gives_the_same_key(role: str, content: str) -> None:
    long = json.dumps({"content": content, "role": role} if content else {"role": role}, sort_keys=True)
    assert content_key({"role": role, "content": content}) == long == content_key({"content": content, "role": role})


@pytest.mark.parametrize(
    "wire",
    [
        {"role": "user", "content": [{"type": "text", "text": "x"}]},
        {"role": "user", "content": "x", "cache_control": {"type": "ephemeral"}},
        {"role": "user", "content": "x", "name": None},
    ],
)
def test_other_spellings_have_the_same_key(wire: Any) -> None:
    assert content_key(wire) == content_key({"role": "user", "content": "x"})
