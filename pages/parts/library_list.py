"""The list of transcripts: search, open one or a file of many, rename, delete."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from urllib.parse import urlsplit

import pandas as pd
import streamlit as st

from core.wording import counted
from storage import FileGroup, Library, Summary
from storage.guard import TOKEN, Access

from .edge import escaped
from .library_dialogs import delete, delete_several, rename
from .library_rows import ACTION, COMPARE, DELETE, OPEN, RENAME, Row, row_columns, row_table
from .library_selection import MOST_ROWS, SELECTING, delete_button, say_deleted, ticked
from .pager import pager
from .peaks import peaks
from .state import TRANSCRIPT, keep_in_address, know
from .texts import LONGEST_FILE_NAME, cut_name

PAGE = 50
FILE = "file"
"""The name in the address of the file that alone is listed."""
ALL_PAGE, FILE_PAGE = "page", "file_page"
"""Each list has a number of its own: the one of a file begins at its first page, whatever page led to it."""
ASKED = "asked_of_row"
"""What was chosen in a row's menu, and the row as it was shown: the list may have changed since."""

CAPTURE = """curl {server}/api/capture -H "Content-Type: application/json"{token} -d '{{
  "request":  {{"model": "gpt-4o", "messages": [{{"role": "user", "content": "Hello"}}]}},
  "response": {{"model": "gpt-4o", "choices": [{{"message": {{"role": "assistant", "content": "Hi!"}}}}]}}
}}'"""
"""Where its place is, and what names the token where one is asked for."""


def capture_command(page: str | None, port: int, asks_for_token: bool) -> str:
    """Return the command that sends a call to this server: where its page was opened, else on this machine."""
    address = urlsplit(page or "")
    server = f"{address.scheme}://{address.netloc}" if address.netloc else f"http://localhost:{port}"
    token = f' \\\n  -H "Authorization: Bearer ${TOKEN}"' if asks_for_token else ""
    return CAPTURE.format(server=server, token=token)


def transcript_list(store: Library) -> None:
    """Show the list with its search: all transcripts, or those of a file."""
    search = st.text_input(
        "Search", key="search", bind="query-params", label_visibility="collapsed", icon=":material/search:",
        placeholder="Search titles, sources, formats, models and tags", type="search",
    )  # fmt: skip
    file = st.query_params.get(FILE)
    if file is not None:
        _way_back(file)
    say_deleted()
    found = store.count(search, file)
    if not found:
        st.caption(_nothing(search, file))
        return
    above = st.container()
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        said = st.container(horizontal=True, vertical_alignment="center", gap="medium", width="content")
        number = store.count_rows(search) if file is None else found
        rows = _page(store, search, file, number)
    with above:
        table = row_table(rows, peaks(store, rows))
        chosen = ticked(rows, table, row_columns()) if st.session_state.get(SELECTING) else None
        if chosen is None:
            _table(rows, table, "transcripts" if file is None else "transcripts_of_file")
    with said:
        _said(store, found, number, chosen)
    _do(store)


def _way_back(file: str) -> None:
    """Say that only one file is listed, and lead back to all."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.button(
            "All transcripts", icon=":material/arrow_back:", key="all_files", type="tertiary",
            on_click=keep_in_address, args=(FILE, None),
        )  # fmt: skip
        st.markdown(f"**{escaped(cut_name(file, LONGEST_FILE_NAME))}**", width="content")


def _nothing(search: str, file: str | None) -> str:
    if file is None:
        return f"No transcript has “{escaped(search)}” in its names or tags."
    of_file = f"No transcript of the file “{escaped(file)}”"
    return f"{of_file} has “{escaped(search)}” in its names or tags." if search.strip() else f"{of_file} is here."


def _page(store: Library, search: str, file: str | None, number: int) -> Sequence[Row]:
    """Show the numbers of pages where there are several, and return the rows of the chosen one."""
    pages = -(-number // PAGE)
    page = min(pages, pager(pages, ALL_PAGE if file is None else FILE_PAGE)) if pages > 1 else 1
    first = PAGE * (page - 1)
    rows: Sequence[Row] = store.rows(search, PAGE, first) if file is None else store.list(search, PAGE, first, file)
    know(row for row in rows if isinstance(row, Summary))
    return rows


def _said(store: Library, found: int, rows: int, chosen: Sequence[Row] | None) -> None:
    """Show how many there are, and what can be done with them; `chosen` are ticked, None where none can be."""
    way = "Click one to open it" if chosen is None else "Tick those to delete"
    grouped = ", many of one file as one row" if rows < found else ""
    st.caption(f"{counted(found, 'transcript')}{grouped}. {way}.", width="content")
    st.toggle("Select several", key=SELECTING, width="content")
    if chosen is not None:
        delete_button(store, chosen)


def _table(rows: Sequence[Row], table: pd.DataFrame, key: str) -> None:
    st.dataframe(
        table,
        key=key,
        on_select=partial(_open, rows, key),
        selection_mode=["single-row", "single-cell"],
        hide_index=True,
        height="content" if len(table) <= MOST_ROWS else 36 * MOST_ROWS,
        placeholder="not counted",
        column_config=row_columns(partial(_ask, rows)),
        alt="Transcripts in the library",
    )


def _open(rows: Sequence[Row], key: str) -> None:
    """Open what was clicked (callback)."""
    chosen = st.session_state[key].selection
    places = [*chosen.rows, *(cell[0] for cell in chosen.cells)]
    if places and places[0] < len(rows):
        _open_row(rows[places[0]])


def _open_row(row: Row) -> None:
    if isinstance(row, FileGroup):
        st.session_state.pop(FILE_PAGE, None)  # of the file that was opened before
        keep_in_address(FILE, row.source)
    else:
        st.switch_page("inspect_transcript.py", query_params={TRANSCRIPT: str(row.id)})


def _ask(rows: Sequence[Row]) -> None:
    """Keep what was chosen in a row's menu (callback)."""
    click = st.session_state[ACTION]
    if click.row >= len(rows):
        return
    if click.label == OPEN:
        _open_row(rows[click.row])
    else:
        st.session_state[ASKED] = click.label, rows[click.row]


def _do(store: Library) -> None:
    """Do what was chosen in a row's menu."""
    label, row = st.session_state.pop(ASKED, ("", None))
    if isinstance(row, FileGroup):
        if label == DELETE:
            delete_several(store, [row])
    elif label == COMPARE:
        st.switch_page("compare.py", query_params={TRANSCRIPT: str(row.id)})
    elif label == RENAME:
        rename(store, row)
    elif label == DELETE:
        delete(store, row)


def welcome() -> None:
    """Say what can be put in, and how a service sends its calls."""
    st.markdown(
        "#### No transcripts yet\n"
        "Drop a recorded run above, or paste the JSON of a request: the list shows it at once, with what"
        " filled its window. Nothing leaves this machine, and secrets of known shapes are masked before anything is"
        " stored.\n\n"
        "A service can also send each request and response as it happens:"
    )
    asks = bool(Access.from_environment().token)
    st.code(capture_command(st.context.url, st.get_option("server.port"), asks), language="bash")
    if asks:
        st.caption(f"{TOKEN} is set here, so every call has to name its token.")
