"""Keys of JSON values within a process: equal exactly where the JSON is equal."""

from __future__ import annotations

import json
from enum import StrEnum
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.runtime import ContextRuntime
from core.wire import dump, mark

ALIKE = [
    1,
    1.0,
    True,
    "1",
    "true",
    [1],
    {"1": 1},
    {"1": True},
    {"a": 1, "b": 2},
    {"b": 2, "a": 1},
    0,
    -0.0,
    False,
    None,
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


class Role(StrEnum):
    """A text of a type of its own, as client libraries use for roles."""

    USER = "user"


@pytest.mark.parametrize(("one", "other"), list(combinations(ALIKE, 2)))
def test_values_that_python_takes_for_equal_have_keys_of_their_own(one: Any, other: Any) -> None:
    assert mark({"input": one}) != mark({"input": other})


@given(VALUES, VALUES)
def test_keys_are_equal_where_the_json_is_equal(one: Any, other: Any) -> None:
    assert (mark(one) == mark(other)) == (dump(one) == dump(other))
    assert mark(one) == mark(json.loads(dump(one)))


@pytest.mark.parametrize("value", ["\ud800", {"\ud800": 1}, 10**40, "x" * 100_000, [[[]]]])
def test_odd_values_have_a_key(value: Any) -> None:
    assert mark(value) == mark(json.loads(dump(value)))


def test_a_text_of_a_type_of_its_own_is_marked_by_its_json() -> None:
    assert mark({"role": Role.USER}) == mark({"role": Role.USER}) != mark({"role": "assistant"})


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (True, 1.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1})])
def test_a_session_sees_a_change_that_equality_does_not(one: Any, other: Any) -> None:
    """The same message object with another number of the same value: what is sent and counted is the new one."""
    call = {"type": "tool_use", "id": "c0", "name": "search", "input": {"n": one}}
    answer = {"type": "tool_result", "tool_use_id": "c0", "content": "found"}
    messages = [
        {"role": "user", "content": "Search."},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [answer]},
    ]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": messages}
    runtime = ContextRuntime.load({"strategy": {"kind": "keep_last"}})
    session = runtime.session()
    session.assemble(body)
    call["input"] = {"n": other}
    live, alone = session.assemble(body), runtime.assemble(body)
    assert dump(live.request) == dump(alone.request) == dump(body)
    assert live.decisions == alone.decisions
    assert [span.text for unit in live.plan.log.units for span in unit.spans] == [
        span.text for unit in alone.plan.log.units for span in unit.spans
    ]
