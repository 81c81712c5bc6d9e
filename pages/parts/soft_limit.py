"""The soft limit on its way from page to page, for as long as a viewer looks at one transcript.

On Inspect and Advise it is one of all that is sent. On Compare it is one of what strategies are given, and what is left
beside it for what is not recorded is a setting of its own. So it comes along as a limit of all that is sent. What the
address says comes first, a limit that Compare itself suggested is nobody's, and none at all on Compare, where a way
back may lead through an address without one, takes no other page's away.
"""

from __future__ import annotations

from contextlib import suppress

import streamlit as st
from streamlit.errors import StreamlitAPIException

from .address import just_opened
from .limits import Limits
from .loading import Opened
from .state import keep_in_address

SOFT = "soft"
"""The key of the soft limit on Inspect and Advise, and its name in the address."""


def take_along(opened: Opened) -> None:
    """Set on Inspect or Advise, as they are opened, the limit that was typed last. Call it before the widget is shown.

    In the run that a browser's way back starts, or a link of the navigation that does not have the limit yet, Streamlit
    lets a widget hold nothing but what the address says, so the page is run again.
    """
    typed = typed_limit(opened)
    if just_opened() and typed is not None and SOFT not in st.query_params:
        st.session_state[SOFT] = typed
        # Streamlit writes it itself where its widget was shown before, and refuses anyone else's hand.
        with suppress(StreamlitAPIException):
            keep_in_address(SOFT, str(typed))
        st.rerun()


def typed_limit(opened: Opened) -> int | None:
    """Return the limit of all that is sent that was typed last; None if none was, or if it was taken out again."""
    found: int | None = st.session_state.get(_memory(opened))
    return found


def keep_typed(opened: Opened, limits: Limits) -> None:
    """Remember what is typed on a page."""
    soft = limits.budget["soft_limit"]
    st.session_state[_memory(opened)] = None if soft is None else soft + limits.beside


def _memory(opened: Opened) -> str:
    return f"typed_{opened.summary.id}"
