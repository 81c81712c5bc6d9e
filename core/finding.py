"""What a finding is: one sentence that a person can check, with its figures and the call to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from .chains import links_of

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


def calls_before(replay: Replay) -> list[int]:
    """Return for each call the one (0-based) that its conversation goes on from; -1 where none begins as it does.

    It is the call that the cache compares with, unless the two have no message in common.
    """
    links = links_of(replay.transcript, replay.of_captured, replay.config.model.name)
    return [link.before if link.shared else -1 for link in links]


def calls_by_log(replay: Replay) -> list[list[int]]:
    """Return the calls of each conversation that was read as one."""
    found: dict[int, list[int]] = {}
    for call in calls_of(replay):
        found.setdefault(id(replay.plan(call).log), []).append(call)
    return list(found.values())
