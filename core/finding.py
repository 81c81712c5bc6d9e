"""What a finding is: one sentence that a person can check, with its figures and the call to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from .transcript import ROOT

if TYPE_CHECKING:
    from .replay import Replay

BASELINES = frozenset({"as_captured", "full_history"})


class Level(StrEnum):
    """How much a finding matters, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a replay shows. `call` (0-based) is the one to look at, `span_ids` are in its prompt."""

    name: str
    level: Level
    sentence: str
    call: int | None = None
    span_ids: tuple[str, ...] = ()
    figures: Mapping[str, int | float | str] = field(default_factory=dict)


def calls_of(replay: Replay) -> range:
    """Return the calls of a replay."""
    return range(len(replay.transcript.calls))


def is_baseline(replay: Replay) -> bool:
    """Return whether a replay sends every prompt as it is."""
    return replay.config.strategy.kind in BASELINES and not replay.config.shrink


def on_chain(replay: Replay) -> list[bool]:
    """Return for each call whether its prompt begins with the same message as that of the call before."""
    roots: list[int] = []
    for node, parent in enumerate(replay.transcript.parents):
        roots.append(node if parent == ROOT else roots[parent])
    firsts = [roots[last] if last != ROOT else ROOT for last in map(replay.last_message, calls_of(replay))]
    return [bool(call) and first == firsts[call - 1] for call, first in enumerate(firsts)]


def calls_by_log(replay: Replay) -> list[list[int]]:
    """Return the calls of each conversation that was read as one."""
    found: dict[int, list[int]] = {}
    for call in calls_of(replay):
        found.setdefault(id(replay.plan(call).log), []).append(call)
    return list(found.values())
