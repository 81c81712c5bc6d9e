"""What a plan is made of: actions, statuses, decisions, and what may stand in the place of a unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, Protocol

from .log import KindSums
from .spans import SpanKind


class Action(StrEnum):
    """What is done with a span."""

    KEEP = "keep"
    TRIM = "trim"
    SUMMARISE = "summarise"
    PROJECT = "project"
    STUB = "stub"
    DEFER = "defer"
    DROP = "drop"


class Status(StrEnum):
    """How a prompt came out. Over budget is a status with its excess, never a silence (rule X2)."""

    FITS = "fits"
    TRIMMED = "trimmed"
    OVER_BUDGET = "over_budget"
    SKIPPED_SHORT = "skipped_short"
    SKIPPED_EXACT_RECALL = "skipped_exact_recall"


@dataclass(frozen=True, slots=True)
class Decision:
    """What happened to one span, why, and which setting caused it (rule X5). Tokens are the span's own."""

    span_id: str
    action: Action
    reason: str
    setting: str
    tokens_before: int
    tokens_after: int
    replacement: str | None = None


class Fate(StrEnum):
    """What happens to a run of units."""

    KEEP = "keep"
    DROP = "drop"
    REPLACE = "replace"  # each by its own replacement or with its own edit, in place
    FOLD = "fold"  # all by one text elsewhere


class Left(StrEnum):
    """What is left of a message, as far as that can be told without looking at its texts."""

    WHOLE = "whole"
    REPLACED = "replaced"  # by the same text in every plan of a log that replaces it, or kept for want of a smaller one
    CHANGED = "changed"  # in some of its texts
    NOTHING = "nothing"


class Stretch(NamedTuple):
    """Messages `first` to `last` (both included) that a plan leaves in one way; none before 0."""

    first: int
    last: int
    left: Left


NO_STRETCH = Stretch(-1, -1, Left.NOTHING)


class Run(NamedTuple):
    """Units `start` to `stop` (exclusive) share a fate; units that must stay are kept all the same."""

    start: int
    stop: int
    fate: Fate
    reason: str = ""
    setting: str = ""


@dataclass(frozen=True, slots=True)
class Replacement:
    """What stands in the place of a unit: plain messages as (role, text, tokens), and their frames' tokens."""

    texts: tuple[tuple[str, str, int], ...]
    overhead: int
    why: str = ""
    """Who wrote it, where that is not the engine's own extract."""

    @property
    def tokens(self) -> int:
        """Tokens of the texts with their frames."""
        return sum(tokens for _, _, tokens in self.texts) + self.overhead


@dataclass(frozen=True, slots=True)
class Edit:
    """A kept unit with other texts in some of its spans, by span id; tokens of all its spans in order."""

    texts: Mapping[str, str]
    costs: tuple[int, ...]
    overhead: int
    reason: str
    setting: str

    @property
    def tokens(self) -> int:
        """Tokens of the edited unit."""
        return sum(self.costs) + self.overhead


class Replacements(Protocol):
    """For each unit of a log what may stand in its place, or None; with running sums like the log's."""

    action: Action
    """What is done with the spans that are replaced."""
    totals: list[int]
    kinds: KindSums
    span_counts: list[int]

    def __getitem__(self, index: int) -> Replacement | Edit | None:
        """Return what may stand in the place of a unit."""


NOTHING: Mapping[int, str] = MappingProxyType({})


class Injected(NamedTuple):
    """A text that a strategy puts at the end of the system part."""

    span_id: str
    kind: SpanKind
    text: str
    tokens: int
    reason: str
    setting: str


class HeadEdit(NamedTuple):
    """What a strategy changes in the fixed part: tools put aside (by place), texts added, and what it then costs."""

    deferred: Mapping[int, str] = NOTHING
    injected: tuple[Injected, ...] = ()
    overhead: int = 0
    """Tokens of all frames of the changed fixed part."""


class NoReplacements:
    """Nothing stands in the place of anything."""

    action = Action.KEEP

    def __init__(self) -> None:
        self.totals: list[int] = [0]
        self.kinds = KindSums()
        self.span_counts: list[int] = [0]

    def __getitem__(self, index: int) -> None:
        """Return that there is no replacement."""


NO_REPLACEMENTS = NoReplacements()
