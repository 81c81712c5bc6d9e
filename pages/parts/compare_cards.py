"""The cards of a comparison: one configuration each, with its form, its export and its place among the saved ones."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from core.config import load_config, strategy_kinds
from core.errors import ConfigError, PromptInspectorError
from core.export import exported
from core.strategy_config import KEEP_UNITS
from core.wording import counted

from .compare_state import change, may_remove
from .comparison import Candidate, settings_line
from .edge import escaped, show_error
from .loading import library
from .score import changed_calls
from .strategy_fields import (
    Field,
    describe,
    fields_of,
    from_form,
    json_text,
    json_value,
    keeps,
    kept,
    strategy_said,
    to_form,
)
from .texts import file_name

ORDER = ("integer", "number", "choice", "boolean", "text", "list", "any", "json")
WIDE = ORDER[4:]
"""Kinds of fields in the order of a form; the last ones need its whole width."""

SECTIONS = {
    "rules": "What rules say about spans: eviction class, priority, required, tier. A list of objects.",
    "shrink": "Shrinkers, in order, that make single spans smaller before the strategy decides. A list of objects.",
}

Shown = Mapping[str, Mapping[str, Any]]


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
        with st.container(horizontal=True, gap="small"):
            _edit(candidate.slot, candidate.said, shown)
            _export(candidate)
            _save(candidate)
        _notices(candidate.slot)


def broken_card(slot: str, said: Mapping[str, Any], shown: Shown, error: ConfigError) -> None:
    """Show a configuration that cannot be used, with what is wrong and the form to mend it."""
    with st.container(border=True):
        show_error(error)
        _edit(slot, said, shown)


def _effect(candidate: Candidate) -> str:
    calls = len(candidate.replay.transcript.calls)
    changed = changed_calls(candidate.replay)
    return f"changes {changed:,} of {counted(calls, 'call')}" if changed else "did nothing"


def _edit(slot: str, said: Mapping[str, Any], shown: Shown) -> None:
    opened = st.popover("Edit", icon=":material/edit:", key=f"edit_{slot}", on_change="rerun")
    if opened.open:
        with opened:
            _form(slot, said, shown)


def _form(slot: str, said: Mapping[str, Any], shown: Shown) -> None:
    current = said.get("strategy") or {}
    kinds = strategy_kinds()
    kind = st.selectbox(
        "Strategy", kinds, kinds.index(current["kind"]) if current.get("kind") in kinds else 0, key=f"{slot}_kind"
    )
    st.caption(escaped(describe(kind)))
    values = current if current.get("kind") == kind else {}
    with st.form(f"{slot}_form_{kind}", border=False):
        if keeps(kind):
            _keep_fields(slot, kind, values)
        columns = st.columns(3)
        fields = sorted(fields_of(kind), key=lambda field: ORDER.index(field.kind))
        plain = [field for field in fields if field.kind != "json"]
        for place, field in enumerate(plain):
            with st.container() if field.kind in WIDE else columns[place % 3]:
                _widget(f"{slot}_{kind}_{field.name}", field, values.get(field.name, field.default))
        texts = {field.name: to_form(field, values.get(field.name, field.default)) for field in fields[len(plain) :]}
        _json_areas(f"{slot}_{kind}", texts | {name: json_text(said.get(name)) for name in SECTIONS})
        st.form_submit_button(
            "Apply", type="primary", on_click=_apply, args=(slot, kind, said, shown), key=f"{slot}_apply"
        )
    if may_remove(shown):
        st.button("Remove from the comparison", key=f"{slot}_remove", on_click=change, args=(shown, slot, None))


def _json_areas(prefix: str, texts: Mapping[str, str]) -> None:
    names = ", ".join(texts)
    with st.expander(f"{names.capitalize()}, as JSON", expanded=False):
        for name, text in texts.items():
            help_text = SECTIONS.get(name)
            st.text_area(name.capitalize(), text, key=f"{prefix}_{name}", height="content", help=help_text)


def _keep_fields(slot: str, kind: str, values: Mapping[str, Any]) -> None:
    unit, number = kept(values)
    left, right = st.columns(2)
    left.number_input(
        "Keep the newest", 0, None, number, step=1, key=f"{slot}_{kind}_keep", placeholder="default",
        help="What is newer than this is sent word for word.",
    )  # fmt: skip
    right.selectbox("counted in", KEEP_UNITS, KEEP_UNITS.index(unit), key=f"{slot}_{kind}_unit")


def _widget(key: str, field: Field, value: Any) -> None:
    label, help_text = field.name.replace("_", " ").capitalize(), field.help or None
    if field.kind == "boolean":
        st.toggle(label, bool(value), key=key, help=help_text)
    elif field.kind == "choice":
        st.selectbox(label, field.choices, field.choices.index(value), key=key, help=help_text)
    elif field.kind in ("text", "list", "any"):
        note = ", separated by commas" if field.kind == "list" else ""
        st.text_input(label + note, to_form(field, value), key=key, help=help_text)
    else:
        _number(key, label, field, value)


def _number(key: str, label: str, field: Field, value: Any) -> None:
    number: Any = int if field.kind == "integer" else float
    least, most, start = (None if bound is None else number(bound) for bound in (field.least, field.most, value))
    step, empty = number(1) if number is int else 0.05, "never" if field.optional else None
    st.number_input(label, least, most, start, step=step, key=key, help=field.help or None, placeholder=empty)


def _apply(slot: str, kind: str, said: Mapping[str, Any], shown: Shown) -> None:
    """Take the values of the form (callback). What cannot be used stays in the form, with the reason on the card."""
    state = st.session_state
    try:
        values = {field.name: from_form(field, state[f"{slot}_{kind}_{field.name}"]) for field in fields_of(kind)}
        unit = state.get(f"{slot}_{kind}_unit", KEEP_UNITS[0])
        strategy = strategy_said(kind, values, unit, state.get(f"{slot}_{kind}_keep"))
        sections = {name: json_value(name, state[f"{slot}_{kind}_{name}"]) for name in SECTIONS}
        rest = {key: value for key, value in said.items() if key not in ("strategy", "name", *SECTIONS)}
        new = {**rest, **{name: value for name, value in sections.items() if value}, "strategy": strategy}
        load_config(new)
    except ConfigError as error:
        state[f"{slot}_error"] = error
        return
    state[f"edit_{slot}"] = False
    change(shown, slot, new)


def _export(candidate: Candidate) -> None:
    st.download_button(
        "Export JSON",
        lambda: json.dumps(exported([candidate.replay], datetime.now(UTC)), ensure_ascii=False, indent=2),
        f"{file_name(candidate.label)}.json",
        "application/json",
        key=f"{candidate.slot}_export",
        icon=":material/download:",
        on_click="ignore",
    )


def _save(candidate: Candidate) -> None:
    st.button("Save", key=f"{candidate.slot}_save", icon=":material/bookmark_add:", on_click=_store, args=(candidate,),
              help="Keep it under Configurations, as its next version.")  # fmt: skip


def _store(candidate: Candidate) -> None:
    """Save a configuration with its provenance (callback)."""
    state = st.session_state
    try:
        body = exported([candidate.replay], datetime.now(UTC))
        saved = library().configs.save(candidate.label, {**body, "name": candidate.label})
    except PromptInspectorError as error:
        state[f"{candidate.slot}_error"] = error
        return
    state[f"{candidate.slot}_saved"] = f"Saved as version {saved.version} of {saved.name}."


def _notices(slot: str) -> None:
    error, saved = st.session_state.pop(f"{slot}_error", None), st.session_state.pop(f"{slot}_saved", None)
    if error is not None:
        show_error(error)
    if saved is not None:
        st.toast(escaped(saved), icon=":material/check:")
