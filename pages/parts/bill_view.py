"""How far counts can be trusted against the bill: marks, what is not recorded, drift by model, what to set for it.

It stands behind a button beside the chart, where the sentence on how texts are counted is, on Inspect and Compare.
"""

from __future__ import annotations

import collections
import json
from typing import Any

import pandas as pd
import streamlit as st

from core.bill import marks
from core.drift import Drift
from core.replay import Replay
from core.tokens import Counter, Exactness, TiktokenCounter
from core.wording import agreeing, counted

from .edge import escaped
from .figures import missing_range, partly_reported

EXPLAINED = (
    "A prediction is what the calls before had beyond their counts, added to a call's own count. Bias is by how much"
    " it falls short of the report on average, spread what 95% of the calls miss by at most. The reserve covers 99% of"
    " them; it is part of what is kept free of the window. The factor is for texts counted by the plain encoding;"
    " frames, tools and images by formula have none."
)


WIDTH = 580
WORDS = {Exactness.FORMULA: "by formula", Exactness.ESTIMATE: "an estimate"}


def bill_popover(captured: Replay) -> None:
    """Show the button, and behind it what reports say of the counts of a recording."""
    button = st.popover("Counts and bill", icon=":material/balance:", key="counts_and_bill", width="content")
    with button, st.container(width=WIDTH):
        for sentence in sentences(captured):
            st.markdown(escaped(sentence))
        drifts = captured.calibration.by_model
        if not drifts:
            return
        table, columns = drift_table(drifts), _columns()
        st.dataframe(table, hide_index=True, height="content", column_config=columns, alt="Drift by model")
        st.caption(escaped(EXPLAINED))
        for model, found in drifts.items():
            in_use = counter_in_use(captured, model)
            if said := factor_told(found, in_use):
                st.markdown(f"**{escaped(model)}** {escaped(said)}")
            if found.counter is not None and not is_in_use(found, in_use):
                st.code(json.dumps({"counter": found.counter}), language="json", wrap_lines=True)


def sentences(captured: Replay) -> list[str]:
    """Return how the calls' tokens are known, what is not recorded, and what speaks against the recording."""
    calibration, calls = captured.calibration, len(captured.transcript.calls)
    known = collections.Counter(marks(captured))
    how = ", ".join(f"{WORDS.get(mark, str(mark))} in {number:,}" for mark, number in known.items())
    said = [f"Tokens sent in all by {counted(calls, 'call')}: {how}."]
    if calibration.hidden is None:
        return [*said, "No usage was reported, so nothing says how far these counts are off."]
    beyond = [tokens for tokens in calibration.not_recorded if tokens is not None]
    said.append(_beyond(calibration.hidden, min(beyond), max(beyond), partly_reported(captured)))
    if calibration.problem:
        said.append(calibration.problem)
    if not calibration.by_model:
        said.append("Too few calls could be predicted to say how far counts drift.")
    return said


def _beyond(middle: int, least: int, most: int, partly: str) -> str:
    if least == most == 0:
        return f"Counts equal the reports{f', {partly}' if partly else ' in every call'}."
    calls = missing_range(least, most, partly)
    where = f", {partly}" if partly and calls != partly else ""
    if most <= 0:
        return f"In tokens a call, {calls}{where}; all figures follow the reports."
    tokens = counted(middle, "token").replace("-", "−")
    return f"Not recorded: {tokens}{'' if least == most else ' in the median'}, {calls}{where}."


def drift_table(drifts: dict[str, Drift]) -> pd.DataFrame:
    """Return the drift of each model, shares as texts in percent."""
    return pd.DataFrame(
        {
            "model": list(drifts),
            "calls": [found.calls for found in drifts.values()],
            "bias": [f"{found.bias:+.2%}".replace("-", "−") for found in drifts.values()],
            "spread": [f"{found.spread:.2%}" for found in drifts.values()],
            "reserve": [f"{found.reserve_ratio:.1%}" for found in drifts.values()],
            "factor": [_factor(found) for found in drifts.values()],
        }
    )


def _factor(found: Drift) -> str:
    fit = found.scale
    return "—" if fit is None else f"{fit.scale:.3f}  ({fit.low:.3f} to {fit.high:.3f})"


def counter_in_use(captured: Replay, model: str) -> Counter:
    """Return the counter that the calls which a model answered were counted with."""
    calls = captured.transcript.calls
    return captured.counter_of(next(place for place, call in enumerate(calls) if call.model == model))


def is_in_use(found: Drift, counter: Counter) -> bool:
    """Return whether a counter has a factor already that the fitted one cannot be told from."""
    fit = found.scale
    if fit is None or not isinstance(counter, TiktokenCounter) or counter.encoding_name != found.encoding:
        return False
    return fit.low <= counter.scale <= fit.high


def factor_told(found: Drift, counter: Counter) -> str:
    """Return what a model's factor means beside the one in use, and whether it is one of a tokenizer; "" if none."""
    fit = found.scale
    if fit is None:
        return ""
    each = f"{fit.scale:.3f} for each token of {found.encoding}"
    if found.counter is None:
        more = "more" if fit.scale > 1 else "fewer"
        return (
            f"grew by {each}, {more} than any tokenizer needs: by something that the recording does not hold. This is"
            " no factor to set."
        )
    if is_in_use(found, counter):
        return f"fits {each}{_beside_texts(fit.floor)}. The factor in use lies within its range: there is none to set."
    return f"fits {each}{_beside_texts(fit.floor)}. To count with it, set in a configuration:"


def _beside_texts(floor: int) -> str:
    """Return what a fit has beside its factor: tokens that are not recorded, or those by formula that are too many."""
    if floor < 0:
        return f", less {counted(-floor, 'token')} that {agreeing(floor, 'is', 'are')} counted too much by formula"
    return f" and {counted(floor, 'token')} that {agreeing(floor, 'is', 'are')} not recorded" if floor else ""


def _columns() -> dict[str, Any]:
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    return {
        "model": text(width=160),
        "calls": number(format="localized", width=50),
        **{name: text(width=64, alignment="right") for name in ("bias", "spread", "reserve")},
        "factor": text(width=150, alignment="right"),
    }
