"""What was computed for a text, kept so that a later start need not count again.

A text is named by its hash, a way of counting by its key. The values are a cache: they can be computed again at any
time, and those of a deleted transcript go with it, since they may quote its text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, select

from .database import Writer, reading
from .records import insert_new, is_stored, text_of_json
from .schema import AnalysisRow

__all__ = ["Analyses", "insert_analyses"]

CHUNK = 500
"""Hashes in one query; databases limit the number of values."""


class Analyses:
    """Stored analyses, read and written in bulk."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def get(self, counter: str, hashes: Iterable[bytes]) -> Mapping[bytes, Any]:
        """Return the analyses that are stored for these texts under this counter; the others are missing."""
        wanted = list(dict.fromkeys(hashes))
        found: dict[bytes, Any] = {}
        query = select(AnalysisRow.hash, AnalysisRow.value).where(AnalysisRow.counter == counter)
        with reading(self._writer.engine) as connection:
            for start in range(0, len(wanted), CHUNK):
                chunk = wanted[start : start + CHUNK]
                for key, value in connection.execute(query.where(AnalysisRow.hash.in_(chunk))):
                    found[key] = json.loads(value)
        return found

    def put(
        self, counter: str, values: Mapping[bytes, Any], transcript: int | None = None, instead_of: str = ""
    ) -> None:
        """Store analyses of texts of a transcript. What is there already stays, as it cannot differ.

        Where the transcript was deleted meanwhile, nothing is stored. `instead_of` is how the names of this counter's
        versions begin: what other versions found for the transcript goes.
        """
        if values:
            with self._writer.transaction() as connection:
                if transcript is None or is_stored(connection, transcript):
                    if instead_of:
                        connection.execute(delete(AnalysisRow).where(_outdated(counter, transcript, instead_of)))
                    insert_analyses(connection, counter, values, transcript)


def insert_analyses(connection: Connection, counter: str, values: Mapping[bytes, Any], transcript: int | None) -> None:
    """Insert analyses of texts of a transcript in a transaction that is open."""
    rows = [
        {"hash": key, "counter": counter, "value": text_of_json(value), "transcript_id": transcript}
        for key, value in values.items()
    ]
    if rows:
        connection.execute(insert_new(connection, AnalysisRow), rows)


def _outdated(counter: str, transcript: int | None, versions: str) -> ColumnElement[bool]:
    of_another = (AnalysisRow.counter != counter) & AnalysisRow.counter.startswith(versions, autoescape=True)
    return (AnalysisRow.transcript_id == transcript) & of_another
