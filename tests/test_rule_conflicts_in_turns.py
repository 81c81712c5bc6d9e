"""Rules on conversations recorded in turns, with hints that change: told as of each alone, at the same cost a call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.readers.builder import Placed, TranscriptBuilder
from core.rule_conflicts import Example, rule_report
from core.transcript import ROOT, Transcript
from tests.test_rule_conflicts import MATCHES, RESULTS, SEARCHES, TOOLS, VALUES, conversation, played, step
from tests.work import counted_work


def asked(place: int, turns: int) -> list[dict[str, Any]]:
    """Return the prompt of a conversation in one of its turns; what is said differs from that in others."""
    said = conversation(turns)[: 4 * turns - 3]
    return [{**message, "content": f"{place}: {message['content']}"} for message in said]


ORDERS = {"one after another": (0,) * 4 + (1,) * 4, "in turns": (0, 1) * 4, "mixed": (1, 0, 0, 1, 1, 0, 1, 0)}


def ordered(order: str, hints: dict[str, Any] | None = None) -> Transcript:
    builder, turns = TranscriptBuilder("openai_chat"), [0, 0]
    for place in ORDERS[order]:
        turns[place] += 1
        body = builder.body({"model": "gpt-4o", "messages": asked(place, turns[place]), "tools": TOOLS})
        builder.call(body, hints=hints and {**hints, "pins": [f"c{turns[place]}"]})
    return builder.build()


@given(st.lists(st.builds(lambda match, value: {"match": match, **value}, MATCHES, VALUES), min_size=1, max_size=4))
def test_conversations_meet_rules_alike_in_whatever_order_their_calls_are(said: list[dict[str, Any]]) -> None:
    apart, *mixed = (rule_report(played(ordered(order), *said)) for order in ORDERS)
    for report in mixed:
        assert report.unmatched == apart.unmatched
        assert [replace(one, example=EXAMPLE) for one in report.conflicts] == [
            replace(one, example=EXAMPLE) for one in apart.conflicts
        ]


EXAMPLE = Example("", "", 0)


@pytest.mark.parametrize(("order", "call"), [("one after another", 2), ("in turns", 4), ("mixed", 4)])
def test_the_example_is_in_the_first_call_of_its_own_conversation(order: str, call: int) -> None:
    """What is two turns old first is in the third call of the conversation that came first."""
    said = ({"match": {"min_age": 2}, "priority": 1}, {"match": {"kind": "user"}, "priority": 2})
    (conflict,) = rule_report(played(ordered(order), *said)).conflicts
    assert (conflict.spans, conflict.example) == (4, Example("m0.0", "user", call))


def test_a_hint_takes_no_span_from_a_rule() -> None:
    """Rules look at what a span was before a hint called it retrieved."""
    hints = {"retrieval": ["c0", "c1", "c2"], "goal": "warmth"}
    said = (RESULTS, SEARCHES)
    assert rule_report(played(ordered("in turns", hints), *said)) == rule_report(played(ordered("in turns"), *said))
    assert rule_report(played(ordered("in turns", hints), *said)).unmatched == ()


def test_a_hint_that_makes_messages_results_is_heard() -> None:
    builder = TranscriptBuilder("openai_chat")
    said = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": "ls"}]
    wires = [*said, {"role": "user", "content": "$ a.txt"}]
    builder.call(builder.body({"model": "gpt-4o", "messages": wires}), hints={"results": [r"^\$ "], "pins": ["m0.0"]})
    assert rule_report(played(builder.build(), RESULTS)).unmatched == ()


def work_of_report(calls: int, conversations: int, pins: bool) -> int:
    """Return what a report on conversations in turns takes, whose hints pin another result at each call."""
    builder = TranscriptBuilder("openai_chat")
    head = builder.head({"model": "gpt-4o", "messages": []})
    lasts = [builder.add(ROOT, {"role": "user", "content": f"question {at}"}) for at in range(conversations)]
    for call in range(calls):
        place = call % conversations
        lasts[place] = builder.extend(lasts[place], step(call, "read"))
        builder.call(Placed(head, lasts[place]), hints={"pins": [f"c{call}"]} if pins else None)
    made = played(builder.build(), RESULTS, {**SEARCHES, "match": {"kind": "tool_result", "min_age": 1}})
    with counted_work() as work:
        rule_report(made)
    return work.calls


@pytest.mark.parametrize(("conversations", "pins"), [(1, False), (2, False), (1, True), (3, True)])
def test_a_report_costs_the_same_for_each_call(conversations: int, pins: bool) -> None:
    few, many = (work_of_report(calls, conversations, pins) for calls in (60, 240))
    assert many < 1.1 * 4 * few
