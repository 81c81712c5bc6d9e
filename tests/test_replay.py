from __future__ import annotations

from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest

from core.config import strategy_kinds
from core.plan import Action, Status
from core.readers import read
from core.readers.builder import TranscriptBuilder
from core.replay import replay
from core.runtime import ContextRuntime
from core.spans import SpanKind
from core.tokens import CjkEstimate
from core.transcript import Transcript
from core.wire import dump
from tests import talks
from tests.cases import chat, tool_chat
from tests.talks import DIALECTS, LISTS, said, step, user

SAMPLES = Path(__file__).parents[1] / "sample_data"
CJK = {"counter": {"kind": "cjk_estimate"}}


def config(kind: str, budget: int | None = None, **settings: Any) -> dict[str, Any]:
    return {**CJK, "budget": {"soft_limit": budget}, "strategy": {"kind": kind, **settings}}


def recorded(bodies: list[dict[str, Any]], dialect: str = "openai_chat") -> Transcript:
    builder = TranscriptBuilder(dialect)
    for body in bodies:
        builder.call(builder.body(body))
    return builder.build()


def turns(messages: list[dict[str, Any]], every: int) -> list[dict[str, Any]]:
    """One request for each user message: everything up to it."""
    return [{"messages": messages[: at + 2]} for at in range(0, len(messages) - 1, every)]


CALLS = turns(chat(), 2)


def test_columns_of_a_growing_chat() -> None:
    made = replay(recorded(CALLS), config("full_history"))
    assert made.calls["in_window"] == made.calls["before"]
    sizes, last = made.calls["in_window"], CjkEstimate().count(chat()[-1]["content"])
    assert (len(sizes), sizes[0], sizes[-1]) == (20, 27 + 4 + 55 + 4, 2578 - last - 4)
    assert made.calls["entered"] == [
        sizes[0],
        *(after - before for before, after in pairwise(sizes)),
    ]
    assert set(made.calls["status"]) == {Status.FITS}
    assert set(made.calls["excess"]) == {0}


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("keep_last", {}),
        ("keep_last", {"step": 300}),
        ("summarize_and_keep", {"min_turns": 0, "min_steps": 0}),
        ("summarize_and_keep", {"mode": "published"}),
        ("tiered_injection", {}),
    ],
)
def test_kinds_and_actions_add_up_at_every_call(kind: str, settings: dict[str, Any]) -> None:
    made = replay(recorded(turns(tool_chat(), 4)), config(kind, 700, **settings))
    for call in range(16):
        kinds = [made.calls[f"kind.{name}"][call] for name in SpanKind]
        assert sum(kinds) == made.calls["in_window"][call]
        actions = {name: made.calls[f"action.{name}"][call] for name in Action}
        decisions = made.plan(call).decisions
        assert {name: sum(one.action is name for one in decisions) for name in Action} == actions
    assert any(made.calls["action.summarise"]) or any(made.calls["action.drop"])


def test_columns_by_name() -> None:
    calls = replay(recorded(CALLS[:2]), config("keep_last")).calls
    assert {"in_window", "entered", "before", "status", "excess", "kind.user", "action.keep"} <= set(calls)
    assert len(list(calls)) == len(calls)
    for name in ("kind.nothing", "action.nothing", "nothing", "kind"):
        with pytest.raises(KeyError, match=name):
            calls[name]


def test_a_request_is_what_production_would_send() -> None:
    runtime = ContextRuntime.load(config("keep_last", 600))
    made = replay(recorded(CALLS), config("keep_last", 600))
    for call, body in enumerate(CALLS):
        assert dump(made.request(call)) == dump(runtime.assemble(body).request)
        assert made.prompt(call) == body


def compacted() -> Transcript:
    """Two calls, then a compaction: the third call was sent a summary instead of what had happened."""
    builder = TranscriptBuilder("openai_chat")
    for body in CALLS[:2]:
        builder.call(builder.body(body))
    history = builder.body(CALLS[2])
    summary = {"role": "user", "content": "what happened before, in short"}
    builder.call(builder.body({"messages": [chat()[0], summary, chat()[5]]}), history=history.last)
    return builder.build()


def test_the_history_holds_what_a_compaction_removed() -> None:
    transcript = compacted()
    everything = replay(transcript, config("full_history"))
    as_sent = replay(transcript, config("as_captured"))
    assert everything.request(2) == CALLS[2]
    assert len(as_sent.request(2)["messages"]) == 3
    assert as_sent.calls["in_window"][:2] == everything.calls["in_window"][:2]
    assert as_sent.calls["in_window"][2] < everything.calls["in_window"][2]
    assert replay(transcript, config("keep_last")).request(2) == CALLS[2]


def test_an_edited_history_is_read_anew() -> None:
    other = {"messages": [*chat()[:2], {"role": "assistant", "content": "no"}, chat()[3]]}
    made = replay(recorded([CALLS[1], other, CALLS[2]]), config("full_history"))
    assert [made.request(call) for call in range(3)] == [CALLS[1], other, CALLS[2]]
    alone = [replay(recorded([body]), config("full_history")).calls["in_window"][0] for body in (other, CALLS[2])]
    assert made.calls["in_window"][1:] == alone


@pytest.mark.parametrize("counter", [{"kind": "cjk_estimate"}, {"kind": "tiktoken", "encoding": "o200k_base"}])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_enters_is_what_the_window_grows_by_wherever_a_request_ends(dialect: str, counter: dict[str, Any]) -> None:
    """Requests may end between a call and its result, and between results of one reply."""
    whole = talks.body(dialect, user("go on"), step("c0", "c1", text="a0"), step("c2"), said("done"), user("and?"))
    listed = LISTS[dialect]
    bodies = [{**whole, listed: whole[listed][:size]} for size in range(1, len(whole[listed]) + 1)]
    made = replay(recorded(bodies, dialect), {"counter": counter, "strategy": {"kind": "full_history"}})
    assert list(accumulate(made.calls["entered"])) == made.calls["in_window"]


def test_a_changed_system_prompt_enters_again() -> None:
    system = {"role": "system", "content": "另一个提示"}
    changed = {"messages": [system, *CALLS[1]["messages"][1:]]}
    made = replay(recorded([CALLS[0], changed]), config("full_history"))
    new = made.calls["in_window"][1] - (made.calls["in_window"][0] - 31)
    frame = 4  # the message around the text was there before
    assert made.calls["entered"][1] == new - frame


def test_a_changed_setting_of_the_request_enters_nothing() -> None:
    bodies = [{**body, "metadata": {"request_index": place}} for place, body in enumerate(CALLS)]
    plain = replay(recorded(CALLS), config("full_history")).calls["entered"]
    assert replay(recorded(bodies), config("full_history")).calls["entered"] == plain


def test_no_calls() -> None:
    made = replay(TranscriptBuilder("openai_chat").build(), config("keep_last"))
    assert made.calls["in_window"] == []
    assert made.calls["kind.user"] == []


def test_readings_are_shared_and_never_mixed() -> None:
    transcript = recorded(turns(tool_chat(), 4))
    first = replay(transcript, config("keep_last", 700))
    strategies = [config("summarize_and_keep", 700), config("tiered_injection", 700), config("keep_last", 700)]
    rules = {"rules": [{"match": {"kind": "tool_result"}, "tier": "contextual"}]}
    others = [replay(transcript, {**one, **more}) for one in strategies for more in ({}, rules, {"counter": {}})]
    again = replay(transcript, config("keep_last", 700))
    assert [again.request(call) for call in range(16)] == [first.request(call) for call in range(16)]
    for made in others:
        fresh = replay(recorded(turns(tool_chat(), 4)), made.config)
        assert [made.plan(call).decisions for call in range(16)] == [fresh.plan(call).decisions for call in range(16)]


def test_a_plan_may_be_looked_at_in_any_order() -> None:
    transcript = recorded(turns(tool_chat(), 4))
    for settings in ({"kind": "summarize_and_keep", "min_turns": 0, "min_steps": 0}, {"kind": "tiered_injection"}):
        plain = {**CJK, "budget": {"soft_limit": 700}, "strategy": settings}
        forwards, backwards = replay(transcript, plain), replay(transcript, plain)
        late = [backwards.plan(call).decisions for call in reversed(range(16))][::-1]
        assert [forwards.plan(call).decisions for call in range(16)] == late


def test_a_published_plan_knows_only_what_came_before() -> None:
    """System messages of later calls must not stand in an earlier prompt."""
    messages = [{"role": "user", "content": "a " * 99}, {"role": "assistant", "content": "b"}]
    bodies = [{"messages": [*messages, {"role": "system", "content": f"s{at}"}, *messages * at]} for at in (1, 2, 3)]
    bodies = [{"messages": [*messages, *bodies[at]["messages"]]} for at in range(3)]
    grown = [bodies[0], {"messages": [*bodies[0]["messages"], {"role": "system", "content": "later"}, *messages]}]
    published = config("summarize_and_keep", 10_000, mode="published")
    made = replay(recorded(grown), published)
    made.plan(1).decisions  # noqa: B018
    alone = ContextRuntime.load(published).assemble(grown[0])
    assert made.request(0) == alone.request
    assert made.plan(0).decisions == alone.decisions


def test_each_model_is_counted_by_its_own_tokenizer() -> None:
    bodies = [{**body, "model": model} for body, model in zip(CALLS[:3], ("gpt-4o", "gpt-4", "gpt-4o"), strict=True)]
    made = replay(recorded(bodies), {"strategy": {"kind": "full_history"}})
    alone = [
        ContextRuntime.load({"strategy": {"kind": "full_history"}}).assemble(body).tokens_before for body in bodies
    ]
    assert made.calls["in_window"] == alone
    named = replay(recorded(bodies), {"model": {"name": "gpt-4"}, "strategy": {"kind": "full_history"}})
    assert named.calls["in_window"][1] == alone[1]
    assert named.calls["in_window"][0] != alone[0]


@pytest.mark.parametrize("kind", [kind for kind in strategy_kinds() if kind != "as_captured"])
@pytest.mark.parametrize("share", [1.0, 0.6])
def test_nothing_changes_in_a_prompt_that_fits(kind: str, share: float) -> None:
    """Of the published program nothing of the kind is promised: it summarises prompts of any size."""
    (transcript, *_) = read(SAMPLES / "long_chat.json").transcripts
    whole = replay(transcript, {"strategy": {"kind": "full_history"}}).calls["before"]
    budget = {"soft_limit": int(max(whole) * share)}
    fits = [call for call, tokens in enumerate(whole) if tokens <= budget["soft_limit"]]
    made = replay(transcript, {"strategy": {"kind": kind}, "budget": budget})
    assert [call for call in fits if made.plan(call).changed] == []
    published = {"kind": "summarize_and_keep", "mode": "published"}
    changed = replay(transcript, {"strategy": published, "budget": budget})
    assert [call for call in fits if changed.plan(call).changed] == fits[1:]
