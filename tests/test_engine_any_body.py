"""Assembling never raises for what a request holds: its sums are right, or a sentence says that it is no request."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from core.dialects import detect, other_dialect
from core.errors import RequestError
from core.runtime import ContextRuntime
from core.validity import validate
from tests.engine_bodies import DIALECTS, LISTS
from tests.explore import examples, explore


def words(text: str) -> list[str]:
    return text.split()


KEYS = st.sampled_from(
    words(
        "role content type text tool_calls function name arguments id tool_call_id function_call input tool_use_id "
        "source thinking reasoning_content refusal cache_control system x custom parameters properties anyOf $ref enum "
        "title description default items required input_schema parts functionCall functionResponse response args "
        "inlineData fileData mimeType thought output outputs result results call_id summary encrypted_content action "
        "caller tool_id functionDeclarations functionCallingConfig allowedFunctionNames data signature"
    )
)
WORDS = st.sampled_from(
    [
        *words(
            "user assistant tool system developer function model text input_text output_text image image_url "
            "input_image tool_use tool_result server_tool_use thinking redacted_thinking document message reasoning "
            "function_call function_call_output shell_call_output mcp_call compaction object array string c1 {} [1 #/x"
        ),
        "\ud800",
        "KEEP x",
    ]
)
ATOMS = st.none() | st.booleans() | st.integers(-3, 10**20) | st.floats() | WORDS | st.just("")
JSON = st.recursive(
    ATOMS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=14
)
ROLES = st.sampled_from(["user", "assistant", "tool", "system", "model", "developer"])
MESSAGE = "content tool_calls function_call name tool_call_id reasoning_content refusal cache_control"
ITEM = "type content output outputs results call_id id name arguments action summary encrypted_content caller"


def nearly(role: st.SearchStrategy[Any], keys: str) -> st.SearchStrategy[Any]:
    """Something with the keys of a message, and anything under them."""
    return st.fixed_dictionaries({"role": role | JSON}, optional=dict.fromkeys(keys.split(), JSON))


def part(keys: str) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({}, optional=dict.fromkeys(keys.split(), JSON | TEXTS))


TEXTS = st.sampled_from(["words of some length " * 20, "KEEP x", '[{"a": 1}, {"a": 2}]', "[summary] x"])
BLOCKS = st.lists(
    part("type text content tool_use_id id name input thinking signature source cache_control"), max_size=3
)
PARTS = st.lists(part("text thought functionCall functionResponse inlineData fileData codeExecutionResult"), max_size=3)
SPOKEN = st.fixed_dictionaries({"role": ROLES, "content": TEXTS | BLOCKS})
CONTENTS = st.fixed_dictionaries({"role": ROLES}, optional={"parts": PARTS | JSON})
FUNCTIONS = st.fixed_dictionaries({}, optional=dict.fromkeys(["name", "description", "parameters"], JSON))
TOOLS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "function": JSON | FUNCTIONS,
            "name": JSON,
            "input_schema": JSON,
            "functionDeclarations": JSON | st.lists(FUNCTIONS, max_size=2),
            "googleSearch": JSON,
        },
    ),
    max_size=3,
)
LISTED: dict[str, st.SearchStrategy[Any]] = {
    "openai_chat": st.lists(JSON | SPOKEN | nearly(ROLES, MESSAGE), max_size=6),
    "openai_responses": st.lists(JSON | SPOKEN | nearly(ROLES, ITEM) | part(ITEM), max_size=6) | TEXTS,
    "anthropic": st.lists(JSON | SPOKEN | nearly(ROLES, MESSAGE), max_size=6),
    "gemini": st.lists(JSON | CONTENTS | nearly(ROLES, "parts"), max_size=6) | TEXTS,
}
HEAD: dict[str, st.SearchStrategy[Any]] = {
    "tools": JSON | TOOLS,
    "functions": JSON,
    "system": JSON | TEXTS | BLOCKS,
    "instructions": JSON | TEXTS,
    "systemInstruction": JSON | st.fixed_dictionaries({"parts": JSON | PARTS}),
    "model": JSON,
    "tool_choice": JSON,
    "toolConfig": JSON,
}
STRATEGIES: list[dict[str, Any]] = [
    {"kind": "full_history"},
    {"kind": "keep_last", "keep_steps": 1},
    {"kind": "summarize_and_keep", "min_turns": 0, "min_steps": 0, "keep_messages": 1},
    {"kind": "summarize_and_keep", "mode": "published"},
    {"kind": "tiered_injection", "trigger": 0, "groups": [{"name": "g", "tools": ["*"]}]},
    {"kind": "mask_tool_results", "trigger": 0, "keep": 0},
    {"kind": "span_triage"},
    {"kind": "required_reserve"},
]
SHRINKERS: list[dict[str, Any]] = [
    {"kind": "project_tool_results", "max_tokens": 8},
    {"kind": "dedupe_instructions", "hard_case_keywords": ["KEEP"]},
    {"kind": "chunk_pinned", "max_tokens": 8},
]
RULES: list[dict[str, Any]] = [
    {"match": {"pattern": "KEEP"}, "evict": "pinned"},
    {"match": {"kind": "assistant"}, "max_tokens": 9},
    {"match": {"kind": "user"}, "tier": "contextual", "max_tokens": 9},
]


@examples(13)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.get("mode", strategy["kind"]))
def test_any_body(strategy: dict[str, Any], dialect: str, count: int) -> None:
    head = {key: value for key, value in HEAD.items() if (dialect, key) != ("openai_chat", "system")}
    written = st.fixed_dictionaries({LISTS[dialect]: LISTED[dialect]}, optional=head)
    bodies = written.filter(lambda body: other_dialect(body, dialect) is None)

    def run(data: st.DataObject) -> None:
        config = {
            "model": {"dialect": dialect},
            "counter": data.draw(st.sampled_from([{}, {"kind": "cjk_estimate"}])),
            "budget": {"soft_limit": data.draw(st.sampled_from([0, 20, 200, None]))},
            "rules": RULES[: data.draw(st.integers(0, 3))],
            "shrink": data.draw(st.lists(st.sampled_from(SHRINKERS), max_size=2)),
            "strategy": strategy,
        }
        any_body(config, data.draw(bodies), dialect)

    explore(count, run)


def any_body(config: dict[str, Any], body: dict[str, Any], dialect: str) -> None:
    validate(body, dialect)
    result = ContextRuntime.load(config).assemble(body)
    assert sum(made.tokens_before for made in result.decisions) == result.tokens_before
    assert sum(made.tokens_after for made in result.decisions) == result.tokens_after
    assert sum(result.plan.kinds().values()) == result.tokens_after
    assert bool(result.blockers) == bool(result.excess)
    if config["strategy"].get("mode") != "published":
        assert result.tokens_after <= result.tokens_before
    validate(result.request, dialect)


@examples(60)
def test_a_body_that_no_dialect_is_named_for(count: int) -> None:
    keys = sorted(set(LISTS.values()))
    bodies = st.fixed_dictionaries({}, optional={**{key: JSON | LISTED["openai_chat"] for key in keys}, **HEAD})

    def run(data: st.DataObject) -> None:
        body = data.draw(bodies)
        try:
            any_body({"strategy": {"kind": "keep_last"}}, body, detect(body))
        except RequestError as error:
            assert str(error).endswith(".")

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
