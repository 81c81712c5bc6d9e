"""Cache reads on the Inspect page: reported beside predicted, with the cause where they differ."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.cache_report import ComparedCall
from core.readers import read
from pages.parts.cache_told import sentences
from storage import Library
from tests.pages_app import Open, page, sample_database, shown, store

__all__ = ["page", "sample_database", "store"]

PAGE = "inspect_transcript.py"
BEGINS = "Prompt cache: 900 of 1,000 tokens read as reported."


def compared(**figures: Any) -> ComparedCall:
    known: dict[str, Any] = {"from_reported": 900, "from_counts": 900, "replayed": 900}
    return ComparedCall(call=3, sent=1000, reported=900, **{**known, **figures})


@pytest.mark.parametrize(
    ("figures", "usage", "counts"),
    [
        ({}, "the same", "the same"),
        ({"from_reported": 960, "why": "a pause of 400 seconds"}, "960 (a pause of 400 seconds)", "the same"),
        ({"replayed": 880, "why_replayed": "one block of 128"}, "the same", "880 (one block of 128)"),
        (
            {"from_reported": None, "why": "first call", "replayed": None, "why_replayed": "first call", "high": 950},
            "0 to 950 (first call)",
            "0 to 950 (first call), of which cost counts 0",
        ),
        (
            {"from_reported": None, "why": "call 3 reports too little of its usage"},
            "not predicted (call 3 reports too little of its usage)",
            "the same",
        ),
    ],
)
def test_both_predictions_are_told_with_their_causes(figures: dict[str, Any], usage: str, counts: str) -> None:
    expected = (
        f"{BEGINS} From the usage of the call before: {usage}. From counts, as Compare and cost take it: {counts}."
    )
    assert sentences(compared(**figures)) == expected


@pytest.mark.parametrize(("tokens", "told"), [(891, False), (889, True), (None, False)])
def test_counts_alone_are_told_where_they_miss(tokens: int | None, told: bool) -> None:
    said = sentences(compared(from_counts=tokens, why_counts="call 3 grew by 11 tokens more than counted"))
    more = " From counts before the call before was reported: 889 (call 3 grew by 11 tokens more than counted)."
    assert said.endswith(more) is told


def test_counts_that_miss_as_the_usage_does_are_told_once() -> None:
    said = sentences(compared(from_reported=500, from_counts=505, why="a pause of 400 seconds", why_counts="as above"))
    assert "before the call before" not in said


def two_calls() -> str:
    """A run of two calls whose second read what the first one wrote, as JSON Lines."""
    marked = {"type": "text", "text": "word " * 2000, "cache_control": {"type": "ephemeral"}}
    said = [{"role": "user", "content": [marked]}]
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]}
    rows = []
    for more, cached, written in (([], 0, 2000), ([answer, {"role": "user", "content": "And now?"}], 2000, 0)):
        request = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [*said, *more]}
        usage = {"input_tokens": 20, "cache_read_input_tokens": cached, "cache_creation_input_tokens": written}
        rows.append({"request": request, "response": {"type": "message", **answer, "usage": usage}})
    return "\n".join(map(json.dumps, rows))


def test_the_page_says_it_for_calls_with_a_reported_read(page: Open, store: Library) -> None:
    (transcript,) = read(two_calls()).transcripts
    app = page(PAGE, transcript=str(store.add(transcript).id), call="2")
    told = "Prompt cache: 2,000 of 2,020 tokens read as reported. From the usage of the call before: the same."
    assert told in shown(app)
    assert "as Compare and cost take it: 2,020 (20 tokens of call 1 neither read nor written)." in shown(app)


def test_nothing_is_said_where_nothing_was_reported(page: Open, store: Library) -> None:
    assert "Prompt cache" not in shown(page(PAGE, transcript=str(store.list()[0].id), call="2"))
