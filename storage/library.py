"""The library of transcripts: everything that pages, routes and the command line do with what is stored.

Nothing is written that has not been through `core.redact`: `add` and `append_call` are the only ways in. A method is
one transaction, so a transcript is there as a whole or not at all, whatever happens to the process. Results are
frozen values; no session, row or connection leaves this package.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, Engine, delete, exists, false, func, insert, or_, select, update

from core.identity import entries_of, sha256_of
from core.redact import SECRETS_ONLY, Privacy, mask_transcript
from core.transcript import Transcript

from .analyses import Analyses, insert_analyses
from .configs import Configs
from .content_key import LibraryDropper
from .database import Writer, reading
from .errors import NotFound, StorageError
from .file_groups import FileGroup, count_listed, listed, of_file
from .listing import Summary, matches, summaries
from .names import checked_name
from .recorder import Appended, Exchange, Recorder
from .records import Batch, chains, contents_of, counts, insert_new, load_transcript, text_of_json
from .references import KeptReferences, counter, plain_references
from .schema import CallRow, Content, FlagRow, HeadRow, MessageRow, TagRow, TranscriptRow, VariantRow
from .scorecards import Scorecards

__all__ = ["Added", "Appended", "Exchange", "FileGroup", "Library", "Summary"]

READ_ONLY = ("cannot be written", "read-only transaction")
"""What SQLite's sentence and PostgreSQL's say of a database that may only be read."""
CHUNK = 500
"""Values in one query; databases limit their number."""


@dataclass(frozen=True, slots=True)
class Added:
    """What became of an import. `new` is false if the same transcript was there already.

    `masked` says how many secrets of each kind were replaced.
    """

    id: int
    new: bool
    masked: Mapping[str, int]


class Library:
    """Transcripts in a database. May be used from any thread."""

    def __init__(self, engine: Engine, privacy: Privacy = SECRETS_ONLY) -> None:
        self.engine = engine
        self.privacy = privacy
        self.writer = Writer(engine)
        self._dropper = LibraryDropper(self.writer)
        self._recorder = Recorder(self.writer, self._dropper, privacy)
        self._writable = False
        """Whether it was found so; rights that are given later are found at the next look."""
        self.configs = Configs(self.writer)
        self.analyses = Analyses(self.writer)
        self.references = KeptReferences(self.analyses)
        self.scorecards = Scorecards(self.writer)

    def ping(self) -> int:
        """Return how many transcripts there are. StorageError if the database does not answer."""
        return self.count()

    def read_only(self) -> str:
        """Return why nothing can be stored here, in a sentence; empty where it can be, or another is writing."""
        if self._writable:
            return ""
        try:
            with self.writer.transaction() as connection:
                connection.execute(delete(FlagRow).where(false()))
        except StorageError as error:
            return str(error) if any(words in str(error) for words in READ_ONLY) else ""
        self._writable = True
        return ""

    def add(self, transcript: Transcript) -> Added:
        """Mask and store a transcript with its references, unless the same one is there already."""
        masked, found = mask_transcript(transcript, self.privacy)
        if self.privacy.content:
            masked = self._dropper().transcript(masked)
        entries = entries_of(masked)
        sha256 = sha256_of(masked, entries)
        keys = chains(masked.dialect, masked)
        named = {} if self._has(sha256) else plain_references(masked)
        with self.writer.transaction() as connection:
            added = _insert_transcript(connection, masked, sha256)
            if added is None:
                return Added(_id_of(connection, sha256), False, found)
            batch = Batch(added, keys)
            for entry in entries:
                batch.add(entry)
            batch.insert(connection)
            insert_analyses(connection, counter(), named, added)
        return Added(added, True, found)

    def append_call(self, exchange: Exchange) -> Appended:
        """Mask a captured request and response and store them as the next call of their transcript.

        RequestError if the request is no body of a known dialect.
        """
        return self._recorder.append(exchange)

    def _has(self, sha256: str) -> bool:
        query = select(TranscriptRow.id).where(TranscriptRow.sha256 == sha256)
        with reading(self.engine) as connection:
            return connection.execute(query).first() is not None

    def get(self, transcript_id: int) -> Transcript:
        """Return a transcript, equal to the one that was stored. NotFound if there is none."""
        with reading(self.engine) as connection:
            row = connection.execute(select(TranscriptRow.__table__).where(TranscriptRow.id == transcript_id)).first()
            if row is None:
                raise _not_found(transcript_id)
            return load_transcript(connection, row)

    def summary(self, transcript_id: int) -> Summary:
        """Return what the list shows of one transcript. NotFound if there is none."""
        with reading(self.engine) as connection:
            found = summaries(connection, TranscriptRow.id == transcript_id, limit=1, offset=0)
        if not found:
            raise _not_found(transcript_id)
        return found[0]

    def named(self, sha256s: Iterable[str]) -> Summary | None:
        """Return the last changed of the transcripts that have one of these names (sha256, hex); None without any."""
        wanted = list(dict.fromkeys(sha256s))
        found: list[Summary] = []
        with reading(self.engine) as connection:
            for start in range(0, len(wanted), CHUNK):
                condition = TranscriptRow.sha256.in_(wanted[start : start + CHUNK])
                found += summaries(connection, condition, limit=1, offset=0)
        return max(found, key=lambda summary: (summary.updated_at, summary.id), default=None)

    def count(self, search: str = "", file: str | None = None) -> int:
        """Return how many transcripts a search finds, in a file or anywhere; without words, how many there are."""
        with reading(self.engine) as connection:
            query = select(func.count()).select_from(TranscriptRow).where(_found(search, file))
            return connection.execute(query).scalar_one()

    def count_rows(self, search: str = "") -> int:
        """Return how many rows `rows` has in all."""
        with reading(self.engine) as connection:
            return count_listed(connection, matches(search))

    def count_since(self, moment: datetime) -> int:
        """Return how many transcripts were stored at a moment or later."""
        with reading(self.engine) as connection:
            query = select(func.count()).select_from(TranscriptRow).where(TranscriptRow.imported_at >= moment)
            return connection.execute(query).scalar_one()

    def tags(self) -> Sequence[str]:
        """Return all tags in use, in order of the alphabet."""
        with reading(self.engine) as connection:
            return connection.execute(select(TagRow.name).distinct().order_by(TagRow.name)).scalars().all()

    def rename(self, transcript_id: int, title: str) -> None:
        """Give a transcript another title. NotFound if there is none, StorageError if it is too long."""
        title = checked_name("The title", title)
        with self.writer.transaction() as connection:
            renamed = update(TranscriptRow).where(TranscriptRow.id == transcript_id).values(title=title)
            if connection.execute(renamed).rowcount == 0:
                raise _not_found(transcript_id)

    def note(self, transcript_ids: Iterable[int], note: str) -> None:
        """Add a clause to what is noted of these transcripts, last; one that has been deleted is passed over."""
        wanted = list(transcript_ids)
        with self.writer.transaction() as connection:
            for start in range(0, len(wanted), CHUNK):
                chosen = TranscriptRow.id.in_(wanted[start : start + CHUNK])
                for row in connection.execute(select(TranscriptRow.id, TranscriptRow.notes).where(chosen)).all():
                    notes = text_of_json([*json.loads(row.notes), note])
                    connection.execute(update(TranscriptRow).where(TranscriptRow.id == row.id).values(notes=notes))

    def tag(self, transcript_id: int, tags: Iterable[str]) -> None:
        """Give a transcript these tags and no others. NotFound if there is none, StorageError if one is too long."""
        names = dict.fromkeys(name for tag in tags if (name := checked_name("A tag", " ".join(tag.split()))))
        with self.writer.transaction() as connection:
            if connection.execute(select(TranscriptRow.id).where(TranscriptRow.id == transcript_id)).first() is None:
                raise _not_found(transcript_id)
            connection.execute(delete(TagRow).where(TagRow.transcript_id == transcript_id))
            if names:
                connection.execute(insert(TagRow), [{"transcript_id": transcript_id, "name": name} for name in names])

    def delete(self, transcript_id: int) -> None:
        """Delete a transcript with everything that no other one uses. NotFound if there is none."""
        with self.writer.transaction() as connection:
            if not self._delete(connection, transcript_id):
                raise _not_found(transcript_id)

    def delete_all(self, transcript_ids: Iterable[int]) -> int:
        """Delete these transcripts, all or, if it fails, none; return how many of them were still there."""
        with self.writer.transaction() as connection:
            return sum(self._delete(connection, transcript_id) for transcript_id in dict.fromkeys(transcript_ids))

    def _delete(self, connection: Connection, transcript_id: int) -> bool:
        used = connection.execute(contents_of(transcript_id)).scalars().all()
        connection.execute(delete(CallRow).where(CallRow.transcript_id == transcript_id))
        if connection.execute(delete(TranscriptRow).where(TranscriptRow.id == transcript_id)).rowcount == 0:
            return False
        for start in range(0, len(used), CHUNK):
            unused = Content.hash.in_(used[start : start + CHUNK]) & ~_is_used()
            connection.execute(delete(Content).where(unused))
        self._recorder.forget(transcript_id)
        return True

    def list(self, search: str = "", limit: int = 50, offset: int = 0, file: str | None = None) -> Sequence[Summary]:
        """Return transcripts, of a file or of all, the last changed first.

        Each word of `search` must stand in a name or a tag.
        """
        with reading(self.engine) as connection:
            return summaries(connection, _found(search, file), limit, offset)

    def rows(self, search: str = "", limit: int = 50, offset: int = 0) -> Sequence[Summary | FileGroup]:
        """Return what `list` does, where many transcripts of one file are one row."""
        with reading(self.engine) as connection:
            return listed(connection, matches(search), limit, offset)


def _insert_transcript(connection: Connection, transcript: Transcript, sha256: str) -> int | None:
    """Insert the row of a transcript and return its id; None if it is there already, also in a captured form."""
    if connection.execute(select(TranscriptRow.id).where(TranscriptRow.sha256 == sha256)).first() is not None:
        return None
    now = datetime.now(UTC)
    values = {
        "sha256": sha256,
        "dialect": transcript.dialect,
        "format": transcript.format,
        "source": transcript.source,
        "session": transcript.session,
        "title": transcript.title,
        "notes": text_of_json(list(transcript.notes)),
        "meta": text_of_json(transcript.meta),
        "started": transcript.started,
        "imported_at": now,
        "updated_at": now,
        **counts(transcript),
    }
    # On PostgreSQL another process may have added the same one since we looked.
    return connection.execute(insert_new(connection, TranscriptRow).values(values).returning(TranscriptRow.id)).scalar()


def _id_of(connection: Connection, sha256: str) -> int:
    query = select(TranscriptRow.id).where(TranscriptRow.sha256 == sha256).order_by(TranscriptRow.id)
    return connection.execute(query.limit(1)).scalar_one()


def _not_found(transcript_id: int) -> NotFound:
    return NotFound(f"There is no transcript {transcript_id} here. It may have been deleted; look in the Library.")


def _found(search: str, file: str | None) -> ColumnElement[bool]:
    """Return the condition that a search finds a transcript, in a file if one is named."""
    return matches(search) if file is None else matches(search) & of_file(file)


def _is_used() -> ColumnElement[bool]:
    """Return the condition that a content is still referred to."""
    columns = (HeadRow.content, MessageRow.content, CallRow.response, CallRow.hints, VariantRow.content)
    return or_(*(exists().where(column == Content.hash) for column in columns))
