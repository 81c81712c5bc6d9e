"""What a list shows of transcripts, and how a search finds them: no message is loaded for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, exists, or_, select

from .schema import TagRow, TranscriptRow

__all__ = ["Summary", "matches", "summaries"]


@dataclass(frozen=True, slots=True)
class Summary:
    """A transcript in a list: no message is loaded for it.

    `captured` transcripts came in call by call and may still grow. `peak_input` is the largest input, in tokens,
    that a provider reported.
    """

    id: int
    sha256: str
    title: str
    dialect: str
    format: str
    source: str
    session: str
    captured: bool
    tags: tuple[str, ...]
    models: tuple[str, ...]
    calls: int
    messages: int
    peak_input: int | None
    notes: tuple[str, ...]
    started: datetime | None
    imported_at: datetime
    updated_at: datetime


def matches(search: str) -> ColumnElement[bool]:
    """Return the condition that every word stands in one of a transcript's names or tags."""
    names = (
        TranscriptRow.title,
        TranscriptRow.source,
        TranscriptRow.format,
        TranscriptRow.models,
        TranscriptRow.session,
    )
    condition: ColumnElement[bool] = TranscriptRow.id.is_not(None)
    for word in search.split():
        tagged = exists().where(TagRow.transcript_id == TranscriptRow.id, TagRow.name.icontains(word, autoescape=True))
        condition &= or_(tagged, *(name.icontains(word, autoescape=True) for name in names))
    return condition


def summaries(connection: Connection, condition: ColumnElement[bool], limit: int, offset: int) -> Sequence[Summary]:
    """Return the transcripts that meet a condition, the last changed first."""
    query = select(TranscriptRow.__table__).where(condition)
    query = query.order_by(TranscriptRow.updated_at.desc(), TranscriptRow.id.desc()).limit(limit).offset(offset)
    rows = connection.execute(query).all()
    tags: dict[int, list[str]] = {row.id: [] for row in rows}
    of_these = select(TagRow.transcript_id, TagRow.name).where(TagRow.transcript_id.in_(tags)).order_by(TagRow.name)
    for transcript_id, name in connection.execute(of_these):
        tags[transcript_id].append(name)
    return [_summary(row, tuple(tags[row.id])) for row in rows]


def _summary(row: Any, tags: tuple[str, ...]) -> Summary:
    return Summary(
        id=row.id,
        sha256=row.sha256,
        title=row.title,
        dialect=row.dialect,
        format=row.format,
        source=row.source,
        session=row.session,
        captured=row.capture_key is not None,
        tags=tags,
        models=tuple(json.loads(row.models)),
        calls=row.call_count,
        messages=row.message_count,
        peak_input=row.peak_input,
        notes=tuple(json.loads(row.notes)),
        started=row.started,
        imported_at=row.imported_at,
        updated_at=row.updated_at,
    )
