"""Adding transcripts: drop files or paste JSON, then read what was taken, masked and skipped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.readers import format_names
from storage import Library

from .edge import escaped
from .head import counted
from .importing import Imported, import_file, import_text
from .peaks import count_peak

DETECT = "recognise it"
MOST_LISTED, MOST_COUNTED = 20, 50
LARGEST = 500
"""Megabytes of one file."""


def add_transcripts(store: Library) -> None:
    """Show the uploader, the field for pasted text, and what became of the last import."""
    number = st.session_state.setdefault("import_round", 0)
    left, right = st.columns([5, 1], vertical_alignment="bottom")
    files = left.file_uploader(
        "Drop recorded runs here: request bodies, captured calls or agent sessions, JSON or JSON Lines, also gzipped",
        accept_multiple_files=True,
        key=f"files_{number}",
        max_upload_size=LARGEST,
    )
    with right, st.popover("Paste or choose a format", width="stretch", key="paste"):
        chosen = st.selectbox("Format", [DETECT, *format_names()], key="format", help="For files and for pasted text.")
        text = st.text_area("A request body, a list of messages, or JSON Lines", key=f"pasted_{number}", height=200)
        pasted = st.button("Add", key="add_pasted", type="primary")
    format_name = None if chosen == DETECT else chosen
    if files:
        _import(store, [partial(import_file, store, file.name, file.getvalue(), format_name) for file in files])
    elif pasted and text.strip():
        _import(store, [partial(import_text, store, text, format_name)])
    if imported := st.session_state.get("imported", []):
        for done in imported:
            _told(done)
        st.button("Close", key="close_imported", type="tertiary", on_click=st.session_state.pop, args=("imported",))


def _import(store: Library, tasks: list[Callable[[], Imported]]) -> None:
    """Run an import, keep what to say of it, and begin a new round so that it is not run again."""
    with st.spinner("Reading, storing and counting …", show_time=True):
        imported = [task() for task in tasks]
        for transcript_id in [number for done in imported for number in done.ids][:MOST_COUNTED]:
            count_peak(store, store.summary(transcript_id))
    st.session_state["imported"] = imported
    st.session_state["import_round"] += 1
    st.rerun()


def _told(done: Imported) -> None:
    """Say what became of a file: one message with all that was taken and all that was not."""
    lines = [f"**{escaped(done.name)}**  ", *(f"{escaped(line)}  " for line in _summary(done))]
    for title, sentences in (("Not read:", done.problems), ("Read with a remark:", done.warnings)):
        if sentences:
            listed = [f"- {escaped(sentence)}" for sentence in sentences[:MOST_LISTED]]
            more = len(sentences) - MOST_LISTED
            lines += [title, *listed, *([f"- and {more:,} more"] if more > 0 else []), ""]
    show = st.error if not done.ids else st.warning if done.problems else st.success if done.stored else st.info
    show("\n".join(lines))


def _summary(done: Imported) -> list[str]:
    if not done.ids:
        return ["Nothing was stored."]
    said = [f"{counted(len(done.ids), 'transcript')} with {counted(done.calls, 'call')}, read as {done.format}."]
    if done.known:
        some = f"{done.known:,} of them were" if done.stored else "Everything in it was"
        said.append(f"{some} in the library already.")
    if done.masked:
        kinds = ", ".join(f"{kind} in {counted(number, 'place')}" for kind, number in sorted(done.masked.items()))
        said.append(f"Secrets masked before storing: {kinds}.")
    if done.ignored:
        said.append(f"{counted(done.ignored, 'record')} that are no messages by design were passed over.")
    return said
