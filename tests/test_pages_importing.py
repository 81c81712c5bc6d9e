"""Imports that go on beside the page: what a tab that comes back sees of them, and what is said where one stops."""

from __future__ import annotations

import sys
import tempfile
import threading

import pytest
from sqlalchemy import text

from core.transcript import Transcript
from pages.parts import importing
from pages.parts.importing import ImportRun, Upload
from storage import Added, Library
from storage.importing import import_path
from tests.pages_app import SAMPLES, Open, page, run, sample_database, shown, store
from tests.test_pages_library import chat

__all__ = ["page", "sample_database", "store"]


def test_a_tab_that_was_reloaded_sees_the_import_that_it_began(page: Open, store: Library) -> None:
    begun = ImportRun(store, [Upload(f"{number}.json", chat(number)) for number in range(5)])
    importing.remember(begun)
    begun.run()
    app = page("library.py", **{"import": begun.name})
    assert "5 transcripts from 5 files." in shown(app)
    assert "import" not in app.query_params


def test_an_import_whose_server_ended_is_told_with_what_is_stored(page: Open, store: Library) -> None:
    for summary in store.list():
        store.delete(summary.id)
    import_path(store, SAMPLES / "long_chat.json")
    app = page("library.py", **{"import": "20200102T030405-120-abcdef01"})
    said = app.warning[0].value.replace("\\", "")
    assert "The import of 120 files that began on 2 Jan 2020 at 03:04 (UTC) did not end" in said
    assert "1 transcript came in since it began" in said
    app.button(key="close_interrupted").click()
    app = run(app)
    assert not app.warning and "import" not in app.query_params
    app = page("library.py", **{"import": "29990102T030405-1-abcdef01"})
    assert "nothing came in" in app.warning[0].value


def test_an_import_whose_peaks_cannot_be_counted_is_told_all_the_same(page: Open, store: Library) -> None:
    begun = ImportRun(store, [Upload("a.json", chat(1))])
    importing.remember(begun)
    begun.run()
    with store.engine.begin() as connection:
        connection.execute(text("ALTER TABLE head RENAME TO lost"))
    app = page("library.py", **{"import": begun.name})
    assert "1 transcript with 1 call, read as openai_chat." in shown(app)
    assert "import" not in app.query_params
    assert not app.file_uploader[0].disabled


class Full(Library):
    """A library that takes one transcript and then has no room."""

    def add(self, transcript: Transcript) -> Added:
        if self.count("answer") or self.count("question"):
            raise MemoryError
        return super().add(transcript)


def test_what_stops_an_import_is_told_once_beside_what_came_in(page: Open, store: Library) -> None:
    begun = ImportRun(Full(store.engine), [Upload(f"{number}.json", chat(number)) for number in range(3)])
    importing.remember(begun)
    begun.run()
    app = page("library.py", **{"import": begun.name})
    assert "0.json" in app.success[0].value.replace("\\", "")
    assert app.error[0].value.replace("\\", "") == (
        "The import stopped after 1 of 3 files (MemoryError). Each transcript that came in is whole."
        " Add the same files again: what is here already is recognised."
    )
    assert "import" not in app.query_params
    app.button(key="close_imported").click()
    assert not run(app).error


def test_imports_of_many_sessions_are_remembered_at_once(store: Library) -> None:
    sets = [[ImportRun(store, ()) for _ in range(1500)] for _ in range(4)]
    for begun in (begun for runs in sets for begun in runs):
        begun.run()
    failed: list[Exception] = []

    def session(runs: list[ImportRun]) -> None:
        try:
            for begun in runs:
                importing.remember(begun)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=session, args=(runs,)) for runs in sets]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert failed == []
    found = [begun for runs in sets for begun in runs if importing.import_named(begun.name)]
    assert len(found) == importing.MOST_KEPT + 1


@pytest.mark.parametrize("name", ["x", "20200102T030405", "20209902T030405-1-a"])
def test_a_name_that_no_import_has_is_passed_over(page: Open, name: str) -> None:
    app = page("library.py", **{"import": name})
    assert not app.warning and "import" not in app.query_params


def test_a_fault_of_the_machine_is_told_of_the_file(store: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere/at/all")
    begun = ImportRun(store, [Upload("a.json", chat(1))])
    begun.run()
    [file] = begun.work.files
    assert file.refused and "no such file or directory" in file.problems[0]


ABSURD = (
    b'{"request": {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}, "response": {"choices":'
    b' [{"message": {"role": "assistant", "content": "yo"}}], "usage": {"prompt_tokens": 10000000000000000000000000}}}'
)


def test_an_absurd_figure_in_one_file_stops_no_other(page: Open, store: Library) -> None:
    begun = ImportRun(store, [Upload("absurd.json", ABSURD), Upload("b.json", chat(1))])
    importing.remember(begun)
    begun.run()
    assert (begun.failure, begun.work.new) == (None, 2)
    said = shown(page("library.py", **{"import": begun.name})).replace("\\", "")
    assert "Read with a remark:" in said
    assert "absurd.json: the usage has 10000000000000000000000000, which is no number of tokens (input)." in said


def test_the_head_says_what_of_the_file_was_not_read(page: Open, store: Library) -> None:
    begun = ImportRun(store, [Upload("a.jsonl", chat(1) + b"\n{bad\n")])
    begun.run()
    [opened] = begun.work.ids
    app = page("inspect_transcript.py", transcript=str(opened))
    assert any("1 of 2 lines of the file was not read." in caption.value for caption in app.caption)
