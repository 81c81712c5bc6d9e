"""The parts of the Advise page: the answer, its checks, the symptoms, the units of work, and where to go from it."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.advice import TITLES, Advised
from core.advice_symptoms import Symptom
from core.advice_tree import Leaf
from core.advice_trial import Check
from core.presets import PRESETS
from core.scorecard import UPPER_BOUND
from core.wording import counted
from core.work_units import Work, WorkUnit

from .advice_tree_view import UNASKED, folded, tree_html
from .compare_state import limits_in_address
from .comparison import settings_line, written
from .edge import escaped
from .limits import Limits
from .loading import Opened
from .state import TRANSCRIPT, is_dark

MARKS = {
    True: (":material/check_circle:", "green", "passed"),
    False: (":material/cancel:", "red", "failed"),
    None: (":material/help:", "gray", "not known"),
}
SEEN, POSSIBLE, UNKNOWN, NOT_SEEN = "seen", "possible", "not known", "no"
FACTS = ("leave it alone", "repair pairs, then 3A")
"""What symptoms speak for that can be seen in a prompt which fits."""
_EACH = "; ".join(f"{leaf}: {title[:1].lower()}{title[1:]}" for leaf, title in TITLES.items() if leaf not in UNASKED)
REMEDIES = (
    "How this is decided: five questions are asked, each with a remedy, and the first that gives back enough is taken."
    f" {_EACH}."
)
MOST_UNITS = 200
PAD = "padding:0.3rem 0.6rem 0.3rem 0"
WHOLE: Mapping[str, Any] = {"strategy": {"kind": "full_history"}}


def answer(found: Advised, opened: Opened, limits: Limits) -> None:
    """Show the leaf, the advice in one sentence, and the way to Compare."""
    leaf = found.advice.leaf
    code = "" if leaf in UNASKED else f":primary[{leaf}] "
    then = "".join(f", then {other}: {TITLES[other].lower()}" for other in found.advice.then)
    st.subheader(f"{code}{found.headline}{then}", anchor=False)
    st.markdown(escaped(found.verdict))
    if found.said is None:
        if leaf is Leaf.SMALLER_UNIT and found.safe is not False:
            st.caption("No configuration of one prompt helps here; the units below are calls of their own.")
        return
    if leaf is Leaf.SMALLER_UNIT and found.safe is not False:  # else the verdict says that this is what is left
        call = found.prompt.call + 1
        st.caption(f"Where the work cannot be split, this cuts history instead and makes call {call} fit:")
    st.markdown(escaped(" ".join(filter(None, (found.configured, found.stay_over)))))
    said = {**found.said, "name": f"Advice {' + '.join((leaf, *found.advice.then))}"}
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Use this", icon=":material/compare_arrows:", type="primary", key="use_advice",
                     help="Opens Compare with this configuration beside the whole history."):  # fmt: skip
            st.switch_page("compare.py", query_params=compare_address(opened, found, limits, said))
        st.caption(escaped(_in_words(said)), width="content")
        if found.dearer:
            st.caption(f":orange[:material/payments:] {escaped(found.dearer)}", width="content")
    if found.prompt.sizes.hidden:
        st.caption(f"“Use this” opens Compare with {_opens_with(found)}.")


def _opens_with(found: Advised) -> str:
    """Return the limit of what strategies are given, in words."""
    return (
        f"a soft limit of {counted(max(0, found.prompt.allowed), 'token')}: what {found.prompt.budget:,} leave beside"
        " what is not recorded, which no strategy sees"
    )


def _in_words(said: Mapping[str, Any]) -> str:
    shrink = [f"{part['kind']} ({_settings(part)})" for part in said.get("shrink", ())]
    return " + ".join([*shrink, f"{said['strategy']['kind']} ({settings_line({**said, 'shrink': [], 'rules': []})})"])


def _settings(part: Mapping[str, Any]) -> str:
    words = (
        f"{name.replace('_', ' ')} {value}"
        for name, value in part.items()
        if name not in ("kind", "hard_case_keywords")
    )
    return ", ".join(words) or "rules said once, examples on demand"


def compare_address(opened: Opened, found: Advised | None, limits: Limits, said: Mapping[str, Any]) -> dict[str, str]:
    """Return the address of Compare with a configuration beside the whole history, under the same budget.

    Model, window and reserve are bound to the address by widgets that both pages have, so nobody else may write them.
    """
    tried = limits if found is None else limits.for_strategies(found.prompt.sizes)
    address = {TRANSCRIPT: str(opened.summary.id), "a": written(said), "b": written(WHOLE)}
    return {**address, **limits_in_address(tried)}


def tree(found: Advised) -> None:
    """Show the tree with its evidence; one line where no branch is asked."""
    if found.advice.leaf in UNASKED:
        st.caption(f"{escaped(folded(found))} Nothing is trimmed, so there is nothing to check.")
    else:
        st.html(tree_html(found, is_dark()))
    st.caption(escaped(REMEDIES))


def checks(found: Advised) -> None:
    """Show whether the trim is safe, check by check."""
    splits = found.advice.leaf in (Leaf.SMALLER_UNIT, Leaf.CHUNK)
    st.markdown(f"**Is the {'split' if splits else 'trim'} safe?** {_summary(found.checks)}")
    for check in found.checks:
        icon, colour, word = MARKS[check.passed]
        st.markdown(f":{colour}[{icon}] {escaped(check.name)} :small[— {word}: {escaped(check.why)}]")
    if not splits:
        st.caption(f"Checked on what the configuration would send. {UPPER_BOUND}")


def _summary(found: Sequence[Check]) -> str:
    failed, unknown = (sum(check.passed is kind for check in found) for kind in (False, None))
    if failed:
        return f"{failed} of {counted(len(found), 'check')} failed."
    return "All checks passed." if not unknown else f"None failed; {unknown} cannot be told from a recording."


def symptom_table(found: Sequence[Symptom], fits: bool = False) -> None:
    """Show the table of symptoms, those seen first. Of a prompt that `fits`, hardly any is seen: nothing failed."""
    order = {SEEN: 0, POSSIBLE: 1, UNKNOWN: 2, NOT_SEEN: 3}
    said = [(symptom_word(row, fits), row) for row in found]
    rows = "".join(_symptom(word, row) for word, row in sorted(said, key=lambda pair: order[pair[0]]))
    st.markdown("**Symptoms, and what speaks for them here**")
    if any(word == POSSIBLE for word, _ in said):
        st.caption(
            f"Nothing has failed: “{POSSIBLE}” marks what would be typical of this prompt if it no longer fitted."
        )
    st.html(
        '<table style="width:100%;border-collapse:collapse;font-size:0.9rem;line-height:1.35">'
        f'<tr style="text-align:left;opacity:0.65">{_cells("th", "", "symptom, with the evidence here", "remedy")}</tr>'
        f"{rows}</table>"
    )


def symptom_word(row: Symptom, fits: bool) -> str:
    """Return what is said of a symptom: one of what goes wrong is only possible where nothing did."""
    if row.seen and fits and row.leaf not in FACTS:
        return POSSIBLE
    return {True: SEEN, False: NOT_SEEN, None: UNKNOWN}[row.seen]


def _symptom(word: str, row: Symptom) -> str:
    is_seen = word == SEEN
    line = f"border-top:1px solid {'#2b353b' if is_dark() else '#dfe5e8'}"
    accent = f"color:{'#5eead4' if is_dark() else '#0f766e'};font-weight:600" if is_seen else "opacity:0.65"
    return (
        f'<tr style="{line};vertical-align:top"><td style="{PAD};white-space:nowrap;{accent}">{word}</td>'
        f'<td style="{PAD};overflow-wrap:anywhere{"" if is_seen else ";opacity:0.75"}">{html.escape(row.name)}'
        f'<div style="opacity:0.7;font-size:0.85rem">{html.escape(row.evidence)}</div></td>'
        f'<td style="{PAD};{accent}">{html.escape(row.leaf)}</td></tr>'
    )


def _cells(tag: str, *texts: str) -> str:
    return "".join(f'<{tag} style="{PAD};font-weight:400">{html.escape(text)}</{tag}>' for text in texts)


def work_units(work: Work, hidden: int = 0) -> None:
    """Show the units that the work would split into, each counted as its own call beside what is not recorded."""
    if not work.units:
        return
    beside = f" beside about {hidden:,} not recorded" if hidden else ""
    st.markdown(
        f"**{counted(len(work.units), 'unit')} of work**, each its own call of at most {counted(work.budget, 'token')}"
        f"{beside},"
        f" then an aggregator that reads {counted(len(work.units), 'verdict')}: {counted(work.aggregator, 'token')}."
    )
    shown = work.units[:MOST_UNITS]
    number = st.column_config.NumberColumn
    st.dataframe(
        _units_table(shown, work.budget),
        key="units",
        hide_index=True,
        height="content" if len(shown) <= 10 else 390,
        column_config={
            "#": number(width=42),
            "texts": number(width=60),
            "tokens": number(format="localized", width=80),
            "of the budget": st.column_config.ProgressColumn(format="%.0f%%", min_value=0, max_value=100, width=120),
        },
        alt="Units of work",
    )
    if len(work.units) > len(shown):
        st.caption(f"The first {len(shown):,} of {len(work.units):,} are shown.")


def _units_table(units: Sequence[WorkUnit], budget: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "#": range(1, len(units) + 1),
            "kind": [unit.kind for unit in units],
            "unit": [unit.name for unit in units],
            "texts": [len(unit.pieces) for unit in units],
            "tokens": [unit.tokens for unit in units],
            "of the budget": [100 * unit.tokens / budget if budget else 0.0 for unit in units],
            "alone": ["fits" if unit.fits else "over" for unit in units],
        }
    )


def presets(found: Advised | None, opened: Opened, limits: Limits) -> None:
    """Show the named starts, each a way to Compare."""
    st.markdown("**Or start from a preset**")
    if found is not None and limits.for_strategies(found.prompt.sizes) is not limits:
        st.caption(f"Here the budget of a preset is {_opens_with(found)}.")
    for cell, preset in zip(st.columns(len(PRESETS)), PRESETS.values(), strict=True):
        with cell.container(border=True, height="stretch"):
            st.markdown(f"**{preset.title}**")
            st.caption(escaped(preset.purpose))
            st.space("stretch")
            if st.button("Compare", key=f"preset_{preset.name}", icon=":material/compare_arrows:"):
                st.switch_page("compare.py", query_params=compare_address(opened, found, limits, preset.said))
