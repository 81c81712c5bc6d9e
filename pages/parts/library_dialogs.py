"""What is asked before a transcript is renamed, or some are deleted."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.wording import agreeing, counted
from storage import FileGroup, Library, Summary
from storage.names import too_long

from .edge import edge, escaped
from .library_rows import Row, calls_of, ids_of, title_of
from .state import forget

MOST_NAMED = 8
"""Rows named in the confirmation."""
TOLD = "deleted_told"


@st.dialog("Rename")
def rename(store: Library, summary: Summary) -> None:
    """Ask for another title and other tags."""
    title = st.text_input("Title", summary.title, key="new_title")
    tags = st.text_input("Tags, separated by commas", ", ".join(summary.tags), key="new_tags").split(",")
    problems = name_problems(summary, title, tags)
    # A button that is disabled would not take the click that ends the typing.
    for problem in problems:
        st.error(problem)
    if st.button("Save", key="rename_now", type="primary") and not problems:
        with edge():
            if title.strip() != summary.title.strip():
                store.rename(summary.id, title)
            store.tag(summary.id, tags)
            st.rerun()


def name_problems(summary: Summary, title: str, tags: Sequence[str]) -> list[str]:
    """Return in sentences what is wrong with a title that was changed and with tags."""
    changed = title.strip() != summary.title.strip()
    if changed and not title.strip():
        return ["The title is empty. Give it one."]
    said = [("The title", title)] if changed else []
    said += [(f"The tag that begins with “{tag.strip()[:20]}”", tag) for tag in tags]
    return [f"{escaped(what)} {problem}. Shorten it." for what, text in said if (problem := too_long(text))]


@st.dialog("Delete this transcript?")
def delete(store: Library, summary: Summary) -> None:
    """Ask whether a transcript is to be deleted."""
    st.markdown(f"**{escaped(title_of(summary))}**")
    st.caption(f"{counted(summary.calls, 'call')}, {counted(summary.messages, 'message')}. This cannot be undone.")
    if _confirmed("Delete", "delete_now"):
        with edge():
            st.session_state[TOLD] = deletion(1, store.delete_all([summary.id]))
            forget([summary.id])
            st.rerun()


@st.dialog("Delete these transcripts?")
def delete_several(store: Library, rows: Sequence[Row]) -> None:
    """Ask whether all transcripts that some rows stand for are to be deleted."""
    ids = ids_of(rows)
    number, calls = counted(len(ids), "transcript"), counted(calls_of(rows), "call")
    more = [counted(len(rows) - MOST_NAMED, "more row")] if len(rows) > MOST_NAMED else []
    st.markdown("\n".join(f"- {name}" for name in [*map(_name, rows[:MOST_NAMED]), *more]))
    st.caption(f"{number} with {calls} {agreeing(len(ids), 'is', 'are')} deleted. This cannot be undone.")
    if _confirmed(f"Delete {number}", "delete_several_now"):
        with edge():
            st.session_state[TOLD] = deletion(len(ids), store.delete_all(ids))
            forget(ids)
            st.rerun()


def _confirmed(label: str, key: str) -> bool:
    """Show what deletes beside what does not, and return whether the former was chosen."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Cancel", key="keep_all"):
            st.rerun()
        return st.button(label, key=key, type="primary", icon=":material/delete:")


def _name(row: Row) -> str:
    if isinstance(row, FileGroup):
        return f"{counted(len(row.ids), 'transcript')} of {escaped(row.source)}"
    return escaped(title_of(row))


def deletion(asked: int, deleted: int) -> str:
    """Return what is said of a deletion; some may have been deleted by somebody else meanwhile."""
    said = counted(deleted, "transcript", "was", "were")
    gone = asked - deleted
    return f"{said} deleted." + (f" {gone:,} {agreeing(gone, 'was', 'were')} gone already." if gone else "")
