"""The lines of limits across a chart, each with its name where it can be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import pandas as pd

from . import palette

FARTHEST = 2.5
"""A limit that many times above the peak is named above the chart instead of flattening all bars."""
LABEL_WIDTH = 170
"""Pixels from one name to the next: side by side, neither lies on the other."""
CLOSE = 0.1
"""Share of the scale that a name is high."""
SIDE = 0.3
"""Share of the width that the names take."""
HALO = 4
"""Pixels of the ground's colour round a name, so that it can be read over a bar."""


class Limit(NamedTuple):
    """A line across a chart at a number of tokens."""

    label: str
    tokens: int
    band: int = 0
    """Tokens below the line that are set aside, for instance for the answer."""


def beyond(limits: Sequence[Limit], peak: int) -> list[Limit]:
    """Return the limits that lie too far above the peak to be drawn in scale."""
    return [limit for limit in limits if limit.tokens > max(1, peak) * FARTHEST]


def within(limits: Sequence[Limit], peak: int) -> tuple[list[Limit], float]:
    """Return the limits that are drawn, and the top of the scale."""
    far = beyond(limits, peak)
    shown = [limit for limit in limits if limit not in far]
    return shown, 1.06 * max([peak, 1, *(limit.tokens for limit in shown)])


def limit_lines(limits: Sequence[Limit], top: float, on_right: bool, dark: bool) -> list[alt.Chart]:
    """Return the lines with their names, on the side that has room for them."""
    layers = []
    for place, limit in enumerate(limits):
        row = {"tokens": limit.tokens, "set aside": limit.tokens - limit.band}
        base = alt.Chart(pd.DataFrame([{**row, "label": f"{limit.label} {limit.tokens:,}"}])).encode(y="tokens:Q")
        if limit.band:
            layers.append(base.mark_rect(color=palette.limit(dark), opacity=0.07).encode(y2="set aside:Q"))
        layers.append(base.mark_rule(strokeDash=[5, 3], color=palette.limit(dark)))
        layers += _name(base, place, is_below(limit, limits, top), on_right, dark)
    return layers


def _name(base: alt.Chart, place: int, below: bool, on_right: bool, dark: bool) -> list[alt.Chart]:
    x = alt.value(alt.ExprRef(f"width - {LABEL_WIDTH * place}")) if on_right else alt.value(LABEL_WIDTH * place)
    where: dict[str, Any] = {
        "align": "right" if on_right else "left",
        "baseline": "top" if below else "bottom",
        "dx": -4 if on_right else 4,
        "dy": 3 if below else -2,
        "fontSize": 11.5,
    }
    ground, ink = palette.ground(dark), palette.limit(dark)
    halo = base.mark_text(color=ground, stroke=ground, strokeWidth=HALO, strokeJoin="round", **where)
    return [mark.encode(x=x, text="label:N") for mark in (halo, base.mark_text(color=ink, **where))]


def is_below(limit: Limit, limits: Sequence[Limit], top: float) -> bool:
    """Return whether a name stands below its line: above it another line would strike it through."""
    height = CLOSE * top
    above = [other for other in limits if other is not limit and 0 <= other.tokens - limit.tokens < height]
    twin = any(other.tokens == limit.tokens for other in limits[: limits.index(limit)])
    return bool(above) and not twin and limit.tokens >= height


def right_has_room(heights: pd.DataFrame, low: float, high: float) -> bool:
    """Return whether the right end of the axis from `low` to `high` has lower bars than the left one.

    `heights` has place and tokens.
    """
    reach = SIDE * (high - low)
    left = heights.loc[heights["place"] < low + reach, "tokens"].max()
    right = heights.loc[heights["place"] > high - reach, "tokens"].max()
    return bool((0 if pd.isna(right) else right) < (0 if pd.isna(left) else left))
