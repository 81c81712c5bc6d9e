"""The transcript that a page shows; where it is not there, a sentence that says so and a choice of others."""

from __future__ import annotations

import streamlit as st

from core.wording import counted
from storage import Library, Summary

from .edge import escaped
from .loading import Opened, library
from .nothing import nothing_yet
from .state import TRANSCRIPT, Missing, chosen_transcript
from .texts import cut_name

MOST_OFFERED = 8
LONGEST_TITLE = 80
"""Characters of a title among the offered ones, and of one in a sentence."""


def opened_transcript(keep: bool = True) -> Opened:
    """Return the transcript of this page. Where there is none, say so and end the page.

    `keep` is that of `chosen_transcript`.
    """
    store = library()
    try:
        opened = chosen_transcript(store, keep)
    except Missing as missing:
        _say(missing)
        _offer(store)
        st.stop()
    if opened is None:
        nothing_yet()
        st.stop()
    return opened


def _say(missing: Missing) -> None:
    if missing.title:
        st.title("This transcript was deleted", anchor=False)
        title = cut_name(missing.title, LONGEST_TITLE)
        st.markdown(escaped(f"“{title}” was deleted after this window had opened or listed it."))
        return
    st.title("There is no such transcript", anchor=False)
    name = cut_name(missing.name, LONGEST_TITLE)
    st.markdown(escaped(f"There is no transcript “{name}” here. It was deleted, or the link is from another library."))


def _offer(store: Library) -> None:
    """Let the viewer open one of those that were changed last, or look for another one."""
    found = store.list(limit=MOST_OFFERED)
    if found:
        st.caption("Open another one here, of those that came in last:")
        with st.container(gap="xxsmall"):
            for summary in found:
                st.button(
                    _label(summary),
                    key=f"open_{summary.id}",
                    type="tertiary",
                    icon=":material/arrow_forward:",
                    on_click=_open,
                    args=(summary.id,),
                )
    st.page_link("library.py", label="Look in the library", icon=":material/search:")


def _label(summary: Summary) -> str:
    title = cut_name(summary.title or "Untitled transcript", LONGEST_TITLE)
    return escaped(f"{title} · {counted(summary.calls, 'call')}")


def _open(transcript_id: int) -> None:
    """Open a transcript on this page (callback). What the address said of the missing one goes."""
    st.query_params.from_dict({TRANSCRIPT: str(transcript_id)})
