"""Transcripts of one session that several agents made: the longest is the session's, the others point to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..transcript import Transcript


def linked(transcripts: Iterable[Transcript], threads: Sequence[tuple[str, str]]) -> list[Transcript]:
    """Return transcripts whose side conversations name their session in `meta`.

    `threads` are session and thread of each; where a thread is named, a session may hold several transcripts.
    """
    found = list(transcripts)
    by_session: dict[str, list[int]] = {}
    for number, (session, thread) in enumerate(threads):
        if session and thread:
            by_session.setdefault(session, []).append(number)
    for session, numbers in by_session.items():
        main = max(numbers, key=lambda number: (_longest(found[number]), len(found[number].calls), -number))
        for place, number in enumerate((number for number in numbers if number != main), 2):
            meta = {"parent_session": session, "agent": threads[number][1], **found[number].meta}
            found[number] = replace(found[number], session=f"{session}/{place}", meta=meta)
    return found


def _longest(transcript: Transcript) -> int:
    """Return how many messages the longest prompt has."""
    return max((transcript.depths[call.captured] + 1 for call in transcript.calls if call.captured >= 0), default=0)
