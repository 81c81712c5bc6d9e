"""What parts count that no tokenizer reads: pictures by a fixed figure, encrypted payloads by their length.

Neither is text: a picture of a megabyte is no million characters, and an encrypted payload is about as long in its
own way as the reasoning in it. The payload's estimate is the one that Codex uses for itself; of the few recorded ones
with a reported figure, 1,228 characters give 67 (reported 64), 868 give 0 (0) and 952 give 16 (0).
"""

from __future__ import annotations

from ..tokens import Counter
from .base import Part, PartKind

ENVELOPE = 650
BYTES_PER_TOKEN = 4


def unread_tokens(part: Part, image: int) -> int:
    """Return the estimated tokens of what a part holds beside its text; `image` is the dialect's figure for one."""
    return image if part.kind is PartKind.IMAGE else sealed_tokens(part.sealed)


def sealed_tokens(characters: int) -> int:
    """Return the estimated tokens of an encrypted payload in base64, by its length in characters."""
    return max(0, characters * 3 // 4 - ENVELOPE) // BYTES_PER_TOKEN


def part_tokens(part: Part, counter: Counter, image: int) -> int:
    """Return the tokens of a part that is no tool call: its text, and what no tokenizer reads."""
    return (counter.count(part.text) if part.text else 0) + unread_tokens(part, image)
