"""What an address asks for and a page cannot give is said in a sentence, and the default is shown."""

from __future__ import annotations

from typing import Any

import pytest

from pages.parts.address import ignored, number_in
from storage import Library
from tests.pages_app import Open, id_of, page, run, sample_database, shown, store

__all__ = ["page", "sample_database", "store"]


@pytest.mark.parametrize(
    ("text", "value", "same"),
    [
        ("-5", None, False),
        ("abc", None, False),
        ("", None, True),
        ("3000", 3000, True),
        ("3e3", 3000, True),
        ("12.0", 12, True),
        ("12.7", 12, False),
        ("0.5", 0.5, True),
        ("0.7", 0.5, False),
        ("99", 20, False),
        ("nan", 20, False),
        ("true", True, True),
        ("perhaps", True, False),
        ("Turns", "Turns", True),
        ("Weeks", "Calls", False),
    ],
)
def test_a_setting_is_ignored_where_its_widget_holds_another_value(text: str, value: Any, same: bool) -> None:
    assert ignored({"name": text, "no widget": "x"}, {"name": value}) == ([] if same else ["name"])


@pytest.mark.parametrize(
    ("text", "number"), [("12", 12), ("-1.5", -1.5), ("x", None), (None, None), ("nan", None), ("1e999", None)]
)
def test_a_number_in_an_address(text: str | None, number: float | None) -> None:
    assert number_in(text) == number


TOKENS = "a soft limit is a number of tokens, 0 or more"


@pytest.mark.parametrize(
    ("name", "address", "told"),
    [
        ("compare.py", {"budget": "-5"}, [f"“budget=-5” in the address is ignored: {TOKENS}."]),
        ("compare.py", {"budget": "plenty"}, [f"“budget=plenty” in the address is ignored: {TOKENS}."]),
        ("inspect_transcript.py", {"soft": "-1"}, [f"“soft=-1” in the address is ignored: {TOKENS}."]),
        ("inspect_transcript.py", {"call": "99"}, ["“call=99” in the address is ignored: the transcript has no such"]),
        ("inspect_transcript.py", {"axis": "Weeks"}, ["“axis=Weeks” in the address is ignored: there is no such choi"]),
        (
            "advise.py",
            {"window": "0", "reserve": "200"},
            ["“window=0” in the address is ignored: a window", "“reserve=200” in the address is ignored: what is kept"],
        ),
    ],
)
def test_a_page_says_what_it_ignores(
    page: Open, store: Library, name: str, address: dict[str, str], told: list[str]
) -> None:
    app = page(name, transcript=id_of(store), **address)
    (warning,) = app.warning
    for sentence in told:
        assert sentence in warning.value.replace("\\", "")
    assert warning.value.count("The page shows its default.") == len(told)
    assert not run(app).warning


@pytest.mark.parametrize(
    ("name", "key", "text", "value"),
    [
        ("compare.py", "budget", "12.7", 12),
        ("inspect_transcript.py", "soft", "1200.5", 1200),
        ("inspect_transcript.py", "window", "1.5", 1),
        ("inspect_transcript.py", "reserve", "10.5", 10),
    ],
)
def test_a_page_says_where_it_cuts_decimals(
    page: Open, store: Library, name: str, key: str, text: str, value: int
) -> None:
    app = page(name, transcript=id_of(store), **{key: text})
    (warning,) = app.warning
    told = f"“{key}={text}” in the address is taken as {value:,}: only whole numbers are."
    assert warning.value.replace("\\", "") == told
    assert app.session_state[key] == value


def test_a_call_between_two_is_no_call(page: Open, store: Library) -> None:
    app = page("inspect_transcript.py", transcript=id_of(store), call="2.7")
    assert "“call=2.7” in the address is ignored: the transcript has no such call." in shown(app).replace("\\", "")


def test_compare_goes_on_with_the_suggested_budget(page: Open, store: Library) -> None:
    app = page("compare.py", transcript=id_of(store), budget="-5")
    assert app.number_input(key="budget").value == 5100
    app = page("compare.py", transcript=id_of(store), budget="0")
    assert (app.number_input(key="budget").value, len(app.warning)) == (0, 0)


def test_what_can_be_used_is_not_spoken_of(page: Open, store: Library) -> None:
    address = {"soft": "3000", "call": "20", "axis": "Turns", "view": "Request", "reserve": "10", "model": "gpt-4"}
    app = page("inspect_transcript.py", transcript=id_of(store), **address)
    assert "is ignored" not in shown(app)


def test_a_saved_configuration_that_is_not_there_is_a_sentence(page: Open, store: Library) -> None:
    app = page("configurations.py", config="nope")
    assert "There is no configuration “nope” here. The one saved last is shown." in shown(app)
    assert len(app.dataframe) == 1
    assert "There is no configuration" not in shown(page("configurations.py"))
