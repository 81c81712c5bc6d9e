"""All transcripts, and the place where new ones come in."""

import streamlit as st

from pages.parts.edge import edge, escaped
from pages.parts.library_add import add_transcripts
from pages.parts.library_list import transcript_list, welcome
from pages.parts.loading import library

store = library()
st.title("Library", anchor=False)
if closed := store.read_only():
    st.warning(f"{escaped(closed)} Until then transcripts can be looked at, but nothing can be added or changed.")
else:
    with edge():
        add_transcripts(store)
if store.count():
    transcript_list(store)
else:
    welcome()
