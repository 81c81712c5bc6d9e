"""What must hold for every result of the engine, checked against the request alone where that is possible."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from core.dialects import dialect as dialect_named
from core.engine import counter_of
from core.plan import Action, Status
from core.runtime import ContextRuntime, Hints, Result
from core.spans import SpanKind
from core.units import units
from core.validity import new_violations, validate
from core.wire import dump
from tests.engine_bodies import Wire

KINDS = ("full_history", "as_captured", "keep_last", "summarize_and_keep", "tiered_injection")
STUBBING = ("mask_tool_results", "span_triage", "required_reserve")
"""Strategies that put other texts into messages, or one message in the place of many."""
COUNTERS = st.sampled_from([{}, {"kind": "cjk_estimate"}, {"kind": "chars4"}])
RETRIEVED = {"match": {"kind": "tool_result", "tool": "search*"}, "tier": "contextual"}
RULES = st.lists(
    st.sampled_from(
        [
            {"match": {"pattern": "KEEP"}, "evict": "pinned"},
            {"match": {"kind": "tool_call", "tool": "cal*"}, "required": True},
            {"match": {"role": "assistant", "pattern": "look"}, "evict": "pinned"},
            {"match": {"kind": "tool_result", "tool": "read"}, "required": True},
            RETRIEVED,
            {"match": {"kind": "user", "pattern": "失|build|rows"}, "tier": "knowledge"},
            {"match": {"kind": "tool_definition", "tool": "read"}, "group": "files", "keywords": ["磁盘"]},
        ]
    ),
    max_size=3,
)
GROUPS = [
    {"name": "docs", "keywords": ["文档", "list"], "tools": ["search_*"]},
    {"name": "code", "keywords": ["build"], "tools": ["run_*", "calendar"]},
]


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
    settings = {
        "mask_tool_results": masking,
        "span_triage": {"merge_stubs": st.booleans()},
        "required_reserve": reserve,
    }
    return st.fixed_dictionaries(settings[kind])


@st.composite
def strategies(draw: Any, kind: str) -> dict[str, Any]:
    """A strategy with random settings, published mode left out."""
    settings: dict[str, Any] = {"kind": kind}
    if draw(st.integers(0, 9)) == 0:
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
def configurations(draw: Any, kind: str, dialect: str, rules: st.SearchStrategy[Any] = RULES) -> dict[str, Any]:
    """A configuration without a budget."""
    return {
        "model": {"dialect": dialect},
        "counter": draw(COUNTERS),
        "rules": draw(rules),
        "strategy": draw(strategies(kind)),
    }


def with_budget(config: Mapping[str, Any], budget: int | None) -> dict[str, Any]:
    return {**config, "budget": {"soft_limit": budget}}


def assemble(config: Mapping[str, Any], body: Wire, hints: Hints | None = None) -> Result:
    return ContextRuntime.load(config).assemble(body, hints)


def whole(config: Mapping[str, Any], body: Wire) -> Result:
    """The body as it is, counted by the same counter."""
    return assemble({**with_budget(config, None), "strategy": {"kind": "full_history"}}, body)


def size(config: Mapping[str, Any], body: Wire) -> int:
    return whole(config, body).tokens_before


def check(config: Mapping[str, Any], body: Wire, dialect: str, hints: Hints | None = None) -> Result:
    """Assemble, and check everything that one result alone must keep."""
    before = copy.deepcopy(body)
    result = assemble(config, body, hints)
    assert (body, dump(body)) == (before, dump(before)), "the input is changed"
    check_accounts(config, body, result)
    check_status(config, result)
    check_content(config, body, dialect, result, hints)
    found = new_violations(validate(body, dialect), validate(result.request, dialect))
    assert not found, found
    return result


def check_accounts(config: Mapping[str, Any], body: Wire, result: Result) -> None:
    decisions = result.decisions
    assert result.tokens_before == size(config, body)
    assert sum(made.tokens_before for made in decisions) == result.tokens_before
    assert sum(made.tokens_after for made in decisions) == result.tokens_after
    assert sum(result.plan.kinds().values()) == result.tokens_after
    assert Counter(made.action for made in decisions) == Counter(result.plan.actions())
    assert len({made.span_id for made in decisions}) == len(decisions)
    sent = whole(config, result.request)
    assert sent.tokens_before == result.tokens_after, "not what is really sent"
    retrieved = any(span.kind is SpanKind.RETRIEVAL for unit in result.plan.log.units for span in unit.spans)
    if config["strategy"]["kind"] in KINDS and not retrieved:
        assert _by_kind(sent) == _by_kind(result)
    assert result.tokens_after <= result.tokens_before


def _by_kind(result: Result) -> dict[str, int]:
    """Tokens by span kind, without what tells a leading system message from a later one: it is read in sections."""
    same = {SpanKind.IMAGE: "aside", SpanKind.OTHER: "aside", SpanKind.OVERHEAD: "aside"}
    same[SpanKind.EXAMPLES] = same[SpanKind.SUMMARY] = "instructions"
    found: Counter[str] = Counter()
    for kind, tokens in result.plan.kinds().items():
        found[same.get(kind, kind)] += tokens
    return {kind: tokens for kind, tokens in found.items() if tokens}


def check_status(config: Mapping[str, Any], result: Result) -> None:
    budget = config.get("budget", {}).get("soft_limit")
    limit = None if budget is None else budget - config["strategy"].get("overhead", 0)
    assert result.excess == (0 if limit is None else max(0, result.tokens_after - limit))
    assert bool(result.blockers) == (result.excess > 0)
    over = (Status.OVER_BUDGET, Status.SKIPPED_SHORT, Status.SKIPPED_EXACT_RECALL)
    assert result.status in over if result.excess else result.status is not Status.OVER_BUDGET
    changed = {made.action for made in result.decisions} - {Action.KEEP}
    assert result.plan.changed == bool(changed)
    if changed:
        assert result.status in (Status.TRIMMED, Status.OVER_BUDGET)
    known = {made.span_id for made in result.decisions}
    assert set(result.blockers) <= known


def check_content(config: Mapping[str, Any], body: Wire, dialect: str, result: Result, hints: Hints | None) -> None:
    spoken = dialect_named(dialect)
    messages, sent = body["messages"], result.request["messages"]
    place = {id(message): at for at, message in enumerate(messages)}
    kept = [place[id(message)] for message in sent if id(message) in place]
    assert kept == sorted(set(kept)), "order, or a message twice"
    lead = len(messages) - len(spoken.split(body)[1])
    assert set(must_stay(body, dialect)) | set(range(lead)) <= set(kept)
    rest = {key: value for key, value in body.items() if key not in ("messages", "tools", "system")}
    assert rest.items() <= result.request.items()
    if not result.plan.changed:
        assert dump(result.request) == dump(body)
    check_units(config, body, dialect, result, {at - lead for at in kept}, hints)


def check_units(
    config: Mapping[str, Any], body: Wire, dialect: str, result: Result, kept: set[int], hints: Hints | None
) -> None:
    """Units are whole, pinned ones are there, and a span whose message is gone has a decision that says so."""
    runtime = ContextRuntime.load(config)
    rules = runtime.engine(body).rules_with(hints or Hints())
    spoken = dialect_named(dialect)
    made = {decision.span_id: decision for decision in result.decisions}
    for unit in units(spoken.split(body)[1], spoken, counter_of(runtime.config, body["model"]), rules):
        there = {at in kept for at in range(unit.first, unit.stop)}
        edited = any(made[span.id].action is Action.STUB for span in unit.spans)
        assert edited or len(there) == 1, "a unit is split"
        assert there == {True} or not unit.stays
        for span in unit.spans:
            decision = made[span.id]
            assert decision.tokens_before == span.tokens
            if edited:
                assert decision.action in (Action.KEEP, Action.STUB)
            elif there == {True}:
                assert decision.action is Action.KEEP
                assert decision.tokens_after == span.tokens
            elif there == {False}:
                assert decision.action in (Action.DROP, Action.SUMMARISE)


def must_stay(body: Wire, dialect: str) -> list[int]:
    """The places of system messages, the newest user message and the open step, found without the engine's units."""
    spoken = dialect_named(dialect)
    messages = body["messages"]
    read = [spoken.message(wire) for wire in messages]
    users = [at for at, message in enumerate(read) if message.role == "user" and is_said(messages[at])]
    replies = [at for at, message in enumerate(read) if message.role == "assistant"]
    found = [at for at, message in enumerate(read) if message.role == "system"] + users[-1:]
    plain = [at for at in users if not read[at].results]
    if replies and not (plain and plain[-1] > replies[-1]):
        found.append(replies[-1])
        ids = {call.call_id for call in read[replies[-1]].calls}
        answers = [at for at in range(replies[-1] + 1, len(read)) if read[at].role != "assistant"]
        found += [at for at in answers if any(part.call_id in ids for part in read[at].results)]
    return found


def is_said(wire: Wire) -> bool:
    """Whether a user message holds anything beside tool results."""
    content = wire.get("content")
    if not isinstance(content, list) or not content:
        return True
    return any(not isinstance(part, dict) or part.get("type") != "tool_result" for part in content)
