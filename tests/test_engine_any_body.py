"""Assembling never raises for what a request holds: its sums are right, or a sentence says that it is no request."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from core.errors import RequestError
from core.runtime import ContextRuntime
from core.validity import validate
from tests.engine_bodies import DIALECTS
from tests.explore import examples, explore

KEYS = st.sampled_from(
    [
        "role",
        "content",
        "type",
        "text",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "tool_call_id",
        "function_call",
        "input",
        "tool_use_id",
        "source",
        "thinking",
        "reasoning_content",
        "cache_control",
        "system",
        "x",
        "custom",
        "parameters",
        "properties",
        "anyOf",
        "$ref",
        "enum",
        "title",
        "description",
        "default",
        "items",
        "required",
        "input_schema",
    ]
)
WORDS = st.sampled_from(
    [
        "user",
        "assistant",
        "tool",
        "system",
        "developer",
        "function",
        "text",
        "image",
        "image_url",
        "tool_use",
        "tool_result",
        "thinking",
        "document",
        "object",
        "array",
        "string",
        "c1",
        "{}",
        "[1",
        "#/x",
        "\ud800",
    ]
)
ATOMS = st.none() | st.booleans() | st.integers(-3, 10**20) | st.floats() | WORDS | st.just("")
JSON = st.recursive(
    ATOMS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=14
)
ROLES = st.sampled_from(["user", "assistant", "tool", "system"])
NEARLY = st.fixed_dictionaries(
    {"role": ROLES | JSON},
    optional=dict.fromkeys(
        ["content", "tool_calls", "function_call", "name", "tool_call_id", "reasoning_content"], JSON
    ),
)
FUNCTIONS = st.fixed_dictionaries({}, optional=dict.fromkeys(["name", "description", "parameters"], JSON))
TOOLS = st.lists(
    st.fixed_dictionaries({}, optional={"function": JSON | FUNCTIONS, "name": JSON, "input_schema": JSON}), max_size=3
)
BODIES = st.fixed_dictionaries(
    {"messages": st.lists(JSON | NEARLY, max_size=6)},
    optional={"tools": JSON | TOOLS, "functions": JSON, "system": JSON, "model": JSON, "tool_choice": JSON},
)
STRATEGIES: list[dict[str, Any]] = [
    {"kind": "full_history"},
    {"kind": "keep_last", "keep_steps": 1},
    {"kind": "summarize_and_keep", "min_turns": 0, "min_steps": 0, "keep_messages": 1},
    {"kind": "summarize_and_keep", "mode": "published"},
    {"kind": "tiered_injection", "trigger": 0, "groups": [{"name": "g", "tools": ["*"]}]},
]


@examples(150)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.get("mode", strategy["kind"]))
def test_any_body(strategy: dict[str, Any], count: int) -> None:
    def run(data: st.DataObject) -> None:
        config = {
            "model": {"dialect": data.draw(st.sampled_from([*DIALECTS, None]))},
            "counter": data.draw(st.sampled_from([{}, {"kind": "cjk_estimate"}])),
            "budget": {"soft_limit": data.draw(st.sampled_from([0, 20, 200, None]))},
            "rules": [{"match": {"pattern": "x"}, "evict": "pinned"}],
            "strategy": strategy,
        }
        body = data.draw(BODIES)
        for dialect in DIALECTS:
            validate(body, dialect)
        result = ContextRuntime.load(config).assemble(body)
        assert sum(made.tokens_before for made in result.decisions) == result.tokens_before
        assert sum(made.tokens_after for made in result.decisions) == result.tokens_after
        assert sum(result.plan.kinds().values()) == result.tokens_after
        assert bool(result.blockers) == bool(result.excess)

    explore(count, run)


@examples(100)
def test_what_is_no_body_is_told_in_a_sentence(count: int) -> None:
    def run(data: st.DataObject) -> None:
        body = data.draw(JSON)
        runtime = ContextRuntime.load({"strategy": {"kind": "keep_last"}})
        try:
            runtime.assemble(body)
        except RequestError as error:
            assert str(error).endswith(".")

    explore(count, run)
