"""Stand-ins: what is shown is what is sent, both ends of a result survive, and the right text is made smaller."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.plan import Action, Status
from core.runtime import ContextRuntime
from core.tokens import counter_from
from tests.talks import (
    CUTTING,
    DIALECTS,
    LISTS,
    Event,
    Wire,
    body,
    call_ids,
    long,
    messages,
    run,
    said,
    sent,
    step,
    tokens,
    user,
)

EACH = pytest.mark.parametrize("kind", CUTTING)
EVERY = pytest.mark.parametrize("dialect", DIALECTS)
META = "<task_metadata>session_id: ses_1</task_metadata>"


def results(dialect: str, *events: Event, **texts: str) -> Wire:
    """A body in which the results of some calls have these texts."""
    text = json.dumps(body(dialect, *events))
    for name, value in texts.items():
        text = text.replace(f'"r{name}"', json.dumps(value))
    return dict(json.loads(text))


def result_texts(wires: list[Wire], dialect: str) -> dict[str, str]:
    """The text of each result, by its call's id, as it stands in the wire."""
    found: dict[str, str] = {}
    for wire in wires:
        if dialect in ("openai_chat", "openai_responses"):
            name = wire.get("tool_call_id") or (wire.get("call_id") if "output" in wire else None)
            found |= {name: wire.get("content", wire.get("output"))} if name else {}
            continue
        for part in wire.get("content" if dialect == "anthropic" else "parts", ()):
            if isinstance(part, dict) and part.get("type") == "tool_result":
                found[part["tool_use_id"]] = part["content"]
            elif isinstance(part, dict) and "functionResponse" in part:
                found[part["functionResponse"]["id"]] = part["functionResponse"]["response"]["output"]
    return found


TALK: tuple[Event, ...] = (
    user(long("u1")),
    step("A", text=long("I look")),
    said(long("a1")),
    user("u2"),
    step("B", "C"),
    step("D"),
)
SHRINK = [[], [{"kind": "project_tool_results", "max_tokens": 30}]]


@EVERY
@EACH
@pytest.mark.parametrize("shrink", SHRINK, ids=["plain", "projected"])
def test_what_is_shown_is_what_is_sent(shrink: list[Wire], kind: str, dialect: str) -> None:
    """Each text that a decision shows stands in the request; what it says is gone does not."""
    made = results(dialect, *TALK, **{name: "\n".join(f"{name}{line} of it" for line in range(40)) for name in "ABCD"})
    for budget in (900, 500, 300, 150, 60):
        result = run(made, dialect, kind, budget, shrink=shrink)
        request = json.dumps(result.request, ensure_ascii=False)
        for decision in result.decisions:
            if decision.replacement is not None:
                assert json.dumps(decision.replacement, ensure_ascii=False)[1:-1] in request
        for name in "ABCD":
            whole = f"{name}0 of it\\n{name}1 of it" in request and f"{name}38 of it\\n{name}39 of it" in request
            middle = f"{name}27 of it" in request
            fate = next(d for d in result.decisions if d.span_id == place_of(made, name, dialect))
            assert middle == (fate.action is Action.KEEP), (name, fate)
            assert whole or fate.action is not Action.KEEP
        assert tokens(result.request, dialect) == result.tokens_after


def place_of(made: Wire, name: str, dialect: str) -> str:
    """The span id of a call's result."""
    for at, wire in enumerate(made[LISTS[dialect]]):
        ids = call_ids([wire], dialect)[1]
        if name in ids:
            return f"m{at}.{ids.index(name)}"
    raise KeyError(name)


@EVERY
@pytest.mark.parametrize("lines", [10, 400, 4000, 40_000])
@pytest.mark.parametrize("limit", [100, 200, 800])
def test_both_ends_of_a_projected_result_survive(limit: int, lines: int, dialect: str) -> None:
    text = "\n".join(["HEAD of the listing", *(f"entry {line} of it" for line in range(lines)), META])
    made = results(dialect, user("q"), step("A"), A=text)
    shrink = [{"kind": "project_tool_results", "max_tokens": limit}]
    result = run(made, dialect, "full_history", None, shrink=shrink, counter={"kind": "tiktoken"})
    left = result_texts(sent(result, dialect), dialect)["A"]
    counter = counter_from("tiktoken")
    assert left.startswith("HEAD of the listing")
    assert left.endswith(META)
    assert counter.count(left) <= max(limit, counter.count(text) if counter.count(text) <= limit else 0)
    assert (left == text) == (counter.count(text) <= limit)
    at = place_of(made, "A", dialect)
    assert left == text or f"[left out: {at}, " in left
    assert ContextRuntime.load({"shrink": shrink, "strategy": {"kind": "full_history"}}).restore(at, made) == text


@EVERY
def test_the_records_left_out_are_counted(dialect: str) -> None:
    records = [{"id": at, "name": f"record {at}"} for at in range(200)]
    made = results(dialect, user("q"), step("A"), A=json.dumps(records))
    shrink = [{"kind": "project_tool_results", "max_tokens": 120}]
    result = run(made, dialect, "full_history", None, shrink=shrink)
    left = json.loads(result_texts(sent(result, dialect), dialect)["A"])
    kept = len(left) - 1
    assert left[:-1] == records[:kept]
    assert left[-1] == f"[left out: {place_of(made, 'A', dialect)}, {200 - kept} of 200 records]"


SIZES = {"A": "small", "B": long("large", 500), "C": long("medium", 60)}


@EVERY
@pytest.mark.parametrize("order", ["ABC", "BCA", "CAB"])
def test_the_large_result_is_made_smaller_wherever_it_stands(order: str, dialect: str) -> None:
    made = results(dialect, user("q"), *(step(name) for name in order), **SIZES)
    shrink = [{"kind": "project_tool_results", "max_tokens": 200}]
    result = run(made, dialect, "full_history", 500, shrink=shrink)
    texts = result_texts(sent(result, dialect), dialect)
    assert [name for name in "ABC" if texts[name] != SIZES[name]] == ["B"]
    assert texts["B"].startswith("large and so on")
    assert result.status is Status.TRIMMED


@EVERY
@pytest.mark.parametrize("order", ["ABC", "BCA", "CAB"])
def test_the_largest_is_evicted_first_where_size_decides(order: str, dialect: str) -> None:
    made = results(dialect, user("q"), *(step(name) for name in order), user("q2"), **SIZES)
    calls, _ = call_ids(sent(run(made, dialect, "span_triage", 400), dialect), dialect)
    assert calls == [name for name in order if name != "B"]


@EVERY
@EACH
def test_the_work_in_progress_gives_way_to_nothing(kind: str, dialect: str) -> None:
    """A large result of the step in progress stays, however well smaller and older things would fit."""
    made = results(dialect, user("u1"), said("a1"), user("u2"), step("A"), user("q"), step("B"), **SIZES)
    result = run(made, dialect, kind, 200)
    assert sent(result, dialect)[-1] == made[LISTS[dialect]][-1]
    assert result_texts(sent(result, dialect), dialect)["B"] == SIZES["B"]
    assert result.status is Status.OVER_BUDGET


@EVERY
@EACH
def test_a_stub_points_to_nothing_that_the_next_request_lacks(kind: str, dialect: str) -> None:
    """No call relies on what an earlier call had: the rules stand in each of them in full."""
    rules = long("POLICY", 40)
    config = {
        "model": {"dialect": dialect},
        "counter": {"kind": "cjk_estimate"},
        "budget": {"soft_limit": 200},
        "shrink": [{"kind": "dedupe_instructions"}],
        "strategy": {"kind": kind, **CUTTING[kind]},
    }
    session = ContextRuntime.load(config).session()
    for question in ("first", "second"):
        made = body(dialect, user(question), system=rules)
        assert session.assemble(made).request == made


@EVERY
@EACH
def test_what_a_stub_names_can_be_had_back(kind: str, dialect: str) -> None:
    made = results(dialect, *TALK, user("u9"), **SIZES, D=long("rD"))
    config: dict[str, Any] = {
        "model": {"dialect": dialect},
        "counter": {"kind": "cjk_estimate"},
        "budget": {"soft_limit": 300},
        "strategy": {"kind": kind, **CUTTING[kind]},
    }
    runtime = ContextRuntime.load(config)
    result = runtime.assemble(made)
    assert any(decision.action is not Action.KEEP for decision in result.decisions)
    wires = messages(dialect, *TALK, user("u9"))
    for decision in result.decisions:
        if decision.action is not Action.KEEP and decision.span_id[0] == "m":
            text = runtime.restore(decision.span_id, made)
            assert text in ("{}", *SIZES.values(), long("rD")) or json.dumps(text)[1:-1] in json.dumps(wires)
