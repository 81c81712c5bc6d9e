"""The soft limit on its way from page to page.

On Inspect and Advise it is one of all that is sent. On Compare it is one of what strategies are given, and what is left
beside it for what is not recorded is a setting of its own. So it comes along as a limit of all that is sent.
"""

from __future__ import annotations

from contextlib import suppress

import streamlit as st
from streamlit.errors import StreamlitAPIException

from .address import number_in, sentence
from .advice_state import SOFT
from .edge import escaped
from .limits import BESIDE, Limits
from .loading import Opened
from .state import keep_in_address

BUDGET = "budget"
"""The key of the soft limit that all configurations of a comparison share, and its name in the address."""
_COMPARE = "Compare"


def carried_to_all(opened: Opened, page: str) -> None:
    """Set the limit on Inspect or Advise that was set on another page, or that the address names as Compare does.

    Call it before the widget is shown.
    """
    whole, named = _carried(opened, page), number_named(BUDGET, SOFT)
    if named is not None:
        whole = named + int(max(0, number_in(st.query_params.get(BESIDE)) or 0))
    _drop(BUDGET, BESIDE)
    if whole is not None and SOFT not in st.query_params:
        set_tokens(SOFT, whole)


def carried_to_compared(opened: Opened) -> int | None:
    """Return the limit of all that is sent that was set on another page, or that Compare's address names as they do."""
    named = number_named(SOFT, BUDGET)
    _drop(SOFT)
    if BUDGET in st.query_params:
        return None
    return _carried(opened, _COMPARE) if named is None else named


def remember_of_all(opened: Opened, page: str, limits: Limits) -> None:
    """Keep what is set on Inspect or Advise for the other pages."""
    st.session_state[_memory(opened)] = page, limits.budget["soft_limit"]


def remember_of_compared(opened: Opened, limits: Limits, suggested: int) -> None:
    """Keep what is set on Compare for the other pages; the limit that it suggests itself is set by nobody."""
    soft = limits.budget["soft_limit"]
    whole = None if soft is None or soft == suggested else soft + limits.beside
    st.session_state[_memory(opened)] = _COMPARE, whole


def number_named(name: str, own: str) -> int | None:
    """Return the limit that an address gives by the name of other pages, where it does not give it by a page's `own`.

    What is no limit is said to be ignored.
    """
    text = st.query_params.get(name)
    if text is None or own in st.query_params:
        return None
    number = number_in(text)
    if number is None or number < 0 or number != int(number):
        st.warning(escaped(sentence(name, text, None if number is None or number < 0 else int(number))))
    return None if number is None or number < 0 else int(number)


def set_tokens(key: str, tokens: int | None, said: bool = True) -> None:
    """Set a number before its widget is shown, and put it into the address; not there where it is not to be `said`."""
    st.session_state[key] = tokens
    # Streamlit writes it into the address itself where the widget was shown before, and refuses anyone else's hand.
    with suppress(StreamlitAPIException):
        keep_in_address(key, str(tokens) if said and tokens is not None else None)


def _drop(*names: str) -> None:
    """Take other pages' names out of the address, which then says a limit once."""
    for name in names:
        with suppress(StreamlitAPIException):  # it is a widget's own, which takes it out itself
            keep_in_address(name, None)


def _carried(opened: Opened, page: str) -> int | None:
    """Return the limit that was set last where another page than this one was seen last."""
    of, whole = st.session_state.get(_memory(opened), (None, None))
    return whole if of != page else None


def _memory(opened: Opened) -> str:
    return f"soft_limit_{opened.summary.id}"
