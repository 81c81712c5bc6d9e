"""What a comparison says about rules and hints: sentences below the scorecard and above a call's spans.

Most comparisons have nothing to say here, and then nothing is shown. A sentence that is true of several configurations
is said once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import streamlit as st

from core.hint_notes import CallNotes
from core.hints import Hints
from core.replay import Replay
from core.rule_conflicts import rule_report

from .comparison import Candidate
from .edge import escaped

MOST_SENTENCES = 5
"""Sentences shown at once; the others are one click away."""


def grouped(notes: Sequence[tuple[str, tuple[str, ...]]]) -> list[tuple[tuple[str, ...], list[str]]]:
    """Return sentences by the labels of all that they are said of; each sentence once, in order."""
    labels: dict[str, list[str]] = {}
    for label, sentences in notes:
        for sentence in sentences:
            labels.setdefault(sentence, []).append(label)
    found: dict[tuple[str, ...], list[str]] = {}
    for sentence, whose in labels.items():
        found.setdefault(tuple(whose), []).append(sentence)
    return list(found.items())


def rule_notes(candidates: Sequence[Candidate]) -> None:
    """Show where the rules of configurations meet, find nothing, or are not looked at."""
    notes = grouped([(candidate.label, rule_report(candidate.replay).sentences) for candidate in candidates])
    if not notes:
        return
    with st.container(border=True, gap="small"):
        for labels, sentences in notes:
            st.markdown(f"Rules of {', '.join(f'**{escaped(label)}**' for label in labels)}")
            st.markdown(_listed(sentences[:MOST_SENTENCES]))
            if len(sentences) > MOST_SENTENCES:
                with st.expander(f"{len(sentences) - MOST_SENTENCES} more"):
                    st.markdown(_listed(sentences[MOST_SENTENCES:]))


def hint_lines(replays: Sequence[Replay], call: int) -> None:
    """Show which hints were captured with a call (0-based), and what they name that its prompt does not have."""
    hints, _ = Hints.recorded(replays[0].transcript.calls[call].hints)
    given = [field.name.replace("_", " ") for field in fields(hints) if getattr(hints, field.name)]
    if given:
        st.caption(f"Captured with hints: {', '.join(given)}.")
    notes = dict.fromkeys(sentence for replay in replays for sentence in CallNotes(replay)[call])
    if notes:
        st.warning("  \n".join(map(escaped, notes)), icon=":material/help:")


def _listed(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {escaped(sentence)}" for sentence in sentences)
