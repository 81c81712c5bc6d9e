"""Reading a recording that is one session, told record by record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from ..transcript import Transcript
from .formats import Reading
from .records import Record


class Session(Protocol):
    """What gathers the records of a session."""

    def take(self, record: Record, /) -> None:
        """Take one record in, and count it."""

    def transcripts(self) -> Iterator[Transcript]:
        """Yield what they make up, if they hold anything."""


def one_session(session: Callable[[Reading], Session]) -> Callable[[Reading], Iterator[Transcript]]:
    """Return a reader that gives all records to one new session and yields what it makes of them."""

    def read(reading: Reading) -> Iterator[Transcript]:
        gathered = session(reading)
        for record in reading.records:
            gathered.take(record)
        yield from gathered.transcripts()

    return read
