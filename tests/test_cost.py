"""What calls cost: dated prices with exact figures, unknown where a price is unknown, replies with wrong figures."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from genai_prices import Usage as Usage_
from genai_prices import calc_price

from core.output_tokens import output_tokens
from core.prices import Tokens, _hour_rate, cost_in_usd, price_table
from core.replay import replay
from core.tokens import Exactness, counter_for_model
from core.transcript import ROOT, Call, Fidelity, Transcript, Usage

DAY = datetime(2026, 1, 15, 12, tzinfo=UTC)
FULL = {"strategy": {"kind": "full_history"}}

HOUR_LONG = Tokens(50_000, 9_000, 30_000, 7, 20_000)


@pytest.mark.parametrize(
    ("model", "tokens", "usd"),
    [
        ("gpt-4o", Tokens(1_000_000, 0, 0, 0), 2.5),
        ("gpt-4o", Tokens(1_000_000, 1_000_000, 0, 0), 1.25),
        ("gpt-4o", Tokens(0, 0, 0, 1_000_000), 10.0),
        ("gpt-4.1-2025-04-14", Tokens(1000, 500, 0, 50), 0.00165),
        ("claude-sonnet-4-20250514", Tokens(1000, 500, 100, 50), 0.002475),
        ("anthropic/claude-sonnet-4-20250514", Tokens(1000, 500, 100, 50), 0.002475),
        ("claude-opus-4-5-20251101", Tokens(1000, 500, 100, 50), 0.004125),
        ("claude-sonnet-4-20250514", Tokens(1_000_000, 0, 1_000_000, 0, 1_000_000), 6.0),
        ("claude-sonnet-4-20250514", Tokens(1_000_000, 0, 400_000, 0, 300_000), 1.8 + 0.375 + 1.8),
        ("gpt-4o", Tokens(1_000_000, 0, 1_000_000, 0, 1_000_000), 2.5),  # it charges nothing for a write
        ("no-such-model", Tokens(1000, 0, 0, 50), None),
        ("", Tokens(1000, 0, 0, 50), None),
        (None, Tokens(1000, 0, 0, 50), None),
    ],
)
def test_prices(model: str | None, tokens: Tokens, usd: float | None) -> None:
    assert cost_in_usd(model, DAY, tokens) == (None if usd is None else pytest.approx(usd, rel=1e-12))


@pytest.mark.parametrize(
    "model",
    ["gpt-4o", "gpt-5.4", "claude-sonnet-4-20250514", "gemini-2.5-pro", "deepseek-chat", "kimi-k2-0905-preview"],
)
@pytest.mark.parametrize(
    "tokens",
    [
        Tokens(0, 0, 0, 0),
        Tokens(200_000, 64, 0, 9),
        Tokens(200_001, 128, 7, 9),
        Tokens(300_000, 300_000, 0, 1),
        HOUR_LONG,
    ],
)
@pytest.mark.parametrize("hour", [2, 12, 20])
def test_prices_equal_the_librarys_own_sum(model: str, tokens: Tokens, hour: int) -> None:
    at = DAY.replace(hour=hour)
    usage = Usage_(
        input_tokens=tokens.input,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
        cache_write_1h_tokens=tokens.hour_write,
        output_tokens=tokens.output,
    )
    expected = calc_price(usage, model, genai_request_timestamp=at).total_price
    assert cost_in_usd(model, at, tokens) == pytest.approx(float(expected), rel=1e-9, abs=1e-15)


def test_prices_are_those_of_the_day() -> None:
    tokens = Tokens(1_000_000, 0, 0, 0)
    early = cost_in_usd("o3", datetime(2025, 5, 1, tzinfo=UTC), tokens)
    late = cost_in_usd("o3", DAY, tokens)
    assert (early, late) == (10.0, 2.0)


def test_a_call_without_a_date_is_priced_without_a_clock() -> None:
    table = price_table()
    noon = datetime(table.undated.year, table.undated.month, table.undated.day, 12, tzinfo=UTC)
    tokens = Tokens(1000, 0, 0, 10)
    assert cost_in_usd("deepseek-chat", None, tokens) == cost_in_usd("deepseek-chat", noon, tokens)
    assert table.currency == "USD" and table.source.startswith("genai-prices ")


WORDS = "one two three four five six seven eight nine ten"


@pytest.mark.parametrize(
    ("usage", "response", "tokens", "exactness", "too_low"),
    [
        (Usage(output=12), WORDS, 12, Exactness.REPORTED, False),
        (Usage(output=6), WORDS, 6, Exactness.REPORTED, False),
        (Usage(output=5), WORDS, 10, Exactness.FORMULA, True),
        (Usage(output=0), WORDS, 10, Exactness.FORMULA, True),
        (Usage(), WORDS, 10, Exactness.FORMULA, False),
        (Usage(output=5), None, 5, Exactness.REPORTED, False),
        (Usage(), None, None, None, False),
    ],
)
def test_output_tokens(
    usage: Usage, response: str | None, tokens: int | None, exactness: Exactness | None, too_low: bool
) -> None:
    wire = None if response is None else {"role": "assistant", "content": response}
    found = output_tokens(talk(), Call(0, 0, 0, wire, usage), counter_for_model("gpt-4o"))
    assert (found.tokens, found.exactness, found.reported_too_low) == (tokens, exactness, too_low)


def talk(model: str = "gpt-4o", **changes: Any) -> Transcript:
    """Return two calls, the second of which goes on from the first; the first message has 3,000 tokens or so."""
    messages = (
        {"role": "user", "content": "word " * 3000},
        {"role": "assistant", "content": WORDS},
        {"role": "user", "content": "more"},
    )
    reply = {"role": "assistant", "content": WORDS}
    calls = tuple(Call(0, last, last, reply, Usage(), model, DAY, Fidelity.PARTIAL) for last in (0, 2))
    made = Transcript("openai_chat", messages, (ROOT, 0, 1), ({"model": model, "messages": []},), calls)
    return replace(made, **changes)


def test_a_replay_is_priced_by_what_is_sent_and_read() -> None:
    made = replay(talk(), FULL)
    sent, cached = made.calls["in_window"], made.cache.calls[1].cached
    first, second = made.cost.calls
    assert cached == sent[0] - sent[0] % 128
    assert first.usd == pytest.approx(sent[0] * 2.5e-6 + 10 * 1e-5)
    assert first.low is not None and first.low <= first.usd == first.high
    assert second.usd == pytest.approx((sent[1] - cached) * 2.5e-6 + cached * 1.25e-6 + 10 * 1e-5)
    assert made.calls["cost"] == [first.usd, second.usd]
    assert made.cost.total == pytest.approx(first.usd + second.usd)


def test_writing_to_anthropics_cache_costs_more_than_plain_input() -> None:
    made = replay(talk("claude-sonnet-4-20250514"), FULL)
    sent, reply = made.calls["in_window"], made.cost.calls[0].output.tokens or 0
    assert made.cost.usd[0] == pytest.approx(sent[0] * 3.75e-6 + reply * 1.5e-5)
    assert made.cost.usd[1] == pytest.approx(sent[0] * 0.3e-6 + (sent[1] - sent[0]) * 3.75e-6 + reply * 1.5e-5)


def test_an_unknown_model_costs_unknown_not_nothing() -> None:
    made = replay(talk("house-model"), FULL)
    assert made.calls["cost"] == [None, None]
    assert made.cost.total is None and made.cost.unknown_calls == 2
    assert made.cost.totals()["usd_known"] is None


def test_an_unknown_cache_gives_the_cost_without_it_and_says_so() -> None:
    made = replay(talk("gemini-2.5-flash"), FULL)
    call = made.cost.calls[1]
    assert call.without_cache and call.low is not None and call.usd == call.high and call.low < call.high


def test_a_reply_that_nobody_knows_has_no_cost() -> None:
    calls = tuple(replace(call, response=None) for call in talk().calls)
    assert replay(talk(calls=calls), FULL).calls["cost"] == [None, None]


def test_tokens_that_are_not_recorded_are_charged() -> None:
    plain = replay(talk(), FULL)
    usages = [Usage(input=tokens + 500) for tokens in plain.calls["in_window"]]
    calls = tuple(replace(call, usage=usage) for call, usage in zip(talk().calls, usages, strict=True))
    made = replay(talk(calls=calls), FULL)
    assert [call.not_recorded for call in made.cost.calls] == [500, 500]
    assert made.cost.usd[0] == pytest.approx((plain.cost.usd[0] or 0) + 500 * 2.5e-6)


def test_without_a_listed_price_an_hour_costs_twice_the_input() -> None:
    assert [_hour_rate(3.0, 3.75, 6.5), _hour_rate(3.0, 3.75, None), _hour_rate(3.0, None, None)] == [6.5, 6.0, 3.0]
