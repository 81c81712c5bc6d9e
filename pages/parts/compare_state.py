"""The configurations of a comparison in the address: read, changed and put back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

from core.config import Configuration
from core.errors import ConfigError
from core.sent_sizes import sizes_of

from .address import number_in
from .comparison import FEWEST, SLOTS, Candidate, labels, parsed, suggestions, written
from .limits import BESIDE, Limits
from .loading import Opened
from .soft_limit import keep_typed, typed_limit
from .state import TRANSCRIPT, keep_all_in_address
from .suggested_limit import Room
from .turns import turn_count

BUDGET = "budget"
"""The key of the soft limit that all configurations share, and its name in the address."""


def said_in_address(opened: Opened, room: Room) -> dict[str, dict[str, Any]]:
    """Return the configurations by slot: those of the address, else those seen last, else three suggested ones.

    What is not in the address is put there, with its budget, so that a copied link says all of it. `room` is what
    a budget is suggested by. Call it before the budget's widget is shown.
    """
    named = {slot: st.query_params[slot] for slot in SLOTS if slot in st.query_params}
    if named:
        keep_all_in_address({TRANSCRIPT: str(opened.summary.id)})
        return {slot: parsed(slot, text) for slot, text in named.items()}
    seen = st.session_state.get(_memory(opened))
    if seen is None:
        limit, beside = room.suggested, room.beside
        suggested = suggestions(opened.summary.calls, turn_count(opened.captured()), limit)
        seen = dict(zip(SLOTS, suggested, strict=False)), limit, beside
    shown, budget, beside = seen
    if (typed := typed_limit(opened)) is not None and typed != (budget or 0) + beside:
        given = limits_of_recorded(opened, Limits({}, {"soft_limit": typed}))
        budget, beside = given.budget["soft_limit"], given.beside
    asked = number_in(st.query_params.get(BUDGET))
    _put(opened, shown, None if asked is not None and asked >= 0 else (budget, beside))
    return dict(shown)


def remember(opened: Opened, room: Room, shown: Mapping[str, Mapping[str, Any]], limits: Limits) -> None:
    """Keep a comparison for when the viewer comes back to it from another page, and the one that it took the place of.

    On this page one slot is changed at a time; where more differ, another page brought a comparison of its own. The
    limit of the first one counts as typed unless it is the suggested one: somebody gave it to the link.
    """
    seen, now = st.session_state.get(_memory(opened)), (dict(shown), limits.budget["soft_limit"], limits.beside)
    before = (room.suggested, room.beside) if seen is None else seen[1:]
    if seen is not None and sum(seen[0].get(slot) != shown.get(slot) for slot in SLOTS) > 1:
        st.session_state[_replaced(opened)] = seen
    elif now[1] is not None and before != now[1:]:
        keep_typed(opened, limits)
    st.session_state[_memory(opened)] = now


def has_replaced(opened: Opened) -> bool:
    """Return whether there was a comparison that the one shown took the place of."""
    return _replaced(opened) in st.session_state


def bring_back(opened: Opened) -> None:
    """Show the replaced comparison again, with its limits; the one shown now is then the replaced one."""
    shown, budget, beside = st.session_state[_replaced(opened)]
    _put(opened, shown, (budget, beside))


def _put(opened: Opened, shown: Mapping[str, Mapping[str, Any]], limits: tuple[int | None, int] | None) -> None:
    """Show a comparison, with its soft limit and what is left beside it unless those of the page stay."""
    slots = {TRANSCRIPT: str(opened.summary.id), **_texts({slot: written(said) for slot, said in shown.items()})}
    if limits is None:
        keep_all_in_address(slots)
        return
    st.session_state[BUDGET], st.session_state[BESIDE] = limits
    soft, beside = limits
    texts = {BUDGET: None if soft is None else str(soft), BESIDE: str(beside) if beside else None}
    # Streamlit writes these itself where their widgets were shown before, and refuses anyone else's hand.
    try:
        keep_all_in_address({**slots, **texts})
    except StreamlitAPIException:
        keep_all_in_address(slots)
        st.rerun()


def limits_of_recorded(opened: Opened, limits: Limits) -> Limits:
    """Return what a typed soft limit leaves to what is recorded, by the largest prompt as sent; else the limits."""
    if limits.budget["soft_limit"] is None or not opened.transcript.calls:
        return limits
    config = limits.config(opened.transcript, {"kind": "as_captured"})
    return limits.for_strategies(sizes_of(opened.replay(config), opened.figures(config).peak_call))


def limits_in_address(limits: Limits) -> dict[str, str]:
    """Return the parameters of a comparison's address that say what its strategies are limited to."""
    soft = limits.budget["soft_limit"]
    if soft is None:
        return {}
    return {BUDGET: str(soft), **({BESIDE: str(limits.beside)} if limits.beside else {})}


def _memory(opened: Opened) -> str:
    return f"compared_{opened.summary.id}"


def _replaced(opened: Opened) -> str:
    return f"replaced_{opened.summary.id}"


def change(shown: Mapping[str, Mapping[str, Any]], slot: str, said: Mapping[str, Any] | None) -> None:
    """Write the comparison into the address with another configuration in a slot, or without it."""
    changed = {**shown, slot: said}
    _write({key: written(value) for key, value in changed.items() if value is not None})


def free_slot(shown: Mapping[str, Any]) -> str | None:
    """Return the first slot without a configuration."""
    return next((slot for slot in SLOTS if slot not in shown), None)


def add(shown: Mapping[str, Mapping[str, Any]]) -> None:
    """Put the whole history into a free slot, as a start for another configuration."""
    slot = free_slot(shown)
    if slot is not None:
        change(shown, slot, {"strategy": {"kind": "full_history"}})


def may_remove(shown: Mapping[str, Any]) -> bool:
    """Return whether enough would stay to compare."""
    return len(shown) > FEWEST


def candidates(
    opened: Opened, limits: Limits, shown: Mapping[str, Mapping[str, Any]]
) -> tuple[list[Candidate], dict[str, ConfigError]]:
    """Return the configurations with their replays, and what is wrong with those that cannot be used, by slot."""
    configs: dict[str, Configuration] = {}
    errors: dict[str, ConfigError] = {}
    for slot, said in shown.items():
        try:
            configs[slot] = _config(opened, limits, said)
            opened.replay(configs[slot])
        except ConfigError as error:
            errors[slot] = error
    usable = {slot: config for slot, config in configs.items() if slot not in errors}
    names = labels(list(usable.values()))
    found = [
        Candidate(slot, shown[slot], name, config, opened.replay(config))
        for (slot, config), name in zip(usable.items(), names, strict=True)
    ]
    return found, errors


def _config(opened: Opened, limits: Limits, said: Mapping[str, Any]) -> Configuration:
    sections = {key: value for key, value in said.items() if key != "strategy"}
    return limits.config(opened.transcript, said.get("strategy") or {}, **sections)


def _write(texts: Mapping[str, str]) -> None:
    keep_all_in_address(_texts(texts))


def _texts(texts: Mapping[str, str]) -> dict[str, str | None]:
    """Return what stands in every slot; None in those that are free."""
    return {slot: texts.get(slot) for slot in SLOTS}
