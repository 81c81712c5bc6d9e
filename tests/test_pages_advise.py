"""The Advise page: its answer is that of the engine, and its ways lead to Compare and to Inspect."""

from __future__ import annotations

import json
import re
from dataclasses import replace as with_changes
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.advice import Advised, advised
from core.advice_tree import Leaf
from core.config import load_config
from core.export import pinned
from core.findings import findings
from core.presets import PRESETS
from core.replay import replay
from core.scorecard import UPPER_BOUND
from core.transcript import Usage
from pages.parts.advice_state import OF_ADVICE, OF_RECORDING
from pages.parts.advice_tree_view import NOT_ASKED, PASSED, TAKEN, THEN, branches, needed, tree_html
from pages.parts.comparison import SLOTS
from storage import Library
from tests.advice_runs import advice, agent
from tests.pages_app import SAMPLES, Open, id_of, page, run, sample, sample_database, shown, store
from tests.runs import run as run_of

__all__ = ["page", "sample_database", "store"]

PAGE = "advise.py"
CODING = "coding_agent.jsonl"


def expected(budget: int, source: str = CODING, call: int | None = None, **options: Any) -> Advised:
    transcript = sample(SAMPLES / source)
    said = {"budget": {"soft_limit": budget}, "strategy": {"kind": "full_history"}}
    found = advised(replay(transcript, pinned(load_config(said), transcript)), call, **options)
    assert found is not None
    return found


def html_of(app: AppTest) -> str:
    return "\n".join(element.value for element in app.get("html"))


def test_the_answer_is_that_of_the_engine(page: Open, store: Library) -> None:
    found = expected(30_000)
    app = page(PAGE, transcript=id_of(store, CODING), soft="30000")
    assert found.advice.leaf is Leaf.PROJECT
    assert found.verdict in shown(app)
    for check in found.checks:
        assert check.name in shown(app) and check.why in shown(app)
    for row in found.symptoms:
        assert row.evidence.replace("'", "&#x27;") in html_of(app)
    assert UPPER_BOUND in shown(app)


def test_use_this_opens_compare_with_the_configuration(page: Open, store: Library) -> None:
    found = expected(30_000)
    app = page(PAGE, transcript=id_of(store, CODING), soft="30000")
    app.button(key="use_advice").click()
    run(app)
    assert found.said is not None
    assert json.loads(app.query_params["a"]) == {**found.said, "name": "Advice 3A"}
    assert json.loads(app.query_params["b"]) == {"strategy": {"kind": "full_history"}}
    assert app.query_params["budget"] == "30000"
    table = app.dataframe[0].value
    assert table.columns.tolist() == ["", "as captured", "Advice 3A", "full_history"]
    assert table.iloc[2, 2:].tolist() == ["0", "36"]  # calls over budget: none with the advice


def test_what_use_this_takes_the_place_of_can_be_brought_back(page: Open, store: Library) -> None:
    """An edited comparison that nobody saved is not lost, nor is the one that it is brought back over."""
    own = {"a": {"strategy": {"kind": "keep_last", "keep_turns": 7}}, "c": {"strategy": {"kind": "span_triage"}}}
    number = id_of(store, CODING)
    app = page("compare.py", transcript=number, budget="3000", **{slot: json.dumps(said) for slot, said in own.items()})
    assert "bring_back" not in {button.key for button in app.button}
    app.switch_page("advise.py")
    app.query_params.clear()
    app.query_params["transcript"], app.query_params["soft"] = number, "30000"
    run(app)
    app.button(key="use_advice").click()
    run(app)
    advised = {slot: app.query_params[slot] for slot in ("a", "b")}
    app.switch_page("compare.py")
    app.button(key="bring_back").click()
    run(app)
    assert {slot: json.loads(app.query_params[slot]) for slot in SLOTS if slot in app.query_params} == own
    assert (app.query_params["budget"], app.number_input(key="budget").value) == ("3000", 3_000)
    app.button(key="bring_back").click()
    run(app)
    assert {slot: app.query_params[slot] for slot in SLOTS if slot in app.query_params} == advised
    assert app.number_input(key="budget").value == 30_000


def test_a_comparison_changed_on_its_own_page_took_no_other_ones_place(page: Open, store: Library) -> None:
    app = page("compare.py", transcript=id_of(store, CODING))
    app.button(key="add").click()
    run(app)
    app.number_input(key="budget").set_value(4_000)
    run(app)
    assert "bring_back" not in {button.key for button in app.button}


def test_a_window_with_room_is_left_alone(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store, CODING))
    assert "Leave it alone" in shown(app)
    assert "Nothing is trimmed, so there is nothing to check." in shown(app)
    with pytest.raises(KeyError):
        app.button(key="use_advice")


def test_without_a_known_window_a_limit_is_asked_for(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store, CODING), model="nobody-knows-it")
    assert "Type a soft limit above, for instance 37,000 tokens" in shown(app)


def test_a_call_can_be_chosen(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store, CODING), soft="30000", advice_call="10")
    assert expected(30_000, call=9).verdict in shown(app)


def test_options_change_the_answer(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store, "long_chat.json"), soft="5000", exact_strings="true")
    assert expected(5_000, "long_chat.json", exact_strings_needed=True).verdict in shown(app)
    assert "Exact strings are needed, so history is not cut either" in shown(app)
    assert "the units below" not in shown(app), "there are none"
    split = page(PAGE, transcript=id_of(store, "support_triage.jsonl"), soft="3000", exact_strings="true")
    assert "No configuration of one prompt helps here; the units below are calls of their own." in shown(split)


@pytest.mark.parametrize(("soft", "headline"), [(3_000, "Make the unit of work smaller"), (1_400, "Cut history: the")])
def test_a_split_is_only_the_headline_where_it_holds(page: Open, store: Library, soft: int, headline: str) -> None:
    app = page(PAGE, transcript=id_of(store, "support_triage.jsonl"), soft=str(soft))
    assert any(headline in made.value for made in app.subheader)
    holds = soft == 3_000
    assert ("Where the work cannot be split, this cuts history instead and makes call 20 fit:" in shown(app)) is holds
    assert ("What is left is to cut history, which makes call 20 fit." in shown(app)) is not holds


def test_units_of_work_are_listed_each_with_its_size(page: Open, store: Library) -> None:
    found = expected(5_000, "operations_zh.json")
    assert found.work is not None
    app = page(PAGE, transcript=id_of(store, "operations_zh.json"), soft="5000")
    table = app.dataframe[0].value
    assert table["tokens"].tolist() == [unit.tokens for unit in found.work.units]
    assert set(table["alone"]) == {"fits"}
    assert f"{found.work.aggregator:,} tokens" in shown(app)


def test_findings_stand_with_a_way_to_their_call(page: Open, store: Library) -> None:
    transcript = sample(SAMPLES / CODING)
    said = {"budget": {"soft_limit": 30_000}, "strategy": {"kind": "as_captured"}}
    found = findings(replay(transcript, pinned(load_config(said), transcript)))
    app = page(PAGE, transcript=id_of(store, CODING), soft="30000")
    for finding in found:
        assert finding.sentence in shown(app)
    assert app.button(key="to_finding_0").label == "Call 61"


def test_findings_of_the_configuration_are_another_list(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store, CODING), soft="30000")
    assert "Over budget" in shown(app)
    app.session_state["findings_of"] = "With this configuration"
    run(app)
    made = expected(30_000)
    assert made.config is not None
    for finding in findings(replay(sample(SAMPLES / CODING), made.config)):
        assert finding.sentence in shown(app)
    assert "Over budget" not in shown(app)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_opens_in_compare(page: Open, store: Library, name: str) -> None:
    app = page(PAGE, transcript=id_of(store), soft="4500")
    app.button(key=f"preset_{name}").click()
    run(app)
    assert json.loads(app.query_params["a"]) == PRESETS[name].said
    assert not app.error


def test_a_transcript_without_calls_has_no_advice(page: Open, store: Library) -> None:
    store.add(run_of([]))
    app = page(PAGE, transcript=str(store.list(limit=1)[0].id))
    assert "This transcript holds no call to a model" in shown(app)


def test_limits_typed_here_hold_in_compare(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store), soft="4500")
    app.number_input(key="reserve").set_value(25)
    app.text_input(key="model").set_value("gpt-4o-mini")
    app.button(key="preset_support").click()
    run(app)
    assert app.number_input(key="budget").value == 4500
    assert app.text_input(key="model").value == "gpt-4o-mini"
    assert app.number_input(key="reserve").value == 25


@pytest.mark.parametrize(
    ("budget", "states"),
    [
        (200_000, [NOT_ASKED] * 5),
        (45_000, [PASSED, PASSED, TAKEN, NOT_ASKED, NOT_ASKED]),
        (25_000, [PASSED, THEN, TAKEN, PASSED, PASSED]),
        (3_000, [PASSED, PASSED, PASSED, PASSED, TAKEN]),
    ],
)
def test_the_tree_shows_which_branch_was_taken(budget: int, states: list[str]) -> None:
    found = expected(budget)
    assert [branch.state for branch in branches(found)] == states
    text = tree_html(found, dark=False)
    assert text.count('role="listitem"') == 5
    assert text.count(f">{TAKEN}<") == (TAKEN in states)


def lacking(store: Library, beyond: int | None, notes: tuple[str, ...] = ("system prompt not recorded",)) -> str:
    """Add an agent's run that lacks its system prompt, with reported tokens beyond those counted; return its id."""
    plain = agent()
    counted = replay(plain, {"strategy": {"kind": "full_history"}}).calls["in_window"]
    usage = [Usage() if beyond is None else Usage(tokens + beyond) for tokens in counted]
    calls = tuple(with_changes(call, usage=usage[at]) for at, call in enumerate(plain.calls))
    return str(store.add(with_changes(plain, calls=calls, notes=notes)).id)


def test_what_is_not_recorded_counts_against_the_budget(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=lacking(store, 3_000), soft="7000")
    said = shown(app)
    assert "with about 3,000 tokens that are not recorded: tool results can give back" in said
    assert "and about 3,000 not recorded of 7,000 tokens" in said
    assert "It fits" not in "\n".join(title.value for title in app.subheader)
    assert "not known: the system prompt is not recorded; of the rest, the largest, user, has" in html_of(app)
    assert "“Use this” opens Compare with a soft limit of 4,000 tokens" in said
    app.button(key="use_advice").click()
    run(app)
    assert (app.query_params["budget"], app.query_params["beside"]) == ("4000", "3000")
    table = app.dataframe[0].value.set_index("")
    assert table.loc["Calls over budget, as sent (7,000)", "Advice 3A"] == "0"
    assert int(table.loc["Peak as sent, tokens", "Advice 3A"].split()[0].replace(",", "")) <= 7_000
    recording = replay(agent(), {"budget": {"soft_limit": 4_000}, "strategy": {"kind": "full_history"}})
    over = str(sum(excess > 0 for excess in recording.calls["excess"]))
    assert table.loc["Calls over budget, as sent (7,000)", ["as captured", "full_history"]].tolist() == [over, over]
    assert "Of a budget of 7,000, 3,000 are left for what is not recorded." in shown(app)


@pytest.mark.parametrize(("soft", "given"), [("7000", ("4000", "3000")), ("2000", ("2000", None))])
def test_presets_are_tried_under_the_same_limit_as_the_advice(
    page: Open, store: Library, soft: str, given: tuple[str, str | None]
) -> None:
    app = page(PAGE, transcript=lacking(store, 3_000), soft=soft)
    told = "Here the budget of a preset is a soft limit of 4,000 tokens: what 7,000 leave beside what is not recorded"
    assert (told in shown(app)) is (given[1] is not None)
    app.button(key="preset_chit_chat").click()
    run(app)
    assert (app.query_params["budget"], app.query_params.get("beside")) == given


def test_nothing_is_advised_where_what_is_not_recorded_takes_the_budget(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=lacking(store, 8_000), soft="7000")
    assert "No strategy can make it fit" in [title.value for title in app.subheader]
    assert "about 8,000 tokens with the system prompt, takes the whole budget of 7,000 alone" in shown(app)
    assert "All checks passed" not in shown(app)
    assert 'role="listitem"' not in html_of(app)
    assert "no branch can give back enough" in shown(app)
    with pytest.raises(KeyError):
        app.button(key="use_advice")


def test_one_figure_says_what_is_free(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=lacking(store, 3_000), soft="40000")
    [said] = re.findall(r"leaves (\d+%) of 40,000 tokens free, with about 3,000", shown(app))
    assert re.findall(r"(\d+%) of the budget is free", html_of(app)) == [said]


def test_parts_of_unknown_size_are_not_taken_for_nothing(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=lacking(store, None), soft="4000")
    assert "All checks passed" not in shown(app)
    assert "1 cannot be told from a recording" in shown(app)
    assert "without the system prompt, which is not recorded" in shown(app)
    assert "instructions are 0%" not in html_of(app)


def test_where_nothing_is_asked_the_tree_is_one_line(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store, CODING))
    assert 'role="listitem"' not in html_of(app)
    assert "The five questions below are not asked: nothing has to be given back." in shown(app)
    assert "Is the trim safe?" not in shown(app)


def test_a_higher_cost_stands_beside_the_button(page: Open, store: Library) -> None:
    found = expected(30_000)
    assert found.dearer
    assert found.dearer in shown(page(PAGE, transcript=id_of(store, CODING), soft="30000"))


@pytest.mark.parametrize(
    ("gives", "said"),
    [
        (47_648, "47,648, more than the 44,965 needed"),
        (44_965, "44,965, all that is needed"),
        (0, "0 of the 44,965 needed"),
    ],
)
def test_what_is_given_back_against_what_is_needed(gives: int, said: str) -> None:
    assert needed(gives, 44_965) == said


def test_cards_speak_of_one_step() -> None:
    found = advice(agent(3, lines=800), 3_000)
    assert found.prompt.keep.number == 1
    assert "text older than 1 turn<" in tree_html(found, dark=False)


def test_findings_hold_the_configuration_against_the_budget_of_the_page(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=lacking(store, 3_000), soft="7000", findings_of=OF_ADVICE)
    assert "are over the soft budget as sent" not in shown(app)
    app.session_state["findings_of"] = OF_RECORDING
    run(app)
    assert "are over the soft budget as sent" in shown(app)


@pytest.mark.parametrize(
    ("source", "soft", "said"),
    [
        (
            CODING,
            "30000",
            "puts placeholders for all tool results but the newest 5 instead of cutting each: of call 61",
        ),
        ("long_chat.json", "4000", "keeps the last 12 turns with one summary of the rest: of call 42"),
        (
            "support_triage.jsonl",
            "8000",
            "cuts each tool result to 400 tokens and drops what is older than the last 12",
        ),
    ],
)
def test_what_the_configuration_does_is_said(page: Open, store: Library, source: str, soft: str, said: str) -> None:
    assert f"The configuration {said}" in shown(page(PAGE, transcript=id_of(store, source), soft=soft))


def test_examples_are_not_called_restated_rules(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store, "support_triage.jsonl"), soft="25000")
    [examples] = re.findall(r"restated rules 0, examples (\d+)", shown(app))
    assert int(examples) > 0 and "no line repeats" in html_of(app)


@pytest.mark.parametrize(
    ("source", "soft", "words"),
    [
        ("support_triage.jsonl", "", {"possible": 2, "seen": 1}),
        (CODING, "", {"possible": 2, "seen": 1}),
        (CODING, "30000", {"possible": 0}),
    ],
)
def test_nothing_is_said_to_have_failed_where_the_prompt_fits(
    page: Open, store: Library, source: str, soft: str, words: dict[str, int]
) -> None:
    app = page(PAGE, transcript=id_of(store, source), **({"soft": soft} if soft else {}))
    found = {word: html_of(app).count(f'">{word}</td>') for word in words}
    assert found == words
    assert ("Nothing has failed: “possible” marks" in shown(app)) is bool(words["possible"])


def test_the_codes_of_the_remedies_are_explained_wherever_they_stand(page: Open, store: Library) -> None:
    for soft in ({}, {"soft": "30000"}, {"soft": "3000"}):
        app = page(PAGE, transcript=id_of(store, CODING), **soft)
        codes = set(re.findall(r"\b[1-5]A\b", html_of(app)))
        assert codes and codes <= set(re.findall(r"\b([1-5]A):", shown(app)))


def test_the_parts_below_the_answer_have_headings_of_one_level(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store, CODING))
    bold = [text.value for text in app.markdown if text.value.startswith("**") and text.value.endswith("**")]
    assert bold[:3] == ["**Symptoms, and what speaks for them here**", "**Findings**", "**Or start from a preset**"]
    assert [title.value for title in app.subheader] == ["It fits"]


@pytest.mark.parametrize("source", ["support_triage.jsonl", CODING, "long_chat.json"])
def test_a_span_is_named_by_its_number_on_inspect(page: Open, store: Library, source: str) -> None:
    number = id_of(store, source)
    html = html_of(page(PAGE, transcript=number))
    named = re.search(r"the largest pinned span, .*? \(#(\d+)\), has (\d+)", html)
    assert named and not re.search(r"\([a-z]\d+(\.\d+)?\)", html)
    table = page("inspect_transcript.py", transcript=number).dataframe[0].value.set_index("#")
    assert table.loc[int(named[1]), "tokens"] == int(named[2])
