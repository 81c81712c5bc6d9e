"""Counting: whatever is sent is counted, once, however it is spelt; what is empty costs nothing and breaks nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.runtime import ContextRuntime
from core.spans import SpanKind
from core.tokens import encoding
from tests.talks import CUTTING, DIALECTS, LISTS, Wire, body, messages, run, said, step, tokens, user

COUNTERS = (None, "cjk_estimate", "chars4")


def call(name: str = "look", arguments: str = "{}") -> Wire:
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


EMPTY: list[tuple[str, Wire, list[Any]]] = [
    ("openai_chat", {"role": "assistant"}, [None, "", [], [{"type": "text", "text": ""}]]),
    ("openai_chat", {"role": "user"}, [None, "", []]),
    ("openai_chat", {"role": "assistant", "tool_calls": []}, [None, ""]),
    ("openai_chat", {"role": "assistant", "tool_calls": [call()]}, [None, "", []]),
    ("openai_chat", {"role": "tool", "tool_call_id": "c"}, [None, "", []]),
    ("openai_chat", {"role": "system"}, [None, "", []]),
    ("openai_responses", {"role": "assistant"}, [None, "", [], [{"type": "output_text", "text": ""}]]),
    ("anthropic", {"role": "assistant"}, [None, "", [], [{"type": "text", "text": ""}]]),
    ("anthropic", {"role": "user"}, [None, "", []]),
]


@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.parametrize(("dialect", "message", "contents"), EMPTY)
def test_no_content_counts_as_an_empty_text(
    dialect: str, message: Wire, contents: list[Any], counter: str | None
) -> None:
    first = messages(dialect, user("hi"))
    shapes = [message, *({**message, "content": content} for content in contents)]
    counts = {tokens({LISTS[dialect]: [*first, shape, *first]}, dialect, counter) for shape in shapes}
    assert len(counts) == 1


@pytest.mark.parametrize("output", [None, "", []])
def test_no_output_counts_as_an_empty_text(output: Any) -> None:
    def items(result: Wire) -> Wire:
        made = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
        return {"input": [{"role": "user", "content": "hi"}, made, {"call_id": "c", **result}]}

    told, silent = ({"type": "function_call_output", "output": text} for text in (output, ""))
    if output == []:
        silent = {"type": "function_call_output", "output": "[]"}
    assert tokens(items(told), "openai_responses") == tokens(items(silent), "openai_responses")


@pytest.mark.parametrize("kind", CUTTING)
@pytest.mark.parametrize(("dialect", "message", "contents"), EMPTY)
def test_no_strategy_stumbles_over_nothing(dialect: str, message: Wire, contents: list[Any], kind: str) -> None:
    wires = [wire for content in contents for wire in (*messages(dialect, user("hi")), {**message, "content": content})]
    made = {"model": "m", LISTS[dialect]: [*wires, *messages(dialect, user("hello"))]}
    for budget in (None, 12, 0):
        assert run(made, dialect, kind, budget).request[LISTS[dialect]][-1] == messages(dialect, user("hello"))[0]


BLOCK = {"type": "tool_use", "id": "c", "name": "look", "input": {"q": "x"}}
SHAPES: list[tuple[str, list[Wire]]] = [
    (
        "openai_chat",
        [
            {"role": "assistant", "content": content, "tool_calls": [call("look", '{"q":"' + "x" * 400 + '"}')]}
            for content in ("ok", [{"type": "text", "text": "ok"}], [{"type": "text", "text": "o"}, "k"])
        ],
    ),
    ("openai_chat", [{"role": "user", "content": content} for content in ("some words", ["some", " words"])]),
    (
        "openai_responses",
        [
            {"role": "assistant", "content": content}
            for content in ("ok", [{"type": "output_text", "text": "ok"}], [{"type": "text", "text": "ok"}])
        ],
    ),
    (
        "anthropic",
        [
            {"role": "assistant", "content": content}
            for content in ([{"type": "text", "text": "ok"}, BLOCK], [{"type": "text", "text": "ok"}, {**BLOCK}])
        ],
    ),
    ("anthropic", [{"role": "user", "content": content} for content in ("words", [{"type": "text", "text": "words"}])]),
    ("openai_chat", [{"role": "assistant", "tool_calls": [call(arguments=text)]} for text in ('{"q":1}', '{"q": 1}')]),
]


@pytest.mark.parametrize(("dialect", "shapes"), SHAPES)
def test_one_content_counts_the_same_in_every_shape(dialect: str, shapes: list[Wire]) -> None:
    first = messages(dialect, user("hi"))
    assert len({tokens({LISTS[dialect]: [*first, shape]}, dialect, None) for shape in shapes}) == 1


def field(dialect: str, role: str, **fields: Any) -> tuple[str, Any]:
    def made(text: str) -> Wire:
        filled = json.loads(json.dumps(fields).replace("TEXT", text))
        return {LISTS[dialect]: [*messages(dialect, user("hi")), {**({"role": role} if role else {}), **filled}]}

    return dialect, made


def fixed(dialect: str, **fields: Any) -> tuple[str, Any]:
    def made(text: str) -> Wire:
        filled = json.loads(json.dumps(fields).replace("TEXT", text))
        return {**filled, LISTS[dialect]: messages(dialect, user("hi"))}

    return dialect, made


ITEM = {"type": "function_call", "call_id": "c", "name": "look"}
FIELDS = [
    field("openai_chat", "user", content="TEXT"),
    field("openai_chat", "user", content=[{"type": "text", "text": "TEXT"}]),
    field("openai_chat", "developer", content="TEXT"),
    field("openai_chat", "assistant", content="TEXT"),
    field("openai_chat", "assistant", content=None, refusal="TEXT"),
    field("openai_chat", "assistant", content="ok", reasoning_content="TEXT"),
    field("openai_chat", "assistant", content="ok", reasoning="TEXT"),
    field("openai_chat", "assistant", tool_calls=[call("TEXT")]),
    field("openai_chat", "assistant", tool_calls=[call(arguments="TEXT")]),
    field("openai_chat", "assistant", content=[], tool_calls=[call(arguments="TEXT")]),
    field("openai_chat", "assistant", function_call={"name": "look", "arguments": "TEXT"}),
    field("openai_chat", "assistant", tool_calls=[{"id": "c", "type": "custom", "custom": {"input": "TEXT"}}]),
    field("openai_chat", "tool", tool_call_id="c", content="TEXT"),
    field("openai_chat", "tool", tool_call_id="c", content=[{"type": "text", "text": "TEXT"}]),
    field("openai_chat", "critic", content="TEXT"),
    field("openai_chat", "user", content={"unforeseen": "TEXT"}),
    fixed("openai_chat", tools=[{"type": "function", "function": {"name": "look", "description": "TEXT"}}]),
    fixed("openai_chat", functions=[{"name": "look", "description": "TEXT"}]),
    field("openai_responses", "user", content=[{"type": "input_text", "text": "TEXT"}]),
    field("openai_responses", "", type="reasoning", summary=[{"type": "summary_text", "text": "TEXT"}]),
    field("openai_responses", "", **{**ITEM, "name": "TEXT"}),
    field("openai_responses", "", **ITEM, arguments="TEXT"),
    field("openai_responses", "", type="custom_tool_call", call_id="c", name="look", input="TEXT"),
    field("openai_responses", "", type="function_call_output", call_id="c", output="TEXT"),
    field("openai_responses", "", type="mcp_call", id="c", name="look", output="TEXT"),
    field("openai_responses", "", type="unforeseen", words="TEXT"),
    fixed("openai_responses", instructions="TEXT"),
    fixed("openai_responses", tools=[{"type": "function", "name": "look", "description": "TEXT"}]),
    field("anthropic", "user", content=[{"type": "text", "text": "TEXT"}]),
    field("anthropic", "assistant", content=[{"type": "thinking", "thinking": "TEXT", "signature": "s"}]),
    field("anthropic", "assistant", content=[{**BLOCK, "name": "TEXT"}]),
    field("anthropic", "assistant", content=[{**BLOCK, "input": {"q": "TEXT"}}]),
    field("anthropic", "user", content=[{"type": "tool_result", "tool_use_id": "c", "content": "TEXT"}]),
    field("anthropic", "user", content=[{"type": "unforeseen", "words": "TEXT"}]),
    fixed("anthropic", system="TEXT"),
    fixed("anthropic", system=[{"type": "text", "text": "TEXT"}]),
    fixed("anthropic", tools=[{"name": "look", "description": "TEXT", "input_schema": {}}]),
    field("gemini", "user", parts=[{"text": "TEXT"}]),
    field("gemini", "model", parts=[{"text": "TEXT", "thought": True}]),
    field("gemini", "model", parts=[{"functionCall": {"name": "TEXT", "args": {}}}]),
    field("gemini", "model", parts=[{"functionCall": {"name": "look", "args": {"q": "TEXT"}}}]),
    field("gemini", "user", parts=[{"functionResponse": {"name": "look", "response": {"output": "TEXT"}}}]),
    field("gemini", "model", parts=[{"executableCode": {"code": "TEXT"}}]),
    fixed("gemini", systemInstruction={"parts": [{"text": "TEXT"}]}),
    fixed("gemini", tools=[{"functionDeclarations": [{"name": "look", "description": "TEXT"}]}]),
]
NAMED = field("openai_chat", "user", content="hi", name="TEXT")
"""The rule book's estimate (rule B-P2) counts contents and calls, and no names of speakers."""


@pytest.mark.parametrize("counter", ["cjk_estimate", "chars4"])
@pytest.mark.parametrize(("dialect", "made"), FIELDS)
def test_every_field_that_is_sent_is_counted(dialect: str, made: Any, counter: str) -> None:
    """400 characters more are 100 tokens more, wherever they stand; so are 39,000 in a single field."""
    short, longer, huge = (tokens(made("abcd" * times), dialect, counter) for times in (2, 102, 9752))
    assert (longer - short, huge - short) == (100, 9750)


@pytest.mark.parametrize(("dialect", "made"), [*FIELDS, NAMED])
def test_every_field_counts_with_the_models_own_tokens(dialect: str, made: Any) -> None:
    words = " and so on"
    assert tokens(made("so" + words * 40), dialect, None) - tokens(made("so" + words * 20), dialect, None) == 60


@pytest.mark.parametrize(
    ("counter", "expected"),
    [("cjk_estimate", 4 + 2 + 7), ("chars4", 1 + 6), (None, 5 + 2 + 46 + 14 + 1 + 1 + 2)],
)
def test_a_call_is_counted_as_compact_json_and_not_as_an_object_is_printed(counter: str | None, expected: int) -> None:
    block = {"type": "tool_use", "id": "call_with_a_long_id", "name": "search", "input": {"query": "recent events"}}
    assert tokens({"messages": [{"role": "assistant", "content": [block]}]}, "anthropic", counter) == expected


@pytest.mark.parametrize(
    ("characters", "expected"), [(0, 0), (868, 0), (952, 16), (1228, 67), (20_000, 3587), (20_001, 3587)]
)
@pytest.mark.parametrize(
    ("dialect", "part"),
    [
        ("openai_responses", {"type": "reasoning", "summary": [], "encrypted_content": "SEALED"}),
        ("openai_responses", {"type": "compaction", "encrypted_content": "SEALED"}),
        ("anthropic", {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "SEALED"}]}),
    ],
)
def test_encrypted_reasoning_counts_by_its_length(dialect: str, part: Wire, characters: int, expected: int) -> None:
    def made(sealed: str) -> Wire:
        return {
            LISTS[dialect]: [*messages(dialect, user("hi")), json.loads(json.dumps(part).replace("SEALED", sealed))]
        }

    assert tokens(made("Q" * characters), dialect, None) - tokens(made(""), dialect, None) == expected


def test_a_signature_counts_nothing() -> None:
    def made(signature: str) -> Wire:
        block = {"type": "thinking", "thinking": "let me see", "signature": signature}
        return {"messages": [{"role": "assistant", "content": [block]}]}

    assert tokens(made("s" * 20_000), "anthropic", None) == tokens(made("s"), "anthropic", None) == 5 + 2 + 3


@pytest.mark.parametrize(
    ("text", "o200k", "cl100k"),
    [
        ("<|endoftext|>", 7, 7),
        ("<|im_start|>", 6, 6),
        ("<|im_end|>", 6, 6),
        ("<|endofprompt|>", 7, 7),
        ("<|fim_prefix|>", 6, 7),
        ("what is <|endoftext|>?", 9, 8),
        ("edit the parser for <|endoftext|> and <|im_start|>", 18, 16),
    ],
)
def test_the_names_of_special_tokens_are_ordinary_text(text: str, o200k: int, cl100k: int) -> None:
    assert tokens({"messages": [user_wire(text)]}, "openai_chat", None) == 3 + 4 + o200k
    assert tokens({"messages": [user_wire(text)]}, "openai_chat", None, "gpt-4") == 3 + 4 + cl100k
    assert len(encoding("o200k_base").encode_ordinary(text)) == o200k


def user_wire(text: str) -> Wire:
    return {"role": "user", "content": text}


@pytest.mark.parametrize(("dialect", "made"), FIELDS)
def test_the_names_of_special_tokens_may_stand_anywhere(dialect: str, made: Any) -> None:
    plain, special = (tokens(made(text), dialect, None) for text in ("", "<|endoftext|>"))
    assert 5 <= special - plain <= 11


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", CUTTING)
def test_a_conversation_with_special_tokens_goes_on(kind: str, dialect: str) -> None:
    made = body(dialect, user("what is <|endoftext|>?"), step("<|im_end|>"), said("<|im_start|>"), user("hello"))
    config = {
        "model": {"dialect": dialect},
        "budget": {"soft_limit": 20},
        "strategy": {"kind": kind, **CUTTING[kind]},
    }
    result = ContextRuntime.load(config).assemble(made)
    assert result.request[LISTS[dialect]][-1] == messages(dialect, user("hello"))[0]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_equal_results_are_told_apart_and_add_up(dialect: str) -> None:
    made = body(dialect, user("q"), step("A", "B"), step("C"), said("again"), said("again"))
    for wire in made[LISTS[dialect]]:
        for name in ("rA", "rB", "rC"):
            wire.update(json.loads(json.dumps(wire).replace(f'"{name}"', '"' + "same " * 40 + '"')))
    result = run(made, dialect, "full_history", None)
    kinds = result.plan.kinds()
    assert kinds[SpanKind.TOOL_RESULT] == 3 * 50
    assert kinds[SpanKind.ASSISTANT] == 2 * 2
    assert sum(kinds.values()) == sum(made.tokens_after for made in result.decisions) == result.tokens_after


KINDS = {SpanKind.USER: 1, SpanKind.ASSISTANT: 2, SpanKind.THINKING: 2, SpanKind.TOOL_CALL: 4, SpanKind.TOOL_RESULT: 2}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_kind_has_its_own_tokens(dialect: str) -> None:
    """Calls, results and reasoning are kinds of their own in every dialect, and none is lost in `other`."""
    told = step("A", "B", text="let me", thinking="hm, hm")
    kinds = run(body(dialect, user("q"), told), dialect, "full_history", None).plan.kinds()
    assert {kind: count for kind, count in kinds.items() if kind is not SpanKind.OVERHEAD} == KINDS
