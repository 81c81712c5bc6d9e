"""From the bytes of a file to UTF-8 bytes: gzip with a bound, byte order marks, UTF-16, and what is no text at all."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain

from .problems import Report

MOST_BYTES = 1 << 30
"""What a compressed file may unpack to: far above any real transcript, far below what would fill a machine."""

PIECE = 1 << 14
"""Compressed bytes unpacked at once; what stands before damage in the same piece is lost."""

GZIP = b"\x1f\x8b"
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_BINARY = {
    b"PK\x03\x04": "a ZIP archive",
    b"SQLite format 3\x00": "an SQLite database",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ\x00": "an XZ archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard archive",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
}


def utf8_chunks(chunks: Iterator[bytes], report: Report) -> Iterator[bytes]:
    """Yield the same text as UTF-8 bytes; what cannot be is a problem in the report and ends the text."""
    first = next(chunks, b"")
    if first.startswith(GZIP):
        chunks = gunzip(chain([first], chunks), report)
        first = next(chunks, b"")
    kind = next((kind for magic, kind in _BINARY.items() if first.startswith(magic)), "")
    if kind:
        report.add(f"this is {kind}", "A text file (JSON or JSON Lines) was expected; unpack or export it.")
        return
    encoding, mark = _encoding(first, report)
    text = chain([first[mark:]], chunks)
    yield from text if encoding == "utf-8" else _transcoded(text, encoding)


def gunzip(chunks: Iterable[bytes], report: Report, most: int = 0) -> Iterator[bytes]:
    """Yield what gzip packed, no more than about `most` bytes (MOST_BYTES unless given). Damage is told and ends it."""
    most = most or MOST_BYTES
    unpacker, open_member, size = zlib.decompressobj(31), False, 0
    for data in _pieces(chunks):
        while data:
            try:
                unpacked = unpacker.decompress(data, 64 * PIECE)
            except zlib.error as error:
                report.add(f"the gzip data is damaged ({error})", "What stands before the damage was read.")
                return
            size += len(unpacked)
            yield unpacked
            if size > most:
                limit = f"{most >> 20} MB"
                report.add(
                    f"the gzip data unpacks to more than {limit}", "Only the beginning was read; split the file."
                )
                return
            open_member, data = not unpacker.eof, unpacker.unconsumed_tail
            if unpacker.eof:
                unpacker, data = zlib.decompressobj(31), unpacker.unused_data.lstrip(b"\x00")
    yield unpacker.flush()
    if open_member:
        report.add("the gzip data ends in the middle", "What could be unpacked was read; copy the file again.")


def _pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for start in range(0, len(chunk), PIECE):
            yield chunk[start : start + PIECE]


def _encoding(first: bytes, report: Report) -> tuple[str, int]:
    """Return the encoding and the length of its mark. Text is never half NUL bytes, so UTF-16 shows without a mark."""
    for mark, encoding in _BOMS:
        if first.startswith(mark):
            return encoding, len(mark)
    even, odd = first[:4096:2], first[1:4096:2]
    for encoding, low, high in (("utf-16-le", even, odd), ("utf-16-be", odd, even)):
        if len(high) >= 4 and high.count(0) > 0.4 * len(high) and low.count(0) < 0.1 * len(low):
            name = encoding.upper()
            report.add(f"the text is {name} without a byte order mark", "It was read as such.", warning=True)
            return encoding, 0
    return "utf-8", 0


def _transcoded(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "surrogatepass")
    yield decoder.decode(b"", True).encode("utf-8", "surrogatepass")
