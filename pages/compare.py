"""The same transcript under two to four configurations, side by side."""

import streamlit as st

from core.sent_sizes import sizes_of
from pages.parts import head, palette
from pages.parts.bill_view import bill_popover
from pages.parts.compare_cards import broken_card, card
from pages.parts.compare_detail import Comparison, results
from pages.parts.compare_state import (
    BUDGET,
    add,
    bring_back,
    candidates,
    free_slot,
    has_replaced,
    remember,
    said_in_address,
)
from pages.parts.edge import show_error
from pages.parts.figures import exactness, lines_told
from pages.parts.limits import limit_controls
from pages.parts.loading import captured_config
from pages.parts.opening import opened_transcript
from pages.parts.state import is_dark
from pages.parts.suggested_limit import Room, limit_told

opened = opened_transcript(keep=False)
if not opened.transcript.calls:
    head.title(opened, "Compare on ")
    st.info("This transcript holds no call to a model, so there is nothing to compare.")
    st.stop()

recorded = captured_config(opened.transcript)
room = Room.of(recorded, opened.figures(recorded))
left, right = st.columns(2, vertical_alignment="top")
with left:
    head.title(opened, "Compare on ")
with right, st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="bottom"):
    shown = said_in_address(opened, room)
    limits = limit_controls(opened.transcript, BUDGET, beside=True)
    remember(opened, room, shown, limits)
    if has_replaced(opened):
        st.button(
            "Previous",
            icon=":material/undo:",
            key="bring_back",
            help="Bring back the comparison that this one took the place of, with its limits.",
            on_click=bring_back,
            args=(opened,),
        )
    st.button(
        "Add",
        icon=":material/add:",
        key="add",
        disabled=free_slot(shown) is None,
        help="Add a configuration, four at most.",
        on_click=add,
        args=(shown,),
    )

captured, unusable = limits.captured(opened.transcript)
if unusable is not None:
    show_error(unusable)
    st.stop()
found, errors = candidates(opened, limits, shown)
colours = palette.configurations(is_dark())
of_recorded = None if limits.model.get("name") else room
if told := limit_told(limits.budget["soft_limit"], limits.beside, of_recorded, captured.model.window):
    right.caption(told, text_alignment="right")
by_slot = {candidate.slot: candidate for candidate in found}
for slot, cell in zip(shown, st.columns(len(shown)), strict=True):
    with cell:
        if slot in errors:
            broken_card(slot, shown[slot], shown, errors[slot])
        else:
            card(by_slot[slot], shown, colours[found.index(by_slot[slot])])

if found:
    left, right = st.columns([5, 3], vertical_alignment="center")
    lines = limits.lines(captured)
    made, figures = opened.replay(captured), opened.figures(captured)
    left.caption(exactness(made) + lines_told(figures, sizes_of(made, figures.peak_call)))
    with right.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        bill_popover(opened.replay(captured))
        axis = head.axis_control()
    head.room_for_toolbar()
    results(Comparison(opened, captured, found, lines, axis, limits.whole_budget(captured)))
