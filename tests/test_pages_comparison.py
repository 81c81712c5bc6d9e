"""What a comparison is made of: suggestions, labels, fates and differences."""

from __future__ import annotations

from typing import Any

import pytest

from core.config import load_config, strategy_kinds
from core.decisions import Action, Decision
from core.errors import ConfigError
from core.export import as_json
from core.replay import Replay, replay
from core.replay_violations import new_violations_of
from core.wire import dump
from pages.parts import strategy_fields
from pages.parts.comparison import (
    differing_calls,
    label,
    labels,
    parsed,
    settings_line,
    signature,
    suggestions,
    written,
)
from pages.parts.fates import fate_text, fates
from tests.pages_app import sample

BUDGET = 4500
STRATEGIES: list[dict[str, Any]] = [
    {"kind": "full_history"},
    {"kind": "keep_last", "keep_turns": 2},
    {"kind": "summarize_and_keep", "keep_turns": 2, "min_turns": 0, "min_steps": 0},
    {"kind": "tiered_injection", "keep_turns": 2},
    {"kind": "mask_tool_results", "keep": 3},
    {"kind": "span_triage"},
    {"kind": "required_reserve"},
]
SHRINK = [{"kind": "project_tool_results", "max_tokens": 200}]


def played(strategy: dict[str, Any], budget: int | None = BUDGET, **sections: Any) -> Replay:
    return replay(sample(), {"budget": {"soft_limit": budget}, "strategy": strategy, **sections})


def all_played() -> list[Replay]:
    return [*map(played, STRATEGIES), *(played(strategy, shrink=SHRINK) for strategy in STRATEGIES[:2])]


@pytest.mark.parametrize(
    ("calls", "turns", "keep"),
    [
        (42, 42, {"keep_turns": 4}),
        (20, 10, {"keep_turns": 2}),
        (189, 1, {"keep_steps": 8}),
        (11, 1, {"keep_steps": 2}),
        (1, 1, {"keep_turns": 1}),
        (0, 0, {"keep_turns": 1}),
    ],
)
def test_suggestions_suit_the_transcript(calls: int, turns: int, keep: dict[str, int]) -> None:
    for said in suggestions(calls, turns, BUDGET):
        config = load_config(said)
        assert keep.items() <= said["strategy"].items()
        assert ("step" in said["strategy"]) == ("keep_steps" in keep)
        assert config.strategy.kind in ("keep_last", "summarize_and_keep", "tiered_injection")


def test_a_configuration_survives_the_address() -> None:
    for said in suggestions(20, 10, BUDGET):
        assert parsed("a", written(said)) == said


def test_model_budget_and_provenance_of_a_pasted_configuration_are_shared_ones() -> None:
    said = {"model": {"name": "x"}, "budget": {}, "provenance": {}, "strategy": {"kind": "keep_last"}}
    assert parsed("a", written(said)) == {"strategy": {"kind": "keep_last"}}


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"strategy": {"kind": "full_history"}}, "full_history"),
        ({"strategy": {"kind": "keep_last"}}, "keep_last · 4 turns"),
        ({"strategy": {"kind": "keep_last", "keep_steps": 1}}, "keep_last · 1 step"),
        ({"strategy": {"kind": "tiered_injection"}}, "tiered_injection · 3 messages"),
        ({"strategy": {"kind": "mask_tool_results"}}, "mask_tool_results · 5 results"),
        ({"name": "ours", "strategy": {"kind": "keep_last"}}, "ours"),
    ],
)
def test_a_label_names_the_strategy_and_what_it_keeps(said: dict[str, Any], text: str) -> None:
    assert label(load_config(said)) == text


def test_labels_are_never_the_same() -> None:
    config = load_config({"strategy": {"kind": "keep_last"}})
    named = load_config({"name": "as captured", "strategy": {"kind": "keep_last"}})
    found = labels([config, config, named])
    assert found == ["keep_last · 4 turns", "keep_last · 4 turns (2)", "as captured (2)"]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"strategy": {"kind": "keep_last", "keep_turns": 4}}, "default settings"),
        (
            {"strategy": {"kind": "keep_last", "step": 4000, "exact_recall": True}},
            "cut in steps of 4,000 tokens · exact recall on",
        ),
        ({"strategy": {"kind": "tiered_injection", "trigger": None}, "rules": [{}, {}]}, "trigger never · 2 rules"),
        ({"strategy": {"kind": "keep_last"}, "rules": [{}], "shrink": [{}]}, "1 rule · 1 shrinker"),
        ({"strategy": {"kind": "keep_last"}, "shrink": [{}, {}]}, "2 shrinkers"),
        ({"name": "n", "strategy": {"kind": "keep_last", "keep_turns": 4}}, "keep turns 4"),
        ({"strategy": {"kind": "keep_last", "step": 0, "min_turns": 0, "exact_recall": False}}, "default settings"),
        ({"strategy": {"kind": "summarize_and_keep", "min_turns": 0, "min_steps": 15}}, "min turns 0"),
    ],
)
def test_settings_are_said_in_one_line(said: dict[str, Any], text: str) -> None:
    assert settings_line(said) == text


@pytest.mark.parametrize("kind", strategy_kinds())
def test_defaults_that_are_written_down_are_no_settings(kind: str) -> None:
    """A saved configuration holds them all, a suggested one none; both say the same."""
    whole = as_json(load_config({"strategy": {"kind": kind}}))
    assert len(whole["strategy"]) > 1
    assert settings_line(whole) == settings_line({"strategy": {"kind": kind}}) == "default settings"


@pytest.mark.parametrize("call", range(0, 20, 3))
def test_equal_signatures_send_equal_bodies(call: int) -> None:
    sent = [(signature(one, call), dump(one.request(call))) for one in all_played()]
    for signed, body in sent:
        assert [signed == other for other, _ in sent] == [body == other for _, other in sent]


def test_differing_calls_begin_where_the_budget_is_passed() -> None:
    replays = [played(STRATEGIES[0]), played(STRATEGIES[1])]
    changed = [call for call in range(20) if replays[1].plan(call).changed]
    assert differing_calls(replays) == changed
    assert differing_calls([replays[0], replays[0]]) == []


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy["kind"])
def test_no_strategy_breaks_a_rule(strategy: dict[str, Any]) -> None:
    found = new_violations_of(played(strategy))
    assert (found.count, found.checked) == (0, found.changed)


@pytest.mark.parametrize("call", [0, 7, 19])
def test_each_configuration_decides_for_every_span(call: int) -> None:
    replays = all_played()
    rows = fates(replays, call)
    for place, one in enumerate(replays):
        made = [row.decisions[place] for row in rows if row.decisions[place] is not None]
        assert sum(decision.tokens_after for decision in made if decision) == one.calls["in_window"][call]
        assert sum(decision.tokens_before for decision in made if decision) == one.calls["before"][call]
    assert any(row.differs for row in rows) == (len({dump(one.request(call)) for one in replays}) > 1)


@pytest.mark.parametrize(
    ("decision", "text"),
    [
        (None, "—"),
        (Decision("a", Action.KEEP, "it fits", "", 5, 5), "keep · it fits"),
        (Decision("a", Action.KEEP, "", "", 5, 5), "keep"),
        (Decision("a", Action.DROP, "too old", "", 5, 0), "drop · too old"),
        (Decision("a", Action.SUMMARISE, "too old", "", 500, 24, "…"), "summarise → 24 · too old"),
        (Decision("a", Action.SUMMARISE, "its place", "", 0, 1200, "…"), "put in, 1,200 tokens · its place"),
    ],
)
def test_a_fate_is_one_line(decision: Decision | None, text: str) -> None:
    assert fate_text(decision) == text


@pytest.mark.parametrize("kind", strategy_kinds())
def test_a_form_of_defaults_says_nothing_but_the_kind(kind: str) -> None:
    fields = strategy_fields.fields_of(kind)
    values = {
        field.name: strategy_fields.from_form(field, strategy_fields.to_form(field, field.default)) for field in fields
    }
    assert strategy_fields.strategy_said(kind, values, "turns", None) == {"kind": kind}
    assert all(
        field.kind in ("integer", "number", "boolean", "choice", "text", "list", "any", "json") for field in fields
    )
    assert strategy_fields.describe(kind).endswith(".")


def test_fields_know_their_bounds_choices_and_help() -> None:
    fields = {field.name: field for field in strategy_fields.fields_of("summarize_and_keep")}
    assert fields["mode"].choices == ("right", "published")
    assert (fields["min_turns"].default, fields["min_turns"].least) == (15, 0)
    trigger = {field.name: field for field in strategy_fields.fields_of("tiered_injection")}["trigger"]
    assert (trigger.kind, trigger.optional, trigger.least, trigger.default) == ("number", True, 0, 1.0)
    assert trigger.help == "share of the soft budget; 0 always, null never"
    assert not any(field.name.startswith("keep_") for field in fields.values())


def test_what_is_set_is_said() -> None:
    said = strategy_fields.strategy_said("keep_last", {"step": 400, "min_turns": 0}, "steps", 8)
    assert said == {"kind": "keep_last", "keep_steps": 8, "step": 400}
    assert strategy_fields.kept(said) == ("steps", 8)
    assert strategy_fields.kept({"kind": "keep_last"}) == ("turns", None)


@pytest.mark.parametrize("text", ["{", "7", "[1, 2", '"x"'])
def test_what_is_no_json_is_explained(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^groups: this is no"):
        strategy_fields.json_value("groups", text)


def test_a_setting_may_be_a_word_or_an_object() -> None:
    labels = {field.name: field for field in strategy_fields.fields_of("required_reserve")}["labels"]
    assert labels.kind == "any"
    assert strategy_fields.from_form(labels, strategy_fields.to_form(labels, "chinese")) == "chinese"
    own = {"goal": "Ziel"}
    assert strategy_fields.from_form(labels, strategy_fields.to_form(labels, own)) == own
