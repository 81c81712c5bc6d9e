"""Several transcripts chosen in the list, and deleted with one confirmation.

A table knows its chosen rows by their places. Its key names the transcripts that it shows, so that a list which
changes meanwhile begins without a choice, and nothing is deleted that was not ticked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.wording import agreeing, counted
from storage import Library, Summary

from .edge import edge, escaped

MOST_ROWS = 18
"""Rows shown at once; the others are scrolled to."""
MOST_NAMED = 8
"""Titles in the confirmation."""
TOLD, SELECTING = "deleted_told", "selecting"
MENU = ""
"""The column of the menus."""


def ticked(summaries: Sequence[Summary], table: pd.DataFrame, columns: Mapping[str, Any]) -> list[Summary]:
    """Show the list with a box before each transcript instead of a menu behind it; return those that are ticked."""
    shown = " ".join(str(summary.id) for summary in summaries)
    event = st.dataframe(
        table.drop(columns=MENU),
        key=f"ticked_{hashlib.blake2b(shown.encode(), digest_size=8).hexdigest()}",
        on_select="rerun",
        selection_mode="multi-row",
        hide_index=True,
        height="content" if len(table) <= MOST_ROWS else 36 * MOST_ROWS,
        placeholder="not counted",
        column_config={name: column for name, column in columns.items() if name != MENU},
        alt="Transcripts in the library, to be selected",
    )
    return [summaries[row] for row in sorted(event.selection.rows) if row < len(summaries)]


def delete_button(store: Library, chosen: Sequence[Summary]) -> None:
    """Show the button that deletes what is ticked, and say what it did."""
    label = f"Delete {counted(len(chosen), 'transcript')}" if chosen else "Delete"
    if st.button(label, icon=":material/delete:", key="delete_several", disabled=not chosen):
        _confirm(store, chosen)
    if told := st.session_state.pop(TOLD, None):
        st.toast(told, icon=":material/check:")


@st.dialog("Delete these transcripts?")
def _confirm(store: Library, chosen: Sequence[Summary]) -> None:
    number = counted(len(chosen), "transcript")
    calls = counted(sum(summary.calls for summary in chosen), "call")
    titles = [escaped(summary.title or "Untitled transcript") for summary in chosen[:MOST_NAMED]]
    more = [counted(len(chosen) - MOST_NAMED, "more transcript")] if len(chosen) > MOST_NAMED else []
    st.markdown("\n".join(f"- {title}" for title in [*titles, *more]))
    st.caption(f"{number} with {calls} {agreeing(len(chosen), 'is', 'are')} deleted. This cannot be undone.")
    if st.button(f"Delete {number}", key="delete_several_now", type="primary"):
        with edge():
            st.session_state[TOLD] = deletion(len(chosen), store.delete_all(summary.id for summary in chosen))
            st.rerun()


def deletion(asked: int, deleted: int) -> str:
    """Return what is said of a deletion; some may have been deleted by somebody else meanwhile."""
    said = counted(deleted, "transcript", "was", "were")
    gone = asked - deleted
    return f"{said} deleted." + (f" {gone:,} {agreeing(gone, 'was', 'were')} gone already." if gone else "")
