"""Captured requests that name the response before them are one run, rebuilt as it is read from a log of the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.readers.builder import exact_keys
from core.transcript import Fidelity, Transcript
from core.wire import Wire
from storage import known_responses
from storage.database import open_engine
from storage.library import Exchange, Library
from tests.agent_sessions import function_call, function_output, item, reasoning
from tests.chats import lines, only

SYSTEM = {"role": "developer", "content": "be brief"}
FIRST = {"role": "user", "content": "list files"}
THOUGHT, CALL, RESULT, DONE = reasoning(), function_call("c1"), function_output("c1"), item("assistant", "one file")
COMPLETED = "what the provider kept of the conversation was put before what the requests sent"
EARLIER = "earlier items of the conversation are kept by the provider and not recorded"


def answered(name: str, *output: Any, tokens: int = 9) -> dict[str, Any]:
    usage = {"input_tokens": tokens, "output_tokens": 3}
    return {"id": name, "object": "response", "model": "gpt-x-1", "output": list(output), "usage": usage}


def asked(given: Any, before: str = "", **more: Any) -> dict[str, Any]:
    named = {"previous_response_id": before} if before else {}
    return {"model": "gpt-x", **more, "input": given, **named}


RUN = [
    {"request": asked([SYSTEM, FIRST], instructions="I"), "response": answered("r1", THOUGHT, CALL, tokens=10)},
    {"request": asked([RESULT], "r1"), "response": answered("r2", DONE, tokens=30)},
    {"request": asked("thanks", "r2"), "response": answered("r3", item("assistant", "bye"), tokens=50)},
]


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(open_engine(f"sqlite:///{tmp_path / 'store.db'}"))


def captured(library: Library, pairs: list[dict[str, Any]], session: str = "") -> list[Transcript]:
    for pair in pairs:
        library.append_call(Exchange(pair["request"], pair["response"], session))
    return [library.get(summary.id) for summary in reversed(library.list())]


def read(transcript: Transcript) -> Any:
    calls = [(call.fidelity, call.usage, call.response) for call in transcript.calls]
    return calls, [transcript.captured(call) for call in range(len(calls))], transcript.notes


@pytest.mark.parametrize("session", ["", "s"])
def test_a_captured_chain_is_what_is_read_from_its_log(library: Library, session: str) -> None:
    [live] = captured(library, RUN, session)
    assert read(live) == read(only(lines(RUN)))
    assert [call.fidelity for call in live.calls] == [Fidelity.CAPTURED, *[Fidelity.RECONSTRUCTED] * 2]
    whole = [SYSTEM, FIRST, THOUGHT, CALL, RESULT, DONE, {"role": "user", "content": "thanks"}]
    assert live.captured(2) == asked(whole)
    assert live.notes == (COMPLETED,)


@pytest.mark.parametrize("session", ["", "another"])
def test_a_call_of_no_or_another_session_gets_its_prompt_and_a_run_of_its_own(library: Library, session: str) -> None:
    captured(library, RUN[:2], "s")
    runs = captured(library, RUN[2:], session)
    assert {run.session: len(run.calls) for run in runs} == {"s": 2, session: 1}
    [alone] = [run for run in runs if run.session == session]
    assert alone.captured(0)["input"] == [
        SYSTEM,
        FIRST,
        THOUGHT,
        CALL,
        RESULT,
        DONE,
        {"role": "user", "content": "thanks"},
    ]


def test_two_requests_that_go_on_from_one_response_are_branches(library: Library) -> None:
    other = {"request": asked("or else", "r1"), "response": answered("r4", item("assistant", "no"))}
    [live] = captured(library, [*RUN, other])
    assert live.captured(3)["input"] == [SYSTEM, FIRST, THOUGHT, CALL, {"role": "user", "content": "or else"}]
    assert len(live.calls) == 4


def test_runs_of_other_responses_stay_apart(library: Library) -> None:
    other = [
        {"request": asked("hello"), "response": answered("x1", item("assistant", "hi"))},
        {"request": asked("more", "x1"), "response": answered("x2", item("assistant", "no"))},
    ]
    mixed = [RUN[0], other[0], RUN[1], other[1], RUN[2]]
    assert sorted(len(live.calls) for live in captured(library, mixed)) == [2, 3]


def test_what_is_not_known_stays_missing_and_named(library: Library) -> None:
    """The run begins in the middle, so all its prompts are partial, and they still are one run."""
    [live] = captured(library, RUN[1:])
    assert [call.fidelity for call in live.calls] == [Fidelity.PARTIAL, Fidelity.PARTIAL]
    assert live.captured(1) == asked([RESULT, DONE, {"role": "user", "content": "thanks"}], "r1")
    assert set(live.notes) == {EARLIER, COMPLETED}


def test_a_run_that_was_deleted_is_not_gone_on_from(library: Library) -> None:
    captured(library, RUN[:2])
    library.delete(library.list()[0].id)
    [live] = captured(library, RUN[2:])
    assert [call.fidelity for call in live.calls] == [Fidelity.PARTIAL]
    assert live.captured(0) == RUN[2]["request"]


def test_a_session_that_was_deleted_and_began_anew_is_not_mistaken(library: Library) -> None:
    captured(library, RUN[:2], "s")
    library.delete(library.list()[0].id)
    others = [{"request": asked(text), "response": None} for text in ("hello", "hello again")]
    [live] = captured(library, [*others, RUN[2]], "s")
    assert live.captured(2) == RUN[2]["request"]


def test_a_text_that_was_sent_as_a_list_comes_back_as_a_list(library: Library) -> None:
    listed = {"role": "user", "content": [{"type": "text", "text": "list files"}]}
    pairs = [
        {"request": asked([FIRST]), "response": answered("r1", DONE)},
        {"request": asked([listed, DONE, {"role": "user", "content": "and"}]), "response": answered("r2", DONE)},
        {"request": asked("thanks", "r2"), "response": None},
    ]
    [live] = captured(library, pairs)
    assert live.captured(0)["input"] == [FIRST]
    assert live.captured(2)["input"][0] == listed


def test_what_another_process_captured_stays_as_it_was_sent(library: Library, tmp_path: Path) -> None:
    captured(library, RUN[:1])
    again = Library(open_engine(f"sqlite:///{tmp_path / 'store.db'}"))
    first, second = captured(again, RUN[1:])
    assert (len(first.calls), len(second.calls)) == (1, 2)
    assert {call.fidelity for call in second.calls} == {Fidelity.PARTIAL}


def test_a_chain_costs_what_is_new(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 60 requests with two items each, all but the first name the response before them."""
    hashed: list[int] = []

    def counted(wires: Sequence[Wire]) -> list[bytes]:
        hashed.append(len(wires))
        return exact_keys(wires)

    monkeypatch.setattr(known_responses, "exact_keys", counted)
    pairs = [
        {
            "request": asked([{"role": "user", "content": f"question {at}"}], f"r{at - 1}" if at else ""),
            "response": answered(f"r{at}", item("assistant", f"answer {at}")),
        }
        for at in range(60)
    ]
    [live] = captured(library, pairs)
    assert len(live.captured(59)["input"]) == 119
    assert sum(hashed) <= 4 * 60
