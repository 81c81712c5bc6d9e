"""Where errors become sentences: a page never shows a traceback for what a person can mend."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from core.errors import ConfigError, PromptInspectorError


@contextmanager
def edge() -> Iterator[None]:
    """Show an error of the product as a message in the place where it happened."""
    try:
        yield
    except PromptInspectorError as error:
        show_error(error)


def show_error(error: PromptInspectorError) -> None:
    """Show what went wrong, where, and what to do."""
    if isinstance(error, ConfigError):
        st.error("\n\n".join(map(_told, (error, *error.more))))
    else:
        st.error(escaped(str(error)))


def _told(error: ConfigError) -> str:
    todo = on_screen(error.suggestion) if error.key == "budget" else error.suggestion
    return f"**{escaped(error.key)}**: {escaped(error.problem)}" + (f"  \n{escaped(todo)}" if todo else "")


FIELDS = {
    "model.max_output": "“Set aside for the answer”",
    "budget.reserve_ratio": "“Kept free”",
    "budget.soft_limit": "“Soft limit”",
}
"""What settings of a budget are called on a page, where nobody types their keys."""


def on_screen(text: str) -> str:
    """Return a sentence with the names of fields in the place of keys."""
    for key, label in FIELDS.items():
        text = text.replace(key, label)
    return text


DIRECTIONS = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
"""Signs that turn the direction of what follows: in a title they would reorder the page around it."""


JOINER = "\u2060"
"""Is not seen and no space. It parts what would be changed although it is escaped: a page looks for these last."""
CHANGED = re.compile(
    r"https?:(?=//)|www(?=\.)|@(?=\w)"  # links
    r"|:(?=[\w+/-]+:)"  # emoji and icons
    r"|(?<!\S)(?:<(?=->(?!\S))|<(?=[-=](?!\S))|-(?=[->](?!\S))|[>~](?==(?!\S)))",  # arrows, dashes, comparisons
    re.IGNORECASE,
)


def escaped(text: str) -> str:
    """Return a text of unknown origin as Markdown that shows it as it is: no link, no icon, no other sign."""
    text = CHANGED.sub(lambda found: found[0] + JOINER, text.translate(DIRECTIONS))
    for sign in "\\`*_{}[]()<>#+-!|~$:":
        text = text.replace(sign, "\\" + sign)
    return text
