"""Prompt caches: what a strategy changes early in a prompt is read anew, and the figures say so."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from core.common_prefix import Cause
from core.plan import Action, Status
from core.readers.builder import TranscriptBuilder
from core.replay import Replay, replay
from core.transcript import Transcript
from core.wire import body_sha256
from tests.talks import DIALECTS, LISTS, Wire, body, long, run, said, step, tokens, user

EVERY = pytest.mark.parametrize("dialect", DIALECTS)


def recorded(dialect: str, bodies: list[Wire], models: list[str]) -> Transcript:
    """A transcript of requests, each answered by the same words."""
    builder = TranscriptBuilder(dialect)
    for at, made in enumerate(bodies):
        model = models[at % len(models)]
        builder.call(
            builder.body({**made, "model": model}), response={"role": "assistant", "content": "ok"}, model=model
        )
    return builder.build()


def agent(dialect: str, calls: int, words: int, task: int = 4) -> list[Wire]:
    """The growing requests of an agent with one result a call."""
    text = json.dumps(body(dialect, user(long("task", task)), *(step(f"c{at}") for at in range(calls))))
    for at in range(calls):
        text = text.replace(f'"rc{at}"', json.dumps(long(f"rc{at}", words)))
    whole = json.loads(text)
    each = (len(whole[LISTS[dialect]]) - 1) // calls
    return [{**whole, LISTS[dialect]: whole[LISTS[dialect]][: 1 + each * at]} for at in range(1, calls + 1)]


def strategies(transcript: Transcript, *settings: Wire, **config: Any) -> list[Replay]:
    return [replay(transcript, {**config, "strategy": strategy}) for strategy in settings]


MASKS = {
    "kind": "mask_tool_results",
    "keep": 4,
    "trigger": 0,
    "placeholder": "[left out: {id}, {lines} lines of {tool}]",
}
FOLDS = {"kind": "summarize_and_keep", "keep_steps": 4, "min_turns": 0, "min_steps": 0}
SLIDING = [
    (MASKS, 26, 8),
    ({"kind": "keep_last", "keep_steps": 4}, 20, 7),
    (FOLDS, 20, 7),
    ({"kind": "tiered_injection", "keep_steps": 4}, 20, 7),
]


@pytest.mark.parametrize(("strategy", "each_call", "stepped"), SLIDING, ids=[row[0]["kind"] for row in SLIDING])
@pytest.mark.parametrize("dialect", ["openai_chat", "anthropic"])
def test_a_boundary_that_slides_breaks_at_each_call_and_a_stepped_one_does_not(
    strategy: Wire, each_call: int, stepped: int, dialect: str
) -> None:
    texts = agent(dialect, 30, 39, 0)
    transcript = recorded(dialect, texts, ["gpt-4o"])
    counted = {"counter": {"kind": "cjk_estimate"}, "budget": {"soft_limit": 1200}}
    slides, steps = strategies(transcript, strategy, {**strategy, "step": 400}, **counted)
    assert abs(slides.cache.break_count - each_call) <= 1
    assert abs(steps.cache.break_count - stepped) <= 1
    for made in (slides, steps):
        sent = [made.request(call)[LISTS[dialect]] for call in range(30)]
        heads = [{**made.request(call), LISTS[dialect]: []} for call in range(30)]
        changed = [
            call
            for call, (before, after) in enumerate(pairwise(sent), start=1)
            if after[: len(before)] != before or heads[call] != heads[call - 1]
        ]
        assert [told.call for told in made.cache.breaks] == changed


@EVERY
def test_the_first_place_that_changed_is_named_with_its_decision(dialect: str) -> None:
    transcript = recorded(dialect, agent(dialect, 8, 60), ["gpt-4o"])
    (made,) = strategies(transcript, MASKS, counter={"kind": "cjk_estimate"})
    told = made.cache.breaks
    assert [one.call for one in told] == [4, 5, 6, 7]
    for place, one in enumerate(told):
        assert one.decision is not None
        assert (one.decision.action, one.decision.span_id) == (Action.STUB, one.span_id)
        assert one.span_id == f"m{2 + 2 * place}.0"
    assert [one.tokens for one in told] == sorted(one.tokens for one in told)


def test_a_smaller_prompt_that_is_read_anew_costs_more() -> None:
    """Forty calls; the boundary lies twenty results back, so that each call reads twenty results anew."""
    transcript = recorded("openai_chat", agent("openai_chat", 40, 60, 700), ["deepseek-chat"])
    masks = {"kind": "mask_tool_results", "keep": 20, "trigger": 0}
    full, slides, steps, waits = strategies(
        transcript, {"kind": "full_history"}, masks, {**masks, "step": 2000}, {**masks, "min_cleared": 100_000}
    )
    sums = [sum(made.calls["in_window"]) for made in (full, slides, steps, waits)]
    cached = [sum(tokens or 0 for tokens in made.calls["cached"]) for made in (full, slides, steps, waits)]
    costs = [sum(made.calls["cost"]) for made in (full, slides, steps, waits)]
    assert sums[1] < sums[2] < sums[0] == sums[3]
    assert cached[1] < cached[2] < cached[0] == cached[3]
    assert costs[0] == costs[3] < costs[2] < costs[1]
    assert costs[1] > 1.5 * costs[0]


@EVERY
@pytest.mark.parametrize("gain", [-1, 0, 1])
def test_nothing_is_cleared_for_less_than_the_least_gain(gain: int, dialect: str) -> None:
    made = agent(dialect, 6, 60)[-1]
    free = run(made, dialect, "mask_tool_results", None, strategy={"keep": 2, "trigger": 0})
    saved = free.tokens_before - free.tokens_after
    assert saved > 100
    result = run(
        made, dialect, "mask_tool_results", None, strategy={"keep": 2, "trigger": 0, "min_cleared": saved + gain}
    )
    assert (result.status is Status.FITS) == (gain > 0)
    assert result.request == (made if gain > 0 else free.request)
    assert tokens(result.request, dialect) == result.tokens_after


def reordered(made: Wire) -> Wire:
    """The same tools with the keys of their definitions the other way round."""
    return {**made, "tools": [dict(reversed(tool.items())) for tool in made["tools"]]}


@EVERY
def test_a_cache_is_kept_by_bytes_and_by_model(dialect: str) -> None:
    first = body(dialect, user("q"), system="rules", tools=["look", "read"])
    second = {**first, LISTS[dialect]: body(dialect, user("q"), said("a"), user("q2"), system="rules")[LISTS[dialect]]}
    turned = reordered(second) if dialect != "gemini" else {**second, "tools": [{"googleSearch": {}}, *second["tools"]]}
    assert body_sha256(turned) != body_sha256(second)
    for bodies, models, causes in (
        ([first, second], ["gpt-4o"], []),
        ([first, turned], ["gpt-4o"], [Cause.TOOLS]),
        ([first, second], ["gpt-4o", "gpt-4o-mini"], [Cause.MODEL]),
        ([first, second], ["gpt-4o", "claude-sonnet-4-5"], [Cause.MODEL]),
    ):
        made = replay(recorded(dialect, bodies, models), {"strategy": {"kind": "full_history"}})
        assert [told.cause for told in made.cache.breaks] == causes
        assert (made.cache.calls[1].prefix == 0) == bool(causes)
        assert made.request(1)["tools"] == bodies[1]["tools"]
        assert json.dumps(made.request(1)["tools"]) == json.dumps(bodies[1]["tools"])
