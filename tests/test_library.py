"""What is stored comes back as it was, once, without secrets, and whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from core.identity import transcript_sha256
from core.transcript import ROOT as NONE
from core.transcript import Call, Transcript, Usage
from core.wire import dump
from storage.database import open_engine
from storage.errors import NotFound, StorageError
from storage.library import Library
from tests.stores import ROOT, anthropic_run, bodies, library, openai_run, rows, url

__all__ = ["library", "url"]

SECRET = "sk-ant-" + "a1B2c3D4e5F6g7H8i9J0" * 3


@pytest.mark.parametrize("make", [openai_run, anthropic_run])
def test_a_transcript_comes_back_as_it_was(make, library: Library) -> None:
    transcript = make()
    added = library.add(transcript)
    loaded = library.get(added.id)
    assert added.new
    assert added.masked == {}
    assert loaded == transcript
    assert list(map(dump, bodies(loaded))) == list(map(dump, bodies(transcript)))
    assert library.summary(added.id).sha256 == transcript_sha256(transcript)


WIRE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """Any transcript that hangs together: a tree of any JSON objects, calls anywhere in it, any bytes sent."""
    wires = st.dictionaries(st.text(max_size=4), WIRE, max_size=3)
    parents = [draw(st.integers(NONE, node - 1)) for node in range(draw(st.integers(0, 6)))]
    heads = draw(st.lists(wires, min_size=1, max_size=3))
    bare = Transcript("openai_chat", tuple(draw(wires) for _ in parents), tuple(parents), tuple(heads), ())
    calls = []
    for _ in range(draw(st.integers(0, 4))):
        captured, history = (draw(st.integers(NONE, len(parents) - 1)) for _ in range(2))
        sent = draw(st.dictionaries(st.integers(0, 5), wires, max_size=2))
        length = len(bare.path(captured))
        calls.append(
            Call(
                head=draw(st.integers(0, len(heads) - 1)),
                history=history,
                captured=captured,
                response=draw(st.none() | wires),
                usage=Usage(*(draw(st.none() | st.integers(0, 10**6)) for _ in range(5))),
                at=draw(st.none() | st.datetimes(timezones=st.just(UTC))),
                variants=tuple(sorted((at, wire) for at, wire in sent.items() if at < length)),
                hints=draw(st.none() | wires),
            )
        )
    return replace(bare, calls=tuple(calls))


@pytest.fixture(scope="module")
def shared() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        opened = Library(open_engine(f"sqlite:///{folder}/store.db"))
        yield opened
        opened.engine.dispose()


@settings(max_examples=150)
@given(transcript=transcripts())
def test_any_transcript_comes_back_as_it_was(shared: Library, transcript: Transcript) -> None:
    added = shared.add(transcript)
    loaded = shared.get(added.id)
    assert dump(list(loaded.messages)) == dump(list(transcript.messages))
    assert dump(list(loaded.heads)) == dump(list(transcript.heads))
    assert [call_as_text(call) for call in loaded.calls] == [call_as_text(call) for call in transcript.calls]
    assert loaded.parents == transcript.parents
    assert transcript_sha256(loaded) == transcript_sha256(transcript) == shared.summary(added.id).sha256
    assert not shared.add(loaded).new


def call_as_text(call: Call) -> str:
    """A call with everything in it; text, since NaN does not equal itself and dictionaries forget their order."""
    values = [call.head, call.history, call.captured, call.response, call.model, call.variants, call.hints]
    return f"{dump(values)} {call.usage} {call.at} {call.fidelity}"


def test_an_import_is_stored_once(library: Library) -> None:
    first = library.add(openai_run())
    before = rows(library)
    again = library.add(replace(openai_run(), title="Another title", source="copy.jsonl", notes=("other",)))
    assert (again.id, again.new) == (first.id, False)
    assert rows(library) == before
    assert library.summary(first.id).title == "A run"


@pytest.mark.parametrize(
    "change",
    [
        lambda run: replace(run, session="another"),
        lambda run: replace(run, calls=run.calls[:-1]),
        lambda run: replace(run, heads=({**run.heads[0], "temperature": 1},)),
        lambda run: replace(run, messages=(*run.messages[:-1], {"role": "user", "content": "other"})),
        lambda run: replace(run, calls=(*run.calls[:-1], replace(run.calls[-1], model="other"))),
        lambda run: replace(run, calls=(*run.calls[:-1], replace(run.calls[-1], usage=Usage(1)))),
        lambda run: replace(run, calls=(*run.calls[:-1], replace(run.calls[-1], response={"role": "assistant"}))),
        lambda run: replace(run, calls=(*run.calls[:-1], replace(run.calls[-1], hints={"goal": "x"}))),
        lambda run: replace(run, calls=(*run.calls[:-1], replace(run.calls[-1], variants=((0, {"a": 1}),)))),
        lambda run: replace(run, calls=(*run.calls[:-1], replace(run.calls[-1], captured=0))),
        lambda run: replace(run, messages=tuple(dict(reversed(wire.items())) for wire in run.messages)),
    ],
)
def test_what_differs_is_another_transcript(change, library: Library) -> None:
    assert library.add(openai_run()).new
    added = library.add(change(openai_run()))
    assert added.new
    assert library.get(added.id) == change(openai_run())


def test_transcripts_share_what_is_equal_in_them(library: Library) -> None:
    library.add(openai_run(40))
    before = rows(library)
    library.add(replace(openai_run(40), session="another"))
    after = rows(library)
    assert after["content"] == before["content"]
    assert after["message"] == 2 * before["message"]


def test_secrets_never_reach_the_file(tmp_path: Path) -> None:
    library = Library(open_engine(f"sqlite:///{tmp_path / 'store.db'}"))
    leaky = {"role": "user", "content": f"use {SECRET} please"}
    transcript = replace(
        openai_run(), title=SECRET, source=f"{SECRET}.json", notes=(SECRET,), meta={"env": SECRET}, session=SECRET,
        messages=(leaky, *openai_run().messages[1:]), heads=({"messages": [leaky], "api_key": SECRET},),
    )  # fmt: skip
    added = library.add(transcript)
    assert added.masked == {"anthropic-key": 8}
    assert not library.add(transcript).new
    assert "[secret:anthropic-key:" in dump(library.get(added.id).captured(0))
    for path in tmp_path.iterdir():
        assert SECRET.encode() not in path.read_bytes(), path.name


def test_names_that_no_database_takes_are_repaired(library: Library) -> None:
    added = library.add(replace(openai_run(), title="a\x00b\ud83dc", source="\ud800", session="x\x00"))
    summary = library.summary(added.id)
    assert (summary.title, summary.source, summary.session) == ("a\ufffdb\ufffdc", "\ufffd", "x\ufffd")
    assert summary.sha256 == transcript_sha256(library.get(added.id))


def test_a_list_shows_what_a_transcript_is_without_loading_it(library: Library) -> None:
    added = library.add(openai_run(4, session="s-7"))
    library.tag(added.id, ["slow", "billing"])
    (summary,) = library.list()
    assert summary == library.summary(added.id)
    assert (summary.id, summary.title, summary.source, summary.session) == (added.id, "A run", "run.jsonl", "s-7")
    assert (summary.dialect, summary.format, summary.captured) == ("openai_chat", "openai_chat", False)
    assert (summary.calls, summary.messages, summary.peak_input) == (4, 7, 103)
    assert (summary.models, summary.tags, summary.notes) == (("gpt-4o",), ("billing", "slow"), ())
    assert summary.started == datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    assert summary.imported_at == summary.updated_at


def many(library: Library) -> list[int]:
    names = ["alpha run", "Beta run", "gamma 100%", "delta_4"]
    return [library.add(replace(openai_run(2, session=name), title=name, source="")).id for name in names]


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("", [3, 2, 1, 0]),
        ("run", [1, 0]),
        ("BETA", [1]),
        ("run alpha", [0]),
        ("0%", [2]),
        ("a_4", [3]),
        ("a%a", []),
        ("gpt-4o", [3, 2, 1, 0]),
        ("urgent", [0]),
        ("urgent beta", []),
        ("nowhere", []),
        ("' OR 1=1 --", []),
    ],
)
def test_a_search_looks_into_names_and_tags(search: str, found: list[int], library: Library) -> None:
    ids = many(library)
    library.tag(ids[0], ["urgent"])
    assert [summary.id for summary in library.list(search)] == [ids[place] for place in found]
    assert library.count(search) == len(found)


def test_a_long_list_comes_in_pages(library: Library) -> None:
    ids = many(library)
    assert [summary.id for summary in library.list(limit=3)] == ids[:0:-1]
    assert [summary.id for summary in library.list(limit=3, offset=3)] == ids[:1]
    assert library.list(limit=3, offset=4) == []


def test_titles_and_tags_can_be_changed(library: Library) -> None:
    added = library.add(openai_run())
    library.rename(added.id, "  Better  ")
    library.tag(added.id, ["b", " a  c ", "b", "  "])
    assert library.summary(added.id).title == "Better"
    assert library.summary(added.id).tags == ("a c", "b")
    assert library.get(added.id) == replace(openai_run(), title="Better")
    library.tag(added.id, ["z"])
    assert library.summary(added.id).tags == ("z",)
    assert library.tags() == ["z"]


def test_a_name_that_is_too_long_is_refused_and_none_is_cut(library: Library) -> None:
    added = library.add(replace(openai_run(), title="t" * 300))
    assert library.summary(added.id).title == "t" * 300  # as it was recorded
    library.tag(added.id, ["kept"])
    with pytest.raises(StorageError, match=r"^The title has 201 characters, 1 more than the 200 that fit\. Shorten it"):
        library.rename(added.id, "x" * 201)
    with pytest.raises(StorageError, match=r"^A tag has 1,200 characters, 1,000 more than the 200 that fit\."):
        library.tag(added.id, ["short", "x" * 1200])
    assert library.summary(added.id).title == "t" * 300
    assert library.summary(added.id).tags == ("kept",)
    library.rename(added.id, f"  {'y' * 200}  ")
    library.tag(added.id, ["z" * 200])
    assert (library.summary(added.id).title, library.summary(added.id).tags) == ("y" * 200, ("z" * 200,))


@pytest.mark.parametrize("what", ["get", "summary", "delete"])
def test_what_is_not_there_is_said(what: str, library: Library) -> None:
    with pytest.raises(NotFound, match="There is no transcript 99 here"):
        getattr(library, what)(99)
    for change in (lambda: library.rename(99, "x"), lambda: library.tag(99, ["x"]), lambda: library.tag(99, [])):
        with pytest.raises(NotFound):
            change()


def test_deleting_takes_everything_that_no_other_transcript_uses(library: Library) -> None:
    empty = rows(library)
    first = library.add(openai_run(40)).id
    alone = rows(library)
    second = library.add(replace(openai_run(60), heads=anthropic_run().heads)).id
    library.tag(second, ["x"])
    library.analyses.put("c", {b"k" * 16: {"quote": "text"}}, transcript=second)
    library.delete(second)
    assert rows(library) == alone
    assert library.get(first) == openai_run(40)
    library.delete(first)
    assert rows(library) == empty
    assert set(empty.values()) == {0}


def test_several_are_deleted_at_once_and_no_other(library: Library) -> None:
    kept = library.add(openai_run(40)).id
    alone = rows(library)
    others = [library.add(openai_run(length)).id for length in (60, 80)]
    assert library.delete_all([*others, others[0], 99]) == 2
    assert rows(library) == alone
    assert library.get(kept) == openai_run(40)
    assert library.delete_all([]) == library.delete_all(others) == 0


def test_several_are_deleted_all_or_none(library: Library) -> None:
    ids = [library.add(openai_run(length)).id for length in (40, 60, 80)]
    before, seen = rows(library), 0

    def fail(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        nonlocal seen
        seen += statement.startswith("DELETE FROM transcript")
        if seen == 3:
            raise OSError("the disk is gone")

    event.listen(library.engine, "before_cursor_execute", fail)
    with pytest.raises((OSError, StorageError)):
        library.delete_all(ids)
    event.remove(library.engine, "before_cursor_execute", fail)
    assert rows(library) == before
    assert library.delete_all(ids) == 3


def test_an_id_never_comes_back(library: Library) -> None:
    first = library.add(openai_run()).id
    library.delete(first)
    assert library.add(openai_run()).id > first


def test_analyses_are_kept_by_text_and_counter(library: Library) -> None:
    transcript = library.add(openai_run()).id
    hashes = [number.to_bytes(16) for number in range(3000)]
    library.analyses.put("one", {key: {"tokens": place} for place, key in enumerate(hashes)}, transcript)
    library.analyses.put("two", {hashes[7]: [1, "\ud83d", {"b": 1, "a": 2}]})
    library.analyses.put("one", {hashes[0]: {"tokens": 99}})
    found = library.analyses.get("one", [*hashes, b"unknown", hashes[0]])
    assert found == {key: {"tokens": place} for place, key in enumerate(hashes)}
    assert library.analyses.get("two", hashes) == {hashes[7]: [1, "\ud83d", {"b": 1, "a": 2}]}
    assert library.analyses.get("three", hashes) == {}
    library.delete(transcript)
    assert library.analyses.get("one", hashes) == {}
    assert list(library.analyses.get("two", hashes)) == [hashes[7]]


def test_analyses_of_a_transcript_that_was_deleted_meanwhile_are_let_go(library: Library) -> None:
    transcript = library.add(openai_run()).id
    library.delete(transcript)
    library.analyses.put("one", {b"k" * 16: 1}, transcript)
    assert library.analyses.get("one", [b"k" * 16]) == {}


KILLED = """
import os, signal, sys
from sqlalchemy import event
from storage.database import open_engine
from storage.library import Library
from tests.stores import openai_run

library, left = Library(open_engine(sys.argv[1])), int(sys.argv[2])

def count(*_):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

event.listen(library.engine, "before_cursor_execute", count)
event.listen(library.engine, "commit", count)
library.add(openai_run(300, session="killed"))
"""


def test_a_process_killed_in_the_middle_of_an_import_leaves_nothing_of_it(tmp_path: Path) -> None:
    """Kill it before each statement in turn, the last one being the commit, until it gets through."""
    given = f"sqlite:///{tmp_path / 'store.db'}"
    library = Library(open_engine(given))
    library.add(openai_run())
    before = rows(library)
    for statements in range(30):
        ran = subprocess.run([sys.executable, "-c", KILLED, given, str(statements)], cwd=ROOT, env=os.environ)
        if ran.returncode == 0:
            break
        assert ran.returncode == -signal.SIGKILL
        assert rows(library) == before
    assert statements >= 6
    (newest, _) = library.list()
    assert library.get(newest.id) == openai_run(300, session="killed")
    assert not library.add(openai_run(300, session="killed")).new


def test_threads_that_add_the_same_transcript_store_it_once(library: Library) -> None:
    results: list[Any] = []

    def work(number: int) -> None:
        results.append(library.add(openai_run(20)))
        results.append(library.add(openai_run(20, session=str(number))))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(result.new for result in results) == 9
    assert library.count() == 9


def test_a_database_that_fails_is_a_sentence(tmp_path: Path) -> None:
    library = Library(open_engine(f"sqlite:///{tmp_path / 'store.db'}"))
    with library.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE message")
    with pytest.raises(StorageError, match="failed: no such table: message"):
        library.add(openai_run())
    assert library.count() == 0
