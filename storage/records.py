"""Between transcripts and rows: what is written for an entry, and a transcript read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Insert, Select, insert, select, union
from sqlalchemy.dialects import postgresql, sqlite

from core.dialects import dialect
from core.identity import Entry, Recorded
from core.transcript import ROOT, Call, Fidelity, Transcript, Usage
from core.wire import Wire, digest

from .database import is_sqlite
from .schema import Base, CallRow, Content, HeadRow, MessageRow, TranscriptRow, VariantRow

__all__ = ["Batch", "chains", "contents_of", "counts", "insert_new", "is_stored", "load_transcript", "text_of_json"]


def insert_new(connection: Connection, table: type[Base]) -> Insert:
    """Return an insert that leaves a row with the same key as it is."""
    if is_sqlite(connection):
        return sqlite.insert(table).on_conflict_do_nothing()
    return postgresql.insert(table).on_conflict_do_nothing()


def is_stored(connection: Connection, transcript_id: int) -> bool:
    """Return whether there is a transcript with this id; it may have been deleted while something was worked out."""
    return connection.execute(select(TranscriptRow.id).where(TranscriptRow.id == transcript_id)).first() is not None


def text_of_json(value: Any) -> str:
    """Return JSON text in ASCII, key order kept."""
    return json.dumps(value, separators=(",", ":"), default=dict)


def chains(dialect_name: str, recorded: Recorded, known: Sequence[bytes] = ()) -> list[bytes]:
    """Return a key for each message: that of all contents from the first message to it. `known` are the first ones."""
    key = dialect(dialect_name).content_key
    found = list(known)
    for index in range(len(known), len(recorded.messages)):
        parent = recorded.parents[index]
        found.append(link(found[parent] if parent != ROOT else dialect_name.encode(), key(recorded.messages[index])))
    return found


def link(chain: bytes, content_key: str) -> bytes:
    """Return the key of a message that follows a chain."""
    return digest(f"{chain.hex()} {content_key}")


def counts(recorded: Recorded) -> dict[str, Any]:
    """Return what the list of transcripts shows, as columns of the transcript's row."""
    inputs = [call.usage.input for call in recorded.calls if call.usage.input is not None]
    return {
        "call_count": len(recorded.calls),
        "message_count": len(recorded.messages),
        "models": text_of_json(list(dict.fromkeys(call.model for call in recorded.calls if call.model))),
        "peak_input": max(inputs, default=None),
    }


@dataclass
class Batch:
    """The rows of some entries of one transcript, written at once. The counts say where the first entry begins."""

    transcript_id: int
    chains: Sequence[bytes]
    heads_before: int = 0
    messages_before: int = 0
    calls_before: int = 0
    contents: dict[bytes, str] = field(default_factory=dict)
    heads: list[dict[str, Any]] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    variants: list[dict[str, Any]] = field(default_factory=list)

    def add(self, entry: Entry) -> None:
        """Take the rows of one more entry."""
        self.contents.update(entry.contents)
        for content in entry.heads:
            self.heads.append(self._row(self.heads_before + len(self.heads), content=content.hash))
        for parent, content in entry.messages:
            place = self.messages_before + len(self.messages)
            values = {"parent": _nullable(parent), "content": content.hash, "chain": self.chains[place]}
            self.messages.append(self._row(place, **values))
        if entry.call is not None:
            self._add_call(entry, entry.call)

    def insert(self, connection: Connection) -> None:
        """Write all rows, parents first."""
        rows = [{"hash": key, "json": text} for key, text in self.contents.items()]
        if rows:
            connection.execute(insert_new(connection, Content), rows)
        for table, added in (
            (HeadRow, self.heads),
            (MessageRow, self.messages),
            (CallRow, self.calls),
            (VariantRow, self.variants),
        ):
            if added:
                connection.execute(insert(table), added)

    def _add_call(self, entry: Entry, call: Call) -> None:
        place = self.calls_before + len(self.calls)
        for node, content in entry.changes:
            changed = None if content is None else content.hash
            self.variants.append(
                {"transcript_id": self.transcript_id, "call": place, "message": node, "content": changed}
            )
        self.calls.append(
            self._row(
                place,
                head=call.head,
                captured=_nullable(call.captured),
                history=_nullable(call.history),
                response=None if entry.response is None else entry.response.hash,
                hints=None if entry.hints is None else entry.hints.hash,
                model=call.model,
                fidelity=str(call.fidelity),
                at=call.at,
                input_tokens=call.usage.input,
                cache_read_tokens=call.usage.cache_read,
                cache_write_tokens=call.usage.cache_write,
                output_tokens=call.usage.output,
                reasoning_tokens=call.usage.reasoning,
            )
        )

    def _row(self, position: int, **values: Any) -> dict[str, Any]:
        return {"transcript_id": self.transcript_id, "position": position, **values}


def load_transcript(connection: Connection, row: Any) -> Transcript:
    """Return the transcript of a row of `TranscriptRow`, equal to the one that was stored."""
    wires = _wires(connection, row.id)
    messages = _ordered(connection, MessageRow, row.id)
    parents = tuple(ROOT if message.parent is None else message.parent for message in messages)
    bare = Transcript(
        dialect=row.dialect,
        messages=tuple(wires[message.content] for message in messages),
        parents=parents,
        heads=tuple(wires[head.content] for head in _ordered(connection, HeadRow, row.id)),
        calls=(),
        title=row.title,
        format=row.format,
        source=row.source,
        session=row.session,
        notes=tuple(json.loads(row.notes)),
        started=row.started,
        meta=json.loads(row.meta),
    )
    return _with_calls(bare, connection, row.id, wires)


def contents_of(transcript_id: int) -> Select[Any]:
    """Return a query of the hashes of all contents that a transcript refers to."""
    columns: list[tuple[Any, ColumnElement[bool]]] = [
        (column, owner.transcript_id == transcript_id)
        for column, owner in (
            (HeadRow.content, HeadRow),
            (MessageRow.content, MessageRow),
            (CallRow.response, CallRow),
            (CallRow.hints, CallRow),
            (VariantRow.content, VariantRow),
        )
    ]
    used = union(*(select(column.label("hash")).where(mine, column.is_not(None)) for column, mine in columns))
    return select(used.subquery().c.hash)


def _wires(connection: Connection, transcript_id: int) -> Mapping[bytes, Wire]:
    found = select(Content.hash, Content.json).where(Content.hash.in_(contents_of(transcript_id)))
    return {bytes(key): json.loads(text) for key, text in connection.execute(found)}


def _ordered(connection: Connection, table: Any, transcript_id: int) -> Sequence[Any]:
    columns = table.__table__.c
    query = select(table.__table__).where(columns.transcript_id == transcript_id).order_by(columns.position)
    return connection.execute(query).all()


def _with_calls(
    bare: Transcript, connection: Connection, transcript_id: int, wires: Mapping[bytes, Wire]
) -> Transcript:
    changes = _changes(connection, transcript_id, wires)
    forms: dict[int, Wire] = {}
    calls = []
    for row in _ordered(connection, CallRow, transcript_id):
        for node, wire in changes.get(row.position, ()):
            if wire is None:
                forms.pop(node, None)
            else:
                forms[node] = wire
        calls.append(_call(row, wires, tuple(_variants(bare, row, forms))))
    return replace(bare, calls=tuple(calls))


def _changes(
    connection: Connection, transcript_id: int, wires: Mapping[bytes, Wire]
) -> Mapping[int, Sequence[tuple[int, Wire | None]]]:
    found: dict[int, list[tuple[int, Wire | None]]] = {}
    query = select(VariantRow.call, VariantRow.message, VariantRow.content)
    for call, node, content in connection.execute(query.where(VariantRow.transcript_id == transcript_id)):
        found.setdefault(call, []).append((node, None if content is None else wires[content]))
    return found


def _variants(bare: Transcript, row: Any, forms: Mapping[int, Wire]) -> Iterator[tuple[int, Wire]]:
    """Yield the messages of a call's prompt that were sent in another form, by their position in it."""
    if forms and row.captured is not None:
        for position, node in enumerate(bare.path(row.captured)):
            if node in forms:
                yield position, forms[node]


def _call(row: Any, wires: Mapping[bytes, Wire], variants: tuple[tuple[int, Wire], ...]) -> Call:
    return Call(
        head=row.head,
        history=ROOT if row.history is None else row.history,
        captured=ROOT if row.captured is None else row.captured,
        response=None if row.response is None else wires[row.response],
        usage=Usage(
            row.input_tokens, row.cache_read_tokens, row.cache_write_tokens, row.output_tokens, row.reasoning_tokens
        ),
        model=row.model,
        at=row.at,
        fidelity=Fidelity(row.fidelity),
        variants=variants,
        hints=None if row.hints is None else wires[row.hints],
    )


def _nullable(position: int) -> int | None:
    return None if position == ROOT else position
