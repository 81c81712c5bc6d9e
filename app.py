"""Starts everything: the pages and the HTTP routes beside them in one process. `streamlit run app.py`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from storage.capture import routes
from storage.guard import middleware

app = st.App(Path(__file__).parent / "pages" / "navigation.py", routes=routes(), middleware=middleware())
