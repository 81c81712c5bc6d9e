"""Random configurations and hints: every strategy with every setting that changes what it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from core.runtime import Hints
from core.summaries import Range

KINDS = ("full_history", "as_captured", "keep_last", "summarize_and_keep", "tiered_injection")
STUBBING = ("mask_tool_results", "span_triage", "required_reserve")
"""Strategies that put other texts into messages, or one message in the place of many."""
COUNTERS = st.sampled_from([{}, {"kind": "cjk_estimate"}, {"kind": "chars4"}])
RETRIEVED = {"match": {"kind": "tool_result", "tool": "search*"}, "tier": "contextual"}
_PLAIN: list[dict[str, Any]] = [
    {"match": {"pattern": "KEEP"}, "evict": "pinned"},
    {"match": {"kind": "tool_call", "tool": "cal*"}, "required": True},
    {"match": {"role": "assistant", "pattern": "look"}, "evict": "pinned"},
    {"match": {"kind": "tool_result", "tool": "read"}, "required": True},
    {"match": {"kind": "tool_result", "tool": "read"}, "evict": "reconstructible", "priority": 3},
    {"match": {"kind": "user"}, "evict": "reconstructible"},
    {"match": {"max_age": 1}, "priority": 9},
    {"match": {"kind": "user", "max_age": 2}, "evict": "pinned"},
    {"match": {"kind": "tool_result"}, "min_tokens": 25},
    {"match": {"role": "assistant"}, "min_tokens": 60},
    {"match": {"section": "Rules*"}, "evict": "pinned"},
]
_ASKING: list[dict[str, Any]] = [
    RETRIEVED,
    {"match": {"kind": "user", "pattern": "失|build|rows"}, "tier": "knowledge"},
    {"match": {"kind": "tool_definition", "tool": "read"}, "group": "files", "keywords": ["磁盘"]},
    {"match": {"kind": "tool_result", "min_age": 1}, "max_tokens": 30},
    {"match": {"kind": "assistant"}, "max_tokens": 20},
    {"match": {"kind": "user"}, "max_tokens": 20},
    {"match": {"kind": "tool_result", "tool": "r*"}, "max_tokens": 40},
]
"""Rules that ask for something at any size."""
PLAIN_RULES = st.lists(st.sampled_from(_PLAIN), max_size=3)
RULES = st.lists(st.sampled_from([*_PLAIN, *_ASKING]), max_size=3)
SHRINKERS = st.one_of(
    st.just([]),
    st.lists(
        st.sampled_from(
            [
                {"kind": "project_tool_results", "max_tokens": 40},
                {"kind": "project_tool_results", "max_tokens": 20, "fields": ["name"]},
                {"kind": "dedupe_instructions"},
                {"kind": "dedupe_instructions", "hard_case_keywords": ["list"]},
                {"kind": "chunk_pinned", "max_tokens": 30, "fields": ["id"]},
            ]
        ),
        max_size=2,
    ),
)
GROUPS = [
    {"name": "docs", "keywords": ["文档", "list"], "tools": ["search_*"]},
    {"name": "code", "keywords": ["build"], "tools": ["run_*", "calendar"]},
]
PLACEHOLDER = "({lines} lines of {tool}, {tokens} tokens, {id})"


@st.composite
def keeping(draw: Any, units_kept: tuple[str, ...] = ("turns", "steps", "messages", "tokens")) -> dict[str, int]:
    """Settings that say how much is kept, or none."""
    unit = draw(st.sampled_from([*units_kept, None]))
    if unit is None:
        return {}
    return {f"keep_{unit}": draw(st.integers(0, 150) if unit == "tokens" else st.integers(0, 5))}


def stubbing(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """Settings of a strategy that puts stubs."""
    masking = {
        "keep": st.integers(0, 3),
        "trigger": st.sampled_from([1.0, 0.5, 0, None]),
        "min_cleared": st.sampled_from([0, 0, 30]),
        "exclude": st.sampled_from([[], ["read"]]),
        "step": st.sampled_from([0, 40, 500]),
    }
    reserve = {"total": st.integers(10, 300), "unit": st.sampled_from(["tokens", "chars"])}
    if kind == "mask_tool_results":
        return st.fixed_dictionaries(masking, optional={"placeholder": st.just(PLACEHOLDER)})
    return st.fixed_dictionaries(reserve if kind == "required_reserve" else {"merge_stubs": st.booleans()})


@st.composite
def strategies(draw: Any, kind: str) -> dict[str, Any]:
    """A strategy with random settings, published mode left out."""
    settings: dict[str, Any] = {"kind": kind}
    if draw(st.integers(0, 9)) == 9:
        settings["exact_recall"] = True
    if kind in ("full_history", "as_captured"):
        return settings
    if draw(st.booleans()):
        settings |= {"min_turns": draw(st.integers(0, 2)), "min_steps": draw(st.integers(0, 2))}
    elif kind == "summarize_and_keep":
        settings |= {"min_turns": 0, "min_steps": 0}
    if kind in STUBBING:
        return settings | draw(stubbing(kind))
    settings |= draw(keeping())
    settings["step"] = draw(st.sampled_from([0, 0, 1, 40, 150, 1000]))
    if kind != "keep_last":
        settings["summary"] = draw(st.sampled_from(["extractive", "extractive", "model"]))
    if kind == "tiered_injection":
        settings |= {
            "trigger": draw(st.sampled_from([1.0, 1.0, 0.6, 0.3, 0, None])),
            "summary_chars": draw(st.sampled_from([0, 60, 200, 800])),
            "summary_tokens": draw(st.sampled_from([0, 40, 800])),
            "overhead": draw(st.sampled_from([0, 0, 25])),
            "groups": draw(st.sampled_from([[], [], GROUPS, GROUPS[:1]])),
        }
    return settings


@st.composite
def configurations(
    draw: Any,
    kind: str,
    dialect: str,
    rules: st.SearchStrategy[Any] = RULES,
    shrinkers: st.SearchStrategy[Any] = SHRINKERS,
) -> dict[str, Any]:
    """A configuration without a budget."""
    return {
        "model": {"dialect": dialect},
        "counter": draw(COUNTERS),
        "rules": draw(rules),
        "shrink": draw(shrinkers),
        "strategy": draw(strategies(kind)),
    }


def summarise(asked: Range) -> str:
    """Write the summary of a range, or fail, or write too much: always the same for the same range."""
    chance = int(asked.hash[:2], 16)
    if chance % 4 == 0:
        raise OSError("the summariser cannot be reached")
    return f"written {asked.hash[:6]}" * (40 if chance % 4 == 1 else 1)


@st.composite
def hints(draw: Any, messages: int) -> Hints | None:
    """Pins and retrieval by span id or call id, and what production knows of the task."""
    if draw(st.booleans()):
        return None
    ids = st.sampled_from(["c0", "c1", "c2", *(f"m{at}.0" for at in range(messages))])
    return Hints(
        pins=tuple(draw(st.lists(ids, max_size=2))),
        retrieval=tuple(draw(st.lists(ids, max_size=2))),
        active_tools=tuple(draw(st.lists(st.just("run_python"), max_size=1))),
        facts=tuple(draw(st.lists(st.sampled_from(["row7 is wrong", "63 条"]), max_size=2))),
        goal=draw(st.sampled_from([None, "ship the report"])),
        memory=draw(st.sampled_from([None, "phase two"])),
        bindings=tuple(draw(st.lists(st.just("/srv/app/main.rs"), max_size=1))),
    )


def asks_at_any_size(config: Mapping[str, Any]) -> bool:
    """Whether the configuration asks for something however small the request is."""
    strategy, rules = config["strategy"], config["rules"]
    asked = any(name in rule for rule in rules for name in ("max_tokens", "tier", "group", "keywords"))
    return bool(asked or config["shrink"] or strategy.get("groups") or strategy.get("trigger", 1.0) not in (1.0, None))
