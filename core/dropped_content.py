"""Keep the counts of a transcript and drop what it says.

Every text becomes a filler of as many o200k tokens, so that windows, budgets and replays keep their sizes. Roles,
types, ids, names of tools and models stay, because calls must still find their results. The filler is no summary:
loss, sections and findings about words mean nothing on such a transcript.

Two texts of one size have one filler. So that they stay two, each message and head carries fingerprints of what it
said: hashes with a key that the library drew by chance. Without the key nobody can try a guess against them. The key
is in the library's own database: who reads all of it can find out whether a text that they guess was said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .dialects import Dialect, Part, PartKind, dialect
from .dropped_parts import dropped_head, dropped_part
from .dropped_values import anonymous, fitted
from .transcript import Call, Transcript
from .wire import Wire, dump, text_of

__all__ = ["FINGERPRINTS", "NOTE", "ContentDropper", "is_dropped", "same_parts", "same_system", "without_content"]

FINGERPRINTS = "content_fingerprints"
"""The key of two hashes. Of a message: of its content, of its parts. Of a head: of its system texts, of all of it."""
LINKS = frozenset({"parent_session", "agent", "session"})
NOTE = "the content was dropped when it was imported; token counts were kept"


@dataclass(frozen=True, slots=True)
class ContentDropper:
    """Drops content. Equal content becomes equal, and different content different, under one key (32 bytes)."""

    key: bytes

    def message(self, spoken: Dialect, wire: Any) -> Wire:
        """Return a message without what it says. What is no message becomes one, as it has to hold fingerprints."""
        made: Wire = dropped_part(wire)
        if not isinstance(wire, Mapping):
            made = spoken.text_message("other", str(anonymous(text_of(wire))))
        if (
            isinstance(made.get("output"), list) and "type" not in wire
        ):  # a reply of several items, sent back one by one
            made = {**made, "output": [self.message(spoken, item) for item in wire["output"]]}
        parts = spoken.message(wire).parts
        made = {**made, FINGERPRINTS: [self._hash(spoken.content_key(wire)), self._hash(repr(parts))]}
        is_counted_whole = len(parts) == 1 and parts[0].kind is PartKind.OPAQUE and parts[0].text == text_of(wire)
        return fitted(made, parts[0].text) if is_counted_whole else made

    def head(self, spoken: Dialect, head: Wire) -> Wire:
        """Return a head without what it says."""
        hashes = [self._hash(dump(spoken.system_texts(head))), self._hash(dump(head))]
        return {**dropped_head(head), FINGERPRINTS: hashes}

    def transcript(self, transcript: Transcript) -> Transcript:
        """Return a transcript whose texts are fillers; times, usage, models and the tree of messages stay."""
        spoken = dialect(transcript.dialect)
        return replace(
            transcript,
            messages=tuple(self.message(spoken, wire) for wire in transcript.messages),
            heads=tuple(self.head(spoken, head) for head in transcript.heads),
            calls=tuple(self._call(spoken, call) for call in transcript.calls),
            title=without_content(transcript.format),
            notes=(*transcript.notes, NOTE),
            meta={key: value for key, value in transcript.meta.items() if key in LINKS},
        )

    def _call(self, spoken: Dialect, call: Call) -> Call:
        response = None if call.response is None else self.message(spoken, call.response)
        variants = tuple((place, self.message(spoken, wire)) for place, wire in call.variants)
        return replace(call, response=response, variants=variants, hints=None)

    def _hash(self, text: str) -> str:
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self.key, digest_size=16).hexdigest()


def without_content(format_name: str) -> str:
    """Return the title of a transcript that has no words for one."""
    return f"{format_name} without content"


def is_dropped(wire: Any) -> bool:
    """Return whether what a message said was dropped."""
    return _fingerprint(wire, 0) is not None


def same_system(spoken: Dialect, one: Wire, other: Wire) -> bool:
    """Return whether two heads have the same system texts, also where these were dropped."""
    return spoken.system_texts(one) == spoken.system_texts(other) and _fingerprint(one, 0) == _fingerprint(other, 0)


def same_parts(spoken: Dialect, one: Wire, other: Wire) -> bool:
    """Return whether two messages have the same parts, also where these were dropped."""
    return _parts(spoken, one) == _parts(spoken, other) and _fingerprint(one, 1) == _fingerprint(other, 1)


def _parts(spoken: Dialect, wire: Wire) -> Sequence[Part]:
    return spoken.message(wire).parts


def _fingerprint(wire: Any, which: int) -> Any:
    found = wire.get(FINGERPRINTS) if isinstance(wire, Mapping) else None
    return found[which] if isinstance(found, list) and len(found) == 2 else None
