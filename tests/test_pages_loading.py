"""What a page shows of a transcript is what is stored now, whatever changed since it was opened first."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.config import load_config
from pages.parts.loading import open_transcript
from storage import Exchange, Library
from tests.pages_app import Open, id_of, page, sample_database, shown, store

__all__ = ["page", "sample_database", "store"]

NOTE = "2 of 9 lines of the file were truncated"
CONFIG = load_config({"strategy": {"kind": "full_history"}})


def request(*said: str) -> Exchange:
    messages = [
        {"role": role, "content": text} for role, text in zip(["user", "assistant", "user"], said, strict=False)
    ]
    return Exchange(
        request={"model": "gpt-4o", "messages": messages},
        response={"choices": [{"message": {"role": "assistant", "content": "Ho."}}]},
        session="loading",
        hints=None,
        at=None,
    )


CHANGES: dict[str, Callable[[Library, int], object]] = {
    "a note": lambda store, number: store.note([number], NOTE),
    "a title": lambda store, number: store.rename(number, "Another title"),
    "a call": lambda store, _number: store.append_call(request("Hi.", "Ho.", "Hm.")),
    "a tag": lambda store, number: store.tag(number, ["seen"]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_transcript_that_is_opened_again_is_the_stored_one(
    change: Callable[[Library, int], object], store: Library
) -> None:
    number = store.append_call(request("Hi.")).transcript
    assert open_transcript(store, number).transcript == store.get(number)
    change(store, number)
    again = open_transcript(store, number)
    assert again.transcript == store.get(number)
    assert again.summary == store.summary(number)
    assert again.replay(CONFIG).original == store.get(number)


def test_a_note_that_comes_after_a_transcript_was_judged_is_told(store: Library) -> None:
    """A file's damage is known at its end, when its first conversations are stored and may be on the screen."""
    number = store.append_call(request("Hi.")).transcript
    opened = open_transcript(store, number)
    assert (opened.scorecard(CONFIG).findings, opened.findings(CONFIG)) == ({}, [])
    store.note([number], NOTE)
    opened = open_transcript(store, number)
    assert opened.scorecard(CONFIG).findings == {"captured_truncated": 1}
    assert [NOTE in finding.sentence for finding in opened.findings(CONFIG)] == [True]


def test_a_transcript_is_loaded_and_replayed_once_while_nothing_changes(store: Library) -> None:
    number = store.append_call(request("Hi.")).transcript
    first, again = open_transcript(store, number), open_transcript(store, number)
    assert again.transcript is first.transcript and again.replay(CONFIG) is first.replay(CONFIG)


def test_the_page_shows_a_note_that_was_made_after_it_was_opened(page: Open, store: Library) -> None:
    number = id_of(store)
    assert NOTE not in shown(page("inspect_transcript.py", transcript=number))
    store.note([int(number)], NOTE)
    assert NOTE in shown(page("inspect_transcript.py", transcript=number))
