"""The scorecard of a comparison as a table, and what its words mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.config import BudgetConfig, Configuration
from core.engine import soft_budget
from core.prices import price_table
from core.scorecard import UPPER_BOUND, Scorecard
from core.transcript import Transcript
from core.wording import counted

from .comparison import CAPTURED, Candidate
from .dates import day
from .edge import escaped
from .findings_view import findings_of_each
from .loading import Opened
from .measure import Measure
from .score import measures
from .score_notes import notes, within_as_given
from .state import is_dark
from .texts import named_column

NARROW = 4
"""From so many configurations on their columns are narrow, so that all of them stand on a page of 1,280 pixels."""


def score(
    opened: Opened, captured_config: Configuration, candidates: Sequence[Candidate], budget: BudgetConfig
) -> None:
    """Show the scorecard, what is broken, what its words mean, and the findings that it counts.

    `budget` is what all that is sent is held against.
    """
    names = [candidate.label for candidate in candidates]
    violations = [opened.violations(candidate.config) for candidate in candidates]
    captured = opened.scorecard(captured_config, budget)
    cards = [opened.scorecard(candidate.config, budget) for candidate in candidates]
    whole = soft_budget(captured_config.model_copy(update={"budget": budget}))
    rows = measures(captured, cards, whole, soft_budget(captured_config))
    table, best = score_table(rows, [CAPTURED, *names])
    ink = "#5eead4" if is_dark() else "#0f766e"
    marked = best.map(lambda is_best: f"color: {ink}; font-weight: 600" if is_best else "")
    st.dataframe(
        table.style.apply(lambda _: marked, axis=None),
        key="scorecard",
        hide_index=True,
        height="content",
        column_config=_score_columns(names),
        alt="Measures of each configuration",
    )
    for candidate, broken in zip(candidates, violations, strict=True):
        if broken.first:
            st.warning(f"**{escaped(candidate.label)}** {escaped(broken.first)}", icon=":material/warning:")
    st.caption(explained(captured, opened.transcript))
    replays = {candidate.label: candidate.replay for candidate in candidates}
    said = [*within_as_given(replays, budget), *notes(captured, opened.replay(captured_config), replays)]
    if said:
        st.caption(escaped(" ".join(said)))
    configs = {CAPTURED: captured_config, **{candidate.slot: candidate.config for candidate in candidates}}
    findings_of_each(opened, configs, dict(zip(configs, [CAPTURED, *names], strict=True)), budget)


def explained(captured: Scorecard, transcript: Transcript) -> str:
    """Return what the words and colours of a scorecard mean."""
    bill = "; the cost as reported is nearest the bill" if captured.billed_tokens is not None else ""
    return (
        "Differences are against what was captured; the best value of a row is coloured where it is no worse than"
        " that. Where what was captured has no value (—), the best of the configurations is coloured; one that did"
        " nothing has no losses to compare. Lost is what the recorded responses took from their prompts and a"
        " configuration would not have sent."
        f" {UPPER_BOUND} {priced_on(transcript)} ({captured.prices}), replies the recorded ones; unknown is not"
        f" zero. A predicted cost is that of what the provider's cache should hold, or where nobody knows that, of the"
        f" least that it may hold{bill}."
    )


def priced_on(transcript: Transcript) -> str:
    """Return the beginning of a sentence that says of which days the prices are."""
    undated = sum(call.at is None for call in transcript.calls)
    if not undated:
        return "Prices are of the calls' dates"
    known = day(price_table().undated)
    if undated == len(transcript.calls):
        return f"Prices are of {known}, as no call has a date"
    return f"Prices are of the calls' dates, and of {known} for {counted(undated, 'call')} without one"


def _score_columns(names: Sequence[str]) -> Mapping[str, Any]:
    """Return the columns of the scorecard: the names of its measures are never cut."""
    narrow = len(names) >= NARROW
    columns = {name: named_column(name, narrow=narrow, alignment="right") for name in (CAPTURED, *names)}
    return {"": named_column("", alignment="left", width=235), **columns}


def score_table(rows: Sequence[Measure], names: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the scorecard as texts, and which of its cells are best."""
    columns = ["", *names]
    texts = [[measure.name, *(cell.text for cell in measure.cells)] for measure in rows]
    best = [[False, *(cell.best for cell in measure.cells)] for measure in rows]
    return pd.DataFrame(texts, columns=columns), pd.DataFrame(best, columns=columns)
