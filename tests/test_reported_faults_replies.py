"""Replies: reasoning stays as it was written, and the order of roles is one that the provider takes."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from core.dialects import dialect as dialect_named
from core.validity import validate
from tests.talks import (
    CUTTING,
    DIALECTS,
    LISTS,
    Event,
    Step,
    Wire,
    body,
    call_ids,
    long,
    messages,
    names,
    run,
    said,
    sent,
    step,
    tokens,
    user,
)

EACH = pytest.mark.parametrize("kind", CUTTING)
EVERY = pytest.mark.parametrize("dialect", DIALECTS)
KEEPS = [{"keep_turns": 1}, {"keep_turns": 2}, {"keep_steps": 1}, {"keep_steps": 2}, {"keep_messages": 4}]
TAKES_KEEP = ("keep_last", "summarize_and_keep", "tiered_injection")
SHARES = (0.85, 0.6, 0.3, 0.0)
THOUGHT = long("t", 12)


def results(made: Wire, dialect: str, kind: str) -> list[list[Wire]]:
    """What a strategy sends of a body, at several budgets and settings."""
    found = []
    for share in SHARES:
        for keep in KEEPS if kind in TAKES_KEEP else [{}]:
            result = run(made, dialect, kind, int(share * tokens(made, dialect)), keep=keep)
            found.append(sent(result, dialect))
    return found


def thoughtful(dialect: str) -> Wire:
    made = body(
        dialect,
        user(long("u1")),
        Step({"A": long("rA")}, thinking=THOUGHT, text=long("I look")),
        Step({"B": long("rB"), "C": long("rC")}, thinking=THOUGHT),
        said(long("a1")),
        user(long("u2")),
        Step({"D": long("rD")}, thinking=THOUGHT, text=long("I look")),
        user("u3"),
        Step({"E": long("rE")}, thinking=THOUGHT),
    )
    if dialect == "anthropic":
        sealed = {"type": "redacted_thinking", "data": "QUJD" * 20}
        made["messages"][1]["content"].insert(1, sealed)
        made["messages"][7]["content"].insert(0, sealed)
    return made


@EVERY
@EACH
def test_a_reply_with_reasoning_is_there_byte_for_byte_or_not_at_all(kind: str, dialect: str) -> None:
    made = thoughtful(dialect)
    spoken = dialect_named(dialect)
    whole = [json.dumps(wire) for wire in made[LISTS[dialect]] if spoken.message(wire).role == "assistant"]
    for wires in results(made, dialect, kind):
        replies = [wire for wire in wires if spoken.message(wire).role == "assistant"]
        with_thought = [json.dumps(wire) for wire in replies if THOUGHT in json.dumps(wire)]
        assert set(with_thought) <= set(whole)
        assert not any(THOUGHT[:30] in json.dumps(wire) for wire in replies if json.dumps(wire) not in whole)


@EVERY
@pytest.mark.parametrize(
    "shrink",
    [
        [{"kind": "project_tool_results", "max_tokens": 20}],
        [{"kind": "dedupe_instructions", "hard_case_keywords": ["never said"]}],
        [{"kind": "project_tool_results", "max_tokens": 20}, {"kind": "chunk_pinned", "max_tokens": 10}],
    ],
)
def test_no_shrinker_touches_a_reply(shrink: list[Wire], dialect: str) -> None:
    made = thoughtful(dialect)
    spoken = dialect_named(dialect)
    rules = [{"match": {"role": "assistant"}, "required": True}]
    result = run(made, dialect, "mask_tool_results", None, shrink=shrink, rules=rules)
    for before, after in zip(made[LISTS[dialect]], sent(result, dialect), strict=True):
        assert spoken.message(before).role != "assistant" or before == after


def reasoning(*ids: str) -> list[Wire]:
    made: list[Wire] = [{"type": "reasoning", "id": f"rs_{ids[0]}", "summary": [], "encrypted_content": "QUJD" * 300}]
    made += [{"type": "function_call", "call_id": name, "name": "look", "arguments": "{}"} for name in ids]
    return [*made, *({"type": "function_call_output", "call_id": name, "output": long(f"r{name}")} for name in ids)]


@EACH
def test_reasoning_goes_with_the_call_that_it_led_to(kind: str) -> None:
    told = [{"type": "reasoning", "id": "rs_x", "summary": []}, {"role": "assistant", "content": long("a1")}]
    items = [*messages("openai_responses", user(long("u1"))), *reasoning("A"), *reasoning("B", "C"), *told]
    items += [*messages("openai_responses", user("u2")), *reasoning("D")]
    made = {"model": "m", "input": items}
    for wires in results(made, "openai_responses", kind):
        thoughts = [wire["id"].removeprefix("rs_") for wire in wires if wire.get("type") == "reasoning"]
        calls, answers = call_ids(wires, "openai_responses")
        assert calls == answers
        assert {"A", "B", "D"} & set(thoughts) == {"A", "B", "D"} & set(calls)
        assert ("C" in calls) == ("B" in calls)
        assert ("x" in thoughts) == any(wire.get("content") == long("a1") for wire in wires)
        assert validate({"input": wires}, "openai_responses") == []


FIVE = (user("u1"), said("a1"), user("u2"), said("a2"), user("u3"))


@EVERY
@pytest.mark.parametrize(
    ("number", "kept"),
    [(0, "u3"), (1, "u3"), (2, "u2 a2 u3"), (3, "u2 a2 u3"), (4, "u1 a1 u2 a2 u3"), (5, "u1 a1 u2 a2 u3")],
)
def test_a_window_begins_with_a_question(number: int, kept: str, dialect: str) -> None:
    made = body(dialect, user(long("u0")), said(long("a0")), *FIVE)
    budget = tokens(made, dialect) - 1
    result = run(made, dialect, "keep_last", budget, keep={"keep_messages": number})
    assert names(sent(result, dialect), ["u1", "a1", "u2", "a2", "u3"]) == kept.split()


AGENT = (user(long("u1")), *(step(name, text=long("I look", 9)) for name in "ABCD"), said("a1"), user("u2"), step("E"))
CHAT = (user(long("u1")), said(long("a1")), user(long("u2")), said(long("a2")), user("u3"))
OPEN = (user(long("u1")), said("a1"), user("u2"), step("A"), said(long("a2")), step("B", "C"))


@EVERY
@EACH
@pytest.mark.parametrize("events", [AGENT, CHAT, OPEN], ids=["agent", "chat", "open"])
def test_roles_stand_in_an_order_that_is_taken(events: tuple[Event, ...], kind: str, dialect: str) -> None:
    made = body(dialect, *events, system="rules")
    spoken = dialect_named(dialect)
    assert [found for found in validate(made, dialect) if found.rule != "call_after_reply"] == []
    for wires in results(made, dialect, kind):
        read = [spoken.message(wire) for wire in wires]
        assert (read[0].role, read[0].results) == ("user", [])
        assert wires[-1] == made[LISTS[dialect]][-1]
        if dialect == "gemini" and events is not OPEN:
            assert not any(after.calls and before.role == "assistant" for before, after in pairwise(read))


@pytest.mark.parametrize("kind", ["span_triage", "summarize_and_keep"])
@pytest.mark.parametrize(("folded", "roles"), [(1, "u u m u"), (2, "u m u m u"), (3, "u m m u m u")])
def test_what_stands_for_steps_does_not_stand_right_before_a_call_as_the_models(
    kind: str, folded: int, roles: str
) -> None:
    """A function call may follow what a user said or a function answered, and no other content of the model."""
    made = body("gemini", user("u1"), *(step(name, text=long("I look")) for name in "ABCDE"[: folded + 1]))
    strategy = {"merge_stubs": False, "stub": "[left out: it]"} if kind == "span_triage" else {}
    keep = {} if kind == "span_triage" else {"keep_steps": 1}
    result = run(made, "gemini", kind, 130 + 25 * folded, strategy=strategy, keep=keep)
    expected = ["user", *["model"] * (folded - 1), "user", "model", "user"]
    assert [wire["role"] for wire in sent(result, "gemini")] == expected
    assert " ".join(role[0] for role in expected) == roles
    assert result.tokens_after == tokens(result.request, "gemini")


def test_stubs_that_nothing_tells_from_a_reply_are_the_users() -> None:
    """As the model's they would be the beginning of the reply behind them, for whoever reads the request next."""
    made = body("gemini", user("u1"), *(step(name, text=long("I look")) for name in "ABC"))
    result = run(made, "gemini", "span_triage", 180, strategy={"merge_stubs": False, "stub": "[gone]"}, keep={})
    assert [wire["role"] for wire in sent(result, "gemini")] == ["user", "user", "user", "model", "user"]
    assert result.tokens_after == tokens(result.request, "gemini")


def test_a_call_behind_another_content_of_the_model_is_named() -> None:
    made = {"contents": messages("gemini", user("u1"), said("a1"), step("A"))}
    assert [(found.rule, found.message, found.subject) for found in validate(made, "gemini")] == [
        ("call_after_reply", 2, "A")
    ]


@EVERY
@EACH
@pytest.mark.parametrize("last", [user("u9"), step("Z"), said("so far")], ids=["user", "result", "partial reply"])
def test_the_end_of_the_conversation_is_its_end(last: Event, kind: str, dialect: str) -> None:
    made = body(dialect, *CHAT, step("A"), last)
    for wires in results(made, dialect, kind):
        assert wires[-1] == made[LISTS[dialect]][-1]


@EVERY
@EACH
def test_nothing_is_put_between_a_question_and_the_users_next_words(kind: str, dialect: str) -> None:
    """No marker of the engine asks the model to go on: there are never more messages than came."""
    made = body(dialect, *CHAT, user("u4"))
    spoken = dialect_named(dialect)
    for wires in results(made, dialect, kind):
        assert [wire for wire in wires if wire in made[LISTS[dialect]]][-1] == wires[-1]
        assert len(wires) <= len(made[LISTS[dialect]])
        assert sum(spoken.message(wire).role == "user" for wire in wires) <= 4
