"""The engine's figures are those of what it sends: recounted as it is, a result has the tokens that were told."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import strategies as st

from core.deepseek_vocabulary import has_deepseek
from core.runtime import ContextRuntime, Hints, Result
from core.summaries import Range
from tests.explore import examples, explore
from tests.truth_bodies import WRITERS, Wire, random_body

COUNTERS: dict[str, tuple[str, Wire]] = {
    "o200k_base": ("gpt-4o", {"kind": "tiktoken", "encoding": "o200k_base"}),
    "o200k_harmony": ("gpt-5", {}),
    "scaled": ("claude-sonnet-4-5", {}),
    "chars4": ("gpt-4o", {"kind": "chars4"}),
    "cjk_estimate": ("gpt-4o", {"kind": "cjk_estimate"}),
    **({"deepseek": ("deepseek-chat", {})} if has_deepseek() else {}),
}
KEEPS: list[Wire] = [{}, {"keep_turns": 1}, {"keep_steps": 1}, {"keep_messages": 2}, {"keep_tokens": 60}]
SHORT = {"min_turns": 0, "min_steps": 0}
GROUPS = [{"name": "books", "keywords": ["ledger"], "tools": ["look_*"]}, {"name": "code", "tools": ["run_*", "diary"]}]
STRATEGIES: dict[str, list[Wire]] = {
    "full_history": [{}],
    "as_captured": [{}],
    "keep_last": [*KEEPS, {"keep_turns": 1, "step": 40}],
    "summarize_and_keep": [
        *({**keep, **SHORT} for keep in KEEPS),
        {"keep_steps": 1, "step": 60, **SHORT},
        {"keep_steps": 1, "summary": "model", **SHORT},
        *({"mode": "published", "keep_messages": number} for number in (0, 1, 2, 5)),
    ],
    "tiered_injection": [
        *(
            {**keep, "trigger": trigger, "groups": groups}
            for keep in KEEPS[:3]
            for trigger in (1.0, 0.4, 0)
            for groups in ([], GROUPS)
        ),
        {"keep_steps": 1, "summary_chars": 0},
        {"keep_steps": 1, "summary": "model"},
    ],
    "required_reserve": [{}, {"total": 60}, {"total": 90, "unit": "chars"}],
    "span_triage": [{}, {"merge_stubs": False}, {"stub": "{name} went"}, {"stub": "{name}", "merge_stubs": False}],
    "mask_tool_results": [{"keep": 0}, {"keep": 1, "trigger": 0}, {"keep": 0, "min_cleared": 30, "step": 40}],
}
RULES: list[Wire] = [
    {"match": {"pattern": "PIN"}, "evict": "pinned"},
    {"match": {"kind": "tool_call", "tool": "diary"}, "required": True},
    {"match": {"role": "assistant"}, "evict": "reconstructible"},
    {"match": {"kind": "tool_result", "tool": "look_*"}, "tier": "contextual"},
    {"match": {"kind": "user"}, "priority": 3},
    {"match": {"kind": "tool_result"}, "max_tokens": 30},
    {"match": {"kind": "assistant"}, "max_tokens": 20},
    {"match": {"min_age": 2}, "min_tokens": 12},
]
SHRINKERS: list[Wire] = [
    {"kind": "project_tool_results", "max_tokens": 40},
    {"kind": "dedupe_instructions", "hard_case_keywords": ["ledger"]},
    {"kind": "chunk_pinned", "max_tokens": 20},
]


def written(asked: Range) -> str:
    """A summary whose length goes by what is asked, so that some are no smaller than their range."""
    return "He asked and it was done. " * (len(asked.text) % 5 + 1)


def assembled(config: Wire, body: Wire, hints: Hints | None = None) -> Result:
    return ContextRuntime.load(config, summarizer=written).assemble(body, hints)


def counted(config: Wire, body: Wire) -> int:
    """The tokens of a body as it is, by the counter of a configuration."""
    plain = {"model": config["model"], "counter": config["counter"], "strategy": {"kind": "full_history"}}
    return assembled(plain, body).tokens_before


def configured(random: Random, kind: str, dialect: str, counter: Wire) -> Wire:
    return {
        "model": {"dialect": dialect},
        "counter": counter,
        "rules": random.sample(RULES, random.choice([0, 0, 1, 2])),
        "shrink": random.sample(SHRINKERS, random.choice([0, 0, 0, 1, 2])),
        "strategy": {"kind": kind, **random.choice(STRATEGIES[kind])},
    }


def hinted(random: Random) -> Hints | None:
    """Pins and retrieved results by span id, and what production knows of the task; mostly nothing."""
    if random.randrange(3):
        return None
    spans = [f"m{number}.0" for number in range(20)]
    pins, retrieved = random.sample(spans, 2), random.sample(spans, 2)
    return Hints(goal="Close the ledger", facts=("May has 31 days",), pins=tuple(pins), retrieval=tuple(retrieved))


@examples(80)
@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.parametrize("dialect", WRITERS)
def test_the_tokens_told_are_those_of_what_is_sent(dialect: str, counter: str, count: int) -> None:
    model, named = COUNTERS[counter]

    def run(data: st.DataObject) -> None:
        random = Random(data.draw(st.integers(0, 2**32)))
        body = {"model": model, **random_body(random, dialect)}
        kind = data.draw(st.sampled_from(sorted(STRATEGIES)))
        check(configured(random, kind, dialect, named), body, random)

    explore(count, run)


def check(config: dict[str, Any], body: Wire, random: Random) -> None:
    size = counted(config, body)
    for limit in (None, 0, random.randint(0, size + 10)):
        result = assembled({**config, "budget": {"soft_limit": limit}}, body, hinted(random))
        assert result.tokens_before == size
        assert result.tokens_after == counted(config, result.request)
        assert result.tokens_after == sum(result.plan.kinds().values())
        if "mode" not in config["strategy"]:  # the published program sends some spans twice
            assert result.tokens_before == sum(made.tokens_before for made in result.decisions)
            assert result.tokens_after == sum(made.tokens_after for made in result.decisions)
