"""The page of a library without transcripts: what to do first."""

from __future__ import annotations

import streamlit as st


def nothing_yet() -> None:
    """Say that there is no transcript yet, and where to put one."""
    st.title("Nothing to show yet", anchor=False)
    st.markdown("There is no transcript in the library. Drop a file or paste a request there, and it opens here.")
    st.page_link("library.py", label="Open the library", icon=":material/upload_file:")
