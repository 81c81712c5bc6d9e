"""The configurations that were saved or imported: what production loads."""

import streamlit as st

from pages.parts.loading import library
from pages.parts.saved_configs import config_detail, config_list, importer, say_deleted

store = library()
say_deleted()
left, right = st.columns([3, 1], vertical_alignment="top")
with left:
    st.title("Configurations", anchor=False)
with right.container(horizontal=True, horizontal_alignment="right"):
    importer(store)

configs = store.configs.list()
if configs:
    config_detail(store, config_list(configs))
else:
    st.markdown(
        "#### No configuration yet\n"
        "Compare strategies on a transcript and press **Save** on the one that serves best, or import an exported"
        " file. Production loads the same file and sends the same bytes."
    )
    st.page_link("compare.py", label="Compare strategies", icon=":material/compare_arrows:")
