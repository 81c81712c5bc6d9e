"""The sentences below the scorecard: which calls a figure lacks and why, and which replies are not from usage."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.config import BudgetConfig
from core.prices import price_table
from core.readers import read
from core.replay import replay
from core.scorecard import UPPER_BOUND, scorecard
from core.transcript import Usage
from pages.parts.dates import day
from pages.parts.score_notes import notes, replies, within_as_given
from pages.parts.score_view import explained, priced_on
from storage import Library
from tests.advice_runs import chat
from tests.pages_app import Open, page, sample, sample_database, shown, store
from tests.test_advice_sizes import reported
from tests.test_cost import FULL, talk

__all__ = ["page", "sample_database", "store"]

FIRST = "What is read from the cache is unknown in 1 call: call 1 (what was cached before is not recorded)."


@pytest.mark.parametrize(
    ("too_low", "missing", "said"),
    [
        (0, 0, ""),
        (1, 0, "In all costs, 1 reply is taken as counted and not from usage: 1 was reported far too short."),
        (53, 0, "In all costs, 53 replies are taken as counted and not from usage: 53 were reported far too short."),
        (
            2,
            1,
            "In all costs, 3 replies are taken as counted and not from usage: 2 were reported far too short,"
            " 1 was not reported.",
        ),
    ],
)
def test_replies_that_are_not_taken_from_usage_are_told(too_low: int, missing: int, said: str) -> None:
    card = scorecard(replay(talk(), FULL))
    assert replies(replace(card, replies_reported_too_low=too_low, replies_not_reported=missing)) == said


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        (
            0,
            ["In 20 of 20 calls, a, b keep to the soft budget of 3,000 by what they are given, but not by what is"],
        ),
        (3_000, []),
        (
            2_000,
            ["In 5 of 20 calls, a, b keep to the soft budget of 3,000 by what they are given, but not to 5,000"],
        ),
    ],
)
def test_configurations_that_keep_to_their_limit_are_told_of_what_is_sent(beside: int, said: list[str]) -> None:
    made = replay(reported(chat(20), 3_000), {"budget": {"soft_limit": 3_000}, "strategy": {"kind": "full_history"}})
    told = list(within_as_given({"a": made, "b": made}, BudgetConfig(soft_limit=3_000 + beside)))
    assert len(told) == len(said)
    assert all(sentence.startswith(begins) for sentence, begins in zip(told, said, strict=True))
    assert list(within_as_given({"a": made}, BudgetConfig(soft_limit=9_000))) == []


def test_what_the_table_means_names_the_bill_where_there_is_one() -> None:
    card = scorecard(replay(talk(), FULL))
    plain, billed = explained(card, talk()), explained(replace(card, billed_tokens=9), talk())
    assert UPPER_BOUND in plain and card.prices in plain and "Keyword" not in plain
    assert "nearest the bill" in billed and "nearest the bill" not in plain


def test_calls_without_a_figure_are_named_with_their_reason() -> None:
    made = talk()
    calls = (replace(made.calls[0], usage=Usage(3_000, None, None, 10)), replace(made.calls[1], model="house-model"))
    captured = replay(replace(made, calls=calls), FULL)
    assert notes(scorecard(captured), captured, {"whole": captured})[1:] == [
        "Nothing was reported of 1 call: call 2 (no usage was reported).",
        "Cost as reported is unknown in 1 call: call 1 (what was read from the cache or written to it was not"
        " reported).",
        "What is read from the cache is unknown in all 2 calls: call 1 (what was cached before is not recorded);"
        " call 2 (no rule is known for this provider).",
        "Predicted cost is unknown in 1 call: call 2 (no price of the model is known).",
    ]


@pytest.mark.parametrize(
    ("without", "said"),
    [
        (range(5), "all 5 calls (no usage was reported)"),
        (range(2), "2 calls: calls 1, 2 (no usage was reported)"),
        (range(1, 5), "4 calls: calls 2 to 5 (no usage was reported)"),
        ((0, 1, 2, 4), "4 calls: calls 1, 2, 3 and 1 more (no usage was reported)"),
        ((2,), "1 call: call 3 (no usage was reported)"),
    ],
)
def test_calls_are_named_one_by_one_only_where_some_are_left_out(without: Collection[int], said: str) -> None:
    made = reported(chat(5), 3_000)
    calls = tuple(replace(call, usage=Usage()) if at in without else call for at, call in enumerate(made.calls))
    captured = replay(replace(made, calls=calls), FULL)
    card = replace(scorecard(captured), billed_calls=1)
    assert f"Nothing was reported of {said}." in notes(card, captured, {})


def test_a_configuration_of_which_other_calls_are_unknown_is_named() -> None:
    transcript = sample()
    captured = replay(transcript, FULL)
    other = replay(transcript, {"model": {"name": "gemini-2.5-flash"}, **FULL})
    said = notes(scorecard(captured), captured, {"same": captured, "one": other, "two": other})
    assert said[1:] == [
        FIRST,
        "What is read from the cache is unknown in all 20 calls (no rule is known for this provider) under one, two.",
        "Where that is unknown, a predicted cost counts the least as read, and is the most that it may be.",
        "Predicted cost is unknown in 1 call: call 20 (no reply is recorded).",
    ]


def test_the_page_tells_the_bill_from_the_prediction(page: Open, store: Library, transcripts_folder: Path) -> None:
    (transcript, *_) = read(transcripts_folder / "claude-code/entire-go-cli-long.jsonl.gz").transcripts
    app = page("compare.py", transcript=str(store.add(transcript).id))
    table = next(each.value for each in app.dataframe if "as captured" in each.value.columns)
    rows = {row[0]: list(row[1:]) for row in table.itertuples(index=False)}
    assert rows["Cost as reported, US dollars"] == ["4.5202", "—", "—", "—"]
    assert rows["Cost, predicted, US dollars"][0] == "3.3335"
    assert rows["Range of the predicted cost"][0] == "2.9936 to 9.6187"
    assert "53 replies are taken as counted" in shown(app) and FIRST in shown(app)
    assert "counts the least as read, which is the most for such a call." in shown(app)


@pytest.mark.parametrize(
    ("undated", "said"),
    [
        (0, "Prices are of the calls' dates"),
        (1, "Prices are of the calls' dates, and of {} for 1 call without one"),
        (3, "Prices are of {}, as no call has a date"),
    ],
)
def test_the_day_of_the_prices_is_said_where_calls_have_none(undated: int, said: str) -> None:
    transcript = chat(3)
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    calls = tuple(replace(call, at=None if at < undated else noon) for at, call in enumerate(transcript.calls))
    assert priced_on(replace(transcript, calls=calls)) == said.format(day(price_table().undated))
