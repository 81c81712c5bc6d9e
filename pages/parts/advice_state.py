"""What advice is asked for: which call, in which order, with which needs; all of it in the address."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.advice import Advised

from .limits import Limits
from .loading import Opened

SOFT = "soft"
"""The key of the soft limit and its name in the address, the same as on Inspect."""
FINDINGS_OF = "findings_of"
OF_RECORDING, OF_ADVICE = "In the recording", "With this configuration"
CALL, EXACT, PUBLISHED = "advice_call", "exact_strings", "published_order"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the page; `call` counts from 0, None is the worst one."""

    call: int | None
    exact_strings_needed: bool
    published: bool


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
