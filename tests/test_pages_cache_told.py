"""Cache reads on the Inspect page: reported beside predicted, with the cause where they differ."""

from __future__ import annotations

import json

import pytest

from core.cache_report import ComparedCall
from core.readers import read
from pages.parts.cache_told import sentence
from storage import Library
from tests.pages_app import Open, page, sample_database, shown, store

__all__ = ["page", "sample_database", "store"]

PAGE = "inspect_transcript.py"
BEGINS = "Prompt cache: 900 of 1,000 tokens read as reported"


@pytest.mark.parametrize(
    ("from_reported", "from_counts", "why", "said"),
    [
        (900, 880, "", ", and so predicted from the usage of the call before."),
        (960, 900, "pause", ", 960 predicted from the usage of the call before: pause."),
        (None, 900, "", ", and so predicted from our count of the call before."),
        (None, 890, "rounding", ", 890 predicted from our count of the call before: rounding."),
        (None, None, "first call", "; not predicted: first call."),
        (None, None, "", "; not predicted: the call before is unknown."),
    ],
)
def test_what_is_said(from_reported: int | None, from_counts: int | None, why: str, said: str) -> None:
    assert sentence(ComparedCall(3, 1000, 900, from_reported, from_counts, why)) == BEGINS + said


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
    told = "Prompt cache: 2,000 of 2,020 tokens read as reported, and so predicted from the usage of the call before."
    assert told in shown(app)


def test_nothing_is_said_where_nothing_was_reported(page: Open, store: Library) -> None:
    assert "Prompt cache" not in shown(page(PAGE, transcript=str(store.list()[0].id), call="2"))
