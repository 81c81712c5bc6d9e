from __future__ import annotations

from typing import Any

import pytest

from core.deepseek_vocabulary import DEEPSEEK, has_deepseek
from core.dialects import dialect as dialect_named
from core.rules import Eviction, Match, Rule, Tier, Treatment
from core.spans import SpanKind, fixed_part
from core.tokens import Chars4, CjkEstimate, Counter, TiktokenCounter
from core.units import units

COUNTER = TiktokenCounter("o200k_base")
CJK = CjkEstimate()
COUNTERS = [COUNTER, CJK, Chars4(), *([TiktokenCounter(DEEPSEEK)] if has_deepseek() else [])]


def spans(message: dict[str, Any], dialect: str = "openai_chat", rules: tuple[Rule, ...] = ()) -> list[Any]:
    found = units([message], dialect_named(dialect), COUNTER, rules)
    return [(span.id, str(span.kind), span.text) for unit in found for span in unit.spans]


CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"a": 1}'}}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ({"role": "user", "content": "hi"}, [("m0.0", "user", "hi")]),
        ({"role": "assistant", "content": "hi"}, [("m0.0", "assistant", "hi")]),
        ({"role": "system", "content": "hi"}, [("m0.0", "instructions", "hi")]),
        ({"role": "critic", "content": "hi"}, [("m0.0", "other", "hi")]),
        ({"role": "user", "content": ""}, [("m0.0", "user", "")]),
        ({"role": "assistant", "content": None}, [("m0.0", "assistant", "")]),
        (
            {"role": "assistant", "content": "see", "reasoning_content": "hm", "tool_calls": [CALL]},
            [("m0.0", "thinking", "hm"), ("m0.1", "assistant", "see"), ("m0.2", "tool_call", '{"a": 1}')],
        ),
        ({"role": "tool", "tool_call_id": "c1", "content": "out"}, [("m0.0", "tool_result", "out")]),
        (
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "out"}, PICTURE]},
            [("m0.0", "tool_result", "out"), ("m0.1", "image", "")],
        ),
        (
            {"role": "user", "content": [{"type": "text", "text": "a"}, PICTURE, {"type": "text", "text": ""}]},
            [("m0.0", "user", "a"), ("m0.1", "image", "")],
        ),
        (
            {"role": "user", "content": "[summary] old… (was ~9 tokens)"},
            [("m0.0", "summary", "[summary] old… (was ~9 tokens)")],
        ),
        ({"role": "user", "content": [{"type": "file", "file": {}}]}, [("m0.0", "other", "")]),
        ({"role": "user", "content": {"odd": 1}}, [("m0.0", "other", '{"odd": 1}')]),
    ],
)
def test_spans_of_a_message(message: dict[str, Any], found: list[Any]) -> None:
    assert spans(message) == found


@pytest.mark.parametrize(
    ("dialect", "message", "shown"),
    [
        ("openai_chat", {"role": "user", "content": [PICTURE]}, "An image. It has no text."),
        ("openai_chat", {"role": "user", "content": [{"type": "file", "file": {}}]}, "A file. It has no text."),
        (
            "gemini",
            {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}]},
            "An image, image/png. It has no text.",
        ),
        (
            "gemini",
            {"role": "user", "parts": [{"fileData": {"mimeType": "application/pdf", "fileUri": "x"}}]},
            "A file, application/pdf. It has no text.",
        ),
        ("openai_chat", {"role": "user", "content": "hi"}, "hi"),
        ("openai_chat", {"role": "user", "content": ""}, ""),
        ("openai_chat", {"role": "critic", "content": ""}, ""),
        ("openai_chat", {"role": "user", "content": {"odd": 1}}, '{"odd": 1}'),
    ],
)
def test_what_stands_without_a_text_is_shown_as_what_it_is(dialect: str, message: dict[str, Any], shown: str) -> None:
    found = units([message], dialect_named(dialect), COUNTER, ())
    assert [span.shown for unit in found for span in unit.spans] == [shown]


@pytest.mark.parametrize(
    ("blocks", "kinds"),
    [
        (
            [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "a"}],
            ["thinking", "assistant"],
        ),
        ([{"type": "mystery", "data": "zz"}], ["other"]),
        ([{"type": "tool_use", "id": "t", "name": "ls", "input": {}}], ["tool_call"]),
        ([{"type": "mcp_tool_use", "id": "t", "name": "ls", "input": {}}], ["tool_call"]),
        ([{"type": "document", "source": {}}], ["other"]),
        ([{"type": "image", "source": {}}], ["image"]),
    ],
)
def test_spans_of_anthropic_blocks(blocks: list[Any], kinds: list[str]) -> None:
    assert [kind for _, kind, _ in spans({"role": "assistant", "content": blocks}, "anthropic")] == kinds


def test_results_carry_the_name_of_their_tool() -> None:
    calls = {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "c2"}]}
    calls["tool_calls"][1] = {**calls["tool_calls"][1], "function": {"name": "cat", "arguments": "{}"}}
    results = [{"role": "tool", "tool_call_id": name, "content": "x"} for name in ("c2", "c1")]
    (unit,) = units([calls, *results], dialect_named("openai_chat"), COUNTER)
    assert [(span.kind, span.tool, span.call_id) for span in unit.spans] == [
        (SpanKind.TOOL_CALL, "ls", "c1"),
        (SpanKind.TOOL_CALL, "cat", "c2"),
        (SpanKind.TOOL_RESULT, "cat", "c2"),
        (SpanKind.TOOL_RESULT, "ls", "c1"),
    ]


def test_ids_are_places_in_the_conversation() -> None:
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    head = [{"role": "system", "content": "s"}]
    spoken = dialect_named("openai_chat")
    split = spoken.split({"messages": [*head, *messages]})[1]
    assert [span.id for unit in units(split, spoken, COUNTER) for span in unit.spans] == ["m0.0", "m1.0"]


@pytest.mark.parametrize(
    ("match", "said"),
    [
        (Match(), True),
        (Match(kind="tool_result"), True),
        (Match(kind="user"), False),
        (Match(tool="l*"), True),
        (Match(tool="L*"), False),
        (Match(role="tool"), True),
        (Match(pattern=r"^ou"), True),
        (Match(pattern=r"^ut"), False),
        (Match(ids=frozenset({"m1.0"})), True),
        (Match(ids=frozenset({"c1"})), True),
        (Match(ids=frozenset({"m0.0"})), False),
        (Match(kind="tool_result", tool="cat"), False),
        (Match(section="x"), False),
    ],
)
def test_rules_match_spans(match: Match, said: bool) -> None:
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "out"},
    ]
    (unit,) = units(messages, dialect_named("openai_chat"), COUNTER, [Rule(match, Treatment(evict=Eviction.PINNED))])
    assert (unit.spans[1].rule.evict is Eviction.PINNED) == said


def test_the_later_rule_wins_where_both_say_something() -> None:
    rules = (
        Rule(Match(), Treatment(evict=Eviction.PINNED, priority=3)),
        Rule(Match(kind="user"), Treatment(evict=Eviction.RECOVERABLE, tier=Tier.KNOWLEDGE)),
    )
    (unit,) = units([{"role": "user", "content": "a"}], dialect_named("openai_chat"), COUNTER, rules)
    said = unit.spans[0].rule
    assert (said.evict, said.priority, said.tier) == (Eviction.RECOVERABLE, 3, Tier.KNOWLEDGE)
    assert unit.spans[0].kind is SpanKind.RETRIEVAL
    assert not unit.stays


@pytest.mark.parametrize("tier", [Tier.CORE, Tier.TOOL])
def test_only_contextual_tiers_make_a_result_retrieved(tier: Tier) -> None:
    message = {"role": "user", "content": "a"}
    assert spans(message, rules=(Rule(Match(), Treatment(tier=tier)),))[0][1] == "user"


PROMPT = "Intro\n# Rules\n1. one\n<examples>\nQ\n</examples>\n"
TOOL = {"type": "function", "function": {"name": "ls", "description": "List files", "parameters": {}}}


@pytest.mark.parametrize(
    ("body", "dialect"),
    [
        (
            {
                "messages": [{"role": "system", "content": PROMPT}, {"role": "developer", "content": "dev"}],
                "tools": [TOOL],
            },
            "openai_chat",
        ),
        (
            {
                "messages": [],
                "system": [{"type": "text", "text": PROMPT}, {"type": "text", "text": "dev"}],
                "tools": [{"name": "ls", "description": "List files", "input_schema": {}}],
            },
            "anthropic",
        ),
    ],
)
def test_the_fixed_part(body: dict[str, Any], dialect: str) -> None:
    spoken = dialect_named(dialect)
    fixed = fixed_part(spoken.split(body)[0], spoken, COUNTER, None)
    assert [(span.id, span.name, str(span.kind)) for span in fixed.spans] == [
        ("s0.0", "Intro", "instructions"),
        ("s0.1", "Rules", "instructions"),
        ("s0.2", "1. one", "instructions"),
        ("s0.3", "examples", "examples"),
        ("s1.0", "dev", "instructions"),
        ("t0", "ls", "tool_definition"),
    ]
    assert sum(span.tokens for span in fixed.spans[:4]) == COUNTER.count(PROMPT)
    assert fixed.tokens == sum(span.tokens for span in fixed.spans) + fixed.overhead
    assert [tool.part for tool in fixed.tools] == [0]


def test_rules_on_sections_and_tools() -> None:
    spoken = dialect_named("openai_chat")
    head = {"messages": [{"role": "system", "content": PROMPT}], "tools": [TOOL]}
    rules = [
        Rule(Match(section="Rules"), Treatment(priority=1)),
        Rule(Match(kind="tool_definition", tool="l*"), Treatment(group="files")),
    ]
    fixed = fixed_part(head, spoken, COUNTER, None, rules)
    assert [span.rule.priority for span in fixed.spans] == [None, 1, None, None, None]
    assert fixed.tools[0].rule.group == "files"


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ({"role": "system", "content": "be brief"}, 6),
        ({"role": "system", "content": "be brief", "name": "boss"}, 6),
        ({"role": "system", "content": ""}, 4),
        ({"role": "system", "content": [{"type": "text", "text": "be "}, {"type": "text", "text": "brief"}]}, 6),
    ],
)
def test_a_system_message_costs_the_same_at_the_start_and_later(message: dict[str, Any], tokens: int) -> None:
    spoken = dialect_named("openai_chat")
    for counter, expected in ((CJK, tokens), (COUNTER, None)):
        lead = fixed_part({"messages": [message]}, spoken, counter, None)
        (later,) = units([message], spoken, counter)
        assert lead.tokens - spoken.request_overhead(None, counter) == later.tokens
        assert expected in (None, later.tokens)


MORE_TOOLS = {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "ls"}]}
MEDIA = {"inlineData": {"mimeType": "image/png", "data": "AA=="}}


@pytest.mark.parametrize(
    ("body", "dialect", "found"),
    [
        (
            {"messages": [{"role": "system", "content": [{"type": "text", "text": "be brief"}, PICTURE]}]},
            "openai_chat",
            [("s0.0", "instructions", "be brief", 2), ("h0", "image", "image_url", 765)],
        ),
        (
            {"input": [MORE_TOOLS, {"role": "developer", "content": "be brief"}]},
            "openai_responses",
            [("s1.0", "instructions", "be brief", 2), ("h0", "other", "other", 22)],
        ),
        (
            {"instructions": "be brief", "input": [MORE_TOOLS]},
            "openai_responses",
            [("s0.0", "instructions", "be brief", 2), ("h0", "other", "other", 22)],
        ),
        (
            {"messages": [], "system": [{"type": "odd", "x": 1}, {"type": "text", "text": "be brief"}]},
            "anthropic",
            [("s1.0", "instructions", "be brief", 2), ("h0", "other", "other", 12)],
        ),
        (
            {"contents": [], "systemInstruction": {"parts": [MEDIA, {"text": "be brief"}, {"fileData": {}}]}},
            "gemini",
            [
                ("s0.0", "instructions", "be brief", 2),
                ("h0", "image", "image/png", 258),
                ("h1", "other", "fileData", 0),
            ],
        ),
    ],
)
def test_what_is_no_text_in_the_system_part_is_a_span_too(body: dict[str, Any], dialect: str, found: list[Any]) -> None:
    spoken = dialect_named(dialect)
    fixed = fixed_part(spoken.split(body)[0], spoken, COUNTER, None)
    assert [(span.id, str(span.kind), span.name, span.tokens) for span in fixed.spans] == found
    assert [span.id for span in (*fixed.sections, *fixed.parts)] == [span[0] for span in found]
    assert fixed.tokens == sum(span.tokens for span in fixed.spans) + fixed.overhead


@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.parametrize(
    ("item", "dialect"),
    [
        (MORE_TOOLS, "openai_responses"),
        ({"role": "developer", "content": ""}, "openai_responses"),
        (
            {"role": "system", "content": [{"type": "input_text", "text": "see"}, {"type": "input_image"}]},
            "openai_responses",
        ),
        ({"type": "compaction", "role": "system", "encrypted_content": "a" * 4000}, "openai_responses"),
        ({"role": "system", "content": [PICTURE], "name": "boss"}, "openai_chat"),
        (
            {"role": "system", "content": ["see ", PICTURE, {"type": "text", "text": "this"}, {"type": "odd"}]},
            "openai_chat",
        ),
        ({"role": "system", "content": "no", "refusal": "never", "reasoning_content": "hm"}, "openai_chat"),
        ({"role": "developer", "content": 7}, "openai_chat"),
    ],
)
def test_the_system_part_counts_what_it_would_later(item: dict[str, Any], dialect: str, counter: Counter) -> None:
    spoken = dialect_named(dialect)
    key = "messages" if dialect == "openai_chat" else "input"
    lead = fixed_part({key: [item]}, spoken, counter, None)
    (later,) = units([item], spoken, counter)
    assert lead.tokens - spoken.request_overhead(None, counter) == later.tokens
