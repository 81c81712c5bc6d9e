"""Many transcripts of one file are one row of a list, with all that is known of them, and no other is among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from storage.database import open_engine
from storage.file_groups import FEWEST_GROUPED, NO_FILES, FileGroup
from storage.library import Library
from storage.listing import Summary
from storage.recorder import Exchange
from tests.stores import library, openai_body, openai_response, openai_run, url

__all__ = ["library", "url"]

HISTORY = ".aider.chat.history.md"


def add(library: Library, source: str, number: int, **changes: Any) -> list[int]:
    """Add transcripts of a file, and return their ids in the order of a list: the last one first."""
    known = library.count()
    made = [
        replace(openai_run(2, session=f"{source} {known + place}"), source=source, title=f"chat {place}", **changes)
        for place in range(number)
    ]
    return [library.add(one).id for one in made][::-1]


def ids_of(rows: Any) -> list[list[int]]:
    return [list(row.ids) if isinstance(row, FileGroup) else [row.id] for row in rows]


def test_many_transcripts_of_a_file_are_one_row(library: Library) -> None:
    before = add(library, "before.json", 1)
    ids = add(library, HISTORY, FEWEST_GROUPED)
    after = add(library, "after.json", 1)
    first, group, last = library.rows()
    assert (isinstance(first, Summary), isinstance(last, Summary)) == (True, True)
    assert ids_of([first, last]) == [after, before]
    assert isinstance(group, FileGroup)
    assert (group.source, list(group.ids)) == (HISTORY, ids)
    assert group.sha256s == tuple(library.summary(number).sha256 for number in ids)
    assert (group.calls, group.messages) == (2 * FEWEST_GROUPED, 3 * FEWEST_GROUPED)
    assert (group.formats, group.models, group.tags) == (("openai_chat",), ("gpt-4o",), ())
    assert group.imported_at == library.summary(ids[0]).imported_at
    assert (library.count(), library.count_rows()) == (FEWEST_GROUPED + 2, 3)


def test_fewer_stand_one_by_one(library: Library) -> None:
    ids = add(library, HISTORY, FEWEST_GROUPED - 1)
    assert library.rows() == library.list()
    assert ids_of(library.rows()) == [[number] for number in ids]
    assert library.count_rows() == len(ids)


@pytest.mark.parametrize("source", NO_FILES)
def test_what_came_without_a_file_stands_one_by_one(source: str, library: Library) -> None:
    ids = add(library, source, FEWEST_GROUPED + 1)
    assert ids_of(library.rows()) == [[number] for number in ids]


def test_captured_runs_stand_one_by_one_and_are_in_no_file(library: Library) -> None:
    for number in range(FEWEST_GROUPED + 1):
        library.append_call(Exchange(openai_body(1, note=str(number)), openai_response(0), session=str(number)))
    captured = library.list()
    assert len({summary.source for summary in captured}) == 1
    assert library.rows() == captured
    ids = add(library, captured[0].source, FEWEST_GROUPED)
    assert ids_of(library.rows())[0] == ids
    assert library.count("", captured[0].source) == FEWEST_GROUPED
    assert [summary.id for summary in library.list(file=captured[0].source)] == ids


def test_a_group_has_the_formats_models_and_tags_of_all(library: Library) -> None:
    first = add(library, HISTORY, 1, format="aider")
    add(library, HISTORY, FEWEST_GROUPED)
    library.tag(first[0], ["slow", "billing"])
    (group,) = library.rows()
    assert isinstance(group, FileGroup)
    assert (group.formats, group.tags) == (("openai_chat", "aider"), ("billing", "slow"))


def test_a_search_groups_what_it_finds(library: Library) -> None:
    ids = add(library, HISTORY, 12)
    other = add(library, "other.json", 1)
    assert ids_of(library.rows("chat")) == [other, ids]
    assert ids_of(library.rows("aider")) == [ids]
    assert ids_of(library.rows("aider 1")) == [[ids[0]], [ids[1]], [ids[10]]]  # the chats 11, 10 and 1
    assert library.count_rows("aider 1") == 3
    library.tag(ids[4], ["urgent"])
    assert ids_of(library.rows("urgent")) == [[ids[4]]]
    assert (library.rows("nowhere"), library.count_rows("nowhere")) == ([], 0)


def test_a_file_can_be_listed_alone(library: Library) -> None:
    ids = add(library, HISTORY, 12)
    add(library, "other.json", 3)
    assert [summary.id for summary in library.list("", 5, 5, HISTORY)] == ids[5:10]
    assert [summary.id for summary in library.list("1", file=HISTORY)] == [ids[0], ids[1], ids[10]]
    assert (library.count("", HISTORY), library.count("1", HISTORY)) == (12, 3)
    assert library.list(file="nowhere") == []
    assert library.list(file="") == []


def test_a_group_stands_where_its_last_change_stands(library: Library) -> None:
    old = add(library, HISTORY, FEWEST_GROUPED)
    other = add(library, "other.json", 1)
    assert ids_of(library.rows()) == [other, old]
    new = add(library, HISTORY, 1)
    assert ids_of(library.rows()) == [[*new, *old], other]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """A library for many examples, each of which empties it first."""
    opened = Library(open_engine(f"sqlite:///{tmp_path_factory.mktemp('groups') / 'store.db'}"))
    yield opened
    opened.engine.dispose()


@given(files=st.lists(st.sampled_from("abcd"), max_size=60), page=st.integers(1, 7))
@settings(max_examples=25, deadline=None)
def test_pages_of_rows_hold_each_transcript_once(shared: Library, files: list[str], page: int) -> None:
    shared.delete_all(summary.id for summary in shared.list("", 1000))
    for number, file in enumerate(files):
        shared.add(replace(openai_run(1, session=str(number)), source=file))
    rows = [row for start in range(0, len(files) + 1, page) for row in shared.rows("", page, start)]
    assert rows == list(shared.rows("", 1000))
    assert shared.count_rows() == len(rows)
    assert sorted(number for ids in ids_of(rows) for number in ids) == sorted(one.id for one in shared.list("", 1000))
    grouped = {file for file in files if files.count(file) >= FEWEST_GROUPED}
    assert sorted(row.source for row in rows if isinstance(row, FileGroup)) == sorted(grouped)


def test_a_large_group_takes_no_more_queries_than_a_small_one(library: Library) -> None:
    seen: list[str] = []
    event.listen(library.engine, "before_cursor_execute", lambda *said: seen.append(said[2]))
    numbers = []
    for more in (FEWEST_GROUPED, 200):
        add(library, HISTORY, more)
        seen.clear()
        library.rows()
        numbers.append(len(seen))
    assert numbers[0] == numbers[1] > 0
