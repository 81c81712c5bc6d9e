"""Scripts: texts without spaces and beyond ASCII are counted, searched and cut as what they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.excerpt import excerpt
from core.plan import Status
from core.shrinkers import ProjectToolResults
from core.spans import Span, SpanKind
from core.strategies.reserve import trimmed
from core.strategies.tiers import is_said, summary_line
from core.tokens import Exactness, counter_for_model, counter_from
from tests.talks import CUTTING, DIALECTS, LISTS, body, long, messages, run, said, sent, step, tokens, user

RULE = "请保留约束条件不得删除生产表"
COUNTS = [
    # text, o200k, cl100k, the rule book's estimate, a quarter of the characters
    ("안녕하세요 " * 20, 41, 82, 30, 30),
    ("漢字" * 180, 360, 540, 216, 90),
    ("你好世界" * 25, 50, 125, 60, 25),
    ("naïve café 🚀" * 20, 120, 140, 65, 60),
    (RULE * 20, 200, 260, 168, 70),
    (RULE * 40, 400, 520, 336, 140),
    ("好的" * 40, 40, 80, 48, 20),
]


@pytest.mark.parametrize(("text", "o200k", "cl100k", "estimate", "quarter"), COUNTS, ids=lambda value: str(value)[:6])
def test_texts_count_their_tokens_by_every_counter(
    text: str, o200k: int, cl100k: int, estimate: int, quarter: int
) -> None:
    told = {"messages": messages("openai_chat", user(text))}
    assert tokens(told, "openai_chat", None, "gpt-4o") == 3 + 4 + o200k
    assert tokens(told, "openai_chat", None, "gpt-4") == 3 + 4 + cl100k
    assert tokens(told, "openai_chat", None, "a model that nobody knows") == 3 + 4 + o200k
    assert tokens(told, "openai_chat", "cjk_estimate") == 4 + estimate
    assert tokens(told, "openai_chat", "chars4") == quarter


@pytest.mark.parametrize(
    ("counter", "exactness"),
    [
        (counter_for_model("gpt-4o"), Exactness.EXACT),
        (counter_for_model("a model that nobody knows"), Exactness.ESTIMATE),
        (counter_for_model("claude-sonnet-4-5"), Exactness.ESTIMATE),
        (counter_from("cjk_estimate"), Exactness.ESTIMATE),
        (counter_from("chars4"), Exactness.ESTIMATE),
    ],
)
def test_an_estimate_says_that_it_is_one(counter: Any, exactness: Exactness) -> None:
    assert counter.exactness is exactness


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", CUTTING)
def test_a_text_without_spaces_goes_over_its_budget(kind: str, dialect: str) -> None:
    """280 characters are 200 tokens: neither 70 by a quarter of them, nor one word."""
    made = {**body(dialect, user(RULE * 20)), "model": "gpt-4o"}
    result = run(made, dialect, kind, 100, counter={})
    assert result.status is Status.OVER_BUDGET
    assert result.tokens_after - 100 == result.excess >= 100
    assert sent(result, dialect) == messages(dialect, user(RULE * 20))


@pytest.mark.parametrize(("keep", "kept"), [(0, 1), (250, 1), (368, 1), (369, 2), (732, 2), (733, 3), (1096, 3)])
def test_what_is_kept_in_tokens_is_kept_in_tokens(keep: int, kept: int) -> None:
    """360 characters with their frame are 364 tokens, and no 94."""
    told = messages("openai_chat", *(user("漢字" * 180) for _ in range(3)), user("好"))
    made = {"model": "gpt-4o", "messages": told}
    result = run(made, "openai_chat", "keep_last", 1099, counter={}, keep={"keep_tokens": keep})
    assert (result.tokens_before, len(result.request["messages"])) == (3 + 3 * 364 + 5, kept)
    assert result.tokens_after == 3 + (kept - 1) * 364 + 5


@pytest.mark.parametrize(
    ("keyword", "text", "found"),
    [
        ("订单", "订单服务重试五次", True),
        ("订单", "今天天气很好", False),
        ("검색", "문서 검색해 줘", True),
        ("カレンダー", "カレンダーを開いて", True),
        ("python", "用python跑一下", True),
        ("python", "run pythonic code", False),
        ("Straße", "in der straße", True),
    ],
)
def test_keywords_are_found_in_every_script(keyword: str, text: str, found: bool) -> None:
    assert is_said(keyword, text.lower()) is found


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("text", "loaded"), [("订单服务重试五次", True), ("今天天气很好", False)])
def test_a_keyword_in_any_script_loads_its_tools(text: str, loaded: bool, dialect: str) -> None:
    groups = [{"name": "orders", "keywords": ["订单"], "tools": ["find_*"]}]
    made = body(dialect, user(text), tools=["find_order_by_its_number", "find_customer_by_their_name", "clock"])
    result = run(made, dialect, "tiered_injection", 10_000, strategy={"groups": groups})
    assert ("find_order_by_its_number" in json.dumps(result.request["tools"])) is loaded
    assert "clock" in json.dumps(result.request["tools"])


WIDE = ["🦊", "💰", "👩‍👩‍👧", "🇩🇪", "e\u0301", "𠮷", "हिन्दी"]


@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("before", range(36, 44))
def test_an_excerpt_never_ends_in_half_a_character(wide: str, before: int) -> None:
    text = "y" * before + wide + "z" * 60
    assert excerpt(text) == text[:40]
    excerpt(text).encode("utf-8")


@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("before", range(196, 204))
def test_a_line_of_a_summary_never_ends_in_half_a_character(wide: str, before: int) -> None:
    text = "y" * before + wide + "z" * 60
    assert summary_line("user", text) == f"[user]: {text[:200]}..."
    summary_line("user", text).encode("utf-8")


@pytest.mark.parametrize("limit", range(12))
def test_a_section_never_ends_in_half_a_character(limit: int) -> None:
    assert trimmed("🦊" * 12, limit, len) == ("🦊" * (limit - 3) + "..." if limit > 3 else "🦊" * limit)


@pytest.mark.parametrize("wide", WIDE)
def test_a_projected_result_never_breaks_a_character(wide: str) -> None:
    counter = counter_from("tiktoken")
    for length in range(60, 90):
        text = wide * length + "\n" + wide * length
        span = Span("m1.0", SpanKind.TOOL_RESULT, "f", text, counter.count(text), "tool", 1, 0)
        left = ProjectToolResults(max_tokens=60).projected(span, counter)
        left.encode("utf-8")
        assert counter.count(left) <= 60
        first, _, last = left.partition("[left out: m1.0, ")
        assert text.startswith(first)
        assert text.endswith(last.partition("]\n")[2])


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", CUTTING)
def test_half_a_character_in_the_input_stays_what_it_was(kind: str, dialect: str) -> None:
    """A lone surrogate comes from a client that cut a text wrongly; it must not stop the run."""
    half = "\ud83d"
    events = [user(half + long("u1")), step("A"), said(half + long("a1")), user("u2 " + half)]
    result = run(body(dialect, *events), dialect, kind, 80)
    assert sent(result, dialect)[-1] == messages(dialect, events[-1])[0]
    json.dumps(result.request)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", CUTTING)
@pytest.mark.parametrize("budget", [150, 100, 60])
def test_no_strategy_makes_half_a_character(kind: str, dialect: str, budget: int) -> None:
    events = [event for at in range(4) for event in (user("🦊" * (37 + at)), step("A" * at or "B"), said("💰" * 41))]
    made = body(dialect, *events, user("末"))
    result = run(made, dialect, kind, budget)
    json.dumps(result.request, ensure_ascii=False).encode("utf-8")
    assert result.tokens_after <= result.tokens_before
    assert result.request[LISTS[dialect]]
