"""The list of findings, each with a way to the call that it points at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.config import BudgetConfig, Configuration
from core.findings import Finding, Level

from .edge import escaped
from .loading import Opened
from .state import CALL, SPAN, TRANSCRIPT
from .texts import cut_name

ICONS = {
    Level.ERROR: (":material/error:", "red"),
    Level.WARNING: (":material/warning:", "orange"),
    Level.NOTICE: (":material/info:", "gray"),
}


def finding_list(opened: Opened, found: Sequence[Finding], of_what: str) -> None:
    """Show findings, the worst first. `of_what` says whose they are where there is none."""
    if not found:
        st.caption(f"Nothing is worth a look in {of_what}.")
    for place, finding in enumerate(found):
        _finding(opened, finding, f"to_finding_{place}")


def findings_of_each(
    opened: Opened, configs: Mapping[str, Configuration], labels: Mapping[str, str], budget: BudgetConfig
) -> None:
    """Show, once it is unfolded, the findings of one configuration after another, by the keys of `configs`.

    `budget` is what they are held against.
    """
    fold = st.expander("Findings, with the calls they are about", key="compare_findings", on_change="rerun")
    if not fold.open:
        return
    with fold:
        chosen = st.segmented_control(
            "Findings of", list(configs), default=next(iter(configs)), required=True, key="findings_of_each",
            format_func=lambda key: cut_name(labels[key]), label_visibility="collapsed",
        )  # fmt: skip
        name = labels[chosen]
        finding_list(opened, opened.findings(configs[chosen], budget), f"what {escaped(name)} sends")


def _finding(opened: Opened, finding: Finding, key: str) -> None:
    icon, colour = ICONS[finding.level]
    left, right = st.columns([8, 1], vertical_alignment="center")
    name = finding.name.replace("_", " ").capitalize()
    left.markdown(f":{colour}[{icon}] **{name}** {escaped(finding.sentence)}")
    if finding.call is not None:
        with right:
            _way(opened, finding, finding.call + 1, key)


def _way(opened: Opened, finding: Finding, call: int, key: str) -> None:
    """Show the way to a call on Inspect: a button, because the call chosen last wins over that of a link's address."""
    if st.button(f"Call {call:,}", icon=":material/search:", key=key, type="tertiary", on_click=_walk_to, args=(call,)):
        st.switch_page("inspect_transcript.py", query_params=inspect_address(opened, finding))


def _walk_to(call: int) -> None:
    """Choose a call (callback)."""
    st.session_state[CALL] = call


def inspect_address(opened: Opened, finding: Finding) -> dict[str, str]:
    """Return the address of Inspect, at a finding's span where the recorded prompt of its call has it.

    After a recorded compaction the positions of the whole history are not those of the recorded prompt. The call is
    not in it: pages bind it to a widget, and nobody else may write it.
    """
    address = {TRANSCRIPT: str(opened.summary.id)}
    made = opened.transcript.calls[finding.call or 0]
    if finding.span_ids and made.captured == made.history:
        address[SPAN] = finding.span_ids[0]
    return address
