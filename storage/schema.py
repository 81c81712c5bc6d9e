"""The tables, for SQLite and PostgreSQL.

Everything that a provider took or gave (a head, a message, a response, hints) is a row of `content`, keyed by the
hash of its JSON text, so that nothing is stored twice, within a transcript or across them. A message is a content at
a place in the tree of its transcript; `chain` is the hash of all content keys from the first message to it, so one
indexed lookup tells how far a request is known already. A call names places in that tree. A captured run that
resends its history with every call therefore costs what is new.

JSON is kept as ASCII text and not in a JSON type, because a JSON type loses key order and lone surrogates.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    DateTime,
    Dialect,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from core.identity import storable

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
}
"""Every constraint has a name, else a later migration could not drop it on SQLite."""


class UtcDateTime(TypeDecorator[datetime]):
    """A moment, kept in UTC. A value without a zone is taken for UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn a moment into UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give back the zone that SQLite forgets."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Name(TypeDecorator[str]):
    """A text for people (a title, a model). What no database takes in a text becomes U+FFFD: lone surrogates, NUL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Replace lone surrogates and NUL."""
        return None if value is None else storable(value)


class Base(DeclarativeBase):
    """The common metadata."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map: dict[Any, Any] = {bytes: LargeBinary(), str: Text(), datetime: UtcDateTime()}  # noqa: RUF012


class Content(Base):
    """A head, message, response or hints: JSON text by its hash."""

    __tablename__ = "content"

    hash: Mapped[bytes] = mapped_column(primary_key=True)
    json: Mapped[str]


class TranscriptRow(Base):
    """A transcript, with all that a list of transcripts shows."""

    __tablename__ = "transcript"
    __table_args__ = (
        # A captured run changes with every call and is told apart by its capture key instead.
        Index(
            None,
            "sha256",
            unique=True,
            sqlite_where=text("capture_key IS NULL"),
            postgresql_where=text("capture_key IS NULL"),
        ),
        Index(None, "updated_at"),
        {"sqlite_autoincrement": True},  # the id of a deleted transcript must not come back in somebody's link
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    sha256: Mapped[str] = mapped_column(String(64))
    capture_key: Mapped[str | None] = mapped_column(Name(), unique=True)
    dialect: Mapped[str]
    format: Mapped[str]
    source: Mapped[str] = mapped_column(Name())
    session: Mapped[str] = mapped_column(Name(), index=True)
    title: Mapped[str] = mapped_column(Name())
    notes: Mapped[str] = mapped_column(default="[]")
    meta: Mapped[str] = mapped_column(default="{}")
    models: Mapped[str] = mapped_column(default="[]")
    call_count: Mapped[int] = mapped_column(default=0)
    message_count: Mapped[int] = mapped_column(default=0)
    peak_input: Mapped[int | None]
    """The largest input, in tokens, that a provider reported for a call."""
    started: Mapped[datetime | None]
    imported_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class TagRow(Base):
    """A word that somebody put on a transcript."""

    __tablename__ = "tag"

    transcript_id: Mapped[int] = mapped_column(ForeignKey("transcript.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(Name(), primary_key=True, index=True)


class HeadRow(Base):
    """A head of a transcript: everything that is fixed in the requests of some of its calls."""

    __tablename__ = "head"
    __table_args__ = ({"sqlite_with_rowid": False},)

    transcript_id: Mapped[int] = mapped_column(ForeignKey("transcript.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    content: Mapped[bytes] = mapped_column(ForeignKey("content.hash"), index=True)


class MessageRow(Base):
    """A message at its place in a transcript's tree. A first message has no parent."""

    __tablename__ = "message"
    __table_args__ = (Index(None, "chain", "transcript_id"), {"sqlite_with_rowid": False})

    transcript_id: Mapped[int] = mapped_column(ForeignKey("transcript.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    parent: Mapped[int | None]
    content: Mapped[bytes] = mapped_column(ForeignKey("content.hash"), index=True)
    chain: Mapped[bytes]


class CallRow(Base):
    """A call. An empty prompt has no last message: `captured` and `history` are null."""

    __tablename__ = "call"
    __table_args__ = (
        ForeignKeyConstraint(["transcript_id", "head"], ["head.transcript_id", "head.position"]),
        ForeignKeyConstraint(["transcript_id", "captured"], ["message.transcript_id", "message.position"]),
        ForeignKeyConstraint(["transcript_id", "history"], ["message.transcript_id", "message.position"]),
        Index(None, "transcript_id", "captured"),
        {"sqlite_with_rowid": False},
    )

    transcript_id: Mapped[int] = mapped_column(ForeignKey("transcript.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    head: Mapped[int]
    captured: Mapped[int | None]
    history: Mapped[int | None]
    response: Mapped[bytes | None] = mapped_column(ForeignKey("content.hash"), index=True)
    hints: Mapped[bytes | None] = mapped_column(ForeignKey("content.hash"), index=True)
    model: Mapped[str | None] = mapped_column(Name())
    fidelity: Mapped[str]
    at: Mapped[datetime | None]
    input_tokens: Mapped[int | None]
    cache_read_tokens: Mapped[int | None]
    cache_write_tokens: Mapped[int | None]
    output_tokens: Mapped[int | None]
    reasoning_tokens: Mapped[int | None]


class VariantRow(Base):
    """From this call on a message has other bytes than before; without content it has its own again.

    A client that moves its cache mark with every call makes all earlier messages differ in every later call. Kept as
    changes that is two rows a call; kept as a list with each call it would be the square of the run's length.
    """

    __tablename__ = "variant"
    __table_args__ = (
        ForeignKeyConstraint(["transcript_id", "call"], ["call.transcript_id", "call.position"], ondelete="CASCADE"),
        {"sqlite_with_rowid": False},
    )

    transcript_id: Mapped[int] = mapped_column(primary_key=True)
    call: Mapped[int] = mapped_column(primary_key=True)
    message: Mapped[int] = mapped_column(primary_key=True)
    content: Mapped[bytes | None] = mapped_column(ForeignKey("content.hash"), index=True)


class AnalysisRow(Base):
    """What was computed for a text, by the text's hash and the counter's key: a cache, never a source."""

    __tablename__ = "analysis"

    hash: Mapped[bytes] = mapped_column(primary_key=True)
    counter: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]
    transcript_id: Mapped[int | None] = mapped_column(ForeignKey("transcript.id", ondelete="CASCADE"), index=True)
    """Whose text it was first: values may quote the text, so they go when the transcript is deleted."""


class ScorecardRow(Base):
    """What a replay is judged by, as JSON: a cache by transcript (its sha256), configuration and engine version."""

    __tablename__ = "scorecard"
    __table_args__ = ({"sqlite_with_rowid": False},)

    transcript: Mapped[str] = mapped_column(String(64), primary_key=True)
    configuration: Mapped[str] = mapped_column(String(64), primary_key=True)
    engine: Mapped[str] = mapped_column(primary_key=True)
    transcript_id: Mapped[int] = mapped_column(ForeignKey("transcript.id", ondelete="CASCADE"), index=True)
    value: Mapped[str]


class ConfigurationRow(Base):
    """One version of a named configuration."""

    __tablename__ = "configuration"
    __table_args__ = (UniqueConstraint("name", "version"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Name())
    version: Mapped[int]
    body: Mapped[str]
    note: Mapped[str] = mapped_column(Name(), default="")
    created_at: Mapped[datetime]


class FlagRow(Base):
    """Something that was done once, for instance loading a sample."""

    __tablename__ = "flag"

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]
