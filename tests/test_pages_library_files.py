"""The Library page with many transcripts of one file: their row, and the list of the file."""

from __future__ import annotations

import json
from dataclasses import replace

from core.readers import read
from pages.parts import peaks
from pages.parts.library_rows import calls_of, ids_of, title_of
from storage import FileGroup, Library
from tests.pages_app import Open, page, run, sample_database, shown, store

__all__ = ["page", "sample_database", "store"]


def chat(number: int) -> str:
    said = [("user", f"question {number}"), ("assistant", f"answer {number}")]
    return json.dumps([{"role": role, "content": text} for role, text in said])


HISTORY = ".aider.chat.history.md"


def add_chats(store: Library, number: int, source: str = HISTORY) -> list[int]:
    """Add chats of one file, and return their ids, the last one first."""
    known = store.count()
    chats = [read(chat(known + place)).transcripts[0] for place in range(number)]
    return [store.add(replace(one, source=source)).id for one in chats][::-1]


def test_many_chats_of_one_file_are_one_row(page: Open, store: Library) -> None:
    add_chats(store, 320)
    app = page("library.py")
    table = app.dataframe[0].value
    assert len(table) == 5 and "page" not in app.session_state
    first = table.iloc[0]
    assert (first["title"], first["source"], first["calls"]) == ("▸ 320 transcripts of one file", HISTORY, 320)
    assert [list(menu) for menu in table[""][:2]] == [["Open", "Delete"], ["Compare", "Rename", "Delete"]]
    assert "324 transcripts, many of one file as one row. Click one to open it." in shown(app)
    app = page("library.py", search="support")
    assert "1 transcript. Click one to open it." in shown(app)


def test_a_file_is_opened_searched_and_left(page: Open, store: Library) -> None:
    ids = add_chats(store, 120)
    app = page("library.py", file=HISTORY, file_page="3")
    assert "120 transcripts. Click one to open it." in shown(app) and f"**{HISTORY}**" in shown(app)
    assert list(app.dataframe[0].value["title"]) == [store.summary(number).title for number in ids[100:]]
    app.text_input(key="search").set_value("question 7")
    table = run(app).dataframe[0].value
    assert {"question 7", "question 71"} <= set(table["title"]) and set(table["source"]) == {HISTORY}
    app.text_input(key="search").set_value("support")
    run(app)
    assert f"No transcript of the file “{HISTORY}” has “support” in its names or tags." in shown(app)
    app.button(key="all_files").click()
    assert "1 transcript. Click one to open it." in shown(run(app))
    assert "file" not in app.query_params


def test_a_file_of_which_nothing_is_left_says_so(page: Open) -> None:
    app = page("library.py", file="gone.json")
    assert "No transcript of the file “gone.json” is here." in shown(app)
    assert [button.key for button in app.button if button.key == "all_files"] == ["all_files"]


def test_the_peak_of_a_file_is_known_once_each_of_it_is_counted(store: Library) -> None:
    add_chats(store, 10)
    (group,) = (row for row in store.rows() if isinstance(row, FileGroup))
    summaries = [store.summary(number) for number in group.ids]
    counted = [peaks.count_peak(store, summary) for summary in summaries[1:]]
    assert peaks.peaks(store, [group]) == [None]
    counted.append(peaks.count_peak(store, summaries[0]))
    assert peaks.peaks(store, [group]) == [max(counted)] and min(counted) > 0


def test_what_a_menu_asks_is_done_to_the_row_that_was_shown(page: Open, store: Library) -> None:
    app = page("library.py")
    shown_first = store.list(limit=1)[0]
    add_chats(store, 1)
    app.session_state["asked_of_row"] = "Delete", shown_first
    run(app)
    assert f"**{shown_first.title}**" in shown(app)
    assert app.dataframe[0].value["title"][0] != shown_first.title


def test_a_group_stands_for_all_of_its_transcripts(store: Library) -> None:
    ids = add_chats(store, 10)
    rows = store.rows()
    assert ids_of(rows[:2]) == [*ids, store.list(limit=1, offset=10)[0].id]
    assert calls_of(rows[:1]) == 10
    assert title_of(rows[0]) == "▸ 10 transcripts of one file"
