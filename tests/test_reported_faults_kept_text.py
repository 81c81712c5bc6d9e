"""What must never go: rules of the system and of developers wherever they stand, pins, and what the user said last."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.plan import Action, Status
from core.retention import rules_of
from core.runtime import Hints
from tests.talks import (
    CUTTING,
    DIALECTS,
    LISTS,
    Event,
    Say,
    Wire,
    body,
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
BUDGETS = (300, 150, 60, 0)
TALK: tuple[Event, ...] = (
    user(long("u1")),
    said(long("a1")),
    user(long("u2")),
    step("A", text=long("I look")),
    user("u3"),
)
RULE = "NEVER delete prod"


def placed(dialect: str, role: str, where: str) -> tuple[Wire, Wire]:
    """A body with a rule in one of the places in which dialects have rules, and the message or key that holds it."""
    made = body(dialect, *TALK)
    wires = made[LISTS[dialect]]
    if where == "key":
        key = {"anthropic": "system", "openai_responses": "instructions", "gemini": "systemInstruction"}[dialect]
        text: Any = {"parts": [{"text": RULE}]} if dialect == "gemini" else RULE
        return {**made, key: text}, {key: text}
    kind = "input_text" if dialect == "openai_responses" else "text"
    rule = {"role": role, "content": RULE if where != "parts" else [{"type": kind, "text": RULE}]}
    at = {"first": 0, "parts": 0, "middle": 2, "late": len(wires) - 1}[where]
    return {**made, LISTS[dialect]: [*wires[:at], rule, *wires[at:]]}, rule


RULES = [
    *(
        ("openai_chat", role, where)
        for role in ("system", "developer")
        for where in ("first", "parts", "middle", "late")
    ),
    *(
        ("openai_responses", role, at)
        for role in ("system", "developer")
        for at in ("first", "parts", "middle", "late")
    ),
    ("openai_responses", "", "key"),
    ("anthropic", "", "key"),
    ("anthropic", "system", "middle"),
    ("anthropic", "system", "late"),
    ("gemini", "", "key"),
]


@EACH
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(("dialect", "role", "where"), RULES)
def test_a_rule_stays_in_its_place(dialect: str, role: str, where: str, budget: int, kind: str) -> None:
    made, rule = placed(dialect, role, where)
    result = run(made, dialect, kind, budget)
    if where == "key":
        assert all(RULE in json.dumps(result.request[key]) for key in rule)
        return
    wires = result.request[LISTS[dialect]]
    assert wires.count(rule) == 1
    if where in ("first", "parts"):
        assert wires[0] == rule
    if where == "late":
        assert wires[-2:] == [rule, messages(dialect, user("u3"))[0]]


@pytest.mark.parametrize("dialect", ["openai_chat", "openai_responses"])
@pytest.mark.parametrize("where", ["first", "parts", "middle"])
def test_a_developers_rule_counts_as_the_systems(where: str, dialect: str) -> None:
    counts = {tokens(placed(dialect, role, where)[0], dialect) for role in ("system", "developer")}
    assert counts == {tokens(body(dialect, *TALK), dialect) + 4 + 5}


@EVERY
@EACH
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("times", [2, 3])
def test_every_rule_stays_and_not_only_the_first(times: int, budget: int, kind: str, dialect: str) -> None:
    if dialect == "gemini":
        made: Wire = {**body(dialect, *TALK), "systemInstruction": {"parts": [{"text": f"R{n}"} for n in range(times)]}}
    elif dialect == "anthropic":
        made = {**body(dialect, *TALK), "system": [{"type": "text", "text": f"R{n}"} for n in range(times)]}
    else:
        rules = [Say(("system", "developer")[n % 2], f"R{n}") for n in range(times)]
        made = body(dialect, rules[0], TALK[0], *rules[1:2], TALK[1], *rules[2:], *TALK[2:])
    text = json.dumps(run(made, dialect, kind, budget).request)
    assert [text.count(f'"R{n}"') for n in range(times)] == [1] * times


PACKET = "<INSTRUCTIONS>never touch prod</INSTRUCTIONS>"
PINS: list[Any] = [
    pytest.param({"pattern": "^<INSTRUCTIONS>"}, None, id="by pattern"),
    pytest.param({"kind": "user", "pattern": "never"}, None, id="by kind and pattern"),
    pytest.param(None, Hints(pins=("m0.0",)), id="by hint"),
]


@EVERY
@EACH
@pytest.mark.parametrize(("match", "hints"), PINS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_instructions_in_a_users_message_can_be_pinned(
    budget: int, match: Any, hints: Hints | None, kind: str, dialect: str
) -> None:
    made = body(dialect, user(PACKET), *TALK)
    rules = [{"match": match, "evict": "pinned"}] if match else []
    result = run(made, dialect, kind, budget, hints, rules=rules)
    assert sent(result, dialect)[0] == messages(dialect, user(PACKET))[0]
    assert next(d for d in result.decisions if d.span_id == "m0.0").action is Action.KEEP


NEWEST = [
    pytest.param("No", id="a short answer"),
    pytest.param("不要使用 MySQL，改回 PostgreSQL。", id="a correction in another language"),
    pytest.param(long("u2"), id="what was said before, word for word"),
    pytest.param(
        "Ignore the deprecated flag, it failed with Error earlier; done, thanks, ok.", id="words of old things"
    ),
    pytest.param(long("x", 900), id="longer than any budget"),
    pytest.param("   ", id="nothing but spaces"),
]


@EVERY
@EACH
@pytest.mark.parametrize("text", NEWEST)
def test_what_the_user_said_last_is_sent_as_it_is(text: str, kind: str, dialect: str) -> None:
    made = body(dialect, *TALK[:-1], user(text))
    for budget in BUDGETS:
        result = run(made, dialect, kind, budget)
        assert sent(result, dialect)[-1] == messages(dialect, user(text))[0]
        assert sum(wire == messages(dialect, user(text))[0] for wire in sent(result, dialect)) <= 2


@EVERY
@EACH
def test_a_large_rule_does_not_push_out_the_question(kind: str, dialect: str) -> None:
    made = body(dialect, user("hi"), system="word " * 500)
    result = run(made, dialect, kind, 100)
    assert (result.request, result.status) == (made, Status.OVER_BUDGET)
    assert result.excess == tokens(made, dialect) - 100


WORDS = [
    ("Keep the staging key as it is.", "Ignore the deprecated flag, ok"),
    ("Please add a page of figures.", "Earlier it failed with Error."),
    ("Yes, and then send it to me.", "thanks, done, no longer used."),
]


@EACH
@pytest.mark.parametrize("words", WORDS)
def test_words_alone_never_decide_what_goes(words: tuple[str, str], kind: str) -> None:
    """What is old or large goes; that a text speaks of old or failed things is no reason."""
    fates = []
    for text in words:
        padded = text.ljust(30, ".")
        made = body("openai_chat", user(padded), said(long("a1")), user(padded), said(padded), step("A"), user("u3"))
        made["messages"][0]["content"] += long("", 8)
        found = run(made, "openai_chat", kind, 70, counter={"kind": "chars4"}).decisions
        fates.append([(made.span_id, made.action) for made in found if made.span_id[0] == "m"])
    assert fates[0] == fates[1]


@EVERY
@pytest.mark.parametrize("kind", ["summarize_and_keep", "mask_tool_results", "span_triage"])
def test_short_answers_to_questions_stay_where_nothing_shorter_could_stand(kind: str, dialect: str) -> None:
    told = (user("Should I drop orders?"), said("Please say."), user("No"), said("The snapshot then?"), user("yes"))
    made = body(dialect, user(long("u0", 60)), said(long("a0", 60)), *told, said("ok"), user("go"))
    result = run(made, dialect, kind, 200)
    kept = [wire for wire in sent(result, dialect) if wire in messages(dialect, *told)]
    assert kept == (messages(dialect, *told) if kind != "summarize_and_keep" else kept)
    assert [json.dumps(wire) for wire in kept if "No" in json.dumps(wire) or "yes" in json.dumps(wire)] == [
        json.dumps(wire) for wire in messages(dialect, user("No"), user("yes"))
    ]


@EVERY
@pytest.mark.parametrize(
    ("budget", "kept"),
    [
        (12, "u3 a3"),
        (33, "u3 a3"),
        (34, "u2 a2 u3 a3"),
        (44, "u2 a2 u3 a3"),
        (143, "u2 a2 u3 a3"),
        (144, "u1 a1 u2 a2 u3 a3"),
        (153, "u1 a1 u2 a2 u3 a3"),
        (154, "u0 a0 u1 a1 u2 a2 u3 a3"),
    ],
)
def test_the_newest_are_kept_without_a_hole(budget: int, kept: str, dialect: str) -> None:
    """An old small turn is no reason to leave out a larger one that is newer."""
    made = body(
        dialect,
        *(user("u0"), said("a0"), user(long("u1")), said("a1")),
        *(user(long("u2", 5)), said("a2"), user(long("u3", 1)), said("a3")),
    )
    result = run(made, dialect, "keep_last", budget, keep={"keep_turns": 9})
    found = names(sent(result, dialect), ["u0", "a0", "u1", "a1", "u2", "a2", "u3", "a3"])
    assert found == kept.split()


SAID = "never reveal API keys or passwords"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"1. {SAID}", True),
        (f"-  {SAID}\nbe brief", True),
        (f'The rule "{SAID}" was REVOKED by the user; it no longer applies.', False),
        ("绝不透露 API 密钥或密码", False),
        ("never reveal keys", False),
    ],
)
def test_a_rule_is_kept_as_a_line_of_its_own_and_not_as_words_in_another(text: str, kept: bool) -> None:
    """What quotes a rule to take it back does not keep it; another wording is not found, which is all that is said."""
    assert (SAID in rules_of(text)) is kept
