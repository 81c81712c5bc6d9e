"""The form under Edit: it changes a configuration, and keeps what is chosen until it is applied or cancelled."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.config import strategy_kinds
from storage import Library
from tests.pages_app import Open, errors_in_popover, id_of, page, run, sample_database, shown, store

__all__ = ["page", "sample_database", "store"]

PAGE = "compare.py"
KEEP_LAST: dict[str, Any] = {"kind": "keep_last", "keep_turns": 2}
SUMMARIZE: dict[str, Any] = {"kind": "summarize_and_keep", "keep_turns": 2}


def address(**slots: dict[str, Any]) -> dict[str, str]:
    return {slot: json.dumps({"strategy": strategy}) for slot, strategy in slots.items()}


def edit(app: AppTest, slot: str) -> AppTest:
    app.session_state[f"edit_{slot}"] = True
    return run(app)


def test_a_form_changes_the_configuration_and_the_address(page: Open, store: Library) -> None:
    app = edit(page(PAGE, transcript=id_of(store)), "a")
    app.number_input(key="a_keep_last_keep").set_value(5)
    app.selectbox(key="a_keep_last_unit").set_value("steps")
    app.number_input(key="a_keep_last_step").set_value(400)
    app.button(key="a_apply").click()
    run(app)
    said = {"strategy": {"kind": "keep_last", "keep_steps": 5, "step": 400}}
    assert json.loads(app.query_params["a"]) == said
    assert app.dataframe[0].value.columns[2] == "keep_last · 5 steps"
    assert sorted(key for key in "abcd" if key in app.query_params) == ["a", "b", "c"]


def test_another_strategy_brings_its_own_form(page: Open, store: Library) -> None:
    app = edit(page(PAGE, transcript=id_of(store)), "b")
    app.selectbox(key="b_kind").set_value("mask_tool_results")
    run(app)
    app.text_input(key="b_mask_tool_results_exclude").set_value("search_*, lookup")
    app.button(key="b_apply").click()
    run(app)
    assert json.loads(app.query_params["b"]) == {
        "strategy": {"kind": "mask_tool_results", "exclude": ["search_*", "lookup"]}
    }


def test_every_strategy_has_a_form_that_can_be_applied(page: Open, store: Library) -> None:
    app = edit(page(PAGE, transcript=id_of(store)), "a")
    for kind in strategy_kinds():
        app.session_state["edit_a"] = True
        run(app)
        app.selectbox(key="a_kind").set_value(kind)
        run(app)
        app.button(key="a_apply").click()
        run(app)
        assert json.loads(app.query_params["a"])["strategy"]["kind"] == kind
        assert not app.error


def close(app: AppTest, slot: str) -> AppTest:
    app.session_state[f"edit_{slot}"] = False
    return run(app)


CHOSEN = "span_triage is chosen, not applied yet."


def test_a_strategy_that_was_chosen_is_kept_until_it_is_applied(page: Open, store: Library) -> None:
    app = edit(page(PAGE, transcript=id_of(store)), "a")
    assert CHOSEN not in shown(app)
    app.selectbox(key="a_kind").set_value("span_triage")
    assert CHOSEN in shown(close(run(app), "a"))
    assert json.loads(app.query_params["a"])["strategy"]["kind"] == "keep_last"
    assert edit(app, "a").selectbox(key="a_kind").value == "span_triage"
    app.button(key="a_apply").click()
    run(app)
    assert json.loads(app.query_params["a"]) == {"strategy": {"kind": "span_triage"}}
    assert CHOSEN not in shown(app)


def test_a_strategy_that_was_chosen_is_kept_while_another_page_is_open(page: Open, store: Library) -> None:
    app = edit(page(PAGE, transcript=id_of(store)), "b")
    app.selectbox(key="b_kind").set_value("span_triage")
    close(run(app), "b")
    app.switch_page("configurations.py")
    run(app)
    app.query_params.clear()
    app.switch_page("compare.py")
    assert CHOSEN in shown(run(app))
    assert edit(app, "b").selectbox(key="b_kind").value == "span_triage"


def test_what_was_chosen_for_one_transcript_is_not_for_another(page: Open, store: Library) -> None:
    slots = address(a=KEEP_LAST, b=SUMMARIZE)
    app = edit(page(PAGE, transcript=id_of(store), **slots), "a")
    app.selectbox(key="a_kind").set_value("span_triage")
    close(run(app), "a")
    app.query_params["transcript"] = id_of(store, "long_chat.json")
    assert CHOSEN not in shown(run(app))


def test_a_form_that_is_cancelled_forgets_what_was_chosen(page: Open, store: Library) -> None:
    app = edit(page(PAGE, transcript=id_of(store)), "a")
    before = app.query_params["a"]
    app.selectbox(key="a_kind").set_value("span_triage")
    run(app)
    app.button(key="a_cancel").click()
    assert CHOSEN not in shown(run(app))
    assert (app.query_params["a"], app.session_state["edit_a"]) == (before, False)
    assert edit(app, "a").selectbox(key="a_kind").value == "keep_last"


def test_a_configuration_that_cannot_be_used_keeps_what_was_chosen_too(page: Open, store: Library) -> None:
    slots = {"a": '{"strategy": {"kind": "keep_lust"}}', **address(b=KEEP_LAST)}
    app = edit(page(PAGE, transcript=id_of(store), **slots), "a")
    app.selectbox(key="a_kind").set_value("span_triage")
    assert CHOSEN in shown(close(run(app), "a"))


@pytest.mark.parametrize(
    ("rules", "key"),
    [
        ("{not json", "rules"),
        ('[{"match": {"kind": "tool_result"}, "prio": 1}]', "rules.0.prio"),
        ('{"evict": "pinned"}', "rules"),
        ('[{"evikt": "pinned"}]', "rules.0.evikt"),
        ("7", "rules"),
    ],
)
def test_what_a_form_cannot_use_is_explained_and_changes_nothing(
    page: Open, store: Library, rules: str, key: str
) -> None:
    app = edit(page(PAGE, transcript=id_of(store)), "a")
    before = app.query_params["a"]
    app.text_area(key="a_keep_last_rules").set_value(rules)
    app.button(key="a_apply").click()
    run(app)
    (error,) = errors_in_popover(app, "Edit")
    assert error.startswith(f"**{key}**") and len(app.error) == 1
    assert (app.session_state["edit_a"], app.text_area(key="a_keep_last_rules").value) == (True, rules)
    assert app.query_params["a"] == before
    assert not run(app).error


def test_the_error_of_a_configuration_that_cannot_be_used_stands_in_its_form_too(page: Open, store: Library) -> None:
    slots = {"a": '{"strategy": {"kind": "keep_lust"}}', **address(b=KEEP_LAST)}
    app = edit(page(PAGE, transcript=id_of(store), **slots), "a")
    app.text_area(key=f"a_{strategy_kinds()[0]}_rules").set_value("not json")
    app.button(key="a_apply").click()
    (error,) = errors_in_popover(run(app), "Edit")
    assert error.startswith("**rules**")
