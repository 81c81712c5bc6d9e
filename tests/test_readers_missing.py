"""A call whose request names what the provider keeps is partial, whether it was read from a file or captured."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.readers.run import Run
from core.redact import Privacy
from core.transcript import Fidelity, Transcript
from storage.database import open_engine
from storage.library import Exchange, Library
from tests.agent_sessions import item
from tests.chats import lines, only
from tests.private_libraries import library, privacy

__all__ = ["library", "privacy"]

TALK = [{"role": "user", "parts": [{"text": "q"}]}]
REFERENCE = {"type": "item_reference", "id": "rs_1"}
INPUT = {"model": "gpt-x", "input": "hi"}
EARLIER = "earlier items of the conversation are kept by the provider and not recorded"
TEMPLATE = "the stored prompt that is named is kept by the provider and not recorded"
ITEMS = "items that are named by their ids are kept by the provider and not recorded"
CACHED = "the cached content that the prompt begins with is kept by the provider and not recorded"

LACKING: list[tuple[dict[str, Any], list[str]]] = [
    ({**INPUT, "previous_response_id": "r0"}, [EARLIER]),
    ({**INPUT, "conversation": "conv_1"}, [EARLIER]),
    ({**INPUT, "conversation": {"id": "conv_1"}}, [EARLIER]),
    ({**INPUT, "prompt": {"id": "pmpt_1", "variables": {"a": "b"}}}, [TEMPLATE]),
    ({**INPUT, "input": [item("user", "x"), REFERENCE, item("user", "y")]}, [ITEMS]),
    ({**INPUT, "input": [REFERENCE], "prompt": {"id": "p"}, "previous_response_id": "r0"}, [EARLIER, TEMPLATE, ITEMS]),
    ({"contents": TALK, "cachedContent": "cachedContents/abc"}, [CACHED]),
    ({"contents": TALK, "cached_content": "cachedContents/abc"}, [CACHED]),
    ({"contents": "q", "model": "gemini-x", "cachedContent": "cachedContents/abc"}, [CACHED]),
]
WHOLE: list[dict[str, Any]] = [
    {**INPUT, "previous_response_id": None, "conversation": None, "prompt": None},
    {"contents": TALK, "cachedContent": ""},
    {"model": "gpt-x", "messages": [{"role": "user", "content": "hi"}], "prompt": {"id": "p"}, "conversation": "c"},
]
BODIES = [*LACKING, *((body, []) for body in WHOLE)]


def state(transcript: Transcript) -> tuple[set[Fidelity], list[str]]:
    return {call.fidelity for call in transcript.calls}, list(transcript.notes)


def expected(notes: list[str]) -> tuple[set[Fidelity], list[str]]:
    return {Fidelity.PARTIAL if notes else Fidelity.CAPTURED}, notes


@pytest.mark.parametrize(("body", "notes"), BODIES)
def test_what_a_request_in_a_file_only_names_is_missing(body: dict[str, Any], notes: list[str]) -> None:
    assert state(only({"request": body, "response": None})) == expected(notes)
    alone = only(body)
    assert (alone.calls[-1].fidelity, list(alone.notes)) == (Fidelity.PARTIAL if notes else Fidelity.CAPTURED, notes)


@pytest.mark.parametrize(("body", "notes"), BODIES)
def test_what_a_captured_request_only_names_is_missing(
    body: dict[str, Any], notes: list[str], library: Library
) -> None:
    for session in ("", "s"):
        appended = library.append_call(Exchange(body, session=session))
        assert state(library.get(appended.transcript)) == expected(notes)


def test_what_is_missing_stays_known_when_a_captured_run_is_taken_up_again(
    library: Library, privacy: Privacy, tmp_path: Path
) -> None:
    library.append_call(Exchange({**INPUT, "prompt": {"id": "p"}}, session="s"))
    again = Library(open_engine(f"sqlite:///{tmp_path / 'store.db'}"), privacy)
    appended = again.append_call(
        Exchange({**INPUT, "input": [{"role": "user", "content": "hi"}, item("user", "so")]}, session="s")
    )
    transcript = again.get(appended.transcript)
    assert [call.fidelity for call in transcript.calls] == [Fidelity.PARTIAL, Fidelity.CAPTURED]
    assert transcript.notes == (TEMPLATE,)


def test_of_a_stored_prompt_only_its_name_is_kept_without_content(tmp_path: Path) -> None:
    library = Library(open_engine(f"sqlite:///{tmp_path / 'store.db'}"), Privacy(content=True))
    prompt = {"id": "pmpt_1", "variables": {"customer": "Ada Lovelace"}}
    appended = library.append_call(Exchange({**INPUT, "prompt": prompt}))
    kept = json.dumps(library.get(appended.transcript).captured(0)["prompt"])
    assert "pmpt_1" in kept
    assert not [word for word in ("customer", "Ada", "Lovelace") if word in kept]


def test_settings_of_googles_library_that_name_cached_content() -> None:
    body = {"model": "gemini-x", "contents": TALK, "config": {"cached_content": "cachedContents/abc", "top_k": 1}}
    transcript = only({"request": body, "response": None})
    assert state(transcript) == expected([CACHED])
    assert transcript.captured(0)["generationConfig"] == {"top_k": 1}


def test_calls_before_a_reference_lack_nothing() -> None:
    """Where one body shows many calls, each prompt is judged by what stands before its answer."""
    answers = [item("assistant", "one"), item("assistant", "two")]
    talk = [item("user", "a"), answers[0], item("user", "b"), REFERENCE, item("user", "c"), answers[1]]
    transcript = only({"model": "gpt-x", "input": [*talk, item("user", "d")]})
    kinds = [Fidelity.RECONSTRUCTED, Fidelity.RECONSTRUCTED, Fidelity.PARTIAL, Fidelity.PARTIAL]
    assert [call.fidelity for call in transcript.calls] == kinds
    assert transcript.notes == (ITEMS,)


@pytest.mark.parametrize("known", [Fidelity.PARTIAL, Fidelity.RECONSTRUCTED])
def test_a_completed_prompt_is_no_more_than_it_was(known: Fidelity) -> None:
    run = Run("openai_responses")
    run.add({"model": "gpt-x", "input": []}, [item("user", "hi")], fidelity=known, completed=True)
    assert run.builder.calls[0].fidelity is known
    assert run.notes() == ["what the provider kept of the conversation was put before what the requests sent"]


def test_an_item_of_an_earlier_request_that_stands_for_another_is_missing_in_a_completed_prompt() -> None:
    answer = {"id": "r1", "object": "response", "output": [item("assistant", "one")]}
    first = {"request": {"model": "gpt-x", "input": [REFERENCE]}, "response": answer}
    second = {"request": {"model": "gpt-x", "input": "b", "previous_response_id": "r1"}, "response": None}
    found = read(lines([first, second]))
    [transcript] = found.transcripts
    assert [call.fidelity for call in transcript.calls] == [Fidelity.PARTIAL, Fidelity.PARTIAL]
    assert ITEMS in transcript.notes
    assert EARLIER not in transcript.notes
