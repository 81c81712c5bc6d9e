"""A break in the fixed part names the text or the tool that changed, and whose doing it was."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from core.cache import Break
from core.decisions import Action
from core.findings import findings
from core.prefix import Cause
from core.readers import read
from core.replay import Replay, replay
from core.transcript import ROOT, Call, Fidelity, Transcript, Usage

SECTIONS = "# Manners\nBe kind to everyone, always and everywhere.\n\n# Examples\n" + "Q: why? A: because. " * 60


def tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": "word " * 90, "parameters": {}}}


TOOLS = [tool(name) for name in ("look_it", "paint_it", "weigh_it")]
GROUPS = [{"name": name, "tools": [f"{name}*"], "keywords": [name]} for name in ("paint", "weigh")]


def talk(*asked: str, model: str = "gpt-4o") -> Transcript:
    """Return a conversation with one call a question, and three tools."""
    wires: list[dict[str, Any]] = []
    for at, text in enumerate(asked):
        wires += [{"role": "user", "content": f"{text} {at}"}, {"role": "assistant", "content": f"done {at} " * 60}]
    calls = tuple(
        Call(0, 2 * at, 2 * at, wires[2 * at + 1], Usage(), model, None, Fidelity.PARTIAL) for at in range(len(asked))
    )
    head = {"model": model, "messages": [{"role": "system", "content": SECTIONS}], "tools": TOOLS}
    return Transcript("openai_chat", tuple(wires), tuple(range(ROOT, len(wires) - 1)), (head,), calls)


def told(broken: Break) -> tuple[Cause, str, Action | None]:
    return broken.cause, broken.span_id, broken.decision and broken.decision.action


QUIET = ("hello",) * 10
ROLLING = {"kind": "tiered_injection", "keep_messages": 3, "trigger": 0}
RESERVE = {"kind": "required_reserve"}


@pytest.mark.parametrize(
    ("strategy", "span_id", "setting"),
    [(ROLLING, "summary", "strategy.trigger"), (RESERVE, "context", "strategy.total")],
    ids=["tiered_injection", "required_reserve"],
)
@pytest.mark.parametrize(
    "shrink", [[], [{"kind": "dedupe_instructions", "hard_case_keywords": ["examples"]}]], ids=["plain", "shrunk"]
)
@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5"])
def test_a_text_that_is_put_in_is_named(
    strategy: dict[str, Any], span_id: str, setting: str, shrink: list[dict[str, Any]], model: str
) -> None:
    config = {"budget": {"soft_limit": 1300}, "strategy": strategy, "shrink": shrink}
    made = replay(talk(*QUIET, model=model), config)
    broken = [one for one in made.cache.breaks if one.cause is Cause.SYSTEM]
    assert len(broken) >= (3 if span_id == "summary" else 1)
    assert all(made.cache.calls[one.call].is_decided for one in made.cache.breaks)
    for one in broken:
        assert told(one) == (Cause.SYSTEM, span_id, Action.SUMMARISE)
        assert one.decision is not None and one.decision.setting == setting
        assert one.decision in made.plan(one.call).decisions


def test_tools_put_aside_and_taken_back_are_named() -> None:
    transcript = talk("hello", "hello", "now paint", "now weigh", "hello")
    made = replay(transcript, {"strategy": {**ROLLING, "trigger": None, "groups": GROUPS}})
    assert [aside(made, call) for call in range(5)] == [[1, 2], [1, 2], [2], [], []]
    assert [told(one) for one in made.cache.breaks] == [
        (Cause.TOOLS, "t1", Action.KEEP),
        (Cause.TOOLS, "t2", Action.KEEP),
    ]
    again = replay(
        talk("now paint and weigh", "hello", "hello"),
        {"budget": {"soft_limit": 700}, "strategy": {**ROLLING, "groups": GROUPS}},
    )
    first = again.cache.breaks[0]
    assert told(first) == (Cause.TOOLS, "t1", Action.DEFER)
    assert first.decision is not None and first.decision.setting == "strategy.groups"


def aside(made: Replay, call: int) -> list[int]:
    head = made.plan(call).head
    return sorted(head.deferred) if head else []


def test_a_text_that_is_no_longer_put_in_has_the_decision_of_the_call_before() -> None:
    transcript = talk("hello", "hello", "hello", "hello")
    calls = (*transcript.calls, transcript.calls[0])
    made = replay(replace(transcript, calls=calls), {"strategy": ROLLING})
    last = made.cache.breaks[-1]
    assert (last.call, *told(last)) == (4, Cause.SYSTEM, "summary", Action.SUMMARISE)
    assert last.decision in made.plan(3).decisions


def test_what_the_recording_changes_is_named_too_but_nobodys_decision() -> None:
    transcript = talk(*QUIET[:4])
    heads = (
        transcript.heads[0],
        {**transcript.heads[0], "messages": [{"role": "system", "content": SECTIONS.replace("kind", "rude")}]},
        {**transcript.heads[0], "tools": [TOOLS[0], TOOLS[2]]},
    )
    calls = tuple(replace(call, head=at) for call, at in zip(transcript.calls, (0, 1, 1, 2), strict=True))
    made = replay(replace(transcript, heads=heads, calls=calls), {"strategy": {"kind": "full_history"}})
    assert [told(one) for one in made.cache.breaks] == [
        (Cause.SYSTEM, "s0.0", Action.KEEP),
        (Cause.TOOLS, "t1", Action.KEEP),
    ]
    assert not any(row.is_decided for row in made.cache.calls)


def test_what_a_shrinker_changes_is_decided() -> None:
    transcript = talk("hello", "hello", "show me examples", "hello")
    made = replay(transcript, {"strategy": {"kind": "full_history"}, "shrink": [shrinker_that_hears()]})
    assert [row.is_decided for row in made.cache.calls] == [False, False, True, False]
    assert made.cache.breaks[0].cause is Cause.SYSTEM and made.cache.breaks[0].decision is not None


def shrinker_that_hears() -> dict[str, Any]:
    return {"kind": "dedupe_instructions", "hard_case_keywords": ["examples"]}


def named(made: Replay) -> dict[str, Any]:
    return {finding.name: finding for finding in findings(made)}


@pytest.mark.parametrize(
    ("strategy", "span_id", "words"),
    [
        (ROLLING, "summary", "the summary that it puts at the end of the system part changes with each call"),
        (RESERVE, "context", "the context that it puts at the end of the system part changes with each call"),
        ({"kind": "keep_last", "keep_messages": 3}, "m0.0", "the cut moves with each call"),
    ],
    ids=["tiered_injection", "required_reserve", "keep_last"],
)
def test_the_finding_tells_what_the_strategy_changes(strategy: dict[str, Any], span_id: str, words: str) -> None:
    found = named(replay(talk(*QUIET), {"budget": {"soft_limit": 1300}, "strategy": strategy}))
    assert "fixed_part_changes" not in found
    assert words in found["prefix_broken"].sentence
    assert found["prefix_broken"].span_ids[0] == span_id


def test_the_finding_tells_of_tools_put_aside() -> None:
    asked = [word for _ in range(5) for word in ("now paint", "hello")]
    found = named(replay(talk(*asked), {"budget": {"soft_limit": 700}, "strategy": {**ROLLING, "groups": GROUPS}}))
    assert "fixed_part_changes" not in found
    assert "the tools that it puts aside change, first t" in found["prefix_broken"].sentence


def test_the_finding_on_a_recorded_change_is_another() -> None:
    transcript = talk(*QUIET)
    heads = tuple(
        {**transcript.heads[0], "messages": [{"role": "system", "content": f"Now {at}. {SECTIONS}"}]}
        for at in range(10)
    )
    calls = tuple(replace(call, head=at) for at, call in enumerate(transcript.calls))
    made = replay(replace(transcript, heads=heads, calls=calls), {"strategy": ROLLING})
    found = named(made)
    assert "prefix_broken" not in found and "the system part" in found["fixed_part_changes"].sentence


def growing(result: dict[str, Any]) -> Transcript:
    """Return requests of an agent, each of which ends with the reply whose results the next one adds."""
    asked, lines = [{"role": "user", "content": "find it " * 900}], []
    for at in range(4):
        call = {"id": f"c{at}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        asked.append({"role": "assistant", "content": f"I look {at}", "tool_calls": [call]})
        lines.append(json.dumps({"model": "gpt-4o", "messages": asked}))
        asked.append({**result, **({"tool_call_id": f"c{at}"} if result["role"] == "tool" else {})})
    (transcript,) = read("\n".join(lines)).transcripts
    return transcript


@pytest.mark.parametrize("role", ["tool", "user"])
def test_a_prompt_that_ends_with_a_reply_is_gone_on_from_with_its_results(role: str) -> None:
    made = replay(growing({"role": role, "content": "OBSERVATION: seen " * 40}), {"strategy": {"kind": "as_captured"}})
    rows = made.cache.calls
    assert [row.cause for row in rows] == [Cause.FIRST_CALL, *[Cause.NONE] * 3]
    assert [row.prefix for row in rows[1:]] == [row.sent for row in rows[:-1]]
    assert "prefix_broken" not in [finding.name for finding in findings(made)]


def test_a_reply_whose_results_were_others_is_a_break() -> None:
    first = growing({"role": "tool", "content": "seen " * 40})
    last = first.calls[-1]
    wires = [dict(wire) for wire in first.messages]
    wires[2]["content"] = "changed " * 40
    changed = Transcript(
        first.dialect,
        (*first.messages, *wires),
        (*first.parents, ROOT, *range(len(wires), 2 * len(wires) - 1)),
        first.heads,
        (*first.calls, replace(last, history=last.history + len(wires), captured=last.captured + len(wires))),
    )
    made = replay(changed, {"strategy": {"kind": "as_captured"}})
    assert made.cache.calls[-1].cause in {Cause.BRANCH, Cause.DECISION}
    assert made.cache.calls[-1].prefix < made.cache.calls[-2].sent
