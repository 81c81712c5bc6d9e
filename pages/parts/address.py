"""What an address asks for and a page cannot give, said in a sentence.

Streamlit drops a parameter that its widget does not take, and shows the default as if nothing had been asked for. So
when a page is opened, what its address says is compared with what its widgets then hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import streamlit as st

from .edge import escaped

TOKENS = "a number of tokens, 0 or more"
TAKES = {
    "budget": f"a soft limit is {TOKENS}",
    "soft": f"a soft limit is {TOKENS}",
    "beside": f"what is left beside a soft limit is {TOKENS}",
    "window": "a window is a number of tokens, 1 or more",
    "max_output": f"what is set aside for the answer is {TOKENS}",
    "reserve": "what is kept free is a percentage from 0 to 99",
    "call": "the transcript has no such call",
    "advice_call": "the transcript has no such call",
    "version": "the configuration has no such version",
    "page": "the list has no such page",
}
"""Why a setting may be refused; the others are switches and choices."""
LONGEST = 40
_OPENING = "opening_page"


@contextmanager
def checked_address(page: str) -> Iterator[None]:
    """Run a page, and say above it which settings of its address it ignored. Only when the page is opened."""
    place = st.container()
    st.session_state[_OPENING] = st.session_state.get("address_of") != page
    asked = st.query_params.to_dict() if just_opened() else {}
    try:
        yield
    finally:  # a page may stop early
        st.session_state["address_of"] = page
        held = st.session_state
        told = [escaped(sentence(name, asked[name], held[name])) for name in ignored(asked, held)]
        if told:
            place.warning("  \n".join(told), icon=":material/link_off:")


def just_opened() -> bool:
    """Return whether this is the first run of a page since another one was shown."""
    return bool(st.session_state.get(_OPENING))


def ignored(asked: Mapping[str, str], held: Any) -> list[str]:
    """Return the parameters for which a widget holds another value than the address asked for."""
    return [name for name, text in asked.items() if name in held and not _is_same(text, held[name])]


def sentence(name: str, text: str, value: Any) -> str:
    """Return what is said of a parameter for which the widget holds another value, `value`."""
    shown = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    if _is_number(value) and (number := number_in(text)) is not None and int(number) == value:
        return f"“{name}={shown}” in the address is taken as {value:,}: only whole numbers are."
    why = TAKES.get(name, "there is no such choice")
    return f"“{name}={shown}” in the address is ignored: {why}. The page shows its default."


def _is_same(text: str, value: Any) -> bool:
    if _is_number(value):
        return bool(number_in(text) == value)
    return text.casefold() == str("" if value is None else value).casefold()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def number_in(text: str | None) -> float | None:
    """Return the number that a parameter holds; None if it holds none."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None
