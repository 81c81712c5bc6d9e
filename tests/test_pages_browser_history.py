"""On a way back in the browser's history, a page holds again what its address says, also what other pages have too."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from pages.parts import browser_history, opening
from storage import Library
from tests.pages_app import Open, id_of, page, run, sample_database, store

__all__ = ["page", "sample_database", "store"]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("soft", "5000", 5000),
        ("reserve", "12.0", 12),
        ("window", "many", None),
        ("call", "7", 7),
        ("call", "21", 20),
        ("call", "-3", 1),
        ("axis", "Turns", "Turns"),
        ("model", "4", "4"),
    ],
)
def test_a_widget_holds_what_its_parameter_says(name: str, text: str, value: Any) -> None:
    assert browser_history.value_held(name, text, calls=20) == value


def test_the_context_of_a_run_says_what_a_way_back_needs() -> None:
    """Streamlit does not document these two, so a version without them has to be noticed."""
    assert {"is_history_navigation", "query_string"} <= set(dir(ScriptRunContext)) | set(
        ScriptRunContext.__dataclass_fields__
    )
    assert get_script_run_ctx(suppress_warning=True) is None
    assert browser_history.address_on_way_back() == {}


@pytest.mark.parametrize(
    ("name", "had", "held"),
    [
        ("inspect_transcript.py", {"soft": "5000", "call": "3", "axis": "Turns"}, {"soft": 5000, "call": 3}),
        ("inspect_transcript.py", {"call": "99"}, {"call": 20}),
        ("compare.py", {"call": "3", "window": "9000"}, {"call": 3, "window": 9000}),
        ("advise.py", {"soft": "5000", "reserve": "20"}, {"soft": 5000, "reserve": 20}),
        ("advise.py", {"soft": "lots"}, {"soft": None}),
    ],
)
def test_what_was_taken_from_an_address_is_put_back(
    page: Open, store: Library, monkeypatch: pytest.MonkeyPatch, name: str, had: dict[str, str], held: dict[str, Any]
) -> None:
    app = page(name, transcript=id_of(store))
    said = [had]
    monkeypatch.setattr(opening, "address_on_way_back", lambda: said.pop() if said else {})
    run(app)
    assert {key: app.session_state[key] for key in held} == held
    assert not app.warning


def test_what_the_address_still_says_is_left_alone(page: Open, store: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    app = page("inspect_transcript.py", transcript=id_of(store), soft="3000")
    monkeypatch.setattr(opening, "address_on_way_back", lambda: {"soft": "5000"})
    run(app)
    assert app.session_state["soft"] == 3000
