"""What the address of a page says, so that a copied link shows the same view.

Widgets bind their own parameters. The rest is here: which transcript is shown, and which span of it. The navigation
bar drops what no widget binds, so the session remembers it and puts it back into the address.
"""

from __future__ import annotations

import streamlit as st

from storage import Library, NotFound

from .loading import Opened, open_transcript

TRANSCRIPT, SPAN, CALL = "transcript", "span", "call"


def chosen_transcript(store: Library) -> Opened | None:
    """Return the transcript that the address names, else the one seen last, else the newest; None without any."""
    given = st.query_params.get(TRANSCRIPT)
    named = _number(given)
    if given and named is None:
        raise NotFound(f"There is no transcript {given[:40]!r}. Open one from the Library.")
    remembered = st.session_state.get("seen_transcript")
    wanted = named or remembered
    if wanted is not None:
        try:
            return _seen(open_transcript(store, wanted))
        except NotFound:
            if named:
                raise
    newest = store.list(limit=1)
    return _seen(open_transcript(store, newest[0].id)) if newest else None


def _seen(opened: Opened) -> Opened:
    st.session_state["seen_transcript"] = opened.summary.id
    keep_in_address(TRANSCRIPT, str(opened.summary.id))
    return opened


def keep_in_address(name: str, value: str | None) -> None:
    """Write a parameter into the address where it differs; None takes it out."""
    if value is None:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != value:
        st.query_params[name] = value


def is_dark() -> bool:
    """Return whether the viewer's theme is dark."""
    return st.context.theme.type == "dark"


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and len(text) < 19 else None
