"""Summaries that a model wrote, looked up by the hash of the range they cover.

A summary is a function of its range: once written it is kept under the range's hash, so that replays, sessions and
other processes that share the store send the same bytes. Where none is stored and no summariser is at hand, where it
fails, or where what it wrote is not smaller than what it replaces, the extractive form stands in, and says so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .units import Unit
from .wire import digest

__all__ = ["Asked", "Range", "Summaries", "Written", "failure", "range_hash", "unit_digest", "was_asked"]


@dataclass(frozen=True, slots=True)
class Range:
    """What a summariser is asked for: the text of some messages, in at most so many tokens."""

    hash: str
    text: str
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Written:
    """A summary, or None and why there is none."""

    text: str | None
    why: str


WRITTEN = "written by the summariser"
STAND_IN = "extractive stand-in: no summary is stored for this range"
FAILED = "extractive: the summariser failed"
NOT_SMALLER = "extractive: what the summariser wrote is not smaller than what it replaces"
TOO_LONG = "extractive: what the summariser wrote is longer than strategy.summary_tokens"
NO_ROOM = "extractive: there is no room for what the summariser wrote"


def failure(why: str) -> str:
    """Return how the summariser failed, in a few words, for what is said of a summary; empty if it did not."""
    if why.startswith(FAILED):
        return why.removeprefix(FAILED).strip(" ()")
    return {NOT_SMALLER: "not smaller than what it replaces", TOO_LONG: "longer than strategy.summary_tokens"}.get(
        why, ""
    )


def was_asked(why: str) -> bool:
    """Return whether what is said of a summary tells that one was written or tried."""
    return why in (WRITTEN, NO_ROOM) or bool(failure(why))


@dataclass(slots=True)
class Asked:
    """How often a summariser was asked, and the first exception that it raised."""

    count: int = 0
    error: Exception | None = None


class _Here(threading.local):
    """What is known in one thread alone."""

    def __init__(self) -> None:
        self.asked = Asked()


class Summaries:
    """Stored summaries and, where there is one, the summariser that writes new ones. Safe for many threads."""

    def __init__(
        self, summarizer: Callable[[Range], str] | None = None, known: Mapping[str, str] | None = None
    ) -> None:
        self._summarizer = summarizer
        self._known = dict(known or {})
        self._failed: dict[str, str] = {}
        self._lock = threading.Lock()
        self._here = _Here()

    def asked(self) -> Asked:
        """Return how often this thread had the summariser asked since it last wanted to know."""
        found, self._here.asked = self._here.asked, Asked()
        return found

    def written(self, hash_: str, text: Callable[[], str], max_tokens: int) -> Written:
        """Return the summary of a range; `text` gives its messages, and is asked only if one must be written."""
        stored = self._known.get(hash_)
        if stored is not None:
            return Written(stored, WRITTEN)
        if self._summarizer is None or hash_ in self._failed:
            return Written(None, self._failed.get(hash_, STAND_IN))
        made, why = self._ask(self._summarizer, Range(hash_, text(), max_tokens))
        with self._lock:
            # Of two threads that asked at once the first answer stands, so that both send the same bytes. So does a
            # failure: what was sent without a summary stays so, or the prompt would change at its beginning.
            if made is None and hash_ not in self._known:
                return Written(None, self._failed.setdefault(hash_, why))
            return Written(self._known.setdefault(hash_, made or ""), WRITTEN)

    def _ask(self, summarizer: Callable[[Range], str], asked: Range) -> tuple[str | None, str]:
        """Return what the summariser writes; None and why if it fails."""
        noted = self._here.asked
        noted.count += 1
        try:
            made = summarizer(asked)
        except Exception as error:
            noted.error = noted.error or error
            return None, f"{FAILED} ({type(error).__name__})"
        return (made, "") if isinstance(made, str) and made.strip() else (None, f"{FAILED} (it wrote nothing)")

    def stored(self) -> dict[str, str]:
        """Return all summaries by the hash of their range."""
        with self._lock:
            return dict(self._known)


DIGEST = "digest"


def unit_digest(unit: Unit) -> bytes:
    """Return a hash of what a unit's messages say, whatever their bytes."""
    if DIGEST not in unit.memo:
        said = [(message.role, part.kind, part.name, part.text) for message in unit.messages for part in message.parts]
        unit.memo[DIGEST] = digest(repr(said))
    made: bytes = unit.memo[DIGEST]
    return made


def range_hash(chain: bytes, skipped: bytes = b"") -> str:
    """Return the name of a range: the chained hashes of its units, and of those among them that it leaves out."""
    return digest(f"{chain.hex()}:{skipped.hex()}").hex()
