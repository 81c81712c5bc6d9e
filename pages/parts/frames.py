"""From replays to the tables and chart rows of the Inspect page. Rows are what a person counts from 1; calls too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from core.replay import Replay
from core.spans import OVERHEAD_ID, Span, SpanKind

from .palette import CORRECTION, NOT_RECORDED
from .presence import Presence, shortened_calls
from .previews import one_line
from .turns import Bar, bar_of_call, edges

FRAMES_NAME = "frames of messages and request"
FRAMES_TEXT = (
    "What the provider adds around the texts: role markers, separators, the frames of tool calls and tool\n"
    "definitions, and the priming of the answer. It is counted by formula and has no text of its own."
)
BEYOND_NAMES = {
    NOT_RECORDED: "what the provider counted beyond the recorded prompt",
    CORRECTION: "what was counted beyond the report",
}
BEYOND_TEXTS = {
    NOT_RECORDED: (
        "The recording does not hold the whole prompt: the provider reports more tokens than were counted in it. They"
        " are a system prompt, tool definitions or frames that were not recorded, and what an estimate of the texts"
        " falls short. They stand here as one figure, and nothing is known of their text."
    ),
    CORRECTION: (
        "The provider reports fewer tokens for this prompt than were counted in it, so nothing is hidden: the counts"
        " of its spans are too high by so much in all. Sums, cache and cost follow the report."
    ),
}
WITHOUT_TEXT = (SpanKind.OVERHEAD, NOT_RECORDED, CORRECTION)
FEWEST_SHORTENED = 0.1
"""A prompt that is at least this share smaller than the one before is marked on the chart."""
MOST_LABELS = 6


@dataclass(frozen=True, slots=True)
class Block:
    """A row of the table of spans: a span of a call's prompt, or all its frames together.

    `entered` and `sent` are the call (from 1) in which it came in and the number of calls that sent it; `exactness`
    says how far its tokens can be trusted where that does not follow from its kind.
    """

    id: str
    kind: str
    name: str
    text: str
    tokens: int
    entered: int | None = None
    sent: int | None = None
    exactness: str = ""

    @property
    def title(self) -> str:
        """A name in one line: what the span is called, and how its text begins."""
        begins = one_line(self.text, 90)
        if self.kind in WITHOUT_TEXT or not begins:
            return self.name
        said = self.name in (self.kind, "") or begins.lstrip("#<* ").startswith(self.name.rstrip("…"))
        return begins if said else f"{self.name} · {begins}"


def spans_of(replay: Replay, call: int) -> list[Span]:
    """Return the spans of the prompt that a replay was given for a call, before any shrinker."""
    plan = replay.plan(call)
    units = [unit.source or unit for unit in plan.log.units[: plan.count]]
    return [*(plan.fixed.source or plan.fixed).spans, *(span for unit in units for span in unit.spans)]


def blocks(captured: Replay, call: int, seen: Presence) -> list[Block]:
    """Return the rows of a call's prompt as captured; their tokens add up to what is sent, recorded or not."""
    plan = captured.plan(call)
    path = captured.transcript.path(captured.transcript.calls[call].captured)
    rows = []
    for span in spans_of(captured, call):
        first, sent = seen.of(span, path)
        rows.append(Block(span.id, str(span.kind), span.name, span.shown, span.tokens, first + 1, sent))
    overhead = plan.tokens_before - sum(row.tokens for row in rows)
    rows.append(Block(OVERHEAD_ID, str(SpanKind.OVERHEAD), FRAMES_NAME, FRAMES_TEXT, overhead))
    return [*rows, *_beyond(captured, call)]


def _beyond(captured: Replay, call: int) -> list[Block]:
    """Return the row of what a call's prompt has beyond its spans, where that is known and not nothing."""
    tokens = captured.calls["not_recorded"][call]
    if not tokens:
        return []
    kind = NOT_RECORDED if tokens > 0 else CORRECTION
    mark = str(captured.calibration.calls[call].not_recorded_as)
    return [Block(kind, kind, BEYOND_NAMES[kind], BEYOND_TEXTS[kind], tokens, exactness=mark)]


def block_table(rows: Sequence[Block], places: Mapping[str, int]) -> pd.DataFrame:
    """Return the table of blocks. `places` gives the place of each in the prompt, from 1."""
    total = sum(row.tokens for row in rows) or 1
    return pd.DataFrame(
        {
            "#": [places[row.id] for row in rows],
            "kind": [[row.kind] for row in rows],
            "span": [row.title for row in rows],
            "tokens": [row.tokens for row in rows],
            "entered": pd.array([row.entered for row in rows], dtype="Int64"),
            "sent": pd.array([row.sent for row in rows], dtype="Int64"),
            "share": [100 * row.tokens / total for row in rows],
        }
    )


@dataclass(frozen=True, slots=True)
class Change:
    """A block that differs from the call before: `what` is new, gone or changed; `before` is its text there."""

    what: str
    block: Block
    before: Block | None = None

    @property
    def tokens(self) -> int:
        """Tokens that it adds to the window."""
        if self.what == "gone":
            return -self.block.tokens
        return self.block.tokens - (self.before.tokens if self.before else 0)


def changes(now: Sequence[Block], before: Sequence[Block]) -> list[Change]:
    """Return what came, went or changed between two prompts, in the order of the later one; what is gone comes last."""
    old = {row.id: row for row in before}
    found = []
    for row in now:
        was = old.pop(row.id, None)
        if was is None:
            found.append(Change("new", row))
        elif (was.text, was.tokens) != (row.text, row.tokens):
            found.append(Change("changed", row, was))
    return [*found, *(Change("gone", row) for row in old.values())]


def change_table(rows: Sequence[Change]) -> pd.DataFrame:
    """Return the table of changes."""
    return pd.DataFrame(
        {
            "change": [row.what for row in rows],
            "kind": [[row.block.kind] for row in rows],
            "span": [row.block.title for row in rows],
            "tokens": [row.tokens for row in rows],
        }
    )


def kinds_used(replay: Replay) -> list[str]:
    """Return the kinds that hold tokens in any call, in the order in which charts stack them."""
    return [str(kind) for kind in SpanKind if any(replay.calls[f"kind.{kind}"])]


def segments(replay: Replay, bars: Sequence[Bar]) -> pd.DataFrame:
    """Return one row for each kind in each bar, stacked: place, left, right, low, high, kind.

    What is not recorded stands below all, as it comes before the messages.
    """
    rows = []
    kinds = [NOT_RECORDED, *kinds_used(replay)]
    columns = {kind: replay.calls[f"kind.{kind}"] for kind in kinds[1:]}
    columns[NOT_RECORDED] = [max(0, tokens or 0) for tokens in replay.calls["not_recorded"]]
    for bar, (left, right) in zip(bars, edges(bars), strict=True):
        low = 0
        for kind in kinds:
            tokens = columns[kind][bar.call]
            if tokens:
                rows.append((bar.place, left, right, low, low + tokens, kind))
                low += tokens
    return pd.DataFrame(rows, columns=["place", "left", "right", "low", "high", "kind"])


def pointer_columns(replay: Replay, bars: Sequence[Bar]) -> pd.DataFrame:
    """Return one row a bar for the tooltip: place, left, right, call, in_window, entered, and tokens by kind.

    Where a prompt has tokens beyond its count it also has `sent` and what these are.
    """
    calls = [bar.call for bar in bars]
    where = edges(bars)
    frame = pd.DataFrame(
        {
            "place": [bar.place for bar in bars],
            "left": [left for left, _ in where],
            "right": [right for _, right in where],
            "call": [call + 1 for call in calls],
            "in_window": [replay.calls["in_window"][call] for call in calls],
            **_beyond_columns(replay, calls),
            "entered": [replay.calls["entered"][call] for call in calls],
        }
    )
    for kind in reversed(kinds_used(replay)):
        frame[kind] = [replay.calls[f"kind.{kind}"][call] for call in calls]
    return frame


def _beyond_columns(replay: Replay, calls: Sequence[int]) -> dict[str, list[int]]:
    """Return what is not recorded or corrected in some calls, and the sum with it, as far as there is any."""
    beyond = [replay.calls["not_recorded"][call] or 0 for call in calls]
    found = {
        NOT_RECORDED: [max(0, tokens) for tokens in beyond],
        CORRECTION: [min(0, tokens) for tokens in beyond],
        "sent": [replay.calls["sent"][call] for call in calls],
    }
    return {name: tokens for name, tokens in found.items() if any(beyond) and any(tokens)}


def compactions(captured: Replay, bars: Sequence[Bar]) -> pd.DataFrame:
    """Return the places where the window became clearly smaller from one call to the next, with before and after."""
    sent = captured.calls["sent"]
    rows = []
    for call in shortened_calls(captured.transcript):
        bar = bar_of_call(bars, call)
        if bar is not None and sent[call] < (1 - FEWEST_SHORTENED) * sent[call - 1]:
            label = f"{_short(sent[call - 1])} → {_short(sent[call])}"
            rows.append((bar.place, sent[call - 1], label))
    if len(rows) > MOST_LABELS:
        rows = [(place, tokens, "") for place, tokens, _ in rows]
    return pd.DataFrame(rows, columns=["place", "tokens", "label"])


def _short(tokens: int) -> str:
    return f"{tokens / 1000:.0f}k" if tokens >= 10_000 else f"{tokens:,}"
