"""What a call read of the provider's prompt cache: reported beside predicted, with the cause where they differ."""

from __future__ import annotations

from core.cache_report import ComparedCall, against_reported
from core.replay import Replay
from core.wording import counted


def cache_told(captured: Replay, call: int) -> str:
    """Return the sentence on the cache reads of a call (0-based); empty where none were reported."""
    found = next((row for row in against_reported(captured) if row.call == call), None)
    return "" if found is None else sentence(found)


def sentence(found: ComparedCall) -> str:
    """Return reported and predicted reads in tokens; a prediction from the provider's own figures comes first."""
    said = f"Prompt cache: {found.reported:,} of {counted(found.sent, 'token')} read as reported"
    predicted, source = found.from_reported, "the usage of the call before"
    if predicted is None:
        predicted, source = found.from_counts, "our count of the call before"
    if predicted is None:
        return f"{said}; not predicted: {found.why or 'the call before is unknown'}."
    if predicted == found.reported:
        return f"{said}, and so predicted from {source}."
    return f"{said}, {predicted:,} predicted from {source}: {found.why or 'within rounding'}."
