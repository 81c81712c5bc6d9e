"""Where a saved configuration is looked at: the transcript that Compare opens it on, and what is other there."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import streamlit as st

from core.config import load_config
from storage import Library, NotFound, Summary
from storage.configs import SavedConfig

from .comparison import written
from .limits import as_shown
from .state import SEEN, TRANSCRIPT


def compare_address(store: Library, saved: SavedConfig) -> dict[str, str]:
    """Return the address of Compare with a configuration beside the whole history.

    The transcript is the one that it was measured on, where that is in the library, else the one seen last.
    """
    config = load_config(saved.body)
    found = _measured_on(store, saved) or _seen_last(store)
    said = {key: value for key, value in as_shown(config).items() if key not in ("provenance", "schema_version")}
    address = {"a": written({**said, "name": saved.name}), "b": written({"strategy": {"kind": "full_history"}})}
    parts = {
        TRANSCRIPT: found.id if found else None,
        "budget": config.budget.soft_limit,
        "window": config.model.window,
        "max_output": config.model.max_output,
        "model": config.model.name,
    }
    return address | {key: str(value) for key, value in parts.items() if value is not None}


def _measured_on(store: Library, saved: SavedConfig) -> Summary | None:
    given = saved.body.get("provenance")
    provenance = given if isinstance(given, Mapping) else {}
    return store.named({str(entry.get("sha256")) for entry in objects_in(provenance.get("transcripts"))})


def _seen_last(store: Library) -> Summary | None:
    """Return the transcript that this session saw last, else the newest one; None without any."""
    seen = st.session_state.get(SEEN)
    with suppress(NotFound):
        if seen is not None:
            return store.summary(seen)
    return next(iter(store.list(limit=1)), None)


def opening_told(store: Library, saved: SavedConfig) -> str:
    """Return in sentences what is other in Compare than what a configuration was saved for; "" where nothing is."""
    measured = _measured_on(store, saved)
    found = measured or _seen_last(store)
    if found is None:
        return "There is no transcript to compare it on."
    title = found.title or "Untitled transcript"
    said = [] if measured else [f"No transcript that it was measured on is here: Compare opens it on “{title}”."]
    wanted = load_config(saved.body).model.dialect
    if wanted not in (None, found.dialect):
        said.append(
            f"It is for {wanted}; Compare shows the transcript in its own dialect, {found.dialect}. In a terminal,"
            " “python -m core replay” converts it and says what that loses."
        )
    return " ".join(said)


def objects_in(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects in a list: a provenance that was written by hand may hold anything."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
