"""What was in the window at each call, and what filled it."""

import streamlit as st

from pages.parts import charts, head
from pages.parts.bill_view import bill_popover
from pages.parts.call_detail import call_detail
from pages.parts.compare_state import limits_in_address, limits_of_recorded
from pages.parts.edge import show_error
from pages.parts.figures import corrected, exactness
from pages.parts.limits import limit_controls
from pages.parts.opening import opened_transcript
from pages.parts.soft_limit import SOFT, keep_typed, take_along
from pages.parts.state import TRANSCRIPT
from pages.parts.suggested_limit import window_told

opened = opened_transcript()

left, right = st.columns([5, 4], vertical_alignment="top")
with left:
    head.title(opened)
with right.container(horizontal=True, horizontal_alignment="right", vertical_alignment="bottom"):
    take_along(opened)
    limits = limit_controls(opened.transcript, SOFT)
    keep_typed(opened, limits)
    if st.button("Compare", icon=":material/compare_arrows:", key="to_compare"):
        given = limits_in_address(limits_of_recorded(opened, limits))
        st.switch_page("compare.py", query_params={TRANSCRIPT: str(opened.summary.id), **given})

if not opened.transcript.calls:
    st.info("This transcript holds no call to a model, so there is no prompt to show.")
    st.stop()

config, unusable = limits.captured(opened.transcript)
if unusable is not None:
    show_error(unusable)
captured = opened.replay(config)
found = opened.figures(config)
if told := window_told(limits.budget["soft_limit"], config.model.window):
    right.caption(told, text_alignment="right")
lines = limits.lines(config)
head.cards(found, captured, config)

left, right = st.columns([5, 3], vertical_alignment="center")
far = [f"{limit.label} {limit.tokens:,}" for limit in charts.beyond(lines, found.peak_sent)]
above = f" Far above the chart: {' and '.join(far)}." if far else ""
left.caption(exactness(captured) + corrected(found) + above)
with right.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
    bill_popover(captured)
    axis = head.axis_control()
head.room_for_toolbar()

call_detail(opened, config, lines, axis)
