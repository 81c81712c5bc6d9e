"""The frame of every page: which pages there are, the look they share, and where errors become sentences."""

import streamlit as st

from pages.parts.address import checked_address
from pages.parts.edge import edge
from pages.parts.state import is_dark

st.set_page_config(page_title="Prompt Inspector", page_icon="🔎", layout="wide")
st.html(
    "<style>"
    ".stMainBlockContainer{padding-top:4rem;padding-bottom:3rem;max-width:1720px}"
    ".stMain h1{font-size:1.6rem;padding:0 0 .25rem;line-height:1.3}"
    "[data-testid=stMetricValue]{font-size:1.7rem}"
    # What walks through calls ends where the row ends, also where it has fewer numbers than room.
    "[data-testid=stPagination]{justify-content:flex-end}"
    # The dark theme's primary colour is pale, so what stands on it is dark.
    f"[data-testid^=stBaseButton-primary]{{color:{'#12171a' if is_dark() else '#ffffff'}}}"
    "</style>"
)
page = st.navigation(
    [
        st.Page("library.py", title="Library", default=True),
        st.Page("inspect_transcript.py", title="Inspect", url_path="inspect"),
        st.Page("compare.py", title="Compare"),
        st.Page("advise.py", title="Advise"),
        st.Page("configurations.py", title="Configurations"),
    ],
    position="top",
)
st.set_page_config(page_title=f"{page.title} · Prompt Inspector")
with checked_address(page.title), edge():
    page.run()
