"""What a plan says about one span is what it says about all of them."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.decisions import Action, Left
from core.readers.builder import TranscriptBuilder
from core.replay import replay
from core.spans import OVERHEAD_ID
from tests.engine_bodies import DIALECTS, bodies
from tests.engine_checks import size, with_budget
from tests.engine_configurations import KINDS, configurations

SHRINKERS = st.lists(
    st.sampled_from([{"kind": "project_tool_results", "max_tokens": 12}, {"kind": "dedupe_instructions"}]), max_size=2
)


MERGED = re.compile(r"\[left out: \S+ to ")
"""A stub for several units; each of them is asked for by the stub that it would have alone."""

OTHERS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "span_triage": st.builds(lambda merge: {"merge_stubs": merge}, st.booleans()),
    "required_reserve": st.builds(lambda total: {"total": total}, st.integers(20, 300)),
    "mask_tool_results": st.builds(lambda keep: {"keep": keep, "trigger": 0}, st.integers(0, 3)),
    "summarize_and_keep": st.builds(lambda keep: {"mode": "published", "keep_messages": keep}, st.integers(0, 5)),
}


LONG = "the pump stopped at noon " * 12


def planned(dialect: str, body: dict[str, Any], config: dict[str, Any]) -> Any:
    builder = TranscriptBuilder(dialect)
    builder.call(builder.body(body))
    return replay(builder.build(), config).plan(0)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_one_span_is_told_as_among_all(kind: str, dialect: str, data: st.DataObject) -> None:
    body = data.draw(bodies(dialect))
    config = {**data.draw(configurations(kind, dialect)), "shrink": data.draw(SHRINKERS)}
    config = with_budget(config, data.draw(st.integers(0, size(config, body) + 5)))
    check(planned(dialect, body, config))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", OTHERS)
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_so_it_is_with_stubs_masks_and_the_published_program(kind: str, dialect: str, data: st.DataObject) -> None:
    body = data.draw(bodies(dialect))
    config = {"strategy": {"kind": kind, **data.draw(OTHERS[kind])}, "shrink": data.draw(SHRINKERS)}
    check(planned(dialect, body, with_budget(config, data.draw(st.integers(0, size(config, body) + 5)))))


def check(plan: Any) -> None:
    told = {made.span_id: made for made in plan.decisions}
    often = Counter(made.span_id for made in plan.decisions)
    injected = {text.span_id for text in plan.head.injected} if plan.head else set()
    for span_id, made in told.items():
        if span_id == OVERHEAD_ID or span_id in injected:
            continue
        message = int(span_id[1:].partition(".")[0]) if span_id.startswith("m") else -1
        one = plan.decision(message, span_id)
        assert one.action is made.action if often[span_id] > 1 else one == made
        left = plan.remains(message, span_id)
        assert (left is None) == (made.action is Action.KEEP), made
        if left is not None and made.replacement is not None and not MERGED.search(made.replacement):
            assert made.replacement in left
    check_shortcuts(plan)


def check_shortcuts(plan: Any) -> None:
    """`whole_from` and `stretch_at` only pass over what need not be looked at."""
    spans = {span.message: [] for unit in plan.log.units[: plan.count] for span in unit.spans}
    for unit in plan.log.units[: plan.count]:
        for span in unit.spans:
            spans[span.message].append(plan.remains(span.message, span.id))
    for message, left in spans.items():
        stretch = plan.stretch_at(message)
        assert stretch.first <= stretch.last <= message
        assert (stretch.last < 0) == (stretch.left is Left.NOTHING)
        assert all(text == "" for at in range(stretch.last + 1, message + 1) for text in spans.get(at, []))
        if stretch.left is Left.WHOLE:
            assert all(text is None for at in range(stretch.first, stretch.last + 1) for text in spans.get(at, []))
        if message >= plan.whole_from:
            assert left == [None] * len(left)


@pytest.mark.parametrize(
    ("dialect", "mixed", "told"),
    [
        (
            "anthropic",
            [{"type": "tool_result", "tool_use_id": "c", "content": LONG}, {"type": "text", "text": LONG}],
            [("m2.0", 24), ("m2.1", 0)],
        ),
        (
            "gemini",
            [{"functionResponse": {"name": "ls", "response": {"output": LONG}}}, {"text": LONG}],
            [("m2.0", 24), ("m2.1", 0)],
        ),
    ],
)
def test_two_texts_that_stand_for_one_message_are_told_and_counted(dialect: str, mixed: Any, told: Any) -> None:
    parts = "parts" if dialect == "gemini" else "content"
    texts = [{"text": "go"}] if dialect == "gemini" else "go"
    messages = [{"role": "user", parts: given} for given in (texts, texts, mixed, texts)]
    body = {"contents" if dialect == "gemini" else "messages": messages}
    strategy = {"kind": "summarize_and_keep", "keep_turns": 1, "min_turns": 0, "min_steps": 0}
    config = {"model": {"dialect": dialect}, "counter": {"kind": "cjk_estimate"}, "strategy": strategy}
    plan = planned(dialect, body, with_budget(config, 120))
    assert [(made.span_id, made.tokens_after) for made in plan.decisions if made.span_id.startswith("m2.")] == told
    assert sum(made.tokens_after for made in plan.decisions) == plan.tokens_after
    replaced = [made.replacement for made in plan.decisions if made.replacement]
    assert replaced == [plan.remains(2, "m2.0")]
    assert [text.count("[summary]") for text in replaced] == [2]
