"""What a body made from another must still hold."""

from __future__ import annotations

from typing import Any

import pytest

from core.dialects import dialect as dialect_named
from core.runtime import ContextRuntime
from core.validity import new_violations, validate
from tests.talks import DIALECTS, LISTS, body, messages, said, step, user

Wire = dict[str, Any]
CHAT = "openai_chat"
RULES = "1. Answer in one sentence.\n2. Name your sources.\n"
EXAMPLES = "# Examples\nQ: how long is a day?\nA: a day.\n"


def system(text: Any, role: str = "system") -> Wire:
    return {"role": role, "content": text}


def lost(before: Wire, after: Wire, dialect: str = CHAT) -> list[tuple[str, int, str]]:
    new = new_violations(validate(before, dialect), validate(after, dialect))
    return [(violation.rule, violation.message, violation.subject) for violation in new]


def chat(*wires: Wire) -> Wire:
    return {"messages": list(wires)}


U1, A1, U2 = messages(CHAT, user("u1"), said("a1"), user("u2"))


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ([system(RULES), U1], [system(RULES), U1], []),
        ([system(RULES), U1], [U1], [("system_lost", 0, "")]),
        ([system(RULES, "developer"), U1], [U1], [("system_lost", 0, "")]),
        ([system([{"type": "text", "text": RULES}]), U1], [U1], [("system_lost", 0, "")]),
        ([system(RULES), U1], [system(RULES), system("more"), U1], []),
        ([system(RULES), U1], [system("something else"), U1], [("system_lost", 0, "")]),
        ([system(RULES), U1], [system("2. Name your sources.\n"), U1], []),  # a rule was said twice
        ([system(RULES), system("Name your sources."), U1], [system(RULES), U1], []),
        ([system(RULES), system(EXAMPLES), U1], [system(RULES), U1], []),  # put aside on request
        ([system(RULES + EXAMPLES), U1], [system(EXAMPLES), U1], [("system_lost", 0, "")]),
        ([system(" \n"), U1], [U1], []),
        ([U1, system("in the middle"), U2], [U2], [("system_lost", 1, "")]),
        ([U1, system("in the middle", "developer"), U2], [U2], [("system_lost", 1, "")]),
        ([U1, A1, system("in the middle"), U2], [system("in the middle"), U2], []),  # leads now
        (
            [U1, system("stay brief"), A1, system("stay brief"), U2],
            [system("stay brief"), U2],
            [("system_lost", 3, "")],
        ),
        ([system("stay brief"), U1, system("stay brief"), U2], [system("stay brief"), U2], [("system_lost", 2, "")]),
    ],
)
def test_systems(before: list[Wire], after: list[Wire], found: list[tuple[str, int, str]]) -> None:
    assert lost(chat(*before), chat(*after)) == found


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_system_part_of_every_dialect(dialect: str) -> None:
    before, after = body(dialect, user("u1"), system=RULES), body(dialect, user("u1"))
    assert lost(before, after, dialect) == [("system_lost", 0, "")]
    assert lost(after, before, dialect) == []
    assert lost(before, before, dialect) == []


def test_a_developer_item_of_responses() -> None:
    items = messages("openai_responses", user("u1"), said("a1"), user("u2"))
    before = {"input": [items[0], system("be kind", "developer"), *items[1:]]}
    assert lost(before, {"input": items[2:]}, "openai_responses") == [("system_lost", 1, "")]


THOUGHT = (user("u1"), step("A", thinking="first"), step("B", "C", thinking="second"), said("a1"), user("u2"))


def without(made: Wire, dialect: str, word: str, instead: str | None = None) -> Wire:
    """The body without the thinking that says a word, or with other words in it."""
    wires = []
    for wire in made[LISTS[dialect]]:
        if dialect == "openai_responses" and wire.get("type") == "reasoning" and word in str(wire):
            wires += [] if instead is None else [{**wire, "summary": [{"type": "summary_text", "text": instead}]}]
        elif dialect == "openai_chat" and wire.get("reasoning_content") == word:
            wires.append({**wire, "reasoning_content": instead})
        elif dialect in ("anthropic", "gemini"):
            key = "content" if dialect == "anthropic" else "parts"
            parts = wire[key] if isinstance(wire[key], list) else []
            name = "thinking" if dialect == "anthropic" else "text"
            kept = [{**p, name: instead} if p.get(name) == word else p for p in parts if instead or p.get(name) != word]
            wires.append({**wire, key: kept} if parts else wire)
        else:
            wires.append(wire)
    return {**made, LISTS[dialect]: wires}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_thinking(dialect: str) -> None:
    made = body(dialect, *THOUGHT)
    gone = without(made, dialect, "second")
    places = (4, 5) if dialect == "openai_responses" else (3, 3)
    assert lost(made, gone, dialect) == [
        ("thinking_separated", message, call) for call, message in zip("BC", places, strict=True)
    ]
    assert [(rule, call) for rule, _, call in lost(made, without(made, dialect, "first", "other"), dialect)] == [
        ("thinking_edited", "A")
    ]
    assert lost(made, body(dialect, THOUGHT[0], *THOUGHT[2:]), dialect) == []  # the whole step is gone
    assert lost(gone, made, dialect) == []
    assert lost(made, made, dialect) == []


def test_sealed_thinking_counts() -> None:
    call = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    sealed = {"type": "redacted_thinking", "data": "QUJD"}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "r"}]}

    def asked(*blocks: Wire) -> Wire:
        return {"messages": [U1, {"role": "assistant", "content": [*blocks, call]}, result]}

    assert lost(asked(sealed), asked(), "anthropic") == [("thinking_separated", 1, "a")]
    assert lost(asked(sealed), asked({**sealed, "data": "QUJDRA"}), "anthropic") == [("thinking_edited", 1, "a")]
    assert lost(asked(sealed), asked(sealed), "anthropic") == []


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", ["keep_last", "required_reserve", "span_triage", "tiered_injection"])
def test_the_engine_loses_neither(kind: str, dialect: str) -> None:
    made = body(dialect, *THOUGHT, system=RULES + RULES + EXAMPLES)
    shrink = [{"kind": "dedupe_instructions", "hard_case_keywords": ["zebra"]}]
    for limit in (0, 40, 80, 160):
        config = {
            "model": {"dialect": dialect},
            "budget": {"soft_limit": limit},
            "strategy": {"kind": kind},
            "shrink": shrink,
        }
        sent = ContextRuntime.load(config).assemble(made).request
        assert lost(made, sent, dialect) == []
        assert dialect_named(dialect).system_texts(dialect_named(dialect).split(sent)[0]) != [RULES + RULES + EXAMPLES]
