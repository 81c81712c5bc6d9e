"""A soft limit that is set on one page of a transcript holds on the others, where it is one of all that is sent."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from storage import Library
from tests.pages_app import Open, id_of, page, run, sample_database, shown, store
from tests.test_pages_compare import hidden

__all__ = ["page", "sample_database", "store"]

COMPARE, ADVISE, INSPECT = "compare.py", "advise.py", "inspect_transcript.py"
OF_ALL = [ADVISE, INSPECT]
DEFAULT = 4_500
KEYS = {COMPARE: "budget", ADVISE: "soft", INSPECT: "soft"}


def to(app: AppTest, name: str) -> AppTest:
    """Open a page from the menu, which takes the parameters out of the address."""
    app.query_params.clear()
    app.switch_page(name)
    return run(app)


def limit(app: AppTest, key: str) -> int | None:
    value = app.number_input(key=key).value
    return None if value is None else int(value)


@pytest.mark.parametrize("name", OF_ALL)
def test_a_limit_set_on_compare_comes_along(page: Open, store: Library, name: str) -> None:
    app = page(COMPARE, transcript=id_of(store), budget="3000")
    assert limit(to(app, name), "soft") == 3_000
    assert app.query_params["soft"] == "3000"
    assert limit(to(app, COMPARE), "budget") == 3_000


@pytest.mark.parametrize("name", OF_ALL)
def test_a_limit_that_compare_suggests_is_set_by_nobody(page: Open, store: Library, name: str) -> None:
    app = page(COMPARE, transcript=id_of(store))
    assert limit(app, "budget") == DEFAULT
    assert limit(to(app, name), "soft") is None
    assert limit(to(app, COMPARE), "budget") == DEFAULT


@pytest.mark.parametrize("name", OF_ALL)
def test_a_limit_set_on_another_page_comes_along_to_compare(page: Open, store: Library, name: str) -> None:
    app = to(page(COMPARE, transcript=id_of(store)), name)
    app.number_input(key="soft").set_value(3_100)
    assert limit(to(run(app), COMPARE), "budget") == 3_100
    app.number_input(key="budget").set_value(3_200)
    assert limit(to(run(app), name), "soft") == 3_200


def test_what_is_not_recorded_is_part_of_the_limit_of_all_that_is_sent(page: Open, store: Library) -> None:
    app = page(COMPARE, transcript=hidden(store, 20_000), budget="4000", beside="20000")
    assert limit(to(app, ADVISE), "soft") == 24_000
    app.number_input(key="soft").set_value(23_000)
    to(run(app), COMPARE)
    assert (limit(app, "budget"), limit(app, "beside")) == (3_000, 20_000)


def test_a_limit_is_that_of_its_transcript(page: Open, store: Library) -> None:
    app = page(COMPARE, transcript=id_of(store), budget="3000")
    app.query_params.clear()
    app.query_params["transcript"] = id_of(store, "long_chat.json")
    app.switch_page(ADVISE)
    assert limit(run(app), "soft") is None


@pytest.mark.parametrize(("name", "other"), [(COMPARE, "soft"), (ADVISE, "budget"), (INSPECT, "budget")])
def test_a_page_takes_the_other_name_of_a_limit(page: Open, store: Library, name: str, other: str) -> None:
    app = page(name, transcript=id_of(store), **{other: "3000"})
    assert limit(app, KEYS[name]) == 3_000
    assert other not in app.query_params and not app.warning
    app = page(name, transcript=id_of(store), **{other: "3000", KEYS[name]: "2000"})
    assert limit(app, KEYS[name]) == 2_000
    app = page(name, transcript=id_of(store), **{other: "plenty"})
    assert f"“{other}=plenty” in the address is ignored: a soft limit is a number of tokens" in shown(app)
    assert limit(app, KEYS[name]) == (DEFAULT if name == COMPARE else None)


@pytest.mark.parametrize(("first", "second"), [(ADVISE, INSPECT), (INSPECT, ADVISE)])
def test_a_limit_comes_along_between_advise_and_inspect(page: Open, store: Library, first: str, second: str) -> None:
    app = page(first, transcript=id_of(store))
    app.number_input(key="soft").set_value(3_300)
    to(run(app), second)
    assert limit(app, "soft") == 3_300
    app.number_input(key="soft").set_value(None)
    assert limit(run(app), "soft") is None
    assert limit(to(app, first), "soft") is None
