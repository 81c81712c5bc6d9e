"""Starts everything: the pages and the HTTP routes beside them in one process. `streamlit run app.py`."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

from pages.parts.deeper import deeper_routes
from storage.capture import routes
from storage.guard import middleware
from storage.start import get_ready


@asynccontextmanager
async def prepared(_: st.App) -> AsyncIterator[None]:
    """Open the database while the first browser is still connecting."""
    threading.Thread(target=get_ready, daemon=True).start()
    yield


app = st.App(
    Path(__file__).parent / "pages" / "navigation.py",
    routes=[*routes(), *deeper_routes()],
    middleware=middleware(),
    lifespan=prepared,
)
