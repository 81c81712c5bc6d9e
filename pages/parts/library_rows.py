"""The rows of the list of transcripts: one each, or one for many of the same file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.wording import counted
from storage import FileGroup, Summary

Row = Summary | FileGroup
OPEN, COMPARE, RENAME, DELETE = "Open", "Compare", "Rename", "Delete"
MENU = ""
"""The column of the menus."""
ACTION = "row_action"
"""The key of what was chosen in a menu."""


def ids_of(rows: Iterable[Row]) -> list[int]:
    """Return the transcripts that rows stand for."""
    return [number for row in rows for number in (row.ids if isinstance(row, FileGroup) else (row.id,))]


def calls_of(rows: Iterable[Row]) -> int:
    """Return the number of calls of all transcripts that rows stand for."""
    return sum(row.calls for row in rows)


def title_of(row: Row) -> str:
    """Return what names a row."""
    if isinstance(row, FileGroup):
        return f"▸ {counted(len(row.ids), 'transcript')} of one file"
    return row.title or "Untitled transcript"


def row_table(rows: Sequence[Row], peak: Sequence[int | None]) -> pd.DataFrame:
    """Return rows as a table."""
    return pd.DataFrame(
        {
            "title": [title_of(row) for row in rows],
            "format": [_format(row) for row in rows],
            "source": [_source(row) for row in rows],
            "models": [", ".join(row.models) or "not recorded" for row in rows],
            "calls": [row.calls for row in rows],
            "messages": [row.messages for row in rows],
            "peak window": pd.array(list(peak), dtype="Int64"),
            "tags": [list(row.tags) for row in rows],
            "imported": [row.imported_at for row in rows],
            MENU: [[OPEN, DELETE] if isinstance(row, FileGroup) else [COMPARE, RENAME, DELETE] for row in rows],
        }
    )


def row_columns(on_action: Callable[[], None] | None = None) -> dict[str, Any]:
    """Return how the columns of the table are shown; `on_action` is called when something is chosen in a menu."""
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    columns = {
        "title": text(width=270),
        "format": text(width=105),
        "source": text(width=150),
        "models": text(width=150),
        "calls": number(format="localized", width=50),
        "messages": number(format="localized", width=74),
        "peak window": number(format="localized", help="Tokens of the largest prompt as sent.", width=92),
        "tags": st.column_config.MultiselectColumn(width=72),
        "imported": st.column_config.DatetimeColumn(format="D MMM YYYY", width=92),
    }
    if on_action is None:
        return columns
    return {**columns, MENU: st.column_config.ButtonColumn(type="tertiary", width=46, on_click=on_action, key=ACTION)}


def _format(row: Row) -> str:
    return ", ".join(row.formats) if isinstance(row, FileGroup) else row.format or row.dialect


def _source(row: Row) -> str:
    return "captured live" if isinstance(row, Summary) and row.captured else row.source
