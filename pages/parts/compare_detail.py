"""The results of a comparison: the chart, the scorecard, and one call span by span in all configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from core.config import BudgetConfig, Configuration
from core.replay import Replay
from core.wire import body_sha256
from core.wording import counted

from . import charts, palette
from .comparison import CAPTURED, Candidate, differing_calls
from .edge import edge, escaped
from .fates import Fates, fate_text, fates
from .loading import Opened
from .pager import pager
from .picking import picked_call, table_choice
from .previews import ONE_LINE, one_line
from .rule_notes import hint_lines, rule_notes
from .score_view import NARROW, score
from .state import CALL, is_dark
from .texts import body_text, bounded, named_column
from .turns import Bar, bar_of_call, bars_of_calls, bars_of_turns, edges, turns_of

SPANS, REQUESTS = "Spans", "Requests"

WRAPPED = 3
"""From so many configurations on a reason does not stand in one line of its column."""
WRAPPING = 66
"""Pixels of a row from which on Streamlit wraps its texts."""
TALL = 84
"""Pixels of a row for four lines, which narrow columns need."""
ROOM = {3: 225, 4: 188}
"""Pixels of a configuration's column, by how many there are on a page of 1,280 pixels."""
WRAPPED_TITLE = 40
"""Characters of a span's title that such a row holds in a narrow column."""


@dataclass(frozen=True)
class Comparison:
    """What the results are made of."""

    opened: Opened
    captured: Configuration
    candidates: list[Candidate]
    limits: list[charts.Limit]
    axis: str
    budget: BudgetConfig
    """What all that is sent is held against: the limit of the configurations, and what is left beside it."""

    @property
    def replays(self) -> list[Replay]:
        """The replays of all configurations, in order."""
        return [candidate.replay for candidate in self.candidates]

    @property
    def names(self) -> list[str]:
        """The labels of all configurations, in order."""
        return [candidate.label for candidate in self.candidates]

    @property
    def bars(self) -> list[Bar]:
        """The places of the chart."""
        captured = self.opened.replay(self.captured)
        sent = captured.calls["in_window"]
        if self.axis == "turn":
            return bars_of_turns(sent, turns_of(captured))
        return bars_of_calls(sent, len(self.candidates) + 2)


@st.fragment
def results(found: Comparison) -> None:
    """Show all results. Runs alone when a call or a span is chosen."""
    with edge():
        peak = found.opened.figures(found.captured).peak_call + 1
        chart = st.container()
        score(found.opened, found.captured, found.candidates, found.budget)
        rule_notes(found.candidates)
        call, view = _choice(found, peak)
        hint_lines(found.replays, call - 1)
        with chart:
            _chart(found, call)
        if view == SPANS:
            _fates(found, call - 1)
        else:
            _requests(found, call - 1)


def _chart(found: Comparison, call: int) -> None:
    bars = found.bars
    every = {CAPTURED: found.opened.replay(found.captured), **dict(zip(found.names, found.replays, strict=True))}
    chosen = bar_of_call(bars, call - 1)
    colours = (palette.CAPTURED, *palette.configurations(is_dark()))
    columns = line_columns(every, bars)
    key = f"compared_by_{found.axis}"
    st.altair_chart(
        charts.lines(
            line_points(every, bars),
            columns,
            dict(zip(every, colours, strict=False)),
            limits_drawn(found, columns),
            chosen.place if chosen else None,
            found.axis,
            is_dark(),
        ),
        key=key,
        on_select=lambda: picked_call(key),
        selection_mode=charts.PICKED,
        alt=f"Tokens in the window over {found.axis}s, one line a configuration",
    )


def limits_drawn(found: Comparison, columns: pd.DataFrame) -> list[charts.Limit]:
    """Return the line of the budget: of what is recorded, as the lines of the chart are, where more is sent."""
    if palette.NOT_RECORDED not in columns:
        return found.limits[:1]
    return [limit._replace(label="soft budget of what is recorded") for limit in found.limits[:1]]


def line_points(every: dict[str, Replay], bars: Sequence[Bar]) -> pd.DataFrame:
    """Return one row for each bar of each series: place, tokens, series."""
    rows = [(bar.place, replay.calls["in_window"][bar.call], name) for name, replay in every.items() for bar in bars]
    return pd.DataFrame(rows, columns=["place", "tokens", "series"])


def line_columns(every: dict[str, Replay], bars: Sequence[Bar]) -> pd.DataFrame:
    """Return one row a bar for the tooltip: place, left, right, call, tokens by series, and what comes beside them."""
    where = edges(bars)
    frame = pd.DataFrame(
        {
            "place": [bar.place for bar in bars],
            "left": [left for left, _ in where],
            "right": [right for _, right in where],
            "call": [bar.call + 1 for bar in bars],
        }
    )
    for name, replay in every.items():
        frame[name] = [replay.calls["in_window"][bar.call] for bar in bars]
    beyond = [max(0, next(iter(every.values())).calls["not_recorded"][bar.call] or 0) for bar in bars]
    return frame.assign(**{palette.NOT_RECORDED: beyond}) if any(beyond) else frame


def _choice(found: Comparison, peak: int) -> tuple[int, str]:
    """Show which call is chosen (from 1) and how it is looked at; return both."""
    calls = len(found.opened.transcript.calls)
    left, right = st.columns([5, 4], vertical_alignment="center")
    with right.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        st.toggle("Only differences", True, key="only_differences", bind="query-params")
        call = pager(calls, CALL, peak)
    with left.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Call {call}** of {calls:,}", width="content")
        view = st.segmented_control(
            "View", [SPANS, REQUESTS], default=SPANS, required=True, key="compare_view", bind="query-params",
            label_visibility="collapsed",
        )  # fmt: skip
        _jumps(differing_calls(found.replays), call, len(found.replays) > 1)
    return call, view


def _jumps(differing: Sequence[int], call: int, several: bool) -> None:
    """Show buttons that lead to the first and the next call for which not all send the same."""
    if not differing:
        alone = "This configuration changes no call."
        st.caption("All configurations send the same in every call." if several else alone, width="content")
        return
    first = differing[0] + 1
    later = next((number + 1 for number in differing if number + 1 > call), None)
    st.button(f"First difference: call {first}", key="first_difference", type="tertiary", disabled=call == first,
              on_click=_go, args=(first,))  # fmt: skip
    if later is not None:
        st.button(f"Next: call {later}", key="next_difference", type="tertiary", on_click=_go, args=(later,))


def _go(call: int) -> None:
    st.session_state[CALL] = call


def _fates(found: Comparison, call: int) -> None:
    rows = fates(found.replays, call)
    shown = [row for row in rows if row.differs] if st.session_state.get("only_differences") else rows
    if len(shown) < len(rows):
        alike = counted(len(rows) - len(shown), "span")
        which = "all configurations treat alike" if len(found.replays) > 1 else "stays as it is"
        st.caption(f"{alike} hidden: what {which}.")
    if not shown:
        return
    places = {id(row): place for place, row in enumerate(rows, start=1)}
    height = row_height(len(found.candidates))
    table = fate_table(shown, [places[id(row)] for row in shown], found.names)
    row = table_choice(
        _coloured(table, shown, found.names),
        [fate.block.id for fate in shown],
        key=f"fates_{found.opened.summary.id}_{call}_{len(shown)}_{len(found.candidates)}",
        fallback=next((at for at, fate in enumerate(shown) if fate.differs), 0),
        height=560 if height else 440,
        row_height=height,
        columns=_columns(found.names),
        alt=f"What each configuration does with the spans of call {call + 1}",
    )
    _fate_detail(found, shown[row])


def row_height(configurations: int) -> int | None:
    """Return the pixels of a row that wraps its texts; None where they stand in one line."""
    if configurations < WRAPPED:
        return None
    return WRAPPING if configurations < NARROW else TALL


def fate_table(rows: Sequence[Fates], places: Sequence[int], names: Sequence[str]) -> pd.DataFrame:
    """Return the table of spans with a column of decisions for each configuration."""
    most = WRAPPED_TITLE if len(names) >= WRAPPED else ONE_LINE
    frame = pd.DataFrame(
        {
            "#": places,
            "kind": [[row.block.kind] for row in rows],
            "span": [one_line(row.block.title, most) for row in rows],
            "tokens": [row.block.tokens for row in rows],
        }
    )
    for at, name in enumerate(names):
        frame[name] = [fate_text(row.decisions[at]) for row in rows]
    return frame


def _coloured(table: pd.DataFrame, rows: Sequence[Fates], names: Sequence[str]) -> pd.io.formats.style.Styler:
    dark = is_dark()
    styles = pd.DataFrame("", index=table.index, columns=table.columns)
    for at, name in enumerate(names):
        made = [row.decisions[at] for row in rows]
        styles[name] = [f"color: {palette.action(one.action, dark)}" if one else "" for one in made]
    return table.style.apply(lambda _: styles, axis=None)


def _columns(names: Sequence[str]) -> Mapping[str, object]:
    kinds = palette.kinds(is_dark())
    number = st.column_config.NumberColumn
    chips = st.column_config.MultiselectColumn(
        options=[str(kind) for kind in kinds], color=list(kinds.values()), width=112
    )
    plain = {"#": number(width=42), "kind": chips, "tokens": number(format="localized", width=60)}
    narrow, room = len(names) >= NARROW, ROOM.get(len(names), 340)
    texts = {"span": 122 if narrow else 190, **dict.fromkeys(names, room)}
    return plain | {name: named_column(name, narrow=narrow, width=width) for name, width in texts.items()}


def _fate_detail(found: Comparison, row: Fates) -> None:
    """Show the chosen span: its text, and beside it what each configuration sends instead."""
    st.markdown(f"**{row.block.kind}** · {escaped(row.block.title)}")
    cells = st.columns(len(found.candidates) + 1)
    with cells[0]:
        st.caption(f"In the prompt: {counted(row.block.tokens, 'token')}")
        bounded(row.block.text, "fate_text", 230, f"{row.block.id}.txt")
    for cell, candidate, decision in zip(cells[1:], found.candidates, row.decisions, strict=True):
        with cell:
            if decision is None:
                st.caption(f"**{escaped(candidate.label)}**: not in this prompt")
                continue
            setting = f" ({decision.setting})" if decision.setting else ""
            st.caption(f"**{escaped(candidate.label)}**: {escaped(fate_text(decision) + setting)}")
            if decision.replacement:
                bounded(decision.replacement, f"fate_{candidate.slot}", 230, f"{row.block.id}-{candidate.slot}.txt")


def _requests(found: Comparison, call: int) -> None:
    cells = st.columns(len(found.candidates))
    for cell, candidate in zip(cells, found.candidates, strict=True):
        with cell:
            body = candidate.replay.request(call)
            tokens = candidate.replay.calls["in_window"][call]
            st.markdown(f"**{escaped(candidate.label)}** · {counted(tokens, 'token')}")
            st.caption(f"sha256 {body_sha256(body)}")
            body_text(body, f"request_{candidate.slot}", 440, f"request-{call + 1}-{candidate.slot}.json")
