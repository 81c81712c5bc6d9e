"""What became of the texts that a summariser was asked for: told with the result, where it failed.

An agent that waits for its request is not refused for a missing summary, and nobody reads the decision on each span.
The notes are read from the plan, so that a session, a single request and a repeated one say the same.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from .common_prefix import inner
from .decisions import Fate
from .plan import Plan
from .spans import SpanKind
from .strategies.folding import Folds
from .summaries import Asked, failure, was_asked
from .wording import agreeing, counted

__all__ = ["log_failures", "summary_notes"]

log = logging.getLogger(__name__)


class _Text(NamedTuple):
    """A text that was asked for: what was said of it, and whether an extract was sent instead of what it covers."""

    why: str
    extract: bool


def summary_notes(plan: Plan) -> tuple[str, ...]:
    """Return a sentence if the summariser failed for texts of the planned request; nothing else is told."""
    asked = [text for text in _texts(inner(plan)) if was_asked(text.why)]
    failed = [text for text in asked if failure(text.why)]
    if not failed:
        return ()
    reasons = Counter(failure(text.why) for text in failed)
    said = [reason if len(reasons) == 1 else f"{count:,} x {reason}" for reason, count in reasons.items()]
    of = f"{len(failed):,} of {counted(len(asked), 'text')}"
    return (f"The summariser failed for {of} ({', '.join(said)}); {_instead(failed)}.",)


def log_failures(plan: Plan, asked: Asked) -> None:
    """Warn once of a request for which the summariser was asked in vain, with its first exception."""
    notes = summary_notes(plan) if asked.count else ()
    if asked.error is not None and not notes:
        notes = ("The summariser failed for texts that were not sent in the end.",)
    if notes:
        log.warning("%s", notes[0], exc_info=asked.error)


def _texts(plan: Plan) -> Iterator[_Text]:
    """Yield the texts that stand for older messages: one for each unit, or one for all."""
    if not plan.changed:
        return
    for text in plan.head.injected if plan.head else ():
        if text.kind is SpanKind.SUMMARY:
            yield _Text(text.reason, True)
    made = plan.replacements
    if not isinstance(made, Folds):
        return
    for run in plan.runs:
        if run.fate is Fate.REPLACE:
            yield from (_Text(made.whys[index], made[index] is not None) for index in range(run.start, run.stop))


def _instead(failed: list[_Text]) -> str:
    """Return what was sent, as a clause."""
    extracts = sum(text.extract for text in failed)
    if not extracts:
        return agreeing(len(failed), "it was sent as it is", "they were sent as they are")
    if extracts == len(failed):
        return agreeing(extracts, "its extract was sent", "their extracts were sent")
    return "their extracts were sent, or they themselves where no extract is smaller"
