"""What a transcript consists of, entry by entry, and the sha256 that names it.

An entry is one call with the heads and messages that it brought. The sha256 runs over the entries, each hash over
the one before, so that a captured run that grows by a call is renamed without being read again, and a run read from
a file has the same name as the same run captured live. Title, source and notes are no part of it: the same
conversation under another file name is the same transcript.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

from .transcript import ROOT, Call, Transcript
from .wire import Wire, digest

__all__ = [
    "Content",
    "Entry",
    "Ledger",
    "content_of",
    "entries_of",
    "first_sha256",
    "next_sha256",
    "sha256_of",
    "storable",
    "transcript_sha256",
]


class Content(NamedTuple):
    """A JSON value as text, and the 16-byte hash of that text."""

    hash: bytes
    text: str


class Recorded(Protocol):
    """A transcript, or one that is being built."""

    @property
    def heads(self) -> Sequence[Wire]: ...
    @property
    def messages(self) -> Sequence[Wire]: ...
    @property
    def parents(self) -> Sequence[int]: ...
    @property
    def calls(self) -> Sequence[Call]: ...


@dataclass(frozen=True, slots=True)
class Entry:
    """One call and what is new with it. The last entry of a transcript may have no call.

    `changes` are the messages whose bytes differ from the call before: other bytes, or None for the message's own.
    """

    heads: tuple[Content, ...]
    messages: tuple[tuple[int, Content], ...]
    call: Call | None = None
    response: Content | None = None
    hints: Content | None = None
    changes: tuple[tuple[int, Content | None], ...] = ()

    @property
    def record(self) -> str:
        """What the entry adds to the transcript's name, beside the response, which may become known later."""
        heads = [head.hash.hex() for head in self.heads]
        messages = [[parent, message.hash.hex()] for parent, message in self.messages]
        return json.dumps([heads, messages, self._call_record()], separators=(",", ":"))

    def _call_record(self) -> list[Any] | None:
        call = self.call
        if call is None:
            return None
        usage = call.usage
        return [
            *(call.head, call.captured, call.history, _hex(self.hints)),
            [[node, _hex(content)] for node, content in self.changes],
            [usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning],
            *(None if call.model is None else storable(call.model), _moment(call.at), str(call.fidelity)),
        ]

    @property
    def contents(self) -> Iterator[Content]:
        """All contents that the entry refers to."""
        yield from self.heads
        yield from (content for _, content in self.messages)
        yield from (content for _, content in self.changes if content is not None)
        yield from (content for content in (self.response, self.hints) if content is not None)


class Ledger:
    """Reads a transcript entry by entry, also one that still grows."""

    def __init__(self) -> None:
        self._heads = self._messages = self._calls = 0
        self._forms: dict[int, bytes] = {}
        """The messages that had other bytes than their own when they were last sent, and the hash of those."""

    def entries(self, recorded: Recorded) -> Iterator[Entry]:
        """Yield an entry for each call that is new since the last time."""
        while self._calls < len(recorded.calls):
            call = recorded.calls[self._calls]
            self._calls += 1
            yield self._entry(recorded, call)

    def rest(self, recorded: Recorded) -> Iterator[Entry]:
        """Yield one entry of the heads and messages that belong to no call, if there are any."""
        entry = Entry(
            self._new_heads(recorded, len(recorded.heads)), self._new_messages(recorded, len(recorded.messages))
        )
        if entry.heads or entry.messages:
            yield entry

    def _entry(self, recorded: Recorded, call: Call) -> Entry:
        return Entry(
            heads=self._new_heads(recorded, call.head + 1),
            messages=self._new_messages(recorded, max(call.captured, call.history) + 1),
            call=call,
            response=None if call.response is None else content_of(call.response),
            hints=None if call.hints is None else content_of(call.hints),
            changes=tuple(self._changes(recorded, call)),
        )

    def _new_heads(self, recorded: Recorded, stop: int) -> tuple[Content, ...]:
        start, self._heads = self._heads, max(self._heads, stop)
        return tuple(map(content_of, recorded.heads[start:stop]))

    def _new_messages(self, recorded: Recorded, stop: int) -> tuple[tuple[int, Content], ...]:
        start, self._messages = self._messages, max(self._messages, stop)
        return tuple((recorded.parents[i], content_of(recorded.messages[i])) for i in range(start, stop))

    def _changes(self, recorded: Recorded, call: Call) -> Iterator[tuple[int, Content | None]]:
        """Yield what to change in the forms of the messages before, so that they are those of this call."""
        if not call.variants and not self._forms:
            return
        path = _path(recorded.parents, call.captured)
        sent = {path[position]: content_of(wire) for position, wire in call.variants}
        for node in path:
            form = sent.get(node)
            if form is None and self._forms.pop(node, None) is not None:
                yield node, None
            elif form is not None and self._forms.get(node) != form.hash:
                self._forms[node] = form.hash
                yield node, form


def content_of(value: Any) -> Content:
    """Return a JSON value as the text that is stored: compact, in insertion order, ASCII only."""
    text = json.dumps(value, separators=(",", ":"), default=dict)
    return Content(digest(text), text)


def storable(text: str) -> str:
    """Return a name as databases take it: what is no character (a lone surrogate, NUL) becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")


def first_sha256(dialect: str, session: str) -> str:
    """Return the sha256 of a transcript before its first entry."""
    return hashlib.sha256(json.dumps([dialect, storable(session)]).encode()).hexdigest()


def next_sha256(sha256: str, record: str, response: bytes | None) -> str:
    """Return the sha256 of a transcript with one more entry, given the entry's record and its response's hash."""
    text = f"{sha256} {record} {'' if response is None else response.hex()}"
    return hashlib.sha256(text.encode()).hexdigest()


def sha256_of(transcript: Transcript, entries: Iterable[Entry]) -> str:
    """Return the sha256 (hex) of a transcript whose entries are at hand."""
    sha256 = first_sha256(transcript.dialect, transcript.session)
    for entry in entries:
        sha256 = next_sha256(sha256, entry.record, entry.response.hash if entry.response else None)
    return sha256


def entries_of(transcript: Transcript) -> list[Entry]:
    """Return all that a transcript consists of, in order."""
    ledger = Ledger()
    return [*ledger.entries(transcript), *ledger.rest(transcript)]


def transcript_sha256(transcript: Transcript) -> str:
    """Return the sha256 (hex) of what a transcript holds."""
    return sha256_of(transcript, entries_of(transcript))


def _path(parents: Sequence[int], last: int) -> list[int]:
    path = []
    while last != ROOT:
        path.append(last)
        last = parents[last]
    return path[::-1]


def _hex(content: Content | None) -> str | None:
    return None if content is None else content.hash.hex()


def _moment(at: datetime | None) -> str | None:
    if at is None:
        return None
    return (at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)).isoformat()
