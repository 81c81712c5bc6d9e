"""The head of a transcript's page: its title, one line that says what it is, and five figures."""

from __future__ import annotations

from itertools import islice

import streamlit as st

from core.advice_sizes import Sizes
from core.config import Configuration
from core.dialects import PartKind, dialect
from core.engine import soft_budget
from core.findings_window import window_contradicted
from core.readers.titles import CUT
from core.replay import Replay
from core.sent_sizes import sizes_of
from core.transcript import ROOT, Fidelity, Transcript
from core.wording import counted

from .dates import day
from .edge import escaped
from .figures import Figures, fidelity, floor_told, missing_range, missing_told
from .loading import Opened
from .previews import one_line
from .texts import cut_name
from .turns import turn_count

MOST_MODELS = 3
MOST_READ = 20
"""Messages in which the text is looked for that gave a title."""
LONGEST_READ = 20_000
"""Characters of each: some agents write a frame around what the user asked."""
LONGEST_TITLE = 600
"""Characters of it that are shown."""
AXES = {"Calls": "call", "Turns": "turn"}
LONGEST_FACT = 40
"""Characters of a file's or a model's name under a title; a longer one is cut, and whole in the line's help."""


def title(opened: Opened, before: str = "") -> None:
    """Show the title and the line of facts."""
    named = opened.summary.title or "Untitled transcript"
    st.title(escaped(before + named), anchor=False, help=escaped(whole_title(named, opened.transcript)) or None)
    said, whole = facts(opened), long_names(opened)
    st.caption(escaped(" · ".join(said)), help="  \n".join(map(escaped, whole)) or None)
    if opened.transcript.notes:
        notes = " ".join(f"{note[:1].upper()}{note[1:]}." for note in opened.transcript.notes)
        st.caption(f":material/info: {escaped(notes)}")
    if empty := without_messages(opened.transcript):
        st.caption(f":material/info: {empty}")


def whole_title(title: str, transcript: Transcript) -> str:
    """Return the user's text that a cut title is the beginning of, as far as it is shown; "" if there is none."""
    if not title.endswith(CUT):
        return ""
    spoken, begins = dialect(transcript.dialect), title.removesuffix(CUT)
    for message in map(spoken.message, islice(transcript.messages, MOST_READ)):
        text = " ".join(part.text for part in message.parts if part.kind is PartKind.TEXT)
        line = " ".join(text[:LONGEST_READ].split())
        if message.role == "user" and begins in line:
            return one_line(line[line.index(begins) :], LONGEST_TITLE)
    return ""


def without_messages(transcript: Transcript) -> str:
    """Return the sentence that says which calls were sent without any message; empty where none was."""
    calls = enumerate(transcript.calls, start=1)
    empty = [number for number, call in calls if call.captured == ROOT and call.fidelity is Fidelity.CAPTURED]
    if not empty:
        return ""
    if len(empty) == len(transcript.calls):
        return (
            "Nothing was said: the list of messages was sent empty. What is counted are the frames of the request, and"
            " its system prompt and tools if it has any."
        )
    first = f"call {empty[0]:,}" if len(empty) == 1 else f"the first is call {empty[0]:,}"
    return f"{counted(len(empty), 'call')} of {len(transcript.calls):,} sent an empty list of messages: {first}."


def facts(opened: Opened) -> list[str]:
    """Return what the line under a title says of a transcript."""
    summary, transcript = opened.summary, opened.transcript
    models = list(summary.models) or ["model not recorded"]
    more = [counted(len(models) - MOST_MODELS, "more model")] if len(models) > MOST_MODELS else []
    said = [
        summary.format or summary.dialect,
        cut_name(summary.source, LONGEST_FACT),
        *(cut_name(model, LONGEST_FACT) for model in models[:MOST_MODELS]),
        *more,
        counted(summary.calls, "call"),
        counted(turn_count(opened.captured()), "turn"),
        fidelity(transcript),
        day(summary.started) if summary.started else "",
    ]
    return [fact for fact in said if fact]


def long_names(opened: Opened) -> list[str]:
    """Return the names that `facts` cuts, and those of more models than it names, whole."""
    summary = opened.summary
    cut = [name for name in (summary.source, *summary.models[:MOST_MODELS]) if len(name) > LONGEST_FACT]
    return [*cut, *summary.models[MOST_MODELS:]]


def cards(found: Figures, captured: Replay, config: Configuration) -> None:
    """Show the five figures, and below them whether the recording contradicts the window."""
    cells = st.columns(5)
    _peak(cells[0], found, captured, config)
    _card(
        cells[1], "Entered", f"{found.entered:,}", "new tokens, all calls", "Each message counted once, when it came."
    )
    _billed(cells[2], found, len(captured.transcript.calls))
    _floor(cells[3], found)
    _missing(cells[4], found)
    for contradicted in window_contradicted(captured):
        st.caption(f":material/warning: {escaped(contradicted.sentence)}")


def _peak(cell: st.delta_generator.DeltaGenerator, found: Figures, captured: Replay, config: Configuration) -> None:
    """Show the largest prompt as it was sent: that is what has to fit."""
    label = "Peak in window" if found.peak_sent == found.peak else "Peak as sent"
    recorded, sizes = captured.calls["in_window"][found.peak_call], sizes_of(captured, found.peak_call)
    help_text = f"The largest prompt as sent: call {found.peak_call + 1}{_of_it(sizes, recorded)}."
    _card(cell, label, f"{found.peak_sent:,}", budget_share(soft_budget(config), sizes, recorded), help_text)


def budget_share(soft: int | None, sizes: Sizes, recorded: int) -> str:
    """Return which share of the soft budget a prompt of so many recorded tokens has as sent."""
    if not soft:
        return "no limit set" if soft is None else "over any budget"
    share = f"{1 - sizes.free(recorded):,.0%}"
    return f"at least {share} of budget" if sizes.is_unknown else f"{share} of soft budget"


def _of_it(sizes: Sizes, recorded: int) -> str:
    """Return how a prompt as sent differs from what is recorded of it, as part of a sentence; "" if it does not."""
    if sizes.hidden:
        return f", of which {counted(recorded, 'token', 'is', 'are')} recorded and about {sizes.hidden:,} are not"
    if sizes.is_unknown:
        return sizes.beside
    return f", as reported; counted are {recorded:,}" if sizes.not_recorded else ""


def _billed(cell: st.delta_generator.DeltaGenerator, found: Figures, calls: int) -> None:
    help_text = "Input tokens that the provider reported, all calls added up."
    if found.billed is None:
        _card(cell, "Billed input", "not recorded", "no usage reported", help_text)
        return
    note = (
        f"{found.billed_calls:,} of {counted(calls, 'call')}"
        if found.billed_calls < calls
        else "reported by the provider"
    )
    if found.cached is not None and found.billed and found.billed_calls == calls:
        believable = found.cached <= found.billed
        note = f"{found.cached / found.billed:.0%} cache read" if believable else "reported cache not believable"
    _card(cell, "Billed input", f"{found.billed:,}", note, help_text)


def _floor(cell: st.delta_generator.DeltaGenerator, found: Figures) -> None:
    value, note = floor_told(found)
    help_text = "What every call carries before anything was said."
    if found.floor_lacks_some:
        help_text += " The recording lacks some of it, of which nobody knows the size."
    elif found.floor < found.counted_floor:
        help_text += f" Less in proportion to what was reported; counted are {found.counted_floor:,}."
    _card(cell, "Fixed floor", value, note, help_text)


def _missing(cell: st.delta_generator.DeltaGenerator, found: Figures) -> None:
    help_text = (
        "What the provider counted beyond the recorded prompt, in the middle of all calls: a system prompt or tools"
        " that the recording does not hold, and what an estimate falls short. The chart and the spans of a call have"
        " it call by call."
    )
    if found.missing is None:
        _card(cell, "Not recorded", "unknown", "no usage reported", help_text)
        return
    value = missing_told(found)
    note = missing_range(found.least_missing, found.most_missing, found.partly)
    if found.least_missing < 0 and found.most_missing <= 0:  # a card of a narrow page cuts its end
        help_text = f"{help_text} In tokens a call, {note}."
    _card(cell, "Not recorded", value, note.replace("counts are ", "counts "), help_text)


def _card(cell: st.delta_generator.DeltaGenerator, label: str, value: str, note: str, help_text: str) -> None:
    cell.metric(label, value, note, delta_color="off", delta_arrow="off", border=True, help=help_text, height="stretch")


def room_for_toolbar() -> None:
    """Leave room under a row for what the chart below shows above itself while the mouse is over it."""
    st.space("small")


def axis_control() -> str:
    """Show what a bar of the chart stands for; return "call" or "turn"."""
    chosen = st.segmented_control(
        "Bars", list(AXES), default="Calls", required=True, key="axis", bind="query-params",
        label_visibility="collapsed",
    )  # fmt: skip
    return AXES[chosen]
