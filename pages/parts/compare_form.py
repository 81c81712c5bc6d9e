"""The form that edits a configuration of a comparison. What is chosen in it is kept until it is applied or cancelled.

The form stands in a popover, which closes at any click beside it. It is made when it is opened first, and from then on
stays in the closed popover, so that a browser keeps what was typed. The chosen strategy is kept here, because it says
which fields there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.config import load_config, strategy_kinds
from core.errors import ConfigError
from core.strategy_config import KEEP_UNITS

from .compare_state import change, may_remove
from .edge import escaped, show_error
from .state import SEEN
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

ORDER = ("integer", "number", "choice", "boolean", "text", "list", "any", "json")
WIDE = ORDER[4:]
"""Kinds of fields in the order of a form; the last ones need its whole width."""

SECTIONS = {
    "rules": "What rules say about spans: eviction class, priority, required, tier. A list of objects.",
    "shrink": "Shrinkers, in order, that make single spans smaller before the strategy decides. A list of objects.",
}

LABELS = {"step": "Cut in steps of, tokens"}
"""Settings of which the name alone has another meaning: a step is one reply of a model with its results."""

Shown = Mapping[str, Mapping[str, Any]]


def edit(slot: str, said: Mapping[str, Any], shown: Shown) -> None:
    """Show the button that opens the form of a configuration."""
    opened = st.popover("Edit", icon=":material/edit:", key=f"edit_{slot}", on_change="rerun")
    if opened.open or _drafted(slot, said) is not None:
        with opened:
            _form(slot, said, shown)


def say_draft(slot: str, said: Mapping[str, Any]) -> None:
    """Say which strategy was chosen in the form and is not applied yet."""
    kind = _drafted(slot, said)
    if kind is not None and kind != _kind(said):
        st.caption(f":material/edit_note: {escaped(kind)} is chosen, not applied yet.")


def _draft(slot: str) -> str:
    return f"{slot}_draft"


def _error(slot: str) -> str:
    return f"{slot}_form_error"


def _drafted(slot: str, said: Mapping[str, Any]) -> str | None:
    """Return the strategy that is chosen in the form of this configuration; None where the form was not opened."""
    of, kind = st.session_state.get(_draft(slot), (None, None))
    return kind if of == _edited(said) else None


def _edited(said: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
    """Return what a form is about: the configuration, and the transcript that it is compared on."""
    return st.session_state[SEEN], said


def _kind(said: Mapping[str, Any]) -> str:
    """Return the strategy of a configuration, the first of all where it names none that there is."""
    kinds = strategy_kinds()
    named = (said.get("strategy") or {}).get("kind")
    return named if named in kinds else kinds[0]


def _form(slot: str, said: Mapping[str, Any], shown: Shown) -> None:
    current = said.get("strategy") or {}
    kinds, chosen = strategy_kinds(), _drafted(slot, said) or _kind(said)
    kind = st.selectbox("Strategy", kinds, kinds.index(chosen), key=f"{slot}_kind")
    st.session_state[_draft(slot)] = _edited(said), kind
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
        if (error := st.session_state.pop(_error(slot), None)) is not None:
            show_error(error)
        with st.container(horizontal=True):
            st.form_submit_button(
                "Apply", type="primary", on_click=_apply, args=(slot, kind, said, shown), key=f"{slot}_apply"
            )
            st.form_submit_button("Cancel", on_click=_close, args=(slot,), key=f"{slot}_cancel")
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
    label = LABELS.get(field.name, field.name.replace("_", " ").capitalize())
    help_text = field.help or None
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
    """Take the values of the form (callback). What cannot be used stays in the form, with the reason beside it."""
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
        state[_error(slot)] = error
        return
    _close(slot)
    change(shown, slot, new)


def _close(slot: str) -> None:
    """Close the form and let go of what was chosen in it: it is made anew when it is opened again (callback)."""
    st.session_state[f"edit_{slot}"] = False
    st.session_state.pop(_draft(slot), None)
