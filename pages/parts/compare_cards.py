"""The cards of a comparison: one configuration each, with its form, its export and its place among the saved ones."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from core.errors import ConfigError, PromptInspectorError
from core.export import exported
from core.wording import counted

from .compare_form import Shown, edit, say_draft
from .comparison import Candidate, settings_line
from .edge import escaped, show_error
from .loading import library
from .score import changed_calls
from .texts import file_name


def card(candidate: Candidate, shown: Shown, colour: str) -> None:
    """Show one configuration in a bordered card."""
    with st.container(border=True, height="stretch"):
        st.html(
            f'<div style="font-weight:600;overflow-wrap:anywhere"><span style="color:{colour}">■</span> '
            f"{html.escape(candidate.label)}</div>"
            f'<div style="opacity:0.65;font-size:0.875rem">'
            f"{html.escape(f'{settings_line(candidate.said)} · {_effect(candidate)}')}</div>"
        )
        st.space("stretch")
        above = st.container()
        with st.container(horizontal=True, gap="small"):
            edit(candidate.slot, candidate.said, shown)
            _export(candidate)
            _save(candidate)
        with above:
            say_draft(candidate.slot, candidate.said)
        _notices(candidate.slot)


def broken_card(slot: str, said: Mapping[str, Any], shown: Shown, error: ConfigError) -> None:
    """Show a configuration that cannot be used, with what is wrong and the form to mend it."""
    with st.container(border=True):
        show_error(error)
        edit(slot, said, shown)
        say_draft(slot, said)


def _effect(candidate: Candidate) -> str:
    calls = len(candidate.replay.transcript.calls)
    changed = changed_calls(candidate.replay)
    return f"changes {changed:,} of {counted(calls, 'call')}" if changed else "did nothing"


def _export(candidate: Candidate) -> None:
    st.download_button(
        "Export JSON",
        lambda: json.dumps(_named(candidate), ensure_ascii=False, indent=2),
        f"{file_name(candidate.label)}.json",
        "application/json",
        key=f"{candidate.slot}_export",
        icon=":material/download:",
        on_click="ignore",
    )


def _named(candidate: Candidate) -> dict[str, Any]:
    """Return the export of a configuration under the name that its card has, so that an import finds it again."""
    return {**exported([candidate.replay], datetime.now(UTC)), "name": candidate.label}


def _save(candidate: Candidate) -> None:
    """Show the button that opens the name to save under; the same name again is a next version."""
    with st.popover("Save", icon=":material/bookmark_add:", key=f"{candidate.slot}_save_as"):
        name = st.text_input("Name", candidate.label, key=_name_key(candidate)).strip()
        st.caption(escaped(_becomes(name)))
        st.button("Save configuration", key=f"{candidate.slot}_save", on_click=_store, args=(candidate,),
                  disabled=not name)  # fmt: skip
        error = st.session_state.pop(f"{candidate.slot}_error", None)
        if error is not None:
            show_error(error)


def _name_key(candidate: Candidate) -> str:
    return f"{candidate.slot}_name {candidate.label}"


def _becomes(name: str) -> str:
    """Return what saving under a name makes of it."""
    versions = library().configs.versions(name)
    if not versions:
        return "A new name among your configurations." if name else "Give it a name."
    kind = versions[0].body.get("strategy", {}).get("kind", "another strategy")
    return f"Version {versions[0].version + 1} of a name that has {kind} now. Give another name to keep both apart."


def _store(candidate: Candidate) -> None:
    """Save a configuration with its provenance (callback)."""
    state = st.session_state
    name = state[_name_key(candidate)].strip()
    try:
        body = exported([candidate.replay], datetime.now(UTC))
        saved = library().configs.save(name, {**body, "name": name})
    except PromptInspectorError as error:
        state[f"{candidate.slot}_error"] = error
        return
    state[f"{candidate.slot}_saved"] = f"Saved as version {saved.version} of {saved.name}."


def _notices(slot: str) -> None:
    saved = st.session_state.pop(f"{slot}_saved", None)
    if saved is not None:
        st.toast(escaped(saved), icon=":material/check:")
