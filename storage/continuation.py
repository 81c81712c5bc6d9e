"""Which captured transcript a call without a session goes on from.

A request that repeats a stored prompt and goes on continues it, if model and system prompt are the same. Of several
such prompts the longest counts, then one whose recorded response the request repeats, then the newest. A prompt that
is only repeated starts anew, unless the stored call had no response: then it is tried again. A session that has a name
holds what names it, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from core.dialects import Dialect, detect, dialect
from core.dropped_content import ContentDropper, same_parts, same_system
from core.readers.builder import exact_keys
from core.wire import Wire

from .records import link
from .schema import CallRow, Content, HeadRow, MessageRow, TranscriptRow

__all__ = ["Prompt", "continued"]

COMPARED = 20
"""Calls with the same prompt that are looked at, the newest of them."""
LOOK_BACK = 100
"""Prompts looked for at once, from the longest down; a run nearly always goes on from one of its last."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request body, split. `keys` are the exact keys of its conversation's messages."""

    dialect: Dialect
    head: Wire
    wires: Sequence[Wire]
    keys: Sequence[bytes]

    @classmethod
    def of(cls, request: Wire, keys: Sequence[bytes], dialect_name: str | None) -> Prompt:
        """Split a request body, in a dialect if its response tells it. RequestError if it is no body."""
        seen = detect(request)
        spoken = dialect(dialect_name or seen)
        head, wires = spoken.split(request)
        return cls(spoken, head, wires, keys[len(keys) - len(wires) :])

    def without_content(self, dropper: ContentDropper) -> Prompt:
        """Return the same prompt without what it says."""
        wires = [dropper.message(self.dialect, wire) for wire in self.wires]
        return Prompt(self.dialect, dropper.head(self.dialect, self.head), wires, exact_keys(wires))

    @property
    def model(self) -> str | None:
        """The model that was asked."""
        model = self.head.get("model")
        return model if isinstance(model, str) and model else None


def continued(connection: Connection, prompt: Prompt) -> int | None:
    """Return the id of the transcript that a prompt continues; None if there is none."""
    keys = list(_chains(prompt))
    for stop in range(len(keys), 0, -LOOK_BACK):
        lengths = {key: length for length, key in enumerate(keys[:stop], 1) if length > stop - LOOK_BACK}
        by_length: dict[int, list[Any]] = {}
        for row in _calls_at(connection, list(lengths)):
            by_length.setdefault(lengths[row.chain], []).append(row)
        for length in sorted(by_length, reverse=True):
            found = _best(connection, prompt, length, by_length[length])
            if found is not None:
                return found
    return None


def _best(connection: Connection, prompt: Prompt, length: int, rows: Sequence[Any]) -> int | None:
    """Return the transcript of the best of some calls whose prompts are the first `length` messages; newest first."""
    open_ended = [row for row in rows if length < len(prompt.wires) or row.response is None]
    likely = [row for row in open_ended[:COMPARED] if _same_kind(connection, prompt, row)]
    if not likely:
        return None
    return int(max(likely, key=lambda row: _repeats_response(connection, prompt, length, row)).transcript_id)


def _chains(prompt: Prompt) -> Iterator[bytes]:
    chain = prompt.dialect.name.encode()
    for wire in prompt.wires:
        yield (chain := link(chain, prompt.dialect.content_key(wire)))


def _calls_at(connection: Connection, keys: Sequence[bytes]) -> Sequence[Any]:
    """Return the captured calls whose prompts have these keys, those of the newest transcripts first."""
    ends_there = (CallRow.transcript_id == MessageRow.transcript_id) & (CallRow.captured == MessageRow.position)
    query = (
        select(MessageRow.chain, CallRow.transcript_id, CallRow.head, CallRow.response)
        .join(CallRow, ends_there)
        .join(TranscriptRow, TranscriptRow.id == CallRow.transcript_id)
        .where(MessageRow.chain.in_(keys), TranscriptRow.capture_key.is_not(None), TranscriptRow.session == "")
        .order_by(TranscriptRow.updated_at.desc(), CallRow.transcript_id.desc(), CallRow.position.desc())
    )
    return connection.execute(query).all()


def _same_kind(connection: Connection, prompt: Prompt, row: Any) -> bool:
    """Tell whether a stored call was for the same model under the same system prompt."""
    of_call = (HeadRow.transcript_id == row.transcript_id) & (HeadRow.position == row.head)
    stored = select(Content.json).join(HeadRow, HeadRow.content == Content.hash).where(of_call)
    head = json.loads(connection.execute(stored).scalar_one())
    return bool(head.get("model") == prompt.head.get("model") and same_system(prompt.dialect, head, prompt.head))


def _repeats_response(connection: Connection, prompt: Prompt, length: int, row: Any) -> int:
    """Return 2 if the message after the stored prompt is the call's response, 1 if that is not known, else 0."""
    if row.response is None or length == len(prompt.wires):
        return 1
    response = json.loads(connection.execute(select(Content.json).where(Content.hash == row.response)).scalar_one())
    return 2 if same_parts(prompt.dialect, response, prompt.wires[length]) else 0
