"""Compare takes the scorecards and references that are kept, makes the others, and needs no right to write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from sqlalchemy import text
from streamlit.testing.v1 import AppTest

from core import references
from core.scorecard import Scorecard
from storage import Library
from storage.database import open_engine
from tests.pages_app import Open, id_of, page, sample_database, store

__all__ = ["page", "sample_database", "store"]

PAGE = "compare.py"
PEAK = "Peak in window, tokens"


@pytest.fixture(autouse=True)
def fresh_process() -> None:
    """Forget what this process has computed, as a new one would know nothing."""
    st.cache_resource.clear()


def kept(store: Library) -> list[Scorecard]:
    with store.engine.begin() as connection:
        values = connection.execute(text("SELECT value FROM scorecard ORDER BY configuration")).scalars().all()
    return [Scorecard.from_json(json.loads(value)) for value in values]


def change(store: Library, **values: Any) -> None:
    """Write other figures into all scorecards, so that a page shows whether it took or made them."""
    with store.engine.begin() as connection:
        for card in kept(store):
            changed = json.dumps({**card.as_json(), **values})
            where = {"value": changed, "configuration": card.key.configuration}
            connection.execute(text("UPDATE scorecard SET value = :value WHERE configuration = :configuration"), where)


def peaks(app: AppTest) -> list[str]:
    table = app.dataframe[0].value
    return next(list(row[1:]) for row in table.itertuples(index=False) if row[0] == PEAK)


def test_what_is_judged_is_kept_once_a_configuration(page: Open, store: Library) -> None:
    first = peaks(page(PAGE, transcript=id_of(store)))
    cards = kept(store)
    assert len(cards) == 4  # what was captured, and three suggestions
    assert sorted(f"{card.peak:,}" for card in cards) == sorted(cell.split()[0] for cell in first)
    st.cache_resource.clear()
    assert peaks(page(PAGE, transcript=id_of(store))) == first
    assert kept(store) == cards


def test_a_new_process_takes_what_is_kept(page: Open, store: Library) -> None:
    page(PAGE, transcript=id_of(store))
    change(store, peak=123_456_789)
    st.cache_resource.clear()
    assert peaks(page(PAGE, transcript=id_of(store))) == ["123,456,789"] * 4


@pytest.mark.parametrize("changed", [{"prices": "USD, genai-prices 0.0.0"}, {"counters": "chars4"}, {"more": 1}])
def test_what_was_counted_or_priced_otherwise_is_made_anew(changed: dict[str, Any], page: Open, store: Library) -> None:
    first, cards = peaks(page(PAGE, transcript=id_of(store))), kept(store)
    change(store, peak=123_456_789, **changed)
    st.cache_resource.clear()
    assert peaks(page(PAGE, transcript=id_of(store))) == first
    assert kept(store) == cards


def test_another_engine_version_makes_it_anew(page: Open, store: Library) -> None:
    first, cards = peaks(page(PAGE, transcript=id_of(store))), kept(store)
    change(store, peak=123_456_789)
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE scorecard SET engine = '0.9.0'"))
    st.cache_resource.clear()
    assert peaks(page(PAGE, transcript=id_of(store))) == first
    assert kept(store) == cards


def test_violations_are_looked_for_only_where_some_were_found(page: Open, store: Library) -> None:
    page(PAGE, transcript=id_of(store))
    change(store, violations=2)
    st.cache_resource.clear()
    app = page(PAGE, transcript=id_of(store))
    table = app.dataframe[0].value
    assert table.loc[table[""] == "Violations of the API's rules"].iloc[0, 2:].tolist() == ["2", "2", "2"]
    assert not app.warning  # looked for again, for their sentence; there is none


def lost(app: AppTest) -> list[str]:
    table = app.dataframe[0].value
    return next(list(row[2:]) for row in table.itertuples(index=False) if row[0] == "References lost")


def test_a_new_process_takes_the_references_that_are_kept(page: Open, store: Library) -> None:
    first = lost(page(PAGE, transcript=id_of(store)))
    assert not any(cell == "none used" for cell in first)
    with store.engine.begin() as connection:
        connection.execute(text("DELETE FROM scorecard"))
        connection.execute(text("UPDATE analysis SET value = '[]' WHERE counter LIKE 'references:%'"))
    st.cache_resource.clear()
    references._MEMO.clear()
    assert lost(page(PAGE, transcript=id_of(store))) == ["none used"] * 3
    references._MEMO.clear()


def test_a_database_that_may_only_be_read_shows_the_page(
    page: Open, store: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = peaks(page(PAGE, transcript=id_of(store)))
    with store.engine.begin() as connection:
        connection.execute(text("DELETE FROM scorecard"))
    store.engine.dispose()
    url = f"sqlite:///file:{tmp_path / 'library.db'}?mode=ro&uri=true"
    monkeypatch.setenv("PROMPT_INSPECTOR_DB", url)
    st.cache_resource.clear()
    assert peaks(page(PAGE, transcript=id_of(store))) == first
    assert kept(Library(open_engine(url))) == []
