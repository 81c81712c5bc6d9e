"""The Compare page: its figures are those of the replays, and all of its state stands in the address."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.config import load_config
from core.export import pinned
from core.replay import Replay, replay
from core.runtime import ContextRuntime
from core.transcript import Usage
from core.wire import body_sha256
from storage import Library
from tests.pages_app import Open, id_of, page, run, sample, sample_database, shown, store
from tests.test_pages_compare_form import edit

__all__ = ["page", "sample_database", "store"]

PAGE = "compare.py"
BUDGET, HALFWAY = 4500, 5100
"""Half of the support run's peak, and what is suggested: halfway from the 1,293 tokens that every call carries."""
SUGGESTED: list[dict[str, Any]] = [
    {"kind": "keep_last", "keep_turns": 2},
    {"kind": "summarize_and_keep", "keep_turns": 2, "min_turns": 0, "min_steps": 0},
    {"kind": "tiered_injection", "keep_turns": 2},
]


def played(strategy: dict[str, Any], budget: int | None = BUDGET) -> Replay:
    transcript = sample()
    said = {"budget": {"soft_limit": budget}, "strategy": strategy}
    return replay(transcript, pinned(load_config(said), transcript))


def scores(app: AppTest) -> dict[str, list[str]]:
    table = next(frame.value for frame in app.dataframe if "as captured" in frame.value)
    return {row[0]: list(row[1:]) for row in table.itertuples(index=False)}


def address(**slots: dict[str, Any]) -> dict[str, str]:
    return {slot: json.dumps({"strategy": strategy}) for slot, strategy in slots.items()}


def test_three_strategies_are_compared_halfway_between_floor_and_peak(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store))
    assert app.number_input(key="budget").value == HALFWAY
    replays = [played(strategy, HALFWAY) for strategy in SUGGESTED]
    found = scores(app)
    first, *rest = found["Sum over calls, tokens"]
    assert first == f"{sum(played({'kind': 'as_captured'}).calls['in_window']):,}"
    assert [text.split()[0] for text in rest] == [f"{sum(r.calls['in_window']):,}" for r in replays]
    assert [text.split()[0] for text in found["Peak in window, tokens"][1:]] == [
        f"{max(r.calls['in_window']):,}" for r in replays
    ]
    assert found["Violations of the API's rules"] == ["—", "0", "0", "0"]
    assert len({sum(r.calls["in_window"]) for r in replays}) == 3


def test_the_budget_of_the_address_holds_for_all(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store), budget="3000")
    over = [sum(e > 0 for e in played(strategy, 3000).calls["excess"]) for strategy in SUGGESTED]
    assert scores(app)["Calls over budget"][1:] == [f"{number:,}" for number in over]


def hidden(store: Library, beyond: int) -> str:
    """Store the support run as one whose provider reported so many tokens beyond those counted; return its id."""
    counted = played({"kind": "as_captured"}).calls["in_window"]
    calls = (replace(call, usage=Usage(counted[at] + beyond)) for at, call in enumerate(sample().calls))
    return str(store.add(replace(sample(), calls=tuple(calls), session=f"hides {beyond}")).id)


def test_a_start_says_where_it_comes_from(page: Open, store: Library) -> None:
    start = "About halfway between what every call carries, 1,293, and the largest recorded prompt"
    app = page(PAGE, transcript=id_of(store))
    assert f"{start}." in shown(app)
    app.number_input(key="budget").set_value(4_600)
    assert start not in shown(run(app))
    app = page(PAGE, transcript=id_of(store), window="4000")
    assert app.number_input(key="budget").value == HALFWAY
    assert start not in shown(app)
    assert "The window of 4,000 tokens is smaller than the soft limit, and is the limit." in shown(app)
    app = page(PAGE, transcript=hidden(store, 20_000))
    assert (app.number_input(key="budget").value, app.number_input(key="beside").value) == (HALFWAY, 20_000)
    assert f"{start}; 20,000 more are left for what is not recorded." in shown(app)
    assert app.query_params["beside"] == "20000"


def test_a_budget_is_held_against_what_is_sent(page: Open, store: Library) -> None:
    slots = address(a={"kind": "full_history"}, b=SUGGESTED[0])
    number, budget = hidden(store, 20_000), 24_500
    sent = [[tokens + 20_000 for tokens in played(said).calls["in_window"]] for said in (CAPTURED, *PAIR)]
    found = scores(page(PAGE, transcript=number, budget="4500", beside="20000", **slots))
    assert found["Peak as sent, tokens"][0] == f"{max(sent[0]):,}"
    assert [text.split()[0] for text in found["Peak as sent, tokens"]] == [f"{max(one):,}" for one in sent]
    over = [str(sum(tokens > budget for tokens in one)) for one in sent]
    assert found["Calls over budget, as sent (24,500)"] == over
    assert over[2] == "0" != over[0]
    assert found["Largest excess as sent, tokens"][:2] == [f"{max(sent[0]) - budget:,}"] * 2
    assert not [name for name in found if name.endswith("as recorded (4,500)")]


def test_a_strategy_within_its_limit_is_told_of_a_bill_that_is_not(page: Open, store: Library) -> None:
    slots = address(a={"kind": "full_history"}, b=SUGGESTED[0])
    app = page(PAGE, transcript=hidden(store, 20_000), budget="4500", **slots)
    found = scores(app)
    assert found["Calls over budget, as sent (4,500)"] == ["20"] * 3
    recorded = [str(sum(tokens > 4_500 for tokens in played(said).calls["in_window"])) for said in (CAPTURED, *PAIR)]
    assert found["Calls over budget, as recorded (4,500)"] == recorded
    assert (
        "In 20 of 20 calls, keep_last · 2 turns keeps to the soft budget of 4,500 by what it is given, but not by what"
        " is sent: what is not recorded comes on top."
    ) in shown(app)
    assert "Sent beside it, in tokens a call: 20,000." in shown(app)


def test_what_is_left_beside_a_limit_is_kept_for_coming_back(page: Open, store: Library) -> None:
    number = hidden(store, 20_000)
    app = page(PAGE, transcript=number, budget="4000", beside="21000", **address(a=SUGGESTED[0], b=SUGGESTED[1]))
    app.switch_page("advise.py")
    run(app)
    app.switch_page("compare.py")
    app.query_params.clear()
    app.query_params["transcript"] = number
    run(app)
    assert (app.number_input(key="budget").value, app.number_input(key="beside").value) == (4_000, 21_000)


CAPTURED: dict[str, Any] = {"kind": "as_captured"}
PAIR: list[dict[str, Any]] = [{"kind": "full_history"}, SUGGESTED[0]]


def test_a_strategy_that_changes_nothing_did_nothing(page: Open, store: Library) -> None:
    slots = address(a={"kind": "full_history"}, b=SUGGESTED[0])
    app = page(PAGE, transcript=id_of(store), budget=str(BUDGET), **slots)
    assert scores(app)["Calls changed"] == ["—", "did nothing", "14 of 20"]
    assert app.dataframe[0].value.columns.tolist() == ["", "as captured", "full_history", "keep_last · 2 turns"]


def test_equal_configurations_have_different_labels(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store), budget=str(BUDGET), **address(a=SUGGESTED[0], b=SUGGESTED[0]))
    assert app.dataframe[0].value.columns.tolist()[2:] == ["keep_last · 2 turns", "keep_last · 2 turns (2)"]
    assert "All configurations send the same in every call." in shown(app)


def test_each_span_has_its_fate_with_its_reason(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store), call="20", only_differences="false")
    table = app.dataframe[1].value
    decisions = {made.span_id: made for made in played(SUGGESTED[0]).plan(19).decisions}
    dropped = [made for made in decisions.values() if made.action == "drop"]
    assert table["keep_last · 2 turns"].str.startswith("drop · older than the newest 2 turns").sum() == len(dropped) > 0
    assert table["tokens"].sum() == played(SUGGESTED[0]).plan(19).tokens_before


def test_only_differences_hides_the_rest_and_says_how_many(page: Open, store: Library) -> None:
    everything = page(PAGE, transcript=id_of(store), call="20", only_differences="false").dataframe[1].value
    app = page(PAGE, transcript=id_of(store), call="20")
    some = app.dataframe[1].value
    assert 0 < len(some) < len(everything)
    assert f"{len(everything) - len(some)} span" in shown(app)
    assert (some.iloc[:, 4] != some.iloc[:, 5]).any()


def test_buttons_lead_to_the_first_and_the_next_difference(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store), call="20", budget=str(BUDGET))
    assert app.button(key="first_difference").label == "First difference: call 7"
    app.button(key="first_difference").click()
    assert "**Call 7** of 20" in shown(run(app))
    app.button(key="next_difference").click()
    assert "**Call 8** of 20" in shown(run(app))


def test_the_requests_are_those_of_the_replay(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store), call="15", compare_view="Requests")
    for strategy in SUGGESTED:
        assert f"sha256 {body_sha256(played(strategy, HALFWAY).request(14))}" in shown(app)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"strategy": {"kind": "keep_lust"}}', "Use one of"),
        ('{"strategy": {"kind": "keep_last", "keep_turn": 4}}', "Did you mean 'keep_turns'?"),
        ('{"strategy": {"kind": "keep_last", "step": -1}}', "greater than or equal to 0"),
        ("{}", "strategy"),
    ],
)
def test_a_configuration_that_cannot_be_used_leaves_the_others_alone(
    page: Open, store: Library, text: str, said: str
) -> None:
    slots = {"a": text, **address(b=SUGGESTED[0], c=SUGGESTED[2])}
    app = page(PAGE, transcript=id_of(store), **slots)
    assert said in app.error[0].value.replace("\\", "")
    assert app.dataframe[0].value.columns.tolist()[2:] == ["keep_last · 2 turns", "tiered_injection · 2 turns"]


@pytest.mark.parametrize("text", ["nonsense", "[]", "7", '"text"'])
def test_an_address_that_is_no_configuration_is_a_sentence(page: Open, store: Library, text: str) -> None:
    assert "this is no configuration as JSON" in shown(page(PAGE, transcript=id_of(store), a=text))


def test_configurations_are_added_up_to_four_and_removed_down_to_two(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store))
    app.button(key="add").click()
    run(app)
    assert json.loads(app.query_params["d"]) == {"strategy": {"kind": "full_history"}}
    assert app.button(key="add").disabled
    for slot in ("a", "c"):
        edit(app, slot).button(key=f"{slot}_remove").click()
        run(app)
    assert sorted(key for key in "abcd" if key in app.query_params) == ["b", "d"]
    edit(app, "b")
    with pytest.raises(KeyError):
        app.button(key="b_remove")


def test_a_saved_configuration_gives_production_the_same_bytes(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store))
    app.button(key="c_save").click()
    run(app)
    assert app.toast[0].value.replace("\\", "") == "Saved as version 1 of tiered_injection · 2 turns."
    body = store.configs.get("tiered_injection · 2 turns").body
    runtime, transcript = ContextRuntime.load(body), sample()
    assert len(body["provenance"]["golden"]) >= 3
    for golden in body["provenance"]["golden"]:
        call = golden["call"]
        sent = runtime.assemble(transcript.history(call), transcript.calls[call].hints).request
        assert body_sha256(sent) == golden["prompt_sha256"]


def texts(elements: Any) -> list[str]:
    return [element.value.replace("\\", "") for element in elements]


def test_a_configuration_is_saved_under_the_name_that_it_is_given(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store))
    name = app.text_input(key="c_name tiered_injection · 2 turns")
    assert name.value == "tiered_injection · 2 turns"
    name.set_value(" support ")
    run(app)
    assert "A new name among your configurations." in texts(app.caption)
    app.button(key="c_save").click()
    run(app)
    assert store.configs.get("support").body["name"] == "support"
    app.text_input(key="a_name keep_last · 2 turns").set_value("support")
    run(app)
    said = "Version 2 of a name that has tiered_injection now. Give another name to keep both apart."
    assert said in texts(app.caption)
    app.text_input(key="a_name keep_last · 2 turns").set_value(" ")
    run(app)
    assert app.button(key="a_save").disabled
    app.text_input(key="a_name keep_last · 2 turns").set_value("n" * 201)
    run(app)
    app.button(key="a_save").click()
    run(app)
    assert "201 characters" in app.error[0].value and len(store.configs.versions("support")) == 1


def test_a_comparison_is_remembered_when_another_page_was_open(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store), **address(a={"kind": "full_history"}, b=SUGGESTED[0]))
    app.switch_page("configurations.py")
    run(app)
    app.query_params.clear()
    app.switch_page("compare.py")
    run(app)
    assert app.dataframe[0].value.columns.tolist()[2:] == ["full_history", "keep_last · 2 turns"]


def test_another_transcript_begins_with_its_own_budget(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store))
    app.query_params.clear()
    app.query_params["transcript"] = id_of(store, "long_chat.json")
    run(app)
    assert app.number_input(key="budget").value == 4700
    assert app.dataframe[0].value.columns.tolist()[2] == "keep_last · 4 turns"


def test_a_run_of_an_agent_is_kept_by_steps(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store, "coding_agent.jsonl"))
    assert app.dataframe[0].value.columns.tolist()[2:] == [
        "keep_last · 8 steps",
        "summarize_and_keep · 8 steps",
        "tiered_injection · 8 steps",
    ]


def test_a_link_without_a_budget_goes_by_the_window(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store), **address(a=SUGGESTED[0], b={"kind": "full_history"}))
    assert app.number_input(key="budget").value is None
    assert scores(app)["Calls changed"][1:] == ["did nothing", "did nothing"]


def test_the_budget_can_be_taken_away(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store))
    app.number_input(key="budget").set_value(None)
    assert scores(run(app))["Calls changed"][1:] == ["did nothing"] * 3
    assert scores(run(app))["Calls changed"][1:] == ["did nothing"] * 3


def test_the_address_says_all_of_the_first_view(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store))
    assert app.query_params["budget"] == str(HALFWAY)
    assert [json.loads(app.query_params[slot])["strategy"] for slot in "abc"] == SUGGESTED


CLASHING: list[dict[str, Any]] = [
    {"match": {"kind": "tool_result"}, "evict": "pinned"},
    {"match": {"kind": "tool_result", "tool": "serach_*"}, "required": True},
    {"match": {"kind": "tool_result", "tool": "search_*"}, "evict": "recoverable", "priority": 10},
]


def test_where_rules_meet_is_said_once_for_all_that_have_them(page: Open, store: Library) -> None:
    strategies = {"a": {"kind": "keep_last"}, "b": {"kind": "span_triage"}}
    slots = {slot: json.dumps({"rules": CLASHING, "strategy": said}) for slot, said in strategies.items()}
    text = shown(page(PAGE, transcript=id_of(store), budget=str(BUDGET), **slots))
    clash = "Rule 3 (tool_result, tool search_*) and rule 1 (tool_result) both set evict on"
    assert text.count(clash) == 1
    assert text.count("Rule 2 (tool_result, tool serach_*) matches no span of this transcript.") == 1
    assert "Rules of **keep_last · 4 turns**, **span_triage**" in text
    assert "Rules of **keep_last · 4 turns**\n- Rule 3 sets priority, which only span_triage looks at" in text


def test_rules_of_which_nothing_is_to_say_are_not_spoken_of(page: Open, store: Library) -> None:
    plain = [{"match": {"kind": "tool_result"}, "evict": "pinned"}]
    slots = {"a": json.dumps({"rules": plain, "strategy": {"kind": "keep_last"}}), **address(b={"kind": "span_triage"})}
    assert "Rules of" not in shown(page(PAGE, transcript=id_of(store), **slots))


def test_what_captured_hints_name_and_a_call_does_not_have_is_said(page: Open, store: Library) -> None:
    hints = {"goal": "a refund", "pins": ["m99.0", "m0.0"], "gaol": "x"}
    calls = [replace(call, hints=hints if at == 11 else None) for at, call in enumerate(sample().calls)]
    number = str(store.add(replace(sample(), calls=tuple(calls), session="with hints")).id)
    slots = address(a={"kind": "required_reserve"}, b={"kind": "keep_last"})
    text = shown(page(PAGE, transcript=number, call="12", budget="3000", **slots))
    assert "Captured with hints: goal, pins." in text
    assert text.count("The hint 'pins' names 'm99.0': this request has no such span or tool call.") == 1
    assert text.count("Hints have no 'gaol'; known are goal") == 1
    other = shown(page(PAGE, transcript=number, call="11", budget="3000", **slots))
    assert "hint" not in other.lower()


def test_the_context_message_says_where_it_comes_from(page: Open, store: Library) -> None:
    slots = address(a={"kind": "required_reserve"}, b={"kind": "keep_last"})
    table = page(PAGE, transcript=id_of(store), call="12", budget="3000", **slots).dataframe[1].value
    (row,) = table[table["span"].str.startswith("context put in")].itertuples(index=False)
    assert row[1] == ["memory"]
    assert " tokens · inferred: goal, memory state" in row[4]


def test_one_configuration_alone_shows_what_it_changes(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store), budget=str(BUDGET), **address(a=SUGGESTED[0]))
    said = shown(app)
    assert "All configurations" not in said
    assert "hidden: what stays as it is" in said
    assert any(button.label.startswith("First difference") for button in app.button)


@pytest.mark.parametrize(
    ("beyond", "title", "line"),
    [(0, "tokens in window", "soft budget 4,500"), (200, "tokens recorded", "soft budget of what is recorded 4,500")],
)
def test_the_chart_says_what_its_lines_and_its_limit_are_about(
    page: Open, store: Library, beyond: int, title: str, line: str
) -> None:
    app = page(PAGE, transcript=hidden(store, beyond), budget="4500")
    (chart,) = app.get("vega_lite_chart")
    spec = json.loads(chart.proto.spec)
    assert {layer["encoding"]["y"].get("title", title) for layer in spec["layer"]} == {title}
    assert line.encode() in chart.proto.SerializeToString()


@pytest.mark.parametrize("name", ["inspect_transcript.py", PAGE, "advise.py"])
def test_a_window_that_leaves_nothing_is_explained_by_the_fields_of_the_page(
    page: Open, store: Library, name: str
) -> None:
    slots = address(a=SUGGESTED[0], b=SUGGESTED[1]) if name == PAGE else {}
    app = page(name, transcript=id_of(store), window="1000", max_output="5000", **slots)
    (said,) = {error.value.replace("\\", "") for error in app.error}
    assert "nothing is left of a window of 1,000 tokens" in said
    labels = {field.label.removesuffix(", tokens").removesuffix(", % of the window") for field in app.number_input}
    named = re.findall("“(.+?)”", said)
    assert named and set(named) <= labels
    assert not re.search(r"model\.|budget\.", said)


@pytest.mark.parametrize(("name", "key"), [("inspect_transcript.py", "soft"), (PAGE, "budget"), ("advise.py", "soft")])
@pytest.mark.parametrize(("soft", "is_told"), [(10**9, True), (128_001, True), (128_000, False), (5_000, False)])
def test_every_page_says_where_the_window_is_the_limit(
    page: Open, store: Library, name: str, key: str, soft: int, is_told: bool
) -> None:
    app = page(name, transcript=id_of(store), **{key: str(soft)})
    said = "The window of 128,000 tokens is smaller than the soft limit, and is the limit."
    assert (said in shown(app)) is is_told
