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

from core.wording import counted
from storage import Library

from .library_dialogs import TOLD, delete_several
from .library_rows import MENU, Row, ids_of

MOST_ROWS = 18
"""Rows shown at once; the others are scrolled to."""
SELECTING = "selecting"


def ticked(rows: Sequence[Row], table: pd.DataFrame, columns: Mapping[str, Any]) -> list[Row]:
    """Show the list with a box before each row instead of a menu behind it; return the rows that are ticked."""
    shown = " ".join(map(str, ids_of(rows)))
    event = st.dataframe(
        table.drop(columns=MENU),
        key=f"ticked_{hashlib.blake2b(shown.encode(), digest_size=8).hexdigest()}",
        on_select="rerun",
        selection_mode="multi-row",
        hide_index=True,
        height="content" if len(table) <= MOST_ROWS else 36 * MOST_ROWS,
        placeholder="not counted",
        column_config=columns,
        alt="Transcripts in the library, to be selected",
    )
    return [rows[row] for row in sorted(event.selection.rows) if row < len(rows)]


def delete_button(store: Library, chosen: Sequence[Row]) -> None:
    """Show the button that deletes what is ticked."""
    number = len(ids_of(chosen))
    label = f"Delete {counted(number, 'transcript')}" if chosen else "Delete"
    if st.button(label, icon=":material/delete:", key="delete_several", disabled=not chosen):
        delete_several(store, chosen)


def say_deleted() -> None:
    """Say what the last deletion of several did."""
    if told := st.session_state.pop(TOLD, None):
        st.toast(told, icon=":material/check:")
