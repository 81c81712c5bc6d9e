"""Choosing by a click: a bar of a chart chooses a call, a row of a table chooses a span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from .charts import PICKED
from .state import CALL, SPAN

ROW = 35
"""Pixels of a row of one line."""


def picked_call(key: str) -> None:
    """Take a click on a chart as the choice of a call (callback).

    The chart keeps all calls that were clicked; a click on one of them again takes it out. Either way the one that
    differs from before is the one that was clicked now.
    """
    rows = (st.session_state[key].get("selection") or {}).get(PICKED) or []
    now = [int(row["call"]) for row in rows]
    before = st.session_state.get(f"{key}_before", [])
    clicked = [call for call in now if call not in before] or [call for call in before if call not in now]
    st.session_state[f"{key}_before"] = now
    if clicked:
        st.session_state[CALL] = clicked[-1]


def table_choice(
    table: pd.DataFrame,
    ids: Sequence[str],
    *,
    key: str,
    fallback: int,
    height: int,
    columns: Mapping[str, Any],
    alt: str,
    row_height: int | None = None,
) -> int:
    """Show a table of spans, and return the chosen row: the span that the address names, else `fallback`.

    Span ids stay the same from call to call, so that walking through the calls stays with one span.
    """
    named = st.query_params.get(SPAN)
    chosen = ids.index(named) if named in ids else fallback
    event = st.dataframe(
        table,
        key=key,
        on_select=lambda: _remember(key, ids),
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [chosen]}},
        hide_index=True,
        height=height if ((row_height or ROW) + 1) * len(ids) + ROW > height else "content",
        row_height=row_height,
        column_config=dict(columns),
        placeholder="",
        alt=alt,
    )
    rows = event.selection.rows
    return rows[0] if rows and rows[0] < len(ids) else chosen


def _remember(key: str, ids: Sequence[str]) -> None:
    rows = st.session_state[key].selection.rows
    if rows and rows[0] < len(ids):
        st.query_params[SPAN] = ids[rows[0]]
