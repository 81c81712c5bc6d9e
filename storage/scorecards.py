"""Scorecards that were worked out once, kept so that a later start need not judge the same replay again.

One is found by the transcript's hash, the configuration's and the engine's version, so whatever changes one of them
asks for a new one. They are a cache: what another version wrote is passed over, and what a transcript was judged by
before it grew, or by another engine, goes when it is judged anew. A deleted transcript takes its scorecards along.
"""

from __future__ import annotations

import json

from sqlalchemy import ColumnElement, delete, or_, select

from core.scorecard import Scorecard, ScorecardError
from core.scorecard_key import Key

from .database import Writer, reading
from .records import insert_new, is_stored, text_of_json
from .schema import ScorecardRow

__all__ = ["Scorecards"]


class Scorecards:
    """Stored scorecards by their keys."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def get(self, key: Key) -> Scorecard | None:
        """Return the scorecard that is stored under a key; None if there is none that this version can read."""
        with reading(self._writer.engine) as connection:
            value = connection.execute(select(ScorecardRow.value).where(_named(key))).scalar()
        if value is None:
            return None
        try:
            return Scorecard.from_json(json.loads(value))
        except ScorecardError:
            return None

    def put(self, card: Scorecard, transcript_id: int) -> None:
        """Store a scorecard of a transcript in the place of an older one. Nothing is stored for a deleted transcript.

        StorageError if the database cannot be written.
        """
        row = {
            "transcript": card.key.transcript,
            "configuration": card.key.configuration,
            "engine": card.key.engine,
            "transcript_id": transcript_id,
            "value": text_of_json(card.as_json()),
        }
        with self._writer.transaction() as connection:
            if is_stored(connection, transcript_id):
                connection.execute(
                    delete(ScorecardRow).where(or_(_named(card.key), _outdated(card.key, transcript_id)))
                )
                connection.execute(insert_new(connection, ScorecardRow), [row])


def _named(key: Key) -> ColumnElement[bool]:
    of_configuration = (ScorecardRow.configuration == key.configuration) & (ScorecardRow.engine == key.engine)
    return (ScorecardRow.transcript == key.transcript) & of_configuration


def _outdated(key: Key, transcript_id: int) -> ColumnElement[bool]:
    """Return the condition that a row is of a transcript as it was before, or of another engine."""
    changed = or_(ScorecardRow.transcript != key.transcript, ScorecardRow.engine != key.engine)
    return (ScorecardRow.transcript_id == transcript_id) & changed
