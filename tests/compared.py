"""The reported cache reads of a recording beside the predicted ones."""

from __future__ import annotations

from core.cache_report import ComparedCall, compared_call
from core.replay import Replay


def against_reported(made: Replay) -> list[ComparedCall]:
    """Return every call with a reported cache read, beside what was predicted for the recorded prompt."""
    calls = range(len(made.transcript.calls))
    return [found for call in calls if (found := compared_call(made, call)) is not None]
