from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.boundaries import Keep
from core.config import Configuration, load_config
from core.engine import counter_of, soft_budget
from core.errors import ConfigError
from core.runtime import ContextRuntime
from core.strategies import KeepLast, SummarizeAndKeep, TieredInjection

MINIMAL = {"strategy": {"kind": "keep_last"}}


def strategy(**settings: Any) -> dict[str, Any]:
    return {"strategy": {"kind": "keep_last", **settings}}


def fault(config: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        ContextRuntime.load(config)
    return caught.value


def test_only_the_kind_is_required() -> None:
    config = load_config(MINIMAL)
    assert config == Configuration.model_validate({"schema_version": 1, **MINIMAL})
    assert (config.model.window, config.budget.soft_limit, config.budget.reserve_ratio) == (None, None, 0.10)
    assert (config.rules, config.shrink, config.provenance) == ((), (), None)
    assert soft_budget(config) is None


@pytest.mark.parametrize(
    ("config", "key", "problem", "suggestion"),
    [
        ({}, "strategy", "it is missing.", ""),
        ({"strategy": {}}, "strategy.kind", "it is missing.", "Use one of full_history"),
        ({"strategy": {"kind": "keep_lst"}}, "strategy.kind", "there is no 'keep_lst'.", "keep_last"),
        ({"strategy": {"kind": 7}}, "strategy.kind", "there is no", "keep_last"),
        ({"strategy": "keep_last"}, "strategy", "an object is expected, and this is the text 'keep_last'.", ""),
        ({**MINIMAL, "stratgy": {}}, "stratgy", "there is no such setting.", "Did you mean 'strategy'?"),
        ({**MINIMAL, "zzz": 1}, "zzz", "there is no such setting.", "Known here: schema_version"),
        (strategy(keep_trns=4), "strategy.keep_trns", "there is no such setting.", "Did you mean 'keep_turns'?"),
        (strategy(trigger=1), "strategy.trigger", "there is no such setting.", "Known here: "),
        ({**MINIMAL, "budget": {"softlimit": 5}}, "budget.softlimit", "no such setting", "'soft_limit'"),
        ({**MINIMAL, "model": {"windw": 5}}, "model.windw", "no such setting", "'window'"),
        ({**MINIMAL, "counter": {"encodng": "x"}}, "counter.encodng", "no such setting", "'encoding'"),
        ({**MINIMAL, "rules": [{"priority": 1}, {"mach": {}}]}, "rules.1.mach", "no such setting", "'match'"),
        ({**MINIMAL, "rules": [{"match": {"tol": "x"}}]}, "rules.0.match.tol", "no such setting", "'tool'"),
        (
            {**MINIMAL, "shrink": [{"kind": "project_tool_results", "max": 5}]},
            "shrink.0.max",
            "no such setting",
            "max_tokens",
        ),
        ({**MINIMAL, "shrink": [{"kind": "zip"}]}, "shrink.0.kind", "there is no 'zip'.", "project_tool_results"),
        ({**MINIMAL, "shrink": [{}]}, "shrink.0.kind", "it is missing.", "chunk_pinned"),
        (
            {"strategy": {"kind": "tiered_injection", "groups": [{"name": "g", "tols": []}]}},
            *("strategy.groups.0.tols", "no such setting", "'tools'"),
        ),
        ({"strategy": {"kind": "tiered_injection", "groups": [{}]}}, "strategy.groups.0.name", "it is missing.", ""),
        (strategy(keep_turns=-1), "strategy.keep_turns", "greater than or equal to 0.", ""),
        (
            strategy(keep_turns=1.5),
            "strategy.keep_turns",
            "a whole number is expected, and this is the number 1.5.",
            "",
        ),
        (strategy(keep_turns="4"), "strategy.keep_turns", "a whole number is expected, and this is the text '4'.", ""),
        (strategy(keep_turns=True), "strategy.keep_turns", "a whole number is expected, and this is true.", ""),
        (strategy(step=-1), "strategy.step", "greater than or equal to 0.", ""),
        (strategy(step=None), "strategy.step", "a whole number is expected, and this is null.", ""),
        (
            strategy(exact_recall="yes"),
            "strategy.exact_recall",
            "true or false is expected, and this is the text 'yes'.",
            "",
        ),
        (strategy(keep_turns=4, keep_steps=4), "strategy", "keep_turns and keep_steps are both given", ""),
        (strategy(keep_turns=1, keep_messages=1, keep_tokens=1), "strategy", "keep_turns and keep_messages and", ""),
        (
            {"strategy": {"kind": "summarize_and_keep", "mode": "published", "keep_turns": 4}},
            *("strategy", "mode published counts messages; write keep_messages instead of keep_turns.", ""),
        ),
        ({"strategy": {"kind": "summarize_and_keep", "mode": "wrong"}}, "strategy.mode", "'right' or 'published'", ""),
        ({**MINIMAL, "budget": {"soft_limit": -1}}, "budget.soft_limit", "greater than or equal to 0.", ""),
        ({**MINIMAL, "budget": {"soft_limit": 1e9}}, "budget.soft_limit", "a whole number is expected", ""),
        ({**MINIMAL, "budget": {"reserve_ratio": 1}}, "budget.reserve_ratio", "less than 1.", ""),
        ({**MINIMAL, "budget": {"reserve_ratio": -0.1}}, "budget.reserve_ratio", "greater than or equal to 0.", ""),
        (
            {**MINIMAL, "budget": {"reserve_ratio": "0.1"}},
            "budget.reserve_ratio",
            "a number is expected, and this is the text",
            "",
        ),
        ({**MINIMAL, "budget": {"reserve_ratio": float("nan")}}, "budget.reserve_ratio", "finite number", ""),
        ({**MINIMAL, "model": {"window": 0}}, "model.window", "greater than 0.", ""),
        ({**MINIMAL, "model": {"max_output": -1}}, "model.max_output", "greater than or equal to 0.", ""),
        ({**MINIMAL, "model": {"dialect": "klingon"}}, "model.dialect", "'openai_chat'", ""),
        ({**MINIMAL, "counter": {"kind": "abacus"}}, "counter.kind", "'tiktoken', 'cjk_estimate' or 'chars4'", ""),
        ({**MINIMAL, "counter": {"encoding": "p50k_base"}}, "counter.encoding", "p50k_base", "o200k_base"),
        ({**MINIMAL, "counter": {"scale": 0}}, "counter.scale", "greater than 0.", ""),
        (
            {**MINIMAL, "rules": [{"match": {"pattern": "("}}]},
            "rules.0.match.pattern",
            "is not a regular expression",
            "",
        ),
        ({**MINIMAL, "rules": [{"evict": "Pinned"}]}, "rules.0.evict", "'pinned'", ""),
        (
            {**MINIMAL, "rules": [{"required": 1}]},
            "rules.0.required",
            "true or false is expected, and this is the number 1.",
            "",
        ),
        ({**MINIMAL, "rules": {}}, "rules", "a list is expected, and this is an object.", "Put it in square brackets."),
        ({**MINIMAL, "rules": None}, "rules", "a list is expected, and this is null.", ""),
        ({**MINIMAL, "rules": [5]}, "rules.0", "an object is expected, and this is the number 5.", ""),
        ({**MINIMAL, "rules": [{"match": []}]}, "rules.0.match", "an object is expected, and this is a list.", ""),
        (
            {**MINIMAL, "rules": [{"keywords": "refund"}]},
            *("rules.0.keywords", "a list is expected, and this is the text 'refund'.", "square brackets"),
        ),
        ({**MINIMAL, "rules": [{"match": {"tool": 5}}]}, "rules.0.match.tool", "a text is expected", ""),
        ({**MINIMAL, "rules": [{"match": {"kind": "tool_results"}}]}, "rules.0.match.kind", "'tool_result'", ""),
        ({**MINIMAL, "schema_version": 2}, "schema_version", "1", ""),
        (
            {"strategy": {"kind": "tiered_injection", "trigger": -1}},
            "strategy.trigger",
            "greater than or equal to 0.",
            "",
        ),
        ({"strategy": {"kind": "tiered_injection", "trigger": float("inf")}}, "strategy.trigger", "finite", ""),
        (
            {"strategy": {"kind": "tiered_injection", "summary_chars": None}},
            "strategy.summary_chars",
            "whole number",
            "",
        ),
        ([], "configuration", "", ""),
        (7, "configuration", "int is no path, JSON text or dictionary.", ""),
        ("{oops", "configuration", "this is not JSON", "Export it again."),
        ("[]", "configuration", "", ""),
        ("no/such/file.json", "configuration", "the file 'file.json' cannot be read: No such file", ""),
    ],
    ids=lambda value: None if isinstance(value, dict) else str(value)[:40],
)
def test_faults_name_key_problem_and_what_to_write(config: Any, key: str, problem: str, suggestion: str) -> None:
    made = fault(config)
    assert made.key == key
    assert problem in made.problem
    assert made.problem.endswith(".")
    assert suggestion in made.suggestion
    assert str(made) == f"{made.key}: {made.problem}" + (f" {made.suggestion}" if made.suggestion else "")


def rule(**said: Any) -> dict[str, Any]:
    return {**MINIMAL, "rules": [{"priority": 1}, said]}


def reserve(**settings: Any) -> dict[str, Any]:
    return {"strategy": {"kind": "required_reserve", **settings}}


@pytest.mark.parametrize(
    ("config", "key", "problem", "suggestion"),
    [
        (reserve(caps={"goall": 4}), "strategy.caps.goall", "there is no such setting.", "Did you mean 'goal'?"),
        (
            reserve(caps={"x": 4}),
            "strategy.caps.x",
            "there is no such setting.",
            "Known here: goal, memory_state, conf",
        ),
        (reserve(labels={"gaol": "Ziel"}), "strategy.labels.gaol", "there is no such section.", "Did you mean 'goal'?"),
        (
            reserve(labels={"x": "y"}),
            "strategy.labels.x",
            "there is no such section.",
            "Known here: goal, memory_state",
        ),
        (reserve(labels={"goal": 7}), "strategy.labels.goal", "a label is a text.", "'Current goal'"),
        (reserve(labels="german"), "strategy.labels", "there is no preset 'german'.", "Use one of english, chinese"),
        (
            rule(match={"min_age": 3, "max_age": 2}, priority=1),
            "rules.1.match.min_age",
            "at least 3 and at most 2",
            "2 or",
        ),
        (rule(min_tokens=5, max_tokens=4), "rules.1.min_tokens", "at least 5 and at most 4 tokens.", "Use 4 or less"),
        (rule(match={"kind": "retrieval"}), "rules.1.match.kind", "no span is retrieval", "set tier contextual"),
        (rule(match={"kind": "memory"}, priority=1), "rules.1.match.kind", "no span is memory", "instructions and"),
        (
            rule(match={"kind": "overhead"}, priority=1),
            "rules.1.match.kind",
            "no span is overhead",
            "match the messages",
        ),
        (rule(), "rules.1", "the rule sets nothing.", "Give one of evict, priority, required, tier, group, keywords"),
        (rule(match={"kind": "user"}), "rules.1", "the rule sets nothing.", "Give one of"),
        (rule(evict="pinned", required=False), "rules.1.required", "a pinned span always stays.", "recoverable"),
        (rule(evict="pinned", max_tokens=9), "rules.1.max_tokens", "never cut.", "leave out evict"),
        (rule(required=True, max_tokens=9), "rules.1.max_tokens", "never cut.", "leave out required"),
        (rule(match={"kind": "user"}, group="g"), "rules.1.group", "the rule matches user.", "kind tool_definition"),
        (rule(match={"kind": "tool_result"}, keywords=["x"]), "rules.1.keywords", "only tools", "tool_definition"),
        (
            rule(match={"kind": "assistant"}, tier="knowledge"),
            "rules.1.tier",
            "matches assistant.",
            "tool_result or user",
        ),
        (rule(match={"kind": "thinking"}, max_tokens=9), "rules.1.max_tokens", "matches thinking.", "assistant"),
        (
            {**MINIMAL, "counter": {"kind": "chars4", "scale": 1.0}},
            "counter.scale",
            "chars4 has no scale.",
            "kind tiktoken",
        ),
        (
            {**MINIMAL, "counter": {"kind": "cjk_estimate", "encoding": "o200k_base"}},
            *("counter.encoding", "cjk_estimate has no encoding.", "kind tiktoken"),
        ),
        (
            {"strategy": {"kind": "mask_tool_results", "placeholder": "[{line} lines]"}},
            *("strategy.placeholder", "it names {line}, which nothing fills in.", "Did you mean 'lines'?"),
        ),
        (
            {"strategy": {"kind": "span_triage", "stub": "{lines}"}},
            *("strategy.stub", "it names {lines}, which nothing fills in.", "Known here: id, messages, tokens, name"),
        ),
        *(
            ({"strategy": {"kind": kind, name: text}}, f"strategy.{name}", "it is blank", "the default text.")
            for kind, name in (("span_triage", "stub"), ("mask_tool_results", "placeholder"))
            for text in ("", " ", "\n\t", "\u3000")
        ),
        (
            {"strategy": {"kind": "summarize_and_keep", "mode": "published", "step": 9}},
            *("strategy.step", "the published program does not know this setting.", "take mode right"),
        ),
        (
            {"strategy": {"kind": "summarize_and_keep", "mode": "published", "summary": "model"}},
            *("strategy.summary", "the published program does not know this setting.", "take mode right"),
        ),
        (
            {"strategy": {"kind": "tiered_injection", "groups": [{"name": "g", "keywords": ["x"]}]}},
            *("strategy.groups.0.tools", "the group 'g' has no tools, and no rule names it.", "globs of tool names"),
        ),
        (
            {**MINIMAL, "shrink": [{"kind": "project_tool_results", "tools": []}]},
            *("shrink.0.tools", "no tool is concerned", 'Use ["*"]'),
        ),
    ],
    ids=lambda value: None if isinstance(value, dict) else str(value)[:40],
)
def test_what_would_have_no_effect_is_told(config: Any, key: str, problem: str, suggestion: str) -> None:
    made = fault(config)
    assert made.key == key
    assert problem in made.problem and made.problem.endswith(".")
    assert suggestion in made.suggestion and made.suggestion.endswith((".", "?"))


@pytest.mark.parametrize(
    "config",
    [
        reserve(caps={"goal": None, "used_tools": 0}, labels={"goal": "Ziel"}),
        reserve(labels="chinese"),
        rule(match={"min_age": 2, "max_age": 2}, min_tokens=4, max_tokens=4),
        rule(evict="pinned", required=True),
        rule(evict="recoverable", required=False, max_tokens=0),
        rule(match={"kind": "user"}, tier="knowledge", max_tokens=9),
        rule(match={"kind": "summary"}, evict="pinned"),
        rule(keywords=[]),
        rule(tier="contextual"),
        {**MINIMAL, "counter": {"kind": "chars4", "scale": None, "encoding": None}},
        {**MINIMAL, "counter": {"kind": "tiktoken", "scale": 1.1}},
        {"strategy": {"kind": "mask_tool_results", "placeholder": '{"left out": {}, "lines": {lines}} { id }'}},
        {"strategy": {"kind": "summarize_and_keep", "mode": "published", "keep_messages": 0, "min_turns": 0}},
        {
            "rules": [{"match": {"tool": "read"}, "group": "g"}],
            "strategy": {"kind": "tiered_injection", "groups": [{"name": "g", "keywords": ["x"]}]},
        },
    ],
)
def test_what_has_an_effect_is_taken_and_comes_back(config: Any) -> None:
    made = load_config(config)
    assert load_config(made.model_dump(mode="json")) == made


@pytest.mark.parametrize(
    ("model", "budget", "expected"),
    [
        ({"window": 128000, "max_output": 4096}, {}, 111104),
        ({"window": 128000, "max_output": 0}, {"reserve_ratio": 0}, 128000),
        ({"window": 128000}, {"reserve_ratio": 0.5}, 64000),
        ({"window": 8192, "max_output": 4096}, {}, 3276),
        ({"window": 100, "max_output": 50}, {"soft_limit": 7}, 7),
        ({"window": 100, "max_output": 50}, {"soft_limit": 90}, 90),
        ({"window": 100, "max_output": 50}, {"soft_limit": 5000}, 100),
        ({"window": 100, "max_output": 500}, {"soft_limit": 0}, 0),
        ({"window": None}, {"soft_limit": None}, None),
        ({"max_output": 4096}, {}, None),
    ],
)
def test_the_soft_budget(model: dict[str, Any], budget: dict[str, Any], expected: int | None) -> None:
    assert soft_budget(load_config({"model": model, "budget": budget, **MINIMAL})) == expected


@pytest.mark.parametrize(("window", "max_output"), [(4096, 4096), (4551, 4096), (10, 9)])
def test_a_window_that_leaves_nothing_is_told_at_load(window: int, max_output: int) -> None:
    made = fault({"model": {"window": window, "max_output": max_output}, **MINIMAL})
    assert made.key == "budget"
    assert f"{window:,}" in made.problem
    assert "soft_limit" in made.suggestion


@pytest.mark.parametrize(
    ("counter", "model", "key"),
    [
        ({}, None, "tiktoken:o200k_base:1.0"),
        ({}, "gpt-4", "tiktoken:cl100k_base:1.0"),
        ({}, "claude-sonnet-4-5", "tiktoken:o200k_base:1.2"),
        ({"kind": "tiktoken"}, "gpt-4", "tiktoken:cl100k_base:1.0"),
        ({"kind": "tiktoken"}, None, "tiktoken:o200k_base:1.0"),
        ({"scale": 1.1}, "gpt-4", "tiktoken:cl100k_base:1.1"),
        ({"scale": 1.1}, "claude-sonnet-4-5", "tiktoken:o200k_base:1.1"),
        ({"encoding": "o200k_base"}, "gpt-4", "tiktoken:o200k_base:1.0"),
        ({"kind": "cjk_estimate"}, "gpt-4", "cjk_estimate"),
        ({"kind": "chars4"}, "gpt-4", "chars4"),
    ],
)
def test_the_counter(counter: dict[str, Any], model: str | None, key: str) -> None:
    config = load_config({"counter": counter, **MINIMAL})
    assert counter_of(config, model).key == key
    named = load_config({"counter": counter, "model": {"name": model}, **MINIMAL})
    assert counter_of(named, "gpt-3.5-turbo").key == (key if model else counter_of(config, "gpt-3.5-turbo").key)


@pytest.mark.parametrize(
    ("settings", "made"),
    [
        ({"kind": "keep_last"}, KeepLast(Keep("turns", 4))),
        ({"kind": "keep_last", "keep_turns": 0}, KeepLast(Keep("turns", 0))),
        ({"kind": "keep_last", "keep_tokens": 9, "step": 5}, KeepLast(Keep("tokens", 9), 5)),
        ({"kind": "keep_last", "keep_turns": None, "keep_steps": 2}, KeepLast(Keep("steps", 2))),
        ({"kind": "summarize_and_keep"}, SummarizeAndKeep(Keep("turns", 4), 0, 15, 15)),
        ({"kind": "summarize_and_keep", "min_turns": 0}, SummarizeAndKeep(Keep("turns", 4), 0, 0, 15)),
        (
            {"kind": "summarize_and_keep", "mode": "published"},
            SummarizeAndKeep(Keep("messages", 4), 0, 15, 15, published=True),
        ),
        (
            {"kind": "summarize_and_keep", "mode": "published", "keep_messages": 0},
            SummarizeAndKeep(Keep("messages", 0), 0, 15, 15, published=True),
        ),
        ({"kind": "tiered_injection"}, TieredInjection(Keep("messages", 3))),
        ({"kind": "tiered_injection", "trigger": None}, TieredInjection(Keep("messages", 3), trigger=None)),
        ({"kind": "tiered_injection", "trigger": 0}, TieredInjection(Keep("messages", 3), trigger=0)),
    ],
)
def test_what_settings_mean(settings: dict[str, Any], made: Any) -> None:
    assert load_config({"strategy": settings}).strategy.strategy() == made


def test_a_path_a_text_and_a_dictionary_are_the_same(tmp_path: Path) -> None:
    config = {"name": "支持", **strategy(keep_turns=2)}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config, ensure_ascii=False), encoding="utf-8")
    loaded = [
        load_config(source) for source in (config, json.dumps(config), "  " + json.dumps(config), path, str(path))
    ]
    assert all(one == loaded[0] for one in loaded)
    assert load_config(loaded[0]) is loaded[0]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"", b"[1", b'{"strategy": ' + b"[" * 100_000])
def test_files_that_are_no_configuration(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    assert fault(path).key == "configuration"
    assert fault(tmp_path).key == "configuration"


def test_a_configuration_cannot_be_changed() -> None:
    config = load_config(MINIMAL)
    with pytest.raises(ValueError, match="frozen"):
        config.name = "other"


def test_provenance_changes_nothing() -> None:
    body = {"messages": [{"role": "user", "content": "hi"}]}
    with_it = {**MINIMAL, "provenance": {"exported_at": "x", "golden": [{"call": 1}]}}
    assert ContextRuntime.load(with_it).assemble(body).request == ContextRuntime.load(MINIMAL).assemble(body).request
