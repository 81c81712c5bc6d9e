"""A transcript that was deleted meanwhile: a page says so and offers others, and never shows another in its place."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from storage import Library
from tests.pages_app import Open, id_of, page, run, sample, sample_database, shown, store

__all__ = ["page", "sample_database", "store"]

PAGES = ["inspect_transcript.py", "compare.py", "advise.py"]
SUGGESTED = ["keep_last", "summarize_and_keep", "tiered_injection"]
TITLE = "a talk that is *short* lived"


def short_lived(store: Library) -> str:
    return str(store.add(replace(sample(), title=TITLE, session="short")).id)


def open_by_the_bar(app: AppTest, name: str) -> AppTest:
    """Open a page as the navigation bar does: without what the address said of the transcript."""
    app.query_params.clear()
    app.switch_page(name)
    return run(app)


def says_it_was_deleted(app: AppTest, number: str) -> bool:
    assert not app.metric and not app.dataframe and not app.number_input
    assert app.query_params["transcript"] == number
    assert f"“{TITLE}” was deleted after this window had opened or listed it." in shown(app)
    return app.title[0].value == "This transcript was deleted"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_that_its_transcript_was_deleted(page: Open, store: Library, name: str) -> None:
    number = short_lived(store)
    app = page(name, transcript=number)
    assert app.query_params["transcript"] == number
    store.delete(int(number))
    assert says_it_was_deleted(run(app), number)
    for other in PAGES:
        assert says_it_was_deleted(open_by_the_bar(app, other), number)


@pytest.mark.parametrize("name", PAGES)
def test_another_one_is_opened_on_the_same_page(page: Open, store: Library, name: str) -> None:
    number = short_lived(store)
    app = page(name, transcript=number)
    store.delete(int(number))
    run(app)
    other = id_of(store, "long_chat.json")
    app.button(key=f"open_{other}").click()
    run(app)
    assert app.query_params["transcript"] == other
    assert store.summary(int(other)).title in shown(app)
    assert app.number_input
    assert id_of(store, "long_chat.json") == open_by_the_bar(app, PAGES[0]).query_params["transcript"]


def test_what_was_said_of_the_deleted_one_is_not_said_of_the_next(page: Open, store: Library) -> None:
    number = short_lived(store)
    slots = {slot: json.dumps({"strategy": {"kind": "full_history"}}) for slot in "ab"}
    store.delete(int(number))
    app = page("compare.py", transcript=number, **slots)
    app.button(key=f"open_{id_of(store)}").click()
    run(app)
    assert [json.loads(app.query_params[slot])["strategy"]["kind"] for slot in "abc"] == SUGGESTED
    assert app.query_params["transcript"] == id_of(store)


def test_the_title_is_known_from_the_list_too(page: Open, store: Library) -> None:
    number = short_lived(store)
    app = page("library.py")
    store.delete(int(number))
    app.query_params["transcript"] = number
    app.switch_page(PAGES[0])
    assert says_it_was_deleted(run(app), number)


def test_at_most_eight_are_offered_the_last_changed_first(page: Open, store: Library) -> None:
    ids = [store.add(replace(sample(), title="t" * 200, session=str(number))).id for number in range(9)]
    app = page(PAGES[0], transcript="999999")
    assert [button.key for button in app.button] == [f"open_{number}" for number in ids[:0:-1]]
    assert app.button[0].label.startswith("t" * 60) and len(app.button[0].label) < 120
    assert app.button[0].label.endswith("20 calls")


def test_an_empty_library_offers_the_way_there(page: Open, store: Library) -> None:
    number = short_lived(store)
    app = page(PAGES[0], transcript=number)
    store.delete_all(summary.id for summary in store.list())
    assert says_it_was_deleted(run(app), number)
    assert not app.button
