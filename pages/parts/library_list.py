"""The list of transcripts: search, open, rename, delete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import streamlit as st

from core.wording import counted
from storage import Library, Summary
from storage.guard import TOKEN, Access

from .edge import edge, escaped
from .library_selection import MOST_ROWS, SELECTING, delete_button, ticked
from .pager import pager
from .peaks import peaks
from .state import TRANSCRIPT

PAGE = 50
COMPARE, RENAME, DELETE = "Compare", "Rename", "Delete"

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
    """Show the list with its search."""
    search = st.text_input(
        "Search", key="search", bind="query-params", label_visibility="collapsed", icon=":material/search:",
        placeholder="Search titles, sources, formats, models and tags", type="search",
    )  # fmt: skip
    found = store.count(search)
    if not found:
        st.caption(f"No transcript has “{escaped(search)}” in its names or tags.")
        return
    above = st.container()
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        said = st.container(horizontal=True, vertical_alignment="center", gap="medium", width="content")
        pages = -(-found // PAGE)
        page = min(pages, pager(pages, "page")) if pages > 1 else 1
    summaries = store.list(search, PAGE, PAGE * (page - 1))
    with above:
        table = transcript_table(summaries, peaks(store, summaries))
        chosen = ticked(summaries, table, _columns()) if st.session_state.get(SELECTING) else None
        if chosen is None:
            _table(summaries, table)
    with said:
        _said(store, found, chosen)
    if chosen is None:
        _action(store, summaries)


def _said(store: Library, found: int, chosen: Sequence[Summary] | None) -> None:
    """Show how many there are, and what can be done with them; `chosen` are ticked, None where none can be."""
    way = "Click one to open it" if chosen is None else "Tick those to delete"
    st.caption(f"{counted(found, 'transcript')}. {way}.", width="content")
    st.toggle("Select several", key=SELECTING, width="content")
    if chosen is not None:
        delete_button(store, chosen)


def transcript_table(summaries: Sequence[Summary], peak: Sequence[int | None]) -> pd.DataFrame:
    """Return the list as a table."""
    return pd.DataFrame(
        {
            "title": [summary.title or "Untitled transcript" for summary in summaries],
            "format": [summary.format or summary.dialect for summary in summaries],
            "source": ["captured live" if summary.captured else summary.source for summary in summaries],
            "models": [", ".join(summary.models) or "not recorded" for summary in summaries],
            "calls": [summary.calls for summary in summaries],
            "messages": [summary.messages for summary in summaries],
            "peak window": pd.array(list(peak), dtype="Int64"),
            "tags": [list(summary.tags) for summary in summaries],
            "imported": [summary.imported_at for summary in summaries],
            "": [[COMPARE, RENAME, DELETE] for _ in summaries],
        }
    )


def _table(summaries: Sequence[Summary], table: pd.DataFrame) -> None:
    ids = [summary.id for summary in summaries]
    st.dataframe(
        table,
        key="transcripts",
        on_select=lambda: _open(ids),
        selection_mode=["single-row", "single-cell"],
        hide_index=True,
        height="content" if len(table) <= MOST_ROWS else 36 * MOST_ROWS,
        placeholder="not counted",
        column_config=_columns(),
        alt="Transcripts in the library",
    )


def _columns() -> dict[str, Any]:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    return {
        "title": text(width=270),
        "format": text(width=105),
        "source": text(width=150),
        "models": text(width=150),
        "calls": number(format="localized", width=50),
        "messages": number(format="localized", width=74),
        "peak window": number(format="localized", help="Tokens of the largest prompt as sent.", width=92),
        "tags": st.column_config.MultiselectColumn(width=72),
        "imported": st.column_config.DatetimeColumn(format="D MMM YYYY", width=92),
        "": st.column_config.ButtonColumn(type="tertiary", width=46, key="row_action"),
    }


def _open(ids: Sequence[int]) -> None:
    """Open what was clicked (callback)."""
    chosen = st.session_state["transcripts"].selection
    rows = [*chosen.rows, *(cell[0] for cell in chosen.cells)]
    if rows and rows[0] < len(ids):
        st.switch_page("inspect_transcript.py", query_params={TRANSCRIPT: str(ids[rows[0]])})


def _action(store: Library, summaries: Sequence[Summary]) -> None:
    """Do what was chosen in a row's menu."""
    click = st.session_state.get("row_action")
    if click is None or click.row >= len(summaries):
        return
    summary = summaries[click.row]
    if click.label == COMPARE:
        st.switch_page("compare.py", query_params={TRANSCRIPT: str(summary.id)})
    elif click.label == RENAME:
        _rename(store, summary)
    elif click.label == DELETE:
        _delete(store, summary)


@st.dialog("Rename")
def _rename(store: Library, summary: Summary) -> None:
    title = st.text_input("Title", summary.title, key="new_title", max_chars=200)
    tags = st.text_input("Tags, separated by commas", ", ".join(summary.tags), key="new_tags")
    if st.button("Save", key="rename_now", type="primary", disabled=not title.strip()):
        with edge():
            store.rename(summary.id, title)
            store.tag(summary.id, tags.split(","))
            st.rerun()


@st.dialog("Delete this transcript?")
def _delete(store: Library, summary: Summary) -> None:
    st.markdown(f"**{escaped(summary.title)}**")
    st.caption(f"{counted(summary.calls, 'call')}, {counted(summary.messages, 'message')}. This cannot be undone.")
    if st.button("Delete", key="delete_now", type="primary"):
        with edge():
            store.delete(summary.id)
            st.rerun()


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
