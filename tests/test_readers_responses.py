from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dialects import PartKind, dialect
from core.readers.figures import believed
from core.readers.responses import ResponseFacts, response_facts
from core.readers.times import parse_time
from core.transcript import Usage

CHAT = {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}}]}
CLAUDE = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "hi"}]}


def test_a_chat_completion() -> None:
    facts = response_facts({**CHAT, "model": "gpt-4o-mini-2024-07-18", "created": 1730371250})
    assert facts == ResponseFacts(
        {"role": "assistant", "content": "hi"},
        Usage(),
        "gpt-4o-mini-2024-07-18",
        datetime(2024, 10, 31, 10, 40, 50, tzinfo=UTC),
        "openai_chat",
    )


def test_an_anthropic_message() -> None:
    facts = response_facts({**CLAUDE, "id": "msg_1", "model": "claude-sonnet-4", "stop_reason": "end_turn"})
    assert facts == ResponseFacts(
        {"role": "assistant", "content": [{"type": "text", "text": "hi"}]},
        Usage(),
        "claude-sonnet-4",
        None,
        "anthropic",
    )


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 85, "completion_tokens": 18}, Usage(85, None, None, 18, None)),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "prompt_tokens_details": {"cached_tokens": 64},
                "completion_tokens_details": {"reasoning_tokens": 12},
            },
            Usage(100, 64, None, 20, 12),
        ),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 0}, Usage(9, 0)),
        (
            {"prompt_tokens": 3439, "cache_creation_input_tokens": 3435, "cache_read_input_tokens": 0},
            Usage(3439, 0, 3435),
        ),
        ({"prompt_tokens": 70, "cached_tokens": 64}, Usage(70, 64)),
        ({"prompt_tokens": "85", "completion_tokens": -1}, Usage()),
        ({"prompt_tokens": True, "completion_tokens": 1.5}, Usage()),
        ({"prompt_tokens": float("nan"), "completion_tokens": float("inf")}, Usage()),
        ({"prompt_tokens": 85.0, "prompt_tokens_details": None}, Usage(85)),
        ({"prompt_tokens": 5, "prompt_tokens_details": []}, Usage(5)),
        ([1, 2], Usage()),
        (None, Usage()),
    ],
)
def test_openai_usage(usage: Any, expected: Usage) -> None:
    assert believed(response_facts({**CHAT, "usage": usage}).usage) == expected


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 10, "output_tokens": 6}, Usage(10, None, None, 6)),
        (
            {
                "input_tokens": 10,
                "cache_creation_input_tokens": 2128,
                "cache_read_input_tokens": 13522,
                "output_tokens": 148,
            },
            Usage(15660, 13522, 2128, 148),
        ),
        (
            {"input_tokens": 3, "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 5}},
            Usage(12, None, 9),
        ),
        ({"input_tokens": None, "cache_read_input_tokens": 5}, Usage(None, 5)),
        ({"input_tokens": 1, "cache_read_input_tokens": "x"}, Usage(1)),
        (
            {"input_tokens": 1, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}},
            Usage(1, output=9, reasoning=4),
        ),
        ("many", Usage()),
        (
            {
                "input_tokens": 6,
                "output_tokens": 9,
                "iterations": [
                    {"type": "compaction", "input_tokens": 50, "cache_read_input_tokens": 4, "output_tokens": 5},
                    {"type": "message", "input_tokens": 6, "output_tokens": 9},
                    "x",
                ],
            },
            Usage(6 + 50 + 4, None, None, 9 + 5),
        ),
        ({"output_tokens": 9, "iterations": [{"type": "compaction", "input_tokens": 50}]}, Usage(output=9)),
        ({"input_tokens": 6, "iterations": 3}, Usage(6)),
    ],
)
def test_anthropic_usage(usage: Any, expected: Usage) -> None:
    assert believed(response_facts({**CLAUDE, "usage": usage}).usage) == expected


def test_several_choices_are_alternatives_and_the_first_counts() -> None:
    choices = [None, {"index": 0, "message": {"content": "a"}}, {"index": 1, "message": {"content": "b"}}]
    assert response_facts({"choices": choices}).message == {"role": "assistant", "content": "a"}


@pytest.mark.parametrize(
    "response",
    [
        None,
        "",
        "not JSON",
        "[" * 100_000,
        [],
        {},
        {"error": {"message": "overloaded"}},
        {"type": "error", "error": {}},
        {"object": "chat.completion.chunk", "choices": [{"delta": {}}]},
        {"role": "user", "content": "no response"},
    ],
)
def test_what_is_no_response_is_unknown(response: Any) -> None:
    assert response_facts(response) == ResponseFacts()


def test_json_text_is_parsed() -> None:
    assert response_facts('{"choices":[{"message":{"role":"assistant","content":"x"}}]}').message == {
        "role": "assistant",
        "content": "x",
    }


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_FIELDS = ["choices", "usage", "content", "model", "created", "role", "type", "object"]


@given(st.sampled_from([CHAT, CLAUDE]), st.dictionaries(st.sampled_from(_FIELDS), _json))
def test_no_response_raises(base: dict, changes: dict) -> None:
    facts = response_facts({**base, **changes})
    assert all(number is None or number >= 0 for number in (facts.usage.input, facts.usage.output))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2025-05-29T23:38:25.033061", datetime(2025, 5, 29, 23, 38, 25, 33061, UTC)),
        ("2024-01-01T10:00:00Z", datetime(2024, 1, 1, 10, tzinfo=UTC)),
        ("2024-01-01T10:00:00.123456789+02:00", datetime(2024, 1, 1, 8, 0, 0, 123456, UTC)),
        ("2025-01-17 16:10:55", datetime(2025, 1, 17, 16, 10, 55, tzinfo=UTC)),
        (1730371250, datetime(2024, 10, 31, 10, 40, 50, tzinfo=UTC)),
        (1730371250.5, datetime(2024, 10, 31, 10, 40, 50, 500000, UTC)),
        (1730371250000, datetime(2024, 10, 31, 10, 40, 50, tzinfo=UTC)),
        (1730371250000000, datetime(2024, 10, 31, 10, 40, 50, tzinfo=UTC)),
        ("1730371250000000000", datetime(2024, 10, 31, 10, 40, 50, tzinfo=UTC)),
        ("1730371250", datetime(2024, 10, 31, 10, 40, 50, tzinfo=UTC)),
    ],
)
def test_times(value: Any, expected: datetime) -> None:
    assert parse_time(value) == expected


@pytest.mark.parametrize(
    "value", [None, True, "", "yesterday", 0, -5, float("nan"), float("inf"), 1e300, [], {}, "9" * 400, 10**400]
)
def test_what_is_no_time(value: Any) -> None:
    assert parse_time(value) is None


ITEM = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}
REASONING = {"type": "reasoning", "summary": []}


@pytest.mark.parametrize(
    ("output", "message"),
    [([], None), ([ITEM], ITEM), ([REASONING, ITEM], {"role": "assistant", "output": [REASONING, ITEM]})],
)
def test_a_responses_response(output: list[Any], message: Any) -> None:
    usage = {
        "input_tokens": 60,
        "input_tokens_details": {"cached_tokens": 20},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 4},
    }
    given = {"object": "response", "model": "gpt-5", "created_at": 1730371250, "output": output, "usage": usage}
    at = datetime(2024, 10, 31, 10, 40, 50, tzinfo=UTC)
    assert response_facts(given) == ResponseFacts(message, Usage(60, 20, None, 9, 4), "gpt-5", at, "openai_responses")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"promptTokenCount": 10, "cachedContentTokenCount": 4}, Usage(10, 4)),
        ({"promptTokenCount": 10, "toolUsePromptTokenCount": 3, "candidatesTokenCount": 2}, Usage(13, output=2)),
        ({"candidatesTokenCount": 2, "thoughtsTokenCount": 5}, Usage(output=7, reasoning=5)),
        ({"promptTokenCount": "10"}, Usage()),
        ([], Usage()),
    ],
)
def test_gemini_usage(usage: Any, expected: Usage) -> None:
    assert believed(response_facts({"candidates": [], "usageMetadata": usage}).usage) == expected


def test_a_gemini_response() -> None:
    content = {"parts": [{"text": "hi"}]}
    facts = response_facts({"candidates": [{"content": content}], "modelVersion": "gemini-2.5-flash"})
    message = {"parts": [{"text": "hi"}], "role": "model"}
    assert facts == ResponseFacts(message, Usage(), "gemini-2.5-flash", None, "gemini")


def test_an_ollama_response() -> None:
    message = {"role": "assistant", "content": "hi"}
    facts = response_facts({"model": "llama3", "message": message, "done": True, "prompt_eval_count": 5})
    assert facts == ResponseFacts(message, Usage(input=5), "llama3", None, "openai_chat")


def test_a_reply_of_several_items_is_read_as_one_message() -> None:
    wire = response_facts({"object": "response", "output": [REASONING, ITEM, {**ITEM, "content": "there"}]}).message
    assert wire is not None
    message = dialect("openai_responses").message(wire)
    assert message.role == "assistant"
    assert [(part.kind, part.text, part.place) for part in message.parts] == [
        (PartKind.THINKING, "", 0),
        (PartKind.TEXT, "hi", 1),
        (PartKind.TEXT, "there", 2),
    ]
