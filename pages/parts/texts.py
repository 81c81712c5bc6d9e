"""Texts of any size on a page: the beginning at once, the whole one click away."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import streamlit as st

from core.wire import dump
from core.wording import agreeing, counted

from .previews import MOST_CHARACTERS, as_text, preview, printable, without_base64

SHORT_CHARACTERS, SHORT_LINES = 300, 8
"""A text within both is shown in a box of its own height."""

MOST_SHOWN = 2_000_000
"""Characters that a browser can take; a longer text is for the download."""

WRAPPED = 100_000
"""Longer texts are not wrapped: a browser needs seconds for it."""


LONGEST_NAME = 30
"""Characters of a configuration's name in a legend or a table's head."""
LONGEST_NARROW_NAME = 29
"""The same in the head of a narrow column."""
NAME_END = 9
"""Characters of its end that stay: names often differ only there."""
LONGEST_FILE_NAME = 80


def cut_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name with its middle left out where it has more than `longest` characters."""
    if len(name) <= longest:
        return name
    return f"{name[: longest - NAME_END - 1].rstrip()}…{name[-NAME_END:].strip()}"


def named_column(name: str, narrow: bool = False, **settings: Any) -> Any:
    """Return a column of texts under a name; a long one is cut, and whole in the help of the table's head."""
    cut = cut_name(name, LONGEST_NARROW_NAME if narrow else LONGEST_NAME)
    return st.column_config.TextColumn(cut, help=None if cut == name else name, **settings)


def file_name(name: str) -> str:
    """Return the name of a file for what has a name of its own, without its ending."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return plain[:LONGEST_FILE_NAME].strip("-") or "configuration"


def bounded(
    text: str,
    key: str,
    height: int,
    file_name: str,
    *,
    language: str | None = None,
    content: Callable[[], bytes] | None = None,
) -> None:
    """Show the beginning of a text, with a toggle and a download for the whole of it where it is longer.

    `content` gives other bytes for the download, which is then always offered.
    """
    shown = preview(text)
    whole = False
    if shown.cut or content is not None:
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            if shown.cut and len(text) <= MOST_SHOWN:
                whole = st.toggle(f"Whole text, {counted(len(text), 'character')}", key=f"{key}_whole")
            st.download_button(
                "Download",
                content or (lambda: text.encode("utf-8", "replace")),
                file_name,
                "application/json" if content is not None else "text/plain",
                key=f"{key}_file",
                type="tertiary",
                icon=":material/download:",
                on_click="ignore",
            )
    body = printable(without_base64(text)) if whole else shown.text
    if len(body) > MOST_CHARACTERS:
        language = None
    short = len(body) <= SHORT_CHARACTERS and body.count("\n") < SHORT_LINES
    st.code(
        body or "(empty)",
        language=language,
        height="content" if short else height,
        wrap_lines=len(body) <= WRAPPED,
    )
    if shown.cut and not whole:
        left, lines = counted(shown.characters_left, "more character"), counted(shown.lines_left, "line")
        st.caption(f"{left} in {lines} {agreeing(shown.characters_left, 'is', 'are')} not shown.")


def body_text(body: Any, key: str, height: int, file_name: str) -> None:
    """Show a request or response body as indented JSON; its download has the very bytes that are hashed."""
    bounded(as_text(body), key, height, file_name, content=lambda: dump(body).encode("utf-8", "surrogatepass"))
