"""The list of findings, each with a way to the call that it points at."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.findings import Finding, Level

from .edge import escaped
from .loading import Opened
from .state import CALL, SPAN, TRANSCRIPT

ICONS = {
    Level.ERROR: (":material/error:", "red"),
    Level.WARNING: (":material/warning:", "orange"),
    Level.NOTICE: (":material/info:", "gray"),
}


def finding_list(opened: Opened, found: Sequence[Finding], of_what: str) -> None:
    """Show findings, the worst first. `of_what` says whose they are where there is none."""
    if not found:
        st.caption(f"Nothing is worth a look in {of_what}.")
    for finding in found:
        _finding(opened, finding)


def _finding(opened: Opened, finding: Finding) -> None:
    icon, colour = ICONS[finding.level]
    left, right = st.columns([8, 1], vertical_alignment="center")
    name = finding.name.replace("_", " ").capitalize()
    left.markdown(f":{colour}[{icon}] **{name}** {escaped(finding.sentence)}")
    if finding.call is not None:
        right.page_link(
            "inspect_transcript.py",
            label=f"Call {finding.call + 1:,}",
            icon=":material/search:",
            query_params=inspect_address(opened, finding),
        )


def inspect_address(opened: Opened, finding: Finding) -> dict[str, str]:
    """Return the address of Inspect at a finding's call, and at its span where the recorded prompt has it.

    After a recorded compaction the positions of the whole history are not those of the recorded prompt.
    """
    call = finding.call or 0
    address = {TRANSCRIPT: str(opened.summary.id), CALL: str(call + 1)}
    made = opened.transcript.calls[call]
    if finding.span_ids and made.captured == made.history:
        address[SPAN] = finding.span_ids[0]
    return address
