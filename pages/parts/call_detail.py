"""The lower half of Inspect: the chart that chooses a call, and that call's prompt in three views."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.config import Configuration
from core.replay import Replay
from core.wire import body_sha256
from core.wording import counted

from . import charts, palette
from .cache_told import cache_told
from .edge import edge, escaped
from .figures import counter_used
from .frames import (
    WITHOUT_TEXT,
    Block,
    Change,
    block_table,
    blocks,
    change_table,
    changes,
    compactions,
    kinds_used,
    pointer_columns,
    segments,
)
from .loading import Opened
from .pager import pager
from .picking import picked_call, table_choice
from .state import CALL, is_dark
from .texts import body_text, bounded
from .turns import Bar, bar_of_call, bars_of_calls, bars_of_turns, turns_of

SPANS, SINCE, REQUEST, RESPONSE = "Spans", "Since last call", "Request", "Response"
HEIGHT = 470


@st.fragment
def call_detail(opened: Opened, config: Configuration, limits: Sequence[charts.Limit], axis: str) -> None:
    """Show the chart and the chosen call. Runs alone when a call or a span is chosen."""
    with edge():
        found = opened.figures(config)
        chart = st.container()
        call, view = _choice(opened, config, found.peak_call + 1)
        with chart:
            _chart(opened, config, limits, axis, call)
        if view == SPANS:
            _spans(opened, config, call)
        elif view == SINCE:
            _since(opened, config, call)
        elif view == REQUEST:
            _body(opened.transcript.captured(call), "request", call)
        else:
            _body(opened.transcript.calls[call].response, "response", call)


def _chart(opened: Opened, config: Configuration, limits: Sequence[charts.Limit], axis: str, call: int) -> None:
    captured = opened.replay(config)
    bars = _bars(opened, config, axis)
    chosen = bar_of_call(bars, call)
    chart = charts.stacked(
        segments(captured, bars),
        pointer_columns(captured, bars),
        limits,
        compactions(captured, bars),
        chosen.place if chosen else None,
        axis,
        is_dark(),
    )
    key = f"tokens_by_{axis}"
    st.altair_chart(
        chart,
        key=key,
        on_select=lambda: picked_call(key),
        selection_mode=charts.PICKED,
        alt=f"Tokens in the window by span kind over {axis}s",
    )


def _bars(opened: Opened, config: Configuration, axis: str) -> list[Bar]:
    captured = opened.replay(config)
    sent = captured.calls["sent"]
    if axis == "turn":
        return bars_of_turns(sent, turns_of(captured))
    return bars_of_calls(sent, len(kinds_used(captured)) + 2)


def _choice(opened: Opened, config: Configuration, peak: int) -> tuple[int, str]:
    """Show which call is chosen and how it is looked at; return both, the call counted from 0."""
    calls = len(opened.transcript.calls)
    left, middle, right = st.columns([4, 4, 3], vertical_alignment="center")
    with right.container(horizontal=True, horizontal_alignment="right"):
        call = pager(calls, CALL, peak)
    with middle:
        view = st.segmented_control(
            "View", [SPANS, SINCE, REQUEST, RESPONSE], default=SPANS, required=True, key="view",
            bind="query-params", label_visibility="collapsed",
        )  # fmt: skip
    captured = opened.replay(config)
    made = opened.transcript.calls[call - 1]
    said = [f"**Call {call}** of {calls:,}", size_told(captured, call - 1)]
    if made.usage.input is not None:
        said.append(f"{made.usage.input:,} billed")
    said.append(f"{captured.calls['entered'][call - 1]:,} entered")
    left.markdown(" · ".join(said))
    if read := cache_told(captured, call - 1):
        st.caption(read)
    return call - 1, view


def size_told(captured: Replay, call: int) -> str:
    """Return how large a call's prompt is: in the window where all of it is recorded, else as sent and as recorded."""
    recorded, sent, beyond = (captured.calls[name][call] for name in ("in_window", "sent", "not_recorded"))
    if not beyond:
        return f"{recorded:,} in window"
    if beyond > 0:
        return f"{sent:,} as sent ({recorded:,} recorded, {beyond:,} not)"
    return f"{sent:,} as sent ({recorded:,} counted, {-beyond:,} too much)"


def _spans(opened: Opened, config: Configuration, call: int) -> None:
    rows = blocks(opened.replay(config), call, opened.presence(config))
    places = {block.id: place for place, block in enumerate(rows, start=1)}
    rows = sorted(rows, key=lambda block: -abs(block.tokens))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        row = table_choice(
            block_table(rows, places),
            [block.id for block in rows],
            key=f"spans_{opened.summary.id}_{call}",
            fallback=next((at for at, block in enumerate(rows) if block.kind not in WITHOUT_TEXT), 0),
            height=HEIGHT + 44,
            columns=_columns(),
            alt=f"Spans of call {call + 1}",
        )
    with right:
        _block(rows[row], places[rows[row].id], opened, config)


def _since(opened: Opened, config: Configuration, call: int) -> None:
    captured, seen = opened.replay(config), opened.presence(config)
    now = blocks(captured, call, seen)
    before = blocks(captured, call - 1, seen) if call else []
    rows = changes(now, before)
    same = len(now) - sum(change.what != "gone" for change in rows)
    against = f"call {call}" if call else "nothing"
    st.caption(f"Against {against}: {_counts(rows)}, {counted(same, 'span')} unchanged.")
    if not rows:
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        row = table_choice(
            change_table(rows),
            [change.block.id for change in rows],
            key=f"changes_{opened.summary.id}_{call}",
            fallback=max(range(len(rows)), key=lambda at: abs(rows[at].tokens)),
            height=HEIGHT + 8,
            columns=_columns(),
            alt=f"What changed in call {call + 1}",
        )
    with right:
        _block(rows[row].block, None, opened, config)


def _counts(rows: Sequence[Change]) -> str:
    parts = []
    for what in ("new", "changed", "gone"):
        of_kind = [change for change in rows if change.what == what]
        if of_kind or what == "new":
            parts.append(f"{len(of_kind):,} {what} ({_signed(sum(change.tokens for change in of_kind))})")
    return ", ".join(parts)


def _signed(tokens: int) -> str:
    return ("+" if tokens >= 0 else "") + counted(tokens, "token")


def _block(block: Block, number: int | None, opened: Opened, config: Configuration) -> None:
    """Show one span: what it is, what it cost, and its text."""
    place = f"#{number} " if number else ""
    st.markdown(f"**{place}{block.kind}** · {escaped(block.name)}")
    formula = block.kind in ("overhead", "tool_definition", "image")
    exact = block.exactness or ("formula" if formula else str(counter_used(opened.replay(config)).exactness))
    said = [f"{counted(block.tokens, 'token')}, {exact}"]
    if block.entered is not None and block.sent is not None:
        said.append(f"entered in call {block.entered:,}")
        said.append(f"sent in {counted(block.sent, 'call')} = {counted(block.tokens * block.sent, 'token')}")
    st.caption(" · ".join(said))
    bounded(block.text, "span_text", HEIGHT - 40, f"{block.id}.txt")


def _body(body: object, name: str, call: int) -> None:
    if body is None:
        st.caption(f"The {name} of this call is not in the recording.")
        return
    st.caption(f"The {name} of call {call + 1} as recorded · sha256 {body_sha256(body)}")
    body_text(body, name, HEIGHT, f"{name}-{call + 1}.json")


def _columns() -> dict[str, object]:
    kinds = palette.kinds(is_dark())
    number = st.column_config.NumberColumn
    return {
        "#": number(width=42),
        "change": st.column_config.TextColumn(width=70),
        "kind": st.column_config.MultiselectColumn(
            options=[str(kind) for kind in kinds], color=list(kinds.values()), width=112
        ),
        "span": st.column_config.TextColumn(width=196),
        "tokens": number(format="localized", width=60),
        "entered": number(format="localized", width=62, help="The call in which it came into the window."),
        "sent": number(format="localized", width=50, help="In how many calls it was sent, to the end of the run."),
        "share": st.column_config.ProgressColumn(format="%.1f%%", min_value=0, max_value=100, width=90),
    }
