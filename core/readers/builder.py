"""Builds a transcript from request bodies or from single messages, sharing what they have in common.

Two keys tell messages apart. The *exact* key is the message's bytes: it finds a message that was resent as it was,
which is nearly all of them in a growing run, for the price of dumping it. Only where it fails is the *content* key
asked, which ignores cache marks and the spelling of one text. Messages are stored without cache marks, because marks
wander with each call: the few marked messages of a call are its variants, not all those that once carried a mark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from ..dialects import dialect
from ..dialects.content import CACHE_MARK
from ..transcript import ROOT, Call, Fidelity, Transcript, Usage
from ..wire import Wire, digest, dump
from .figures import believed


class Placed(NamedTuple):
    """Where a request body stands in the tree. `known` messages at its start were there before."""

    head: int
    last: int
    variants: tuple[tuple[int, Wire], ...] = ()
    nodes: tuple[int, ...] = ()
    known: int = 0


class _Form(NamedTuple):
    """One spelling of a message: its node, and its wire where that differs from what the node stores."""

    node: int
    variant: Wire | None


class TranscriptBuilder:
    """Collects heads, messages and calls of one transcript; each thing that occurs again is stored once."""

    def __init__(self, dialect_name: str) -> None:
        self.dialect = dialect(dialect_name)
        self.messages: list[Wire] = []
        self.parents: list[int] = []
        self.heads: list[Wire] = []
        self.calls: list[Call] = []
        self.keys: list[bytes] = []
        """The content key of each message."""
        self._plain_texts: dict[str, bool] = {}
        """Whether the newest unmarked message of a role that is one text was a string, not a list."""
        self._heads: dict[bytes, int] = {}
        self._values: dict[bytes, Any] = {}
        self._exact: dict[tuple[int, bytes], _Form] = {}
        self._content: dict[tuple[int, bytes], int] = {}

    def head(self, wire: Wire) -> int:
        """Return the index of a head, stored once for all that are equal in bytes.

        Heads that differ in a counter or a time share their system part and tools, the same objects.
        """
        key = digest(dump(wire))
        if key not in self._heads:
            self._heads[key] = len(self.heads)
            self.heads.append({name: self._shared(value) for name, value in wire.items()})
        return self._heads[key]

    def _shared(self, value: Any) -> Any:
        return self._values.setdefault(digest(dump(value)), value) if isinstance(value, list | dict) else value

    def add(self, parent: int, wire: Wire) -> int:
        """Return the node of a message after `parent` (ROOT for a first one); equal content is one node."""
        return self._place(parent, wire, digest(dump(wire))).node

    def extend(self, parent: int, wires: Sequence[Wire]) -> int:
        """Return the last node of a chain of messages after `parent`."""
        for wire in wires:
            parent = self.add(parent, wire)
        return parent

    def body(self, body: Wire) -> Placed:
        """Place a whole request body. RequestError if it is none of this dialect."""
        head, wires = self.dialect.split(body)
        return self.chain(self.head(head), wires)

    def chain(self, head: int, wires: Sequence[Wire], exact: Sequence[bytes] = ()) -> Placed:
        """Place a conversation under a head; from the node `last` it can be read back byte for byte.

        `exact` are the messages' `exact_keys`, where they are known already.
        """
        last, known, before = ROOT, 0, len(self.messages)
        nodes, variants = [], []
        for position, (wire, key) in enumerate(zip(wires, exact or exact_keys(wires), strict=True)):
            last, variant = self._place(last, wire, key)
            if variant is not None:
                variants.append((position, variant))
            nodes.append(last)
            known += last < before
        return Placed(head, last, tuple(variants), tuple(nodes), known)

    def walk(self, wires: Sequence[Wire], exact: Sequence[bytes]) -> list[int]:
        """Return the nodes that a conversation would share with what is there already."""
        nodes, last = [], ROOT
        for wire, key in zip(wires, exact, strict=True):
            form = self._exact.get((last, key))
            node = form.node if form is not None else self._content.get((last, self._content_digest(wire)))
            if node is None:
                break
            nodes.append(last := node)
        return nodes

    def call(
        self,
        placed: Placed,
        *,
        history: int | None = None,
        response: Wire | None = None,
        usage: Usage | None = None,
        model: str | None = None,
        at: datetime | None = None,
        fidelity: Fidelity = Fidelity.CAPTURED,
        hints: Mapping[str, Any] | None = None,
    ) -> int:
        """Add a call whose prompt was placed, and return its index. `history` is the captured prompt by default.

        Of its usage only what is believed is kept, whether the reader told of the rest or not.
        """
        made = Call(
            head=placed.head,
            history=placed.last if history is None else history,
            captured=placed.last,
            response=response,
            usage=believed(usage or Usage()),
            model=model if isinstance(model, str) and model else None,
            at=at,
            fidelity=fidelity,
            variants=placed.variants,
            hints=hints,
        )
        self.calls.append(made)
        return len(self.calls) - 1

    def answer(self, call: int, response: Wire) -> None:
        """Give a call the response that became known later."""
        self.calls[call] = replace(self.calls[call], response=response)

    def path(self, last: int) -> list[int]:
        """Return the nodes from the first message to `last`."""
        found = []
        while last != ROOT:
            found.append(last)
            last = self.parents[last]
        return found[::-1]

    def build(
        self,
        *,
        title: str = "",
        format: str = "",
        source: str = "",
        session: str = "",
        notes: Sequence[str] = (),
        started: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Transcript:
        """Return the transcript; without `started` it began with the first call whose time is known."""
        first = next((call.at for call in self.calls if call.at is not None), None)
        return Transcript(
            dialect=self.dialect.name,
            messages=tuple(self.messages),
            parents=tuple(self.parents),
            heads=tuple(self.heads),
            calls=tuple(self.calls),
            title=title,
            format=format,
            source=source,
            session=session,
            notes=tuple(notes),
            started=started or first,
            meta=meta or {},
        )

    def _place(self, parent: int, wire: Wire, key: bytes) -> _Form:
        exact = (parent, key)
        if exact not in self._exact:
            self._exact[exact] = self._new_form(parent, wire)
        return self._exact[exact]

    def _new_form(self, parent: int, wire: Wire) -> _Form:
        key = self._content_digest(wire)
        node = self._content.setdefault((parent, key), len(self.messages))
        plain = self._as_spelt(wire)
        if node == len(self.messages):
            self.messages.append(plain)
            self.parents.append(parent)
            self.keys.append(key)
        stored = self.messages[node]
        return _Form(node, None if stored is wire or dump(stored) == dump(wire) else wire)

    def _as_spelt(self, wire: Wire) -> Wire:
        """Return a message without marks, in the spelling that its role has where no mark asks for a list.

        Clients that write a text as a list only to mark it write it as a text in all later calls.
        """
        plain: Wire = without_marks(wire)
        role, text = (plain.get("role"), _only_text(plain)) if isinstance(plain, dict) else (None, None)
        if text is None or not isinstance(role, str):
            return plain
        if plain is wire:
            self._plain_texts[role] = isinstance(wire["content"], str)
        return {**plain, "content": text} if self._plain_texts.get(role) and plain is not wire else plain

    def _content_digest(self, wire: Wire) -> bytes:
        return digest(self.dialect.content_key(wire))


def _only_text(wire: Wire) -> str | None:
    """Return the text of a message that is one text and nothing else, however it is spelt."""
    content = wire.get("content")
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        content = content[0].get("text") if content[0].keys() == {"type", "text"} else None
    return content if isinstance(content, str) and content else None


def exact_keys(wires: Sequence[Wire]) -> list[bytes]:
    """Return what tells messages apart by their bytes."""
    return [digest(dump(wire)) for wire in wires]


def without_marks(wire: Any) -> Any:
    """Return a message without cache marks, on itself, its parts or theirs; the same object if it has none."""
    if not isinstance(wire, dict):
        return wire
    plain = {key: value for key, value in wire.items() if key != CACHE_MARK}
    changed = len(plain) != len(wire)
    content = plain.get("content")
    if isinstance(content, list):
        parts = [without_marks(part) for part in content]
        if any(new is not old for new, old in zip(parts, content, strict=True)):
            plain["content"], changed = parts, True
    return plain if changed else wire
