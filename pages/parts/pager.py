"""Numbered pages to walk through, wide enough that no number hides.

Streamlit's pagination measures its own width to decide how many numbers it shows. Where it is as wide as its content,
two to four pages measure too little, and it hides some of them: there it is given the width of five.
"""

from __future__ import annotations

import streamlit as st

FEWEST_MEASURED = 5
WIDTH = 250
"""Pixels that hold five numbers and both arrows."""
MOST_VISIBLE = 5


def pager(pages: int, key: str, default: int = 1) -> int:
    """Show the numbers of pages with arrows, kept in the address under `key`; return the chosen one, from 1."""
    return st.pagination(
        pages,
        default=default,
        key=key,
        bind="query-params",
        max_visible_pages=MOST_VISIBLE,
        width="content" if pages >= FEWEST_MEASURED else WIDTH,
    )
