"""The peak window of listed transcripts, as sent: counted once, then kept in the database.

Counting a transcript takes from milliseconds to seconds, so a list counts only a few that it does not know yet, and
the others when they are opened or at the next look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from core.errors import PromptInspectorError
from core.fingerprint import engine_fingerprint
from storage import Library, StorageError, Summary

from .loading import captured_config, open_transcript

KEY = f"peak:{engine_fingerprint()}"
MOST_COUNTED = 12
MOST_MESSAGES = 3000
"""A longer transcript is counted when it is opened, not while a list waits."""


def peaks(store: Library, summaries: Sequence[Summary]) -> list[int | None]:
    """Return the peak of each transcript in tokens; None where it is not counted yet."""
    known = store.analyses.get(KEY, [_hash(summary) for summary in summaries])
    missing = [summary for summary in summaries if _hash(summary) not in known and summary.messages <= MOST_MESSAGES]
    counted = dict(_counted(store, missing[:MOST_COUNTED]))
    return [{**known, **counted}.get(_hash(summary)) for summary in summaries]


def _counted(store: Library, summaries: Sequence[Summary]) -> Iterator[tuple[bytes, int]]:
    """Yield the peaks that can be counted; why one cannot is said where the transcript is opened."""
    for summary in summaries:
        with suppress(PromptInspectorError):
            yield _hash(summary), count_peak(store, summary)


def count_peak(store: Library, summary: Summary) -> int:
    """Count the peak of a transcript and keep it, if the database can be written."""
    opened = open_transcript(store, summary.id)
    peak = opened.figures(captured_config(opened.transcript)).peak_sent
    with suppress(StorageError):  # it can be counted again
        store.analyses.put(KEY, {_hash(summary): peak}, summary.id)
    return peak


def _hash(summary: Summary) -> bytes:
    return bytes.fromhex(summary.sha256)[:16]
