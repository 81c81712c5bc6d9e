"""What advice is asked for: which call, in which order, with which needs; all of it in the address.

A button that leads to another page first writes that page's parameters into this one's address, and drops the
settings of this page from it. That address stays in the browser's history, so "Back" leads there: it is known by the
parameters that this page never has, and what was set when the page was left is set again.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.advice import Advised

from .comparison import SLOTS
from .limits import RESERVE, SHARED, Limits
from .loading import Opened
from .soft_limit import SOFT
from .state import SPAN, keep_in_address

FINDINGS_OF = "findings_of"
OF_RECORDING, OF_ADVICE = "In the recording", "With this configuration"
CALL, EXACT, PUBLISHED = "advice_call", "exact_strings", "published_order"
SETTINGS = (SOFT, *SHARED, CALL, EXACT, PUBLISHED, FINDINGS_OF)
"""The keys of everything that is set on the page."""
UNSET = {"model": "", "reserve": RESERVE, EXACT: False, PUBLISHED: False, FINDINGS_OF: OF_RECORDING}
"""What a setting holds before anyone sets it; the others hold None."""
OF_OTHER_PAGES = (*SLOTS, SPAN)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the page; `call` counts from 0, None is the worst one."""

    call: int | None
    exact_strings_needed: bool
    published: bool


def come_back(opened: Opened) -> None:
    """Set again what was set when the page was left, if a browser's way back leads here. Call it before any widget.

    In the run that a way back starts, Streamlit lets a widget hold nothing but what the address says, so it is done
    in another one.
    """
    foreign = [name for name in OF_OTHER_PAGES if name in st.query_params]
    if not foreign:
        return
    for name in foreign:
        keep_in_address(name, None)
    for key, value in st.session_state.get(_memory(opened), {}).items():
        if key not in st.query_params:
            st.session_state[key] = value
    st.rerun()


def remember(opened: Opened) -> None:
    """Keep what is set on the page for when the viewer comes back to it."""
    held = ((key, st.session_state.get(key)) for key in SETTINGS)
    st.session_state[_memory(opened)] = {key: value for key, value in held if value != UNSET.get(key)}


def _memory(opened: Opened) -> str:
    return f"advised_{opened.summary.id}"


def options(calls: int) -> Options:
    """Show the options in one row, and return them."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        call = st.number_input(
            f"Call, of {calls:,}", 1, calls, None, step=1, key=CALL, bind="query-params",
            placeholder="the worst one", width=165,
        )  # fmt: skip
        exact = st.toggle(
            "Exact strings are needed", key=EXACT, bind="query-params",
            help="Ids, hashes or figures of old turns must come back letter by letter, so nothing may be summarised.",
        )  # fmt: skip
        published = st.toggle(
            "Published order", key=PUBLISHED, bind="query-params",
            help="The tree as it was published stops at old conversation as soon as that suffices, and so takes most"
            " problems of tool output for problems of history.",
        )  # fmt: skip
    return Options(None if call is None else call - 1, exact, published)


def advice_of(opened: Opened, limits: Limits, chosen: Options) -> Advised | None:
    """Return the advice under the limits of the page; None where no limit is known."""
    config = limits.config(opened.transcript, {"kind": "full_history"})
    return opened.advice(config, chosen.call, chosen.published, chosen.exact_strings_needed)
