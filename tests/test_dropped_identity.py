"""What a library without content knows again: the transcript that it has, the run that a call goes on from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from core.dropped_content import FINGERPRINTS
from core.identity import transcript_sha256
from core.readers import read
from core.redact import Privacy
from core.wire import Wire
from storage.database import open_engine
from storage.library import Exchange, Library
from tests.private_libraries import library, privacy

__all__ = ["library", "privacy"]


def asked(*texts: str, system: str = "", model: str = "gpt-4o") -> Wire:
    """Return a request in which user and assistant take turns."""
    roles = ["user", "assistant"]
    lead = [{"role": "system", "content": system}] if system else []
    said = [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]
    return {"model": model, "messages": [*lead, *said]}


def answered(text: str) -> Wire:
    return {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": text}}]}


def added(library: Library, *texts: str, answer: str = "ok", **more: str) -> tuple[int, bool]:
    (transcript,) = read(json.dumps({"request": asked(*texts, **more), "response": answered(answer)})).transcripts
    became = library.add(transcript)
    return became.id, became.new


def test_transcripts_of_one_size_are_told_apart_and_the_same_is_known(library: Library) -> None:
    assert added(library, "red big car") == (1, True)
    assert added(library, "new old box") == (2, True)
    assert added(library, "red big car", answer="no") == (3, True)
    assert added(library, "red big car", system="red") == (4, True)
    assert added(library, "red big car", system="old") == (5, True)
    for number, more in enumerate([{}, {}, {"answer": "no"}, {"system": "red"}, {"system": "old"}]):
        text = "new old box" if number == 1 else "red big car"
        assert added(library, text, **more) == (number + 1, False)


def sent(library: Library, request: Wire, answer: str | None) -> int:
    return library.append_call(Exchange(request, None if answer is None else answered(answer))).transcript


def test_captured_calls_go_on_with_the_run_that_said_the_same(library: Library) -> None:
    assert sent(library, asked("red big car"), "yes sure") == 1
    assert sent(library, asked("new old box"), "no never") == 2
    assert sent(library, asked("red big car", "yes sure", "go on"), "one") == 1
    assert sent(library, asked("new old box", "no never", "go on"), "two") == 2
    assert sent(library, asked("new old box", "no never", "go on", "two", "and"), "two") == 2
    assert sent(library, asked("red big car"), "yes sure") == 3


def test_captured_calls_go_on_with_the_run_that_answered_the_same(library: Library) -> None:
    assert sent(library, asked("red"), "yes") == 1
    assert sent(library, asked("red"), "not") == 2
    assert sent(library, asked("red", "yes", "go"), None) == 1
    assert sent(library, asked("red", "not", "go"), None) == 2


@pytest.mark.parametrize("change", [{"system": "old"}, {"model": "gpt-4.1"}])
def test_captured_calls_go_on_with_the_run_of_the_same_system_prompt_and_model(
    change: dict[str, str], library: Library
) -> None:
    assert sent(library, asked("red", system="new"), "yes") == 1
    assert sent(library, asked("red", **{"system": "new", **change}), "yes") == 2
    assert sent(library, asked("red", "yes", "go", system="new"), "yes") == 1
    assert sent(library, asked("red", "yes", "go", **{"system": "new", **change}), "yes") == 2


def test_a_run_goes_on_in_another_process(library: Library, privacy: Privacy) -> None:
    assert sent(library, asked("red big car"), "yes sure") == 1
    assert sent(library, asked("new old box"), "no never") == 2
    other = Library(open_engine(str(library.engine.url)), privacy)
    assert sent(other, asked("red big car", "yes sure", "go on"), "one") == 1
    assert sent(library, asked("red big car", "yes sure", "go on", "one", "more"), "two") == 1
    assert added(other, "red") == (3, True)
    assert added(library, "red") == (3, False)
    loaded = library.get(1)
    assert (len(loaded.calls), len(loaded.messages)) == (3, 5)
    assert library.summary(1).sha256 == transcript_sha256(loaded)
    other.engine.dispose()


def test_a_resent_message_is_stored_once(library: Library) -> None:
    for length in (1, 3, 5):
        library.append_call(Exchange(asked(*["red", "yes", "old", "not", "new"][:length]), answered("yes"), "s"))
    loaded = library.get(1)
    assert (len(loaded.messages), len(loaded.heads), [call.captured for call in loaded.calls]) == (5, 1, [0, 2, 4])


def test_a_captured_run_and_the_same_from_a_file_have_one_name(library: Library) -> None:
    (transcript,) = read(json.dumps({"request": asked("red"), "response": answered("yes")})).transcripts
    library.add(transcript)
    library.append_call(Exchange(asked("red"), answered("yes"), transcript.session))
    imported, captured = library.get(1), library.get(2)
    assert (captured.heads, captured.messages) == (imported.heads, imported.messages)
    assert captured.calls[0].response == imported.calls[0].response


def test_two_libraries_have_two_keys(tmp_path: Path) -> None:
    names = []
    for name in ("one.db", "two.db"):
        library = Library(open_engine(f"sqlite:///{tmp_path / name}"), Privacy(content=True))
        added(library, "red")
        names.append(library.list()[0].sha256)
        library.engine.dispose()
    assert names[0] != names[1]


def test_without_the_setting_nothing_is_marked_and_no_key_is_drawn(tmp_path: Path) -> None:
    library = Library(open_engine(f"sqlite:///{tmp_path / 'store.db'}"))
    added(library, "red")
    sent(library, asked("red"), "yes")
    with library.engine.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM flag")).scalar_one() == 0
        contents = connection.execute(text("SELECT json FROM content")).scalars().all()
    assert not [content for content in contents if FINGERPRINTS in content]
    library.engine.dispose()


def test_a_run_without_words_has_a_title_that_says_so(tmp_path: Path) -> None:
    library = Library(open_engine(f"sqlite:///{tmp_path / 'store.db'}"), Privacy(content=True))
    sent(library, asked("red big car"), "yes")
    added(library, "red big car")
    titles = {summary.title for summary in library.list()}
    assert titles == {"capture without content", f"{library.get(2).format} without content"}
    library.engine.dispose()


def test_a_request_that_names_the_response_before_goes_on_with_its_run(library: Library) -> None:
    def sent(text: str, answer: str, name: str, before: str = "") -> int:
        items = [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": answer}]},
            {"type": "function_call", "call_id": name, "name": "find", "arguments": "{}"},
        ]
        named = {"previous_response_id": before} if before else {}
        request = {"model": "gpt-5", "input": text, **named}
        response = {"object": "response", "id": name, "output": items}
        return library.append_call(Exchange(request, response)).transcript

    assert sent("red big car", "yes", "r1") == 1
    assert sent("new old box", "not", "r2") == 2
    assert sent("go", "one", "r3", "r1") == 1
    assert sent("go", "two", "r4", "r2") == 2
    for number in (1, 2):
        loaded = library.get(number)
        assert (len(loaded.calls), len(loaded.messages)) == (2, 4)
        assert [FINGERPRINTS in wire for wire in loaded.messages] == [library.privacy.content] * 4


KEYS = (
    "role",
    "content",
    "type",
    "text",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "input",
    "output",
    "id",
    "parts",
)
SCALARS = st.sampled_from(
    [None, True, 0, -1.5, float("inf"), "", "user", "tool", "text", "tool_use", "\ud83d", "\0", "[1]"]
)
ANY = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)
BODY = st.one_of(
    st.fixed_dictionaries({key: st.lists(ANY, max_size=4)}, optional={"system": ANY, "tools": ANY, "model": SCALARS})
    for key in ("messages", "input", "contents")
)


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    path = tmp_path_factory.mktemp("odd") / "store.db"
    opened = Library(open_engine(f"sqlite:///{path}"), Privacy(content=True))
    yield opened
    opened.engine.dispose()


@settings(max_examples=150)
@given(st.lists(st.tuples(BODY, ANY), min_size=1, max_size=3))
def test_any_request_is_taken_with_all_its_messages(odd: Library, exchanges: list[tuple[Any, Any]]) -> None:
    for body, content in exchanges:
        answer = {"type": "message", "role": "assistant", "content": content}
        response = answer if "messages" in body else {"error": content}
        became = odd.append_call(Exchange(body, response))
        loaded = odd.get(became.transcript)
        sent = loaded.captured(became.call)
        (key,) = [name for name in ("messages", "input", "contents") if name in body]
        assert len(sent[key]) == len(body[key])
        assert transcript_sha256(loaded) == odd.summary(became.transcript).sha256
