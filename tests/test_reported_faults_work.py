"""Work: a text is tokenised once, and twice the messages are about twice the work, whatever the strategy.

Work is counted in calls of functions and in characters handed to the tokeniser, never in seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import tiktoken

from core.readers.builder import TranscriptBuilder
from core.replay import replay
from core.runtime import ContextRuntime
from core.transcript import Transcript
from tests.talks import CUTTING, DIALECTS, LISTS, Wire, body, said, step, user

KINDS = ["full_history", *CUTTING]
PAIRS = [*((kind, "openai_chat") for kind in KINDS), *(("keep_last", dialect) for dialect in DIALECTS[1:])]
WORDS = "some words of their own that nobody else says in quite this order "


def told(dialect: str, name: str, steps: int) -> Wire:
    """An agent's run whose texts occur nowhere else, so that no other test has counted them."""
    events = [
        event
        for at in range(steps)
        for event in (
            *([user(f"{name} asks {at} {WORDS * 4}")] if at % 10 == 0 else []),
            step(f"{name}{at}", text=f"{name} looks {at} {WORDS * 2}"),
            *([said(f"{name} answers {at} {WORDS * 3}")] if at % 10 == 9 else []),
        )
    ]
    return {**body(dialect, *events), "model": "gpt-4o"}


def recorded(dialect: str, made: Wire) -> Transcript:
    """The run as a transcript of its calls: every request that ends before an answer of the model."""
    builder = TranscriptBuilder(dialect)
    head = {**made, LISTS[dialect]: []}
    wires = made[LISTS[dialect]]
    placed = builder.body({**head, LISTS[dialect]: wires})
    spoken = builder.dialect
    for at, wire in enumerate(wires):
        if spoken.message(wire).role == "assistant" and at and spoken.message(wires[at - 1]).role != "assistant":
            builder.call(placed._replace(last=placed.nodes[at - 1], nodes=placed.nodes[:at]), response=wire)
    return builder.build()


@contextmanager
def encoded(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Collect how many characters the tokeniser is given, text by text."""
    lengths: list[int] = []
    plain = tiktoken.Encoding.encode_ordinary

    def spy(self: Any, text: str) -> list[int]:
        lengths.append(len(text))
        return plain(self, text)

    with monkeypatch.context() as patched:
        patched.setattr(tiktoken.Encoding, "encode_ordinary", spy)
        yield lengths


def characters(made: Wire) -> int:
    return sum(len(str(value)) for wire in made["messages"] for value in wire.values() if isinstance(value, str))


@pytest.mark.parametrize("kind", CUTTING)
def test_a_text_is_tokenised_once_however_often_it_is_sent(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred calls resend the history; what is tokenised is the history once, and short stand-ins."""
    made = told("openai_chat", kind, 200)
    transcript = recorded("openai_chat", made)
    assert len(transcript.calls) > 200
    budget = {"soft_limit": 1500}
    with encoded(monkeypatch) as lengths:
        replay(transcript, {"budget": budget, "strategy": {"kind": "full_history"}})
    assert sum(lengths) < 1.2 * characters(made)
    with encoded(monkeypatch) as again:
        replay(transcript, {"budget": budget, "strategy": {"kind": kind, **CUTTING[kind]}})
    assert sum(again) < 3 * characters(made)
    assert max(again, default=0) < 1000
    with encoded(monkeypatch) as third:
        replay(transcript, {"budget": budget, "strategy": {"kind": kind, **CUTTING[kind]}})
    assert sum(third) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_session_tokenises_what_is_new(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = told("openai_chat", f"session {kind}", 60)
    config = {"budget": {"soft_limit": 900}, "strategy": {"kind": kind, **CUTTING.get(kind, {})}}
    session = ContextRuntime.load(config).session()
    session.assemble({**made, "messages": made["messages"][:-3]})
    with encoded(monkeypatch) as lengths:
        session.assemble(made)
    assert sum(lengths) < 3000


def work(run: Callable[[], object]) -> int:
    """How many functions, Python's and C's, are called."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


BUDGET = {"soft_limit": 900}


@pytest.mark.parametrize(("kind", "dialect"), PAIRS)
def test_twice_the_messages_are_twice_the_work_of_one_request(kind: str, dialect: str) -> None:
    config = {"model": {"dialect": dialect}, "budget": BUDGET, "strategy": {"kind": kind, **CUTTING.get(kind, {})}}
    runtime = ContextRuntime.load(config)
    half, whole = (told(dialect, f"{kind} {dialect} {steps}", steps) for steps in (60, 120))
    runtime.assemble(told(dialect, "what is made once a process", 10))
    first, second = (work(lambda made=made: runtime.assemble(made)) for made in (half, whole))
    assert second < 2.2 * first


@pytest.mark.parametrize(("kind", "dialect"), PAIRS)
def test_twice_the_calls_are_twice_the_work_of_a_replay(kind: str, dialect: str) -> None:
    """Each call resends all that was said before; none of it is read, counted or planned again."""
    config = {"budget": BUDGET, "strategy": {"kind": kind, **CUTTING.get(kind, {})}}
    half, whole = (recorded(dialect, told(dialect, f"{kind} {dialect} replay {n}", n)) for n in (50, 100))
    assert len(whole.calls) > 1.9 * len(half.calls)
    first, second = (work(lambda made=made: replay(made, config)) for made in (half, whole))
    assert second < 2.2 * first


HINTED = [("required_reserve", "facts"), ("required_reserve", "bindings"), ("tiered_injection", "active_tools")]


@pytest.mark.parametrize(("kind", "hint"), [*HINTED, ("keep_last", "facts"), ("span_triage", "bindings")])
def test_hints_that_change_do_not_have_everything_read_again(kind: str, hint: str) -> None:
    """Twice the calls, each with other hints, are twice the work: the assembler that is there takes them."""
    totals = []
    for steps in (100, 200):
        plain = recorded("openai_chat", told("openai_chat", f"{kind} {hint} {steps}", steps))
        calls = (replace(call, hints={hint: [f"word {at}"]}) for at, call in enumerate(plain.calls))
        hinted = replace(plain, calls=tuple(calls))
        config = {"budget": BUDGET, "strategy": {"kind": kind, **CUTTING.get(kind, {})}}
        replay(hinted, config)
        totals.append(work(lambda hinted=hinted, config=config: replay(hinted, config)))  # type: ignore[misc]
    assert totals[1] < 2.2 * totals[0]
