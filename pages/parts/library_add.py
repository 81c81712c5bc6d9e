"""Adding transcripts: drop files or paste JSON, look on while they are read, then see what became of them."""

from __future__ import annotations

import secrets
from contextlib import suppress

import streamlit as st

from core.errors import PromptInspectorError
from core.readers import format_names
from core.wording import counted
from storage import Library
from storage.file_groups import PASTED

from .dates import day
from .edge import escaped, show_error
from .import_told import import_told
from .importing import ImportRun, Upload, began, begin, import_named
from .peaks import count_peak
from .state import keep_in_address

IMPORT = "import"
"""The name in the address of an import that goes on."""
DETECT = "recognise it"
MOST_COUNTED = 50
LARGEST = 500
"""Megabytes of one file."""
EVERY, LOOK = 0.5, 0.4
"""Seconds between two looks at an import, and those that the first one waits for its end."""


def add_transcripts(store: Library) -> None:
    """Show the uploader, the field for pasted text, and what becomes or became of the last import."""
    name = st.query_params.get(IMPORT) or st.session_state.get("import_name", "")
    run = import_named(name)
    uploads, format_name = _asked(busy=run is not None)
    if run is not None:
        _remember(run.name)
        st.session_state.pop("imported", None)
        # Most are done at once. A look that repeats itself is a timer in the browser, which may ring once too often.
        if run.wait(LOOK):
            _end(run)
        _look_on(run)
    elif uploads:
        _remember(begin(store, uploads, format_name).name)
        st.session_state["import_round"] += 1
        st.rerun()
    elif name:
        _interrupted(store, name)
    elif ended := st.session_state.get("imported"):
        _told(ended)
        _count(store)
        st.button("Close", key="close_imported", type="tertiary", on_click=st.session_state.pop, args=("imported",))


def _asked(busy: bool) -> tuple[list[Upload], str | None]:
    """Show what takes files and text, and return what was given and the format it is to be read as."""
    number = st.session_state.setdefault("import_round", 0)
    # A browser whose server was started anew would show under an old key what it uploaded to the server before.
    session = st.session_state.setdefault("import_session", secrets.token_hex(4))
    left, right = st.columns([5, 1], vertical_alignment="bottom")
    files = left.file_uploader(
        "Drop recorded runs here: request bodies, captured calls or agent sessions, JSON or JSON Lines, also gzipped"
        " or in ZIP and tar archives",
        accept_multiple_files=True,
        key=f"files_{session}_{number}",
        max_upload_size=LARGEST,
        help=f"A file of more than {LARGEST} MB is refused here. From a terminal it is imported with"
        " `python -m storage import PATH`.",
        disabled=busy,
    )
    with right, st.popover("Paste or choose a format", width="stretch", key="paste", disabled=busy):
        chosen = st.selectbox("Format", [DETECT, *format_names()], key="format", help="For files and for pasted text.")
        text = st.text_area("A request body, a list of messages, or JSON Lines", key=f"pasted_{number}", height=200)
        pasted = st.button("Add", key="add_pasted", type="primary")
    uploads = [Upload(file.name, file.getvalue()) for file in files]
    if not uploads and pasted and text.strip():
        uploads = [Upload(PASTED, text.encode("utf-8", "surrogatepass"))]
    return uploads, None if chosen == DETECT else chosen


def _remember(name: str | None) -> None:
    """Keep the name of the import that goes on, in the address for a reload and in the session for another page."""
    st.session_state["import_name"] = name or ""
    keep_in_address(IMPORT, name)


@st.fragment(run_every=EVERY)
def _look_on(run: ImportRun) -> None:
    """Show how far an import is, while the rest of the page can be used."""
    if run.finished:
        _end(run)
    st.progress(run.progress, _how_far(run))


def _end(run: ImportRun) -> None:
    """Look on no more: run the page again, which then says what became of the import."""
    _remember(None)
    st.session_state["imported"] = run
    st.session_state["uncounted"] = run.work.ids[:MOST_COUNTED]
    st.rerun()


def _count(store: Library) -> None:
    """Count the peaks of what was imported, for its rows in the list."""
    ids = st.session_state.pop("uncounted", ())
    place = st.empty()
    for done, transcript_id in enumerate(ids):
        place.progress(done / len(ids), "Counting …")
        with suppress(PromptInspectorError):  # deleted meanwhile, or told in its place when the list counts it
            count_peak(store, store.summary(transcript_id))
    place.empty()


def _told(run: ImportRun) -> None:
    """Say what became of every file, and what ended the import before its time, if something did."""
    import_told(run.work)
    if run.failure is not None:
        show_error(run.failure)


def _how_far(run: ImportRun) -> str:
    files = f"File {min(run.done + 1, run.number):,} of {run.number:,}"
    return f"{files}, {counted(run.work.transcripts, 'transcript')} so far. A reload of this page does not stop it."


def _interrupted(store: Library, name: str) -> None:
    """Say what is left of an import that ended with its server."""
    found = began(name)
    if found is None:
        _remember(None)
        return
    moment, files = found
    stored = store.count_since(moment)
    kept = (
        f"{counted(stored, 'transcript')} came in since it began, each of them whole" if stored else "nothing came in"
    )
    st.warning(
        escaped(
            f"The import of {counted(files, 'file')} that began on {day(moment)} at {moment:%H:%M} (UTC) did not end:"
            f" the server stopped meanwhile; {kept}. Add the same files again: what is here already is recognised."
        ),
        icon=":material/warning:",
    )
    st.button("Close", key="close_interrupted", type="tertiary", on_click=_remember, args=(None,))
