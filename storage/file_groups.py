"""What many transcripts of one file are in a list: one row, so that the others are not buried among them.

Files go by their names. A chat history that grew and was imported again is still one file, and so its new chats join
the others; files of the same name from different folders are taken for one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Subquery, case, func, select

from .listing import Summary, summaries
from .schema import TagRow, TranscriptRow

__all__ = ["FEWEST_GROUPED", "PASTED", "FileGroup", "count_listed", "listed", "of_file"]

FEWEST_GROUPED = 10
"""Fewer transcripts of a file stand in a list one by one."""
PASTED = "the pasted text"
NO_FILES = ("", PASTED, "the text")
"""What stands for a file's name where a text came without a file: each is one of its own."""
CHUNK = 500
"""Values in one query; databases limit their number."""
MEMBER = (
    TranscriptRow.id,
    TranscriptRow.sha256,
    TranscriptRow.source,
    TranscriptRow.format,
    TranscriptRow.dialect,
    TranscriptRow.models,
    TranscriptRow.call_count,
    TranscriptRow.message_count,
    TranscriptRow.imported_at,
)
"""What a group is made of."""


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Transcripts of one file that a list shows as one row. `ids` and `sha256s` are theirs, the last changed first."""

    source: str
    ids: tuple[int, ...]
    sha256s: tuple[str, ...]
    formats: tuple[str, ...]
    models: tuple[str, ...]
    tags: tuple[str, ...]
    calls: int
    messages: int
    imported_at: datetime


def of_file(source: str) -> ColumnElement[bool]:
    """Return the condition that a transcript came from the file of this name."""
    return TranscriptRow.capture_key.is_(None) & (TranscriptRow.source == source)


def count_listed(connection: Connection, condition: ColumnElement[bool]) -> int:
    """Return how many rows a list has of the transcripts that meet a condition."""
    return connection.execute(select(func.count()).select_from(_rows(condition).subquery())).scalar_one()


def listed(
    connection: Connection, condition: ColumnElement[bool], limit: int, offset: int
) -> Sequence[Summary | FileGroup]:
    """Return the rows of a list of the transcripts that meet a condition, the last changed first."""
    rows = connection.execute(_rows(condition).limit(limit).offset(offset)).all()
    alone = [row.newest for row in rows if row.file is None]
    found = {one.id: one for one in summaries(connection, TranscriptRow.id.in_(alone), len(alone), 0)}
    groups = _groups(connection, condition, [row.file for row in rows if row.file is not None])
    return [found[row.newest] if row.file is None else groups[row.file] for row in rows]


def _rows(condition: ColumnElement[bool]) -> Select[Any]:
    """Return the query of the rows: the name of a file or null, and the id of its newest transcript."""
    keyed = _keyed(condition)
    newest, changed = func.max(keyed.c.id), func.max(keyed.c.updated_at)
    query = select(keyed.c.file, newest.label("newest")).group_by(keyed.c.file, keyed.c.alone)
    return query.order_by(changed.desc(), newest.desc())


def _keyed(condition: ColumnElement[bool]) -> Subquery:
    """Return the transcripts with what groups them: the name of their file, or their own id."""
    has_file = TranscriptRow.capture_key.is_(None) & TranscriptRow.source.not_in(NO_FILES)
    of_it = func.count().over(partition_by=(has_file, TranscriptRow.source))
    columns = (TranscriptRow.id, TranscriptRow.updated_at, TranscriptRow.source)
    sized = select(*columns, has_file.label("has_file"), of_it.label("of_it")).where(condition).subquery()
    grouped = sized.c.has_file & (sized.c.of_it >= FEWEST_GROUPED)
    file, alone = case((grouped, sized.c.source)).label("file"), case((~grouped, sized.c.id)).label("alone")
    return select(sized.c.id, sized.c.updated_at, file, alone).subquery()


def _groups(connection: Connection, condition: ColumnElement[bool], files: Sequence[str]) -> dict[str, FileGroup]:
    """Return the groups of some files, with what is known of their transcripts."""
    of_these = condition & TranscriptRow.capture_key.is_(None) & TranscriptRow.source.in_(files)
    query = select(*MEMBER).where(of_these).order_by(TranscriptRow.updated_at.desc(), TranscriptRow.id.desc())
    members: dict[str, list[Any]] = {file: [] for file in files}
    for row in connection.execute(query):
        members[row.source].append(row)
    return {file: _group(file, rows, _tags(connection, [row.id for row in rows])) for file, rows in members.items()}


def _tags(connection: Connection, ids: Sequence[int]) -> Iterable[str]:
    for start in range(0, len(ids), CHUNK):
        of_these = TagRow.transcript_id.in_(ids[start : start + CHUNK])
        yield from connection.execute(select(TagRow.name).distinct().where(of_these)).scalars()


def _group(file: str, rows: Sequence[Any], tags: Iterable[str]) -> FileGroup:
    return FileGroup(
        source=file,
        ids=tuple(row.id for row in rows),
        sha256s=tuple(row.sha256 for row in rows),
        formats=tuple(dict.fromkeys(row.format or row.dialect for row in rows)),
        models=tuple(dict.fromkeys(model for row in rows for model in json.loads(row.models))),
        tags=tuple(sorted(set(tags))),
        calls=sum(row.call_count for row in rows),
        messages=sum(row.message_count for row in rows),
        imported_at=max(row.imported_at for row in rows),
    )
