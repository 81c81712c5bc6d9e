"""What two prompts share from their beginning, and what ended it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Cause(StrEnum):
    """Why a prompt does not reuse the whole prompt before."""

    NONE = ""
    FIRST_CALL = "first call"
    MODEL = "model changed"
    TOOLS = "tools changed"
    SYSTEM = "system changed"
    BRANCH = "branch"
    DECISION = "decision"
    PAUSE = "pause"
    THINKING = "human message after thinking"
    NO_MARKS = "no cache marks"
    UNUSED = "no cached tokens in any report"
    TOO_SHORT = "below the minimum"


BREAKS = frozenset({Cause.MODEL, Cause.TOOLS, Cause.SYSTEM, Cause.BRANCH, Cause.DECISION})
"""Causes that leave less than the whole prompt before repeated."""


class Prefix(NamedTuple):
    """What two prompts share: tokens from the beginning, and what ended it.

    `unit` is the first that differs, `span_id` the first span of the fixed part; `by_plan` says that a strategy or a
    shrinker changed the fixed part, and not the recording.
    """

    tokens: int
    cause: Cause = Cause.NONE
    unit: int = -1
    span_id: str = ""
    by_plan: bool = False
