"""Large JSON documents as values, without holding their text beside them.

A text with one emoji takes four bytes a character, so a document of 585 MB and what is parsed from it would fill a
machine. The library that parses bytes as they come is stricter than `json`: it takes no NaN, no number beyond the
machine's, no raw control sign, and writes a question mark for half a surrogate pair. Where it refuses a document, and
where it is not installed, the text is held after all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .half_pairs import HalvesInBytes
from .problems import kind_of
from .source import CHUNK, Source

LARGE = 16 << 20
"""Bytes of a document from which on its text is not held."""
PACKED = 10
"""How many times larger than its file a packed text is taken to be."""
LONGEST_FIRST_LINE = 64 << 20
"""A first line that has no end by then is a document, or the beginning of one."""


class NotStreamed(ValueError):
    """A document that cannot be read as its bytes come."""


def may_be_large(source: Source) -> bool:
    """Tell whether a source may hold a large document."""
    return not isinstance(source.content, str) and source.size * (PACKED if source.is_packed else 1) > LARGE


def first_line(source: Source) -> str | None:
    """Return the first line without taking it; None if it goes on and on, or begins no JSON value."""
    start = source.peek(LONGEST_FIRST_LINE, until=b"\n").lstrip()
    line, ended, _ = start.partition(b"\n")
    if start[:1] not in (b"{", b"["):
        return ""
    return line.decode("utf-8", "replace") if ended else None


def documents(source: Source) -> Iterator[Any]:
    """Yield the values that stand one after another. NotStreamed where that cannot be done."""
    try:
        import ijson
    except ImportError:
        raise NotStreamed("the package ijson is not installed") from None
    try:
        file = _Bytes(source)
        for value in ijson.items(file, "", use_float=True, multiple_values=True, buf_size=CHUNK):
            file.tell()
            yield value
        file.tell()
    except (ijson.JSONError, ValueError, OverflowError) as error:
        text = error.args[0] if error.args else kind_of(error)
        text = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
        raise NotStreamed(text.partition("\n")[0].rstrip(". ")) from None


class _Bytes:
    """A source as a file that is open for reading."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._chunks = source.chunks()
        self._halves = HalvesInBytes()
        self._told = False

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes: a chunk, whatever the size asked for, and nothing for a size of 0."""
        if not size:
            return b""
        chunk = next(self._chunks, b"")
        self._source.passed += len(chunk)
        self._halves.look(chunk)
        return chunk.rstrip(b"\x00") or self.read(size) if chunk.endswith(b"\x00") else chunk

    def tell(self) -> None:
        """Tell once of half a surrogate pair in what was read."""
        if self._halves.found and not self._told:
            self._told = True
            expected = "In a file of this size a question mark stands in its place."
            self._source.report.add("a text holds half a surrogate pair, which is no character", expected, warning=True)
