"""One entry in the browser's history for each page that is opened, so that "Back" leads to the page before as it was.

Streamlit adds an entry whenever a script writes a parameter into the address: a comparison, which writes five, would
need six steps back. And a button that opens a page with parameters writes them into the address of the page that is
left. So a script in the browser adds entries only where the path changes, or a parameter that stands for a place of
its own, and puts back an address that was changed just before its page was left.
"""

from __future__ import annotations

import json
from urllib.parse import parse_qsl

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from .address import number_in
from .limits import SHARED
from .state import CALL, TRANSCRIPT

PLACES = ("file",)
"""Parameters that stand for a place of their own within a page."""
NUMBERS = ("soft", "window", "max_output", "reserve", CALL)
SETTINGS = ("soft", "axis", CALL, *SHARED)
"""Parameters that widgets of several pages have."""
_SCRIPT = """
(() => {
  const history = window.history, places = PLACES;
  if (history.onePerPage) return;
  history.onePerPage = true;
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
  const together = 1000, soon = 5000;  // milliseconds: within a burst of writes, and from it to the next page
  let before = null, pushed = 0;
  const isPlace = to => places.some(
    place => to.searchParams.get(place) !== new URLSearchParams(location.search).get(place));
  const settle = () => { before = null; pushed = 0; };
  history.pushState = (state, title, url) => {
    const to = new URL(url ?? "", location.href), now = Date.now();
    const early = location.search === to.search;  // what is here now is the next page's, and was written too early
    let add = push;
    if (to.pathname !== location.pathname) {
      if (early && now - pushed < soon) add = replace;
      else if (early && before && now - before.at < soon) replace(history.state, "", before.href);
      settle();
    } else if (isPlace(to)) {
      settle();
      pushed = now;
    } else {
      if (!before || now - before.at >= together) before = {href: location.href};
      before.at = now;
      add = replace;
    }
    add(state, title, url);
  };
  history.replaceState = (state, title, url) => { settle(); replace(state, title, url); };
  window.addEventListener("popstate", settle);
})();
"""


def one_entry_a_page() -> None:
    """Put the script into the page, where it works once a window."""
    st.html(f"<script>{_SCRIPT.replace('PLACES', json.dumps(PLACES))}</script>", unsafe_allow_javascript=True)


def address_on_way_back() -> dict[str, str]:
    """Return what the address has where the browser's history led to it, else nothing. Call it before any change."""
    run = get_script_run_ctx()
    return dict(parse_qsl(run.query_string)) if run is not None and run.is_history_navigation else {}


def come_back(had: dict[str, str], calls: int) -> None:
    """Set what the address `had` on a way back to a transcript and Streamlit took from it. Call it before any widget.

    It takes what a widget of the page that is left has too. In the run that a way back starts, a widget holds nothing
    but what the address says, so it is done in another one.
    """
    lost = [name for name in SETTINGS if name in had and name not in st.query_params]
    found = {name: value for name in lost if (value := value_held(name, had[name], calls)) is not None}
    if found:
        st.session_state.update(found)
        # Written again, so that the next run knows the address as it is now and completes it.
        st.query_params[TRANSCRIPT] = st.query_params[TRANSCRIPT]
        st.rerun()


def value_held(name: str, text: str, calls: int) -> str | int | None:
    """Return what a widget holds where its parameter is `text`; None where it can hold no such thing."""
    if name not in NUMBERS:
        return text
    number = number_in(text)
    if number is None:
        return None
    return min(max(int(number), 1), calls) if name == CALL else int(number)
