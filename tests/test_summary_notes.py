"""A summariser that fails is told with the result and in the log, the same for a session and for a single request."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest

from core.runtime import ContextRuntime, Result
from core.summaries import Range
from core.wire import dump
from tests.test_summaries import KINDS, chat, config, fails_first

LOGGER = "core.summary_notes"


def raises(_asked: Range) -> str:
    raise RuntimeError("the model is not there")


def writes(_asked: Range) -> str:
    return "short"


def nothing(_asked: Range) -> str:
    return None  # type: ignore[return-value]


def too_much(_asked: Range) -> str:
    return "words " * 2000


def as_much(asked: Range) -> str:
    return asked.text


def assembled(kind: str, summarizer: Callable[[Range], str], messages: int = 11) -> Result:
    return ContextRuntime.load(config(kind), summarizer=summarizer).assemble(chat(messages))


@pytest.mark.parametrize(
    ("summarizer", "why"),
    [
        (raises, "RuntimeError"),
        (nothing, "it wrote nothing"),
        (lambda _asked: " \n", "it wrote nothing"),
        (too_much, "not smaller than what it replaces"),
        (as_much, "not smaller than what it replaces"),
    ],
)
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("summarize_and_keep", "6 of 6 texts ({}); their extracts were sent."),
        ("tiered_injection", "1 of 1 text ({}); its extract was sent."),
    ],
)
def test_every_failure_is_told_once(kind: str, said: str, summarizer: Callable[[Range], str], why: str) -> None:
    result = assembled(kind, summarizer)
    assert result.notes == (f"The summariser failed for {said.format(why)}",)


def test_a_summary_that_is_smaller_and_yet_too_long() -> None:
    given = config("tiered_injection", 1500)
    given["strategy"]["summary_tokens"] = 100
    runtime = ContextRuntime.load(given, summarizer=lambda _asked: "words " * 200)
    said = "The summariser failed for 1 of 1 text (longer than strategy.summary_tokens); its extract was sent."
    assert runtime.assemble(chat(61)).notes == (said,)


def test_of_several_reasons_each_has_its_number() -> None:
    answers = iter([raises, writes, nothing, raises, writes, writes, writes, writes])
    result = assembled("summarize_and_keep", lambda asked: next(answers)(asked))
    said = "The summariser failed for 3 of 8 texts (2 x RuntimeError, 1 x it wrote nothing); their extracts were sent."
    assert result.notes == (said,)


def test_texts_without_a_smaller_extract_are_sent_as_they_are() -> None:
    long = [message["content"] for message in chat(9)["messages"]]
    said = [long[0], "a b c d e", *long[2:]]
    body = {"messages": [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(said)]}
    result = ContextRuntime.load(config("summarize_and_keep"), summarizer=raises).assemble(body)
    assert said[1] in [message["content"] for message in result.request["messages"]]
    (note,) = result.notes
    assert note.startswith("The summariser failed for 6 of 6 texts (RuntimeError); their extracts were sent, or they")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("messages", [3, 11])
def test_where_nothing_failed_nothing_is_told(kind: str, messages: int, caplog: pytest.LogCaptureFixture) -> None:
    assert assembled(kind, writes, messages).notes == ()
    assert ContextRuntime.load(config(kind)).assemble(chat(messages)).notes == ()
    assert caplog.records == []


@pytest.mark.parametrize("kind", KINDS)
def test_notes_stand_beside_those_on_hints(kind: str) -> None:
    runtime = ContextRuntime.load(config(kind), summarizer=raises)
    on_hints, on_summaries = runtime.assemble(chat(11), {"pins": ["m99.0"]}).notes
    assert on_hints.startswith("The hint 'pins'") and on_summaries.startswith("The summariser failed for")


@pytest.mark.parametrize("kind", KINDS)
def test_the_log_has_one_warning_a_request_with_the_exception(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    runtime = ContextRuntime.load(config(kind), summarizer=raises)
    session = runtime.session()
    first = session.assemble(chat(11))
    (record,) = caplog.records
    assert (record.name, record.levelno, record.getMessage()) == (LOGGER, logging.WARNING, first.notes[0])
    assert record.exc_info is not None and str(record.exc_info[1]) == "the model is not there"
    assert session.assemble(chat(11)).notes == runtime.assemble(chat(11)).notes == first.notes
    assert len(caplog.records) == 1, "what failed is not asked for again, and needs no second warning"
    second = session.assemble(chat(13))
    assert [record.getMessage() for record in caplog.records] == [first.notes[0], second.notes[0]]


@pytest.mark.parametrize("summarizer", [nothing, too_much])
@pytest.mark.parametrize("kind", KINDS)
def test_the_log_tells_also_what_raised_nothing(
    kind: str, summarizer: Callable[[Range], str], caplog: pytest.LogCaptureFixture
) -> None:
    result = assembled(kind, summarizer)
    assert [(record.getMessage(), record.exc_info) for record in caplog.records] == [(result.notes[0], None)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_session_notes_what_a_single_request_notes(kind: str, times: int) -> None:
    runtime = ContextRuntime.load(config(kind), summarizer=fails_first(times))
    session = runtime.session()
    seen: list[Any] = []
    for messages in (9, 9, 11, 13, 13):
        live, alone = session.assemble(chat(messages)), runtime.assemble(chat(messages))
        assert (live.notes, dump(live.request)) == (alone.notes, dump(alone.request))
        seen.append(live.notes)
    assert any(seen)


def test_the_warning_is_that_of_the_thread_that_asked(caplog: pytest.LogCaptureFixture) -> None:
    runtime = ContextRuntime.load(config("summarize_and_keep"), summarizer=raises)
    thread = threading.Thread(target=runtime.assemble, args=(chat(11),))
    thread.start()
    thread.join()
    assert len(caplog.records) == 1
    assert runtime.assemble({"messages": chat(3)["messages"]}).notes == ()
    assert len(caplog.records) == 1


def test_a_failure_for_what_was_dropped_in_the_end_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    runtime = ContextRuntime.load(config("summarize_and_keep", 120), summarizer=raises)
    result = runtime.assemble(chat(9))
    assert (result.notes, result.request["messages"]) == ((), chat(9)["messages"][-3:])
    said = "The summariser failed for texts that were not sent in the end."
    assert [record.getMessage() for record in caplog.records] == [said]
    assert caplog.records[0].exc_info is not None
