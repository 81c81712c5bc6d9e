"""The soft limit on its way from page to page: the one typed last holds, unless the address says another."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.wire import dump
from storage import Library
from tests.pages_app import Open, id_of, page, run, sample_database, store
from tests.test_pages_compare import HALFWAY, hidden

__all__ = ["page", "sample_database", "store"]

KEYS = {"inspect_transcript.py": "soft", "advise.py": "soft", "compare.py": "budget"}
PAIRS = [(one, other) for one in KEYS for other in KEYS if one != other]


def go(app: AppTest, path: str, number: str, **address: str) -> AppTest:
    """Open another page of the same session, as the navigation bar does."""
    app.switch_page(path)
    app.query_params.clear()
    for name, value in {"transcript": number, **address}.items():
        app.query_params[name] = value
    return run(app)


def typed(app: AppTest, path: str, tokens: int | None) -> AppTest:
    app.number_input(key=KEYS[path]).set_value(tokens)
    return run(app)


def limit(app: AppTest, path: str) -> int | None:
    value: int | None = app.number_input(key=KEYS[path]).value
    return value


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_a_limit_typed_on_one_page_holds_on_the_next(one: str, other: str, page: Open, store: Library) -> None:
    number = id_of(store)
    app = typed(page(one, transcript=number), one, 3_200)
    assert limit(go(app, other, number), other) == 3_200
    if KEYS[one] != KEYS[other]:  # else one widget holds it, and Streamlit takes it along
        assert app.query_params[KEYS[other]] == "3200"
    assert limit(go(app, one, number), one) == 3_200
    typed(app, one, 3_300)
    assert limit(go(app, other, number), other) == 3_300


@pytest.mark.parametrize(("one", "other"), [pair for pair in PAIRS if "compare.py" in pair])
def test_the_address_comes_first(one: str, other: str, page: Open, store: Library) -> None:
    number = id_of(store)
    app = typed(page(one, transcript=number), one, 3_200)
    assert limit(go(app, other, number, **{KEYS[other]: "2100"}), other) == 2_100


@pytest.mark.parametrize("path", ["inspect_transcript.py", "advise.py"])
def test_what_compare_suggests_is_no_limit_of_other_pages(path: str, page: Open, store: Library) -> None:
    number = id_of(store)
    app = page("compare.py", transcript=number)
    assert limit(app, "compare.py") == HALFWAY
    assert limit(go(app, path, number), path) is None


@pytest.mark.parametrize("path", ["inspect_transcript.py", "advise.py"])
def test_a_limit_taken_out_stays_out(path: str, page: Open, store: Library) -> None:
    number = id_of(store)
    app = typed(typed(page(path, transcript=number), path, 3_200), path, None)
    assert limit(app, path) is None
    assert limit(go(app, "compare.py", number), "compare.py") == HALFWAY
    assert limit(go(app, path, number), path) is None


def test_a_limit_of_one_transcript_is_not_one_of_another(page: Open, store: Library) -> None:
    app = typed(page("compare.py", transcript=id_of(store)), "compare.py", 3_200)
    assert limit(go(app, "advise.py", id_of(store, "coding_agent.jsonl")), "advise.py") is None


def test_what_is_not_recorded_is_parted_from_a_limit_of_all_that_is_sent(page: Open, store: Library) -> None:
    number = hidden(store, 20_000)
    app = typed(page("advise.py", transcript=number), "advise.py", 25_000)
    go(app, "compare.py", number)
    assert (app.number_input(key="budget").value, app.number_input(key="beside").value) == (5_000, 20_000)
    typed(app, "compare.py", 4_000)
    assert limit(go(app, "advise.py", number), "advise.py") == 24_000
    slots = {slot: dump({"strategy": {"kind": kind}}) for slot, kind in (("a", "full_history"), ("b", "keep_last"))}
    go(app, "compare.py", number, **slots)
    assert limit(go(app, "inspect_transcript.py", number), "inspect_transcript.py") == 24_000


@pytest.mark.parametrize("path", ["inspect_transcript.py", "advise.py"])
@pytest.mark.parametrize(("budget", "expected"), [(3_200, 3_200), (HALFWAY, None)])
def test_a_limit_that_a_link_to_compare_brings_counts_as_typed(
    path: str, budget: int, expected: int | None, page: Open, store: Library
) -> None:
    number = id_of(store)
    slots = {slot: dump({"strategy": {"kind": kind}}) for slot, kind in (("a", "full_history"), ("b", "keep_last"))}
    app = page("compare.py", transcript=number, budget=budget, **slots)
    assert limit(go(app, path, number), path) == expected
