"""What the address of a page says, so that a copied link shows the same view.

Widgets bind their own parameters. The rest is here: which transcript is shown, and which span of it. The navigation
bar drops what no widget binds, so the session remembers it and puts it back into the address.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import streamlit as st

from storage import Library, NotFound, Summary

from .loading import Opened, open_transcript

TRANSCRIPT, SPAN, CALL = "transcript", "span", "call"
SEEN, TITLES = "seen_transcript", "known_titles"


class Missing(NotFound):
    """The transcript that a page is to show is not there; `title` is empty where this session never saw it."""

    def __init__(self, name: str, title: str = "") -> None:
        self.name, self.title = name, title
        super().__init__(f"There is no transcript {name} here.")


def chosen_transcript(store: Library, keep: bool = True) -> Opened | None:
    """Return the transcript that the address names, else the one seen last, else the newest; None without any.

    It is put into the address unless the page does that itself, together with what else it puts there.

    Missing if there is none of that name, or the one seen last was deleted: another one is never shown in its place.
    """
    given = st.query_params.get(TRANSCRIPT)
    wanted = _number(given) if given else st.session_state.get(SEEN)
    if given and wanted is None:
        raise Missing(given)
    if wanted is None:
        newest = store.list(limit=1)
        return _seen(open_transcript(store, newest[0].id), keep) if newest else None
    try:
        return _seen(open_transcript(store, wanted), keep)
    except NotFound:
        keep_in_address(TRANSCRIPT, str(wanted))
        raise Missing(str(wanted), _titles().get(wanted, "")) from None


def know(summaries: Iterable[Summary]) -> None:
    """Remember the titles of transcripts that are shown, to name one that is deleted meanwhile."""
    _titles().update((summary.id, summary.title) for summary in summaries)


def forget(transcript_ids: Collection[int]) -> None:
    """Show none of these on the next page without being asked: this viewer has deleted them."""
    if st.session_state.get(SEEN) in transcript_ids:
        st.session_state.pop(SEEN)


def _titles() -> dict[int, str]:
    titles: dict[int, str] = st.session_state.setdefault(TITLES, {})
    return titles


def _seen(opened: Opened, keep: bool) -> Opened:
    st.session_state[SEEN] = opened.summary.id
    know([opened.summary])
    if keep:
        keep_in_address(TRANSCRIPT, str(opened.summary.id))
    return opened


def keep_in_address(name: str, value: str | None) -> None:
    """Write a parameter into the address where it differs; None takes it out."""
    keep_all_in_address({name: value})


def keep_all_in_address(values: Mapping[str, str | None]) -> None:
    """Do that with several: what is written at once is one step back in the browser, and not one each."""
    held = st.query_params.to_dict()
    for name in [name for name, value in values.items() if value is None and name in held]:
        st.query_params.pop(name)
    changed = {name: value for name, value in values.items() if value is not None and held.get(name) != value}
    if changed:
        st.query_params.update(changed)


def is_dark() -> bool:
    """Return whether the viewer's theme is dark."""
    return st.context.theme.type == "dark"


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and len(text) < 19 else None
