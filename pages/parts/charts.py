"""The charts: pure functions from frames to Altair, so that they can be tested and drawn without a page.

Frames come in pre-aggregated (`turns.py` keeps them below 2,000 marks). Over every bar lies an invisible column of
full height that takes the pointer: one tooltip with all figures of a call, and a click anywhere above it chooses it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import altair as alt
import pandas as pd

from . import palette
from .chart_limits import Limit, beyond, limit_lines, right_has_room, within
from .texts import cut_name

__all__ = ["HEIGHT", "PICKED", "Limit", "beyond", "lines", "stacked"]

PICKED = "picked"
"""The name of the selection that a click makes; its rows have the field `call`, counted from 1."""

HEIGHT = 300
FEWEST_PLACES = 12
"""A chart of one call is as wide as one of twelve, or its bar would fill the page."""


def stacked(
    segments: pd.DataFrame,
    columns: pd.DataFrame,
    limits: Sequence[Limit],
    compactions: pd.DataFrame,
    chosen: int | None,
    axis: str,
    dark: bool,
) -> alt.LayerChart:
    """Return stacked tokens by span kind. `axis` is "call" or "turn", `chosen` a place on it.

    `segments` has place, left, right, low, high, kind; `columns` has place, left, right, call, in_window, `sent` if
    that is another figure, and whatever its tooltip shows; `compactions` has place, tokens, label. Where counts were
    too high a line in the bar shows what was sent.
    """
    peak = int(columns[["in_window", *_top(columns)]].max(axis=None)) if len(columns) else 0
    shown, top = within(limits, peak)
    height = Height(top, f"tokens {_title(next(iter(_top(columns)), 'in_window'), columns)}")
    present = [kind for kind in palette.kinds(dark) if kind in set(segments["kind"])]
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=present, range=[palette.kinds(dark)[kind] for kind in present]),
        legend=_legend(),
        sort=present,
    )
    bars = (
        alt.Chart(segments)
        .mark_rect()
        .encode(
            x=_place(columns, axis),
            x2="right:Q",
            y=_tokens(height),
            y2="high:Q",
            color=colour,
        )
    )
    bar_tops = columns.assign(tokens=columns[_top(columns)[0]]) if len(columns) else columns.assign(tokens=[])
    named = limit_lines(shown, top, right_has_room(bar_tops, *_ends(columns)), dark)
    layers = [bars, *_corrected(columns, dark), *named, *_compactions(compactions, dark)]
    return _finished([*layers, *_pointer(columns, chosen, axis, height, dark)])


def _top(columns: pd.DataFrame) -> list[str]:
    """Return the column that says how high bars are, where there is one."""
    return [name for name in ("sent", "in_window") if name in columns][:1]


def _corrected(columns: pd.DataFrame, dark: bool) -> list[alt.Chart]:
    """Return a line at the tokens sent in each bar whose counts add up to more."""
    if "sent" not in columns or not (over := columns[columns["sent"] < columns["in_window"]]).size:
        return []
    line = alt.Chart(over).mark_rule(color=palette.kinds(dark)[palette.CORRECTION], strokeWidth=2)
    return [line.encode(x="left:Q", x2="right:Q", y="sent:Q")]


def lines(
    points: pd.DataFrame,
    columns: pd.DataFrame,
    series: Mapping[str, str],
    limits: Sequence[Limit],
    chosen: int | None,
    axis: str,
    dark: bool,
) -> alt.LayerChart:
    """Return one step line a configuration, the first of `series` (name and colour) dashed: it is what was captured.

    `points` has place, tokens, series; `columns` as in `stacked`.
    """
    peak = int(points["tokens"].max()) if len(points) else 0
    shown, top = within(limits, peak)
    height = Height(top, f"tokens {'recorded' if palette.NOT_RECORDED in columns else 'in window'}")
    captured = next(iter(series))
    colour = alt.Color(
        "series:N",
        scale=alt.Scale(domain=list(series), range=list(series.values())),
        legend=_legend("stroke", series),
        sort=None,
    )
    line = (
        alt.Chart(points)
        .mark_line(interpolate="step", strokeWidth=2, point=len(columns) == 1)
        .encode(
            x=_place(columns, axis, "place"),
            y=_tokens(height, "tokens"),
            color=colour,
            strokeDash=alt.condition(alt.datum.series == captured, alt.value([4, 3]), alt.value([1, 0])),
        )
    )
    named = limit_lines(shown, top, right_has_room(points, *_ends(columns)), dark)
    return _finished([line, *named, *_pointer(columns, chosen, axis, height, dark)])


def _legend(symbol: str = "square", names: Iterable[str] = ()) -> alt.Legend:
    """Return a legend; long names in it are cut, and whole in the tooltip of every bar."""
    cut = {name: cut_name(name) for name in names if cut_name(name) != name}
    shown: dict[str, Any] = {"labelExpr": f"{json.dumps(cut)}[datum.label] || datum.label"} if cut else {}
    return alt.Legend(
        title=None, orient="top", labelLimit=400, symbolType=symbol, symbolStrokeWidth=3, columnPadding=14, offset=4,
        **shown,
    )  # fmt: skip


def _ends(columns: pd.DataFrame) -> list[float]:
    """Return both ends of the axis of places."""
    return [0.4, max([FEWEST_PLACES, *columns["right"].tolist()]) + 0.2]


def _place(columns: pd.DataFrame, axis: str, field: str = "left") -> alt.X:
    scale = alt.Scale(domain=_ends(columns), nice=False)
    few: dict[str, Any] = {"values": columns["place"].tolist()} if len(columns) <= FEWEST_PLACES else {}
    return alt.X(f"{field}:Q", scale=scale, title=axis, axis=alt.Axis(grid=False, tickMinStep=1, format="d", **few))


def _title(name: str, columns: pd.DataFrame) -> str:
    """Return a column's name in the tooltip: what is in the window is one figure only where all is recorded."""
    return {"in_window": "recorded" if "sent" in columns else "in window", "sent": "as sent"}.get(name, name)


class Height(NamedTuple):
    """The axis of tokens: its top, and what is counted on it."""

    top: float
    title: str


def _tokens(height: Height, field: str = "low") -> alt.Y:
    scale = alt.Scale(domain=[0, height.top], nice=False)
    return alt.Y(f"{field}:Q", scale=scale, title=height.title, axis=alt.Axis(format="~s", tickCount=6))


def _compactions(compactions: pd.DataFrame, dark: bool) -> list[alt.Chart]:
    if compactions.empty:
        return []
    colour = "#c39ad6" if dark else "#6b3fa0"
    base = alt.Chart(compactions).encode(x="place:Q", y="tokens:Q")
    mark = base.mark_point(shape="triangle-down", filled=True, size=60, yOffset=-8, color=colour, opacity=1)
    text = base.mark_text(align="right", baseline="middle", dx=-8, dy=-8, fontSize=11.5, color=colour)
    return [mark, text.encode(text="label:N")]


def _pointer(columns: pd.DataFrame, chosen: int | None, axis: str, height: Height, dark: bool) -> list[alt.Chart]:
    """Return the frame round the chosen bar and the columns that take the pointer."""
    ink = "#e6ecef" if dark else "#1b2327"
    hover = alt.selection_point(name="hover", on="pointerover", clear="pointerout", fields=["place"], empty=False)
    picked = alt.selection_point(name=PICKED, on="click", fields=["call"], clear=False, toggle="true", empty=False)
    reach = alt.Chart(columns.assign(low=0.0, high=height.top)).encode(
        x=_place(columns, axis), x2="right:Q", y=_tokens(height), y2="high:Q"
    )
    frame = (
        reach.transform_filter(alt.datum.place == (chosen or 0))
        .mark_rect(fillOpacity=0, stroke=ink, strokeWidth=1.4)
        .encode(y2=f"{next(iter(_top(columns)), 'high')}:Q")
    )
    hidden = {"place", "left", "right"}
    tips = [
        alt.Tooltip(
            field=_field(name), type=_kind(columns[name]), title=_title(name, columns), format=_format(columns[name])
        )
        for name in columns
        if name not in hidden
    ]
    catch = reach.mark_rect(color=ink, cursor="pointer").encode(
        opacity=alt.condition(hover, alt.value(0.08), alt.value(0.001)), tooltip=tips
    )
    return [frame, catch.add_params(hover, picked)]


def _field(name: str) -> str:
    """Return a column's name as Vega takes it: to it a point or a bracket leads into an object."""
    return re.sub(r"([.\[\]\\'\"])", r"\\\1", name)


def _kind(column: pd.Series) -> Literal["quantitative", "nominal"]:
    return "quantitative" if pd.api.types.is_numeric_dtype(column) else "nominal"


def _format(column: pd.Series) -> str:
    return ",d" if pd.api.types.is_numeric_dtype(column) else ""


def _finished(layers: Sequence[alt.Chart]) -> alt.LayerChart:
    chart: alt.LayerChart = alt.layer(*layers).properties(height=HEIGHT).configure_view(strokeWidth=0)
    return chart
