"""What to do about a transcript that does not fit: the five-branch tree, its evidence, and a configuration to try."""

import streamlit as st

from core.advice_tree import Leaf
from core.wording import counted
from pages.parts import advice_view, head
from pages.parts.advice_state import (
    FINDINGS_OF,
    OF_ADVICE,
    OF_RECORDING,
    advice_of,
    come_back,
    options,
    remember,
)
from pages.parts.edge import show_error
from pages.parts.findings_view import finding_list
from pages.parts.limits import limit_controls
from pages.parts.loading import captured_config
from pages.parts.opening import opened_transcript
from pages.parts.soft_limit import SOFT, keep_typed, take_along
from pages.parts.suggested_limit import suggested_budget, window_told

opened = opened_transcript()
if not opened.transcript.calls:
    head.title(opened, "Advice on ")
    st.info("This transcript holds no call to a model, so there is nothing to advise on.")
    st.stop()

come_back(opened)
left, right = st.columns([5, 4], vertical_alignment="top")
with left:
    head.title(opened, "Advice on ")
with right.container(horizontal=True, horizontal_alignment="right", vertical_alignment="bottom"):
    take_along(opened)
    limits = limit_controls(opened.transcript, SOFT)
    keep_typed(opened, limits)
recorded, unusable = limits.captured(opened.transcript)
if told := window_told(limits.budget["soft_limit"], recorded.model.window):
    right.caption(told, text_alignment="right")
chosen = options(len(opened.transcript.calls))
remember(opened)

found = advice_of(opened, limits, chosen) if unusable is None else None
if unusable is not None:
    show_error(unusable)
elif found is None:
    own = opened.figures(captured_config(opened.transcript))
    half = suggested_budget(own.peak_sent, own.floor + max(0, own.peak_sent - own.peak))
    st.info(
        "The window of this model is not documented here, so nothing says what fits. Type a soft limit above, for"
        f" instance {counted(half, 'token')}: about halfway between what every call carries and the largest prompt."
    )
else:
    with st.container(border=True):
        advice_view.answer(found, opened, limits)
    advice_view.tree(found)
    beside = st.container()
    if found.checks:
        left, beside = st.columns([4, 5], gap="large")
        with left:
            advice_view.checks(found)
    with beside:
        advice_view.symptom_table(found.symptoms, found.advice.leaf is Leaf.FITS)
    if found.work is not None:
        advice_view.work_units(found.work, found.prompt.sizes.hidden)

with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    st.markdown("**Findings**")
    of_what = OF_RECORDING
    if found is not None and found.config is not None:
        of_what = st.segmented_control(
            "Findings in", [OF_RECORDING, OF_ADVICE], default=OF_RECORDING, required=True, key=FINDINGS_OF,
            bind="query-params", label_visibility="collapsed",
        )  # fmt: skip
if of_what == OF_ADVICE and found is not None and found.config is not None:
    budget = found.prompt.history.config.budget
    finding_list(opened, opened.findings(found.config, budget), "what this configuration sends")
else:
    finding_list(opened, opened.findings(recorded), "the recording")

advice_view.presets(found, opened, limits)
