"""Captured calls grow transcripts: each in its place, whoever sends them, at the price of what is new."""

from __future__ import annotations

import copy
import json
import threading
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from core.errors import RequestError
from core.identity import transcript_sha256
from core.readers import read
from core.transcript import Usage
from core.wire import dump
from storage.database import open_engine
from storage.errors import StorageError
from storage.library import Exchange, Library
from tests.stores import MORNING, answer, library, openai_body, openai_response, rows, url

__all__ = ["library", "url"]

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2


def exchange(call: int, session: str = "", response: bool = True, **body: Any) -> Exchange:
    """Return the exchange of a call of a growing run."""
    at = MORNING + timedelta(minutes=call)
    return Exchange(openai_body(call + 1, **body), openai_response(call) if response else None, session, None, at)


def check(library: Library, transcript: int) -> None:
    """A captured transcript must be as consistent as an imported one."""
    loaded, summary = library.get(transcript), library.summary(transcript)
    assert summary.sha256 == transcript_sha256(loaded)
    assert (summary.calls, summary.messages) == (len(loaded.calls), len(loaded.messages))
    keys = [(parent, dump(wire)) for parent, wire in zip(loaded.parents, loaded.messages, strict=True)]
    assert len(set(keys)) == len(keys)


def test_calls_of_a_session_grow_one_transcript(library: Library) -> None:
    appended = [library.append_call(exchange(call, "s-1")) for call in range(5)]
    assert [(one.transcript, one.call, one.masked) for one in appended] == [(1, call, {}) for call in range(5)]
    transcript = library.get(1)
    assert [transcript.captured(call) for call in range(5)] == [openai_body(call + 1) for call in range(5)]
    assert [call.response for call in transcript.calls] == [
        {"role": "assistant", "content": answer(call)} for call in range(5)
    ]
    assert [call.usage for call in transcript.calls] == [Usage(100 + call, 64, None, 7, 3) for call in range(5)]
    assert {call.model for call in transcript.calls} == {"gpt-4o-2024-08-06"}
    assert [call.at for call in transcript.calls] == [MORNING + timedelta(minutes=call) for call in range(5)]
    (summary,) = library.list()
    assert (summary.title, summary.captured, summary.calls, summary.messages) == ("question 0", True, 5, 9)
    assert (summary.session, summary.peak_input, summary.started) == ("s-1", 104, MORNING)
    check(library, 1)


def test_an_anthropic_response_counts_its_cached_tokens_as_input(library: Library) -> None:
    request = {"model": "claude-x", "max_tokens": 5, "system": "s", "messages": [{"role": "user", "content": "hi"}]}
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100, "output_tokens": 7}
    content = [{"type": "text", "text": "hello"}]
    response = {"type": "message", "role": "assistant", "model": "claude-x-1", "content": content, "usage": usage}
    appended = library.append_call(Exchange(request, response, "a"))
    (call,) = library.get(appended.transcript).calls
    assert call.usage == Usage(123, 100, 20, 7, None)
    assert call.response == {"role": "assistant", "content": content}
    assert library.get(appended.transcript).dialect == "anthropic"
    assert library.get(appended.transcript).captured(0) == request


def test_hints_are_kept_with_their_call(library: Library) -> None:
    hints = {"goal": "ship it", "facts": ["a", "b"]}
    appended = library.append_call(Exchange(openai_body(1), None, "s", hints))
    assert library.get(appended.transcript).calls[0].hints == hints


def test_secrets_are_masked_before_anything_is_written(tmp_path: Path) -> None:
    library = Library(open_engine(f"sqlite:///{tmp_path / 'store.db'}"))
    for call in range(3):
        body = openai_body(call + 1, system=f"key {SECRET}", note=f" {SECRET}")
        before = copy.deepcopy(body)
        response = {**openai_response(call), "system_fingerprint": SECRET}
        appended = library.append_call(Exchange(body, response, "s", {"goal": SECRET}))
        assert appended.masked == {"github-token": 4 + call}
        assert body == before
    check(library, appended.transcript)
    assert library.summary(appended.transcript).messages == 5
    for path in tmp_path.iterdir():
        assert SECRET.encode() not in path.read_bytes(), path.name


def test_a_call_without_a_session_joins_the_run_that_it_goes_on_from(library: Library) -> None:
    assert {library.append_call(exchange(call)).transcript for call in range(4)} == {1}
    assert library.append_call(exchange(0, note=" of another run")).transcript == 2
    assert library.append_call(exchange(1, note=" of another run")).transcript == 2
    assert library.append_call(exchange(4)).transcript == 1
    assert [summary.calls for summary in library.list()] == [5, 2]


@pytest.mark.parametrize("response", [True, False])
def test_a_session_with_a_name_holds_only_calls_that_name_it(response: bool, library: Library) -> None:
    named = library.append_call(exchange(0, "s-1", response)).transcript
    assert {library.append_call(exchange(call, "", response)).transcript for call in (0, 1)} == {named + 1}
    assert library.append_call(exchange(1, "s-1", response)).transcript == named
    assert library.append_call(exchange(2, "", response)).transcript == named + 1


@pytest.mark.parametrize("changed", [{"model": "gpt-4o-mini"}, {"system": "You judge."}])
def test_another_model_or_system_prompt_is_another_run(changed: dict[str, str], library: Library) -> None:
    first = library.append_call(exchange(0)).transcript
    assert library.append_call(exchange(1, **changed)).transcript != first
    assert library.append_call(exchange(1)).transcript == first


def test_the_same_first_prompt_starts_another_run(library: Library) -> None:
    """Two runs of one script begin alike. Each goes on where its own answer stands, not only in the newest."""
    first = library.append_call(exchange(0)).transcript
    reply = {"role": "assistant", "content": "quite another answer"}
    other = {**openai_response(0), "choices": [{"index": 0, "message": reply}]}
    second = library.append_call(Exchange(openai_body(1), other)).transcript
    assert second != first
    assert library.append_call(exchange(1)).transcript == first
    body = openai_body(2)
    body["messages"][-2] = reply
    assert library.append_call(Exchange(body, openai_response(1))).transcript == second


def test_a_prompt_sent_again_after_a_failure_is_the_same_run(library: Library) -> None:
    failed = {"error": {"type": "overloaded_error", "message": "Overloaded"}}
    first = library.append_call(Exchange(openai_body(1), failed))
    again = library.append_call(exchange(0))
    assert (again.transcript, again.call) == (first.transcript, 1)
    assert library.summary(first.transcript).notes == (
        'call 1 failed: {"error":{"type":"overloaded_error","message":"Overloaded"}}',
    )
    check(library, first.transcript)


def test_an_import_is_never_continued(library: Library) -> None:
    lines = "\n".join(json.dumps(openai_body(call + 1)) for call in range(2))
    (transcript,) = read(lines).transcripts
    imported = library.add(transcript).id
    assert library.append_call(exchange(2)).transcript != imported
    assert library.get(imported) == transcript


def test_a_response_that_was_not_captured_is_known_from_the_next_request(library: Library) -> None:
    for call in range(3):
        library.append_call(exchange(call, "s", response=False))
        check(library, 1)
    responses = [call.response for call in library.get(1).calls]
    assert responses == [*({"role": "assistant", "content": answer(call)} for call in range(2)), None]


@pytest.mark.parametrize("kept", [2, 3])
def test_a_rewritten_prompt_keeps_what_happened_before_as_its_history(kept: int, library: Library) -> None:
    """Its tail begins with a message that was sent before, or with the answer that was not sent yet."""
    for call in range(3):
        library.append_call(exchange(call, "s"))
    body = openai_body(4)
    system, *conversation = body["messages"]
    compacted = {**body, "messages": [system, {"role": "user", "content": "summary"}, *conversation[-kept:]]}
    library.append_call(Exchange(compacted, openai_response(3), "s"))
    transcript = library.get(1)
    assert transcript.captured(3) == compacted
    assert transcript.history(3) == body
    assert library.summary(1).notes == ("the prompt was rewritten before call 4",)
    check(library, 1)


def test_sessions_and_dialects_do_not_mix(library: Library) -> None:
    one = library.append_call(exchange(0, "s")).transcript
    two = library.append_call(exchange(0, "t")).transcript
    request = {"model": "claude-x", "max_tokens": 5, "system": "x", "messages": [{"role": "user", "content": "hi"}]}
    three = library.append_call(Exchange(request, None, "s")).transcript
    assert len({one, two, three}) == 3


@pytest.mark.parametrize("request_body", [{}, {"messages": None}, {"prompt": "x"}, {"messages": {}}])
def test_what_is_no_request_is_refused_and_leaves_nothing(request_body: dict[str, Any], library: Library) -> None:
    with pytest.raises(RequestError):
        library.append_call(Exchange(request_body, None, "s"))
    assert set(rows(library).values()) == {0}


def test_a_run_goes_on_in_another_process_and_after_a_restart(url: str) -> None:
    """Two libraries stand for two processes: each has runs in memory that the other one writes to."""
    one, two = Library(open_engine(url)), Library(open_engine(url))
    for call in range(8):
        appended = (one, two)[call % 2].append_call(exchange(call, "s", response=call % 3 > 0))
        assert (appended.transcript, appended.call) == (1, call)
    restarted = Library(open_engine(url))
    restarted.append_call(exchange(8, "s"))
    transcript = restarted.get(1)
    assert [transcript.captured(call) for call in range(9)] == [openai_body(call + 1) for call in range(9)]
    check(restarted, 1)
    for opened in (one, two, restarted):
        opened.engine.dispose()


def test_a_deleted_run_begins_anew(library: Library) -> None:
    library.append_call(exchange(0, "s"))
    library.delete(1)
    assert set(rows(library).values()) == {0}
    assert library.append_call(exchange(1, "s")).call == 0
    (summary,) = library.list()
    assert (summary.calls, summary.messages) == (1, 3)


def test_a_write_that_failed_is_not_remembered(tmp_path: Path) -> None:
    library = Library(open_engine(f"sqlite:///{tmp_path / 'store.db'}"))
    library.append_call(exchange(0, "s"))
    with library.engine.begin() as connection:
        connection.exec_driver_sql('ALTER TABLE "call" RENAME TO hidden')
    with pytest.raises(StorageError):
        library.append_call(exchange(1, "s"))
    with library.engine.begin() as connection:
        connection.exec_driver_sql('ALTER TABLE hidden RENAME TO "call"')
    assert library.append_call(exchange(1, "s")).call == 1
    assert library.get(1).captured(1) == openai_body(2)
    check(library, 1)


def test_many_runs_at_once_stay_apart(library: Library) -> None:
    """More runs than are kept in memory, taking turns."""
    for call in range(3):
        for run in range(20):
            appended = library.append_call(exchange(call, f"s-{run}", note=f" {run}"))
            assert (appended.transcript, appended.call) == (run + 1, call)
    for run in range(20):
        check(library, run + 1)


def test_threads_that_capture_one_session_at_once_lose_and_double_nothing(library: Library) -> None:
    barrier, appended = threading.Barrier(8), []

    def work(worker: int) -> None:
        barrier.wait()
        for call in range(5):
            body = openai_body(call + 1, note="" if call == 0 else f" of {worker}")
            appended.append(library.append_call(Exchange(body, None, "s", {"goal": f"{worker}-{call}"})))

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.call for one in appended) == list(range(40))
    transcript = library.get(1)
    goals = [call.hints["goal"] for call in transcript.calls if call.hints]
    assert len(set(goals)) == 40
    for worker in range(8):
        assert [goal for goal in goals if goal.startswith(f"{worker}-")] == [f"{worker}-{call}" for call in range(5)]
    check(library, 1)


def captured_as_file(exchanges: list[Exchange]) -> str:
    """Write exchanges as the file that a reader takes."""
    return "\n".join(
        json.dumps({"request": one.request, "response": one.response, "session": one.session, "at": one.at.isoformat()})
        for one in exchanges
        if one.at is not None
    )


@settings(max_examples=60)
@given(data=st.data())
def test_a_captured_run_is_the_one_that_a_reader_builds(data: st.DataObject, tmp_path_factory: Any) -> None:
    """Whatever a client does to its prompt between the calls: going on, repeating, dropping, editing, marking."""
    text_of = st.sampled_from(["a", "b", "c"])
    messages: list[dict[str, Any]] = [{"role": "user", "content": "start"}]
    exchanges = []
    for call in range(data.draw(st.integers(2, 6))):
        sent = copy.deepcopy(messages)
        if data.draw(st.booleans()):
            sent[-1]["content"] = [
                {"type": "text", "text": sent[-1]["content"], "cache_control": {"type": "ephemeral"}}
            ]
        reply = {"role": "assistant", "content": data.draw(text_of)}
        response = {**openai_response(call), "choices": [{"index": 0, "message": reply}]}
        body = {"model": "gpt-4o", "messages": [{"role": "system", "content": data.draw(text_of)}, *sent]}
        known = data.draw(st.booleans())
        exchanges.append(Exchange(body, response if known else None, "s", None, MORNING + timedelta(minutes=call)))
        messages = [*messages, reply, {"role": "user", "content": data.draw(text_of)}]
        dropped = data.draw(st.integers(0, len(messages) - 1)) if data.draw(st.integers(0, 3)) == 0 else 0
        messages = messages[dropped:]
    library = Library(open_engine(f"sqlite:///{tmp_path_factory.mktemp('run') / 'store.db'}"))
    appended = [library.append_call(one) for one in exchanges]
    captured = library.get(appended[0].transcript)
    (built,) = read(captured_as_file(exchanges)).transcripts
    assert (captured.heads, captured.parents, captured.calls) == (built.heads, built.parents, built.calls)
    assert captured.messages == built.messages
    assert captured.notes == built.notes
    assert transcript_sha256(captured) == transcript_sha256(built)
    library.engine.dispose()


NAMES = st.sampled_from(["role", "content", "type", "text", "tool_calls", "function", "id", "input", "cache_control"])
SCALARS = st.sampled_from([None, True, 0, -1.5, float("inf"), "", "user", "assistant", "tool", "text", "\ud83d", "\0"])
ANY = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner), max_leaves=8)
BODY = st.fixed_dictionaries(
    {"messages": st.lists(ANY | st.fixed_dictionaries({"role": SCALARS, "content": ANY}), max_size=4)},
    optional={"system": ANY, "tools": ANY, "model": SCALARS},
)
RESPONSE = st.none() | st.fixed_dictionaries({"choices": ANY, "usage": ANY, "model": SCALARS}) | st.builds(
    lambda content, usage: {"type": "message", "role": "assistant", "content": content, "usage": usage}, ANY, ANY
)  # fmt: skip


@settings(max_examples=150)
@given(st.lists(st.tuples(BODY, RESPONSE, st.sampled_from(["", "s"])), min_size=1, max_size=4))
def test_any_request_is_stored_as_it_was_sent(odd: Library, exchanges: list[Any]) -> None:
    for body, response, session in exchanges:
        appended = odd.append_call(Exchange(body, response, session))
        assert dump(odd.get(appended.transcript).captured(appended.call)) == dump(body)
    summary = odd.summary(appended.transcript)
    assert summary.sha256 == transcript_sha256(odd.get(appended.transcript))


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Any:
    opened = Library(open_engine(f"sqlite:///{tmp_path_factory.mktemp('odd') / 'store.db'}"))
    yield opened
    opened.engine.dispose()


def grown(library: Library, calls: int, marked: bool) -> int:
    """Capture a run of requests that resend everything, and return the size of what is in it, in bytes."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You are an agent. " * 40}]
    for call in range(calls):
        messages.append({"role": "user", "content": f"question {call}: " + "what about this part? " * 12})
        sent = [*messages[:-1], as_marked(messages[-1])] if marked else list(messages)
        reply = {"role": "assistant", "content": f"answer {call}: " + "it goes on like that. " * 12}
        response = {**openai_response(call), "choices": [{"index": 0, "message": reply, "finish_reason": "stop"}]}
        library.append_call(Exchange({"model": "gpt-4o", "messages": sent}, response, "s"))
        messages.append(reply)
    return len(dump(messages).encode())


def as_marked(message: dict[str, Any]) -> dict[str, Any]:
    """Spell a message as clients do that set a cache mark: a list of one part."""
    return {
        **message,
        "content": [{"type": "text", "text": message["content"], "cache_control": {"type": "ephemeral"}}],
    }


@pytest.mark.parametrize("marked", [False, True])
def test_a_thousand_growing_requests_cost_what_is_new(marked: bool, tmp_path: Path) -> None:
    """Whole prompts would need 500 times as much. With wandering marks a question is stored in two spellings."""
    file = tmp_path / "store.db"
    library = Library(open_engine(f"sqlite:///{file}"))
    size = grown(library, 1000, marked)
    counted = rows(library)
    library.engine.dispose()
    assert (counted["call"], counted["message"], counted["head"]) == (1000, 1999, 1)
    assert counted["content"] == (3002 if marked else 2001)
    assert counted["variant"] <= 2000
    assert file.stat().st_size <= 3 * size


def test_a_call_always_has_its_time(library: Library) -> None:
    appended = library.append_call(Exchange(openai_body(1)))
    at = library.get(appended.transcript).calls[0].at
    assert at is not None
    assert at.tzinfo is UTC


def test_messages_are_counted_once_in_the_table(library: Library) -> None:
    for call in range(10):
        library.append_call(exchange(call, "s"))
    with library.engine.begin() as connection:
        chains = connection.execute(text("SELECT count(DISTINCT chain), count(*) FROM message")).one()
    assert tuple(chains) == (19, 19)
