"""What is worth a look in a replay and its recording, each as a sentence with its evidence.

A finding is cheap: each function goes once over the calls or once over the texts, so all of them together cost no more
than the measures that they read. None of them judges a model; they say what stands in the prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .finding import Finding, Level
from .findings_budget import in_time, over_budget
from .findings_fixed_part import duplicate_instructions, flickers, floor_too_large, many_tools
from .findings_recording import (
    captured_truncated,
    counts_drift,
    fetched_again,
    never_referenced,
    tool_output_share,
)
from .findings_strategy import (
    did_nothing,
    fixed_part_changes,
    not_steady,
    prefix_broken,
    summary_larger,
    thrash,
)
from .findings_unread import uncounted_files
from .findings_window import window_contradicted
from .replay import Replay

__all__ = ["FINDERS", "Finding", "Level", "findings"]

FINDERS: tuple[Callable[[Replay], Iterator[Finding]], ...] = (
    in_time,
    over_budget,
    window_contradicted,
    did_nothing,
    summary_larger,
    thrash,
    prefix_broken,
    fixed_part_changes,
    not_steady,
    flickers,
    floor_too_large,
    duplicate_instructions,
    many_tools,
    captured_truncated,
    counts_drift,
    uncounted_files,
    tool_output_share,
    fetched_again,
    never_referenced,
)
"""All finders; a new one is a function and a line here."""


def findings(replay: Replay) -> list[Finding]:
    """Return everything found in a replay, the worst first."""
    order = list(Level)
    found = [finding for finder in FINDERS for finding in finder(replay)]
    return sorted(found, key=lambda finding: order.index(finding.level))
