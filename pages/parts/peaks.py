"""The peak window of listed transcripts, as sent: counted once, then kept in the database.

Counting a transcript takes from milliseconds to seconds, so a list counts only a few that it does not know yet, and
the others when they are opened or at the next look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from core.errors import PromptInspectorError
from core.fingerprint import engine_fingerprint
from storage import FileGroup, Library, StorageError, Summary

from .loading import captured_config, open_transcript

KEY = f"peak:{engine_fingerprint()}"
MOST_COUNTED = 12
MOST_MESSAGES = 3000
"""A longer transcript is counted when it is opened, not while a list waits."""


def peaks(store: Library, rows: Sequence[Summary | FileGroup]) -> list[int | None]:
    """Return the peak of each row in tokens; None where it is not counted yet, of a file where any of it is not."""
    known = store.analyses.get(KEY, [_hash(sha256) for row in rows for sha256 in _sha256s(row)])
    alone = [row for row in rows if isinstance(row, Summary) and row.messages <= MOST_MESSAGES]
    missing = [summary for summary in alone if _hash(summary.sha256) not in known]
    found = {**known, **dict(_counted(store, missing[:MOST_COUNTED]))}
    return [_peak([found.get(_hash(sha256)) for sha256 in _sha256s(row)]) for row in rows]


def _sha256s(row: Summary | FileGroup) -> Sequence[str]:
    return row.sha256s if isinstance(row, FileGroup) else (row.sha256,)


def _peak(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return max(known) if len(known) == len(counts) else None


def _counted(store: Library, summaries: Sequence[Summary]) -> Iterator[tuple[bytes, int]]:
    """Yield the peaks that can be counted; why one cannot is said where the transcript is opened."""
    for summary in summaries:
        with suppress(PromptInspectorError):
            yield _hash(summary.sha256), count_peak(store, summary)


def count_peak(store: Library, summary: Summary) -> int:
    """Count the peak of a transcript and keep it, if the database can be written."""
    opened = open_transcript(store, summary.id)
    peak = opened.figures(captured_config(opened.transcript)).peak_sent
    with suppress(StorageError):  # it can be counted again
        store.analyses.put(KEY, {_hash(summary.sha256): peak}, summary.id)
    return peak


def _hash(sha256: str) -> bytes:
    return bytes.fromhex(sha256)[:16]
