"""A file or a text as lines.

Lines are cut at line feeds only (JSON may hold other line separators inside strings) and given one by one, so that
a file of many conversations needs no more memory than its longest line. Nothing here raises for content: what stops
a reading is noted, and what came before it stays.
"""

from __future__ import annotations

import codecs
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

from .half_pairs import may_hold_halves
from .problems import Report
from .unpack import GZIP, utf8_chunks

CHUNK = 1 << 20
START = 1 << 16
"""Bytes looked at to recognise a text that is no JSON."""
FAILURES = (OSError, ValueError, RuntimeError, EOFError, zlib.error, zipfile.BadZipFile, tarfile.TarError)
"""What opening or reading a file raises, also one in an archive that is damaged, locked or packed in a strange way."""


class Line(NamedTuple):
    """One line, without its end. `ended` tells whether a line feed followed it."""

    number: int
    text: str
    ended: bool


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside a folder or an archive: its name there, how to open it, and its size in bytes."""

    name: str
    open: Callable[[], BinaryIO]
    size: int


def opened(content: Path | Member) -> BinaryIO:
    """Return an open file."""
    return content.open() if isinstance(content, Member) else content.open("rb")


Content = Path | bytes | str | Member
"""Where transcripts are read from: a str is content, bytes are a file's content, a Path is a file."""


class Source:
    """One file or text, once through, with a look at its start."""

    def __init__(self, content: Content, report: Report, name: str = "") -> None:
        self.content = content if isinstance(content, Path | str | Member) else bytes(content)
        self.report = report
        self.name = name or (content.name if isinstance(content, Path | Member) else "the text")
        self.passed = 0
        """Characters of the lines given so far."""
        self.may_hold_halves = False
        """Whether a line so far may hold half a surrogate pair."""
        self._read: Iterator[bytes] | None = None
        report.source = self.name

    @property
    def stem(self) -> str:
        """The file's name without folders and endings; empty for a text."""
        if not isinstance(self.content, Path | Member):
            return ""
        base = self.name.rpartition("/")[2]
        return base.lstrip(".").split(".")[0]

    def again(self) -> Source:
        """Return the same source from its beginning; what it says about its bytes was said already."""
        report = Report(self.report.source)
        return Source(self.content, report, self.name)

    def lines(self, blank: bool = False) -> Iterator[Line]:
        """Yield the lines, without NUL bytes at their ends. Those of nothing but space only if `blank`."""
        numbered = self._text_lines() if isinstance(self.content, str) else self._byte_lines()
        for line in numbered:
            text = line.text
            self.passed += len(text)
            self.may_hold_halves = self.may_hold_halves or may_hold_halves(text)
            if "\x00" in text:
                text = text.strip("\x00")
                line = line._replace(text=text)
            if blank or (text and not text.isspace()):
                yield line

    def texts(self) -> Iterator[str]:
        """Yield the text in pieces of any size, without byte order mark."""
        if isinstance(self.content, str):
            yield self.content.removeprefix("\ufeff")
            return
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        damaged = False
        for chunk in chain(self.chunks(), [b""]):
            text = decoder.decode(chunk, final=not chunk)
            if not damaged and "\ufffd" in text and b"\xef\xbf\xbd" not in chunk:
                damaged = True
                expected = "UTF-8 text was expected; damaged bytes were replaced by the sign U+FFFD."
                self.report.add("some bytes are not UTF-8", expected, warning=True)
            self.passed += len(text)
            yield text

    def start(self, most: int = START) -> str:
        """Return the beginning of the text without taking it."""
        if isinstance(self.content, str):
            return self.content[:most].removeprefix("\ufeff")
        return self.peek(most)[:most].decode("utf-8", "replace")

    def peek(self, most: int, until: bytes = b"") -> bytes:
        """Return the first UTF-8 bytes without taking them: `most` or somewhat more, less if `until` is among them."""
        taken: list[bytes] = []
        size, chunks = 0, self.chunks()
        while size < most and not (until and taken and until in taken[-1].lstrip()):
            chunk = next(chunks, b"")
            if not chunk:
                break
            taken.append(chunk)
            size += len(chunk)
        self._read = chain(taken, chunks)
        return b"".join(taken)

    def chunks(self) -> Iterator[bytes]:
        """Return what is left of the text as UTF-8 bytes."""
        if self._read is None:
            self._read = filter(None, utf8_chunks(self._raw_chunks(), self.report))
        return self._read

    @property
    def size(self) -> int:
        """The size of the file in bytes, as it is packed; 0 where it is not known."""
        if isinstance(self.content, Path):
            try:
                return self.content.stat().st_size
            except (OSError, ValueError):
                return 0
        return self.content.size if isinstance(self.content, Member) else len(self.content)

    @property
    def is_packed(self) -> bool:
        """Tell whether the bytes are gzip."""
        if isinstance(self.content, str):
            return False
        if isinstance(self.content, bytes):
            return self.content.startswith(GZIP)
        try:
            with self._open() as handle:
                return handle.read(len(GZIP)) == GZIP
        except FAILURES:
            return False

    def _text_lines(self) -> Iterator[Line]:
        assert isinstance(self.content, str)
        lines = self.content.removeprefix("\ufeff").split("\n")
        for number, text in enumerate(lines, 1):
            yield Line(number, text, number < len(lines))

    def _byte_lines(self) -> Iterator[Line]:
        for number, (raw, ended) in enumerate(_split(self.chunks()), 1):
            yield Line(number, self._decoded(raw, number), ended)
            del raw

    def _raw_chunks(self) -> Iterator[bytes]:
        size = self.size
        if isinstance(self.content, bytes):
            for start in range(0, size, CHUNK):
                self.report.advance(min(start + CHUNK, size), size)
                yield self.content[start : start + CHUNK]
            return
        done = 0
        try:
            with self._open() as handle:
                while chunk := handle.read(CHUNK):
                    done += len(chunk)
                    self.report.advance(done, size)
                    yield chunk
        except FAILURES as error:
            packed = isinstance(self.content, Member) and not isinstance(error, OSError)
            expected = "Copy or pack the archive again." if packed else "Give the path of a readable file."
            self.report.add(f"the file cannot be read ({reason_of(error)})", expected)

    def _open(self) -> BinaryIO:
        assert isinstance(self.content, Path | Member)
        return opened(self.content)

    def _decoded(self, raw: bytes, number: int) -> str:
        try:
            return raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            self.report.add(
                f"byte {error.start + 1} is not UTF-8",
                "UTF-8 text was expected; damaged bytes were replaced by the sign U+FFFD.",
                place=f"line {number}",
                warning=True,
            )
            return raw.decode("utf-8", "replace")


def reason_of(error: BaseException) -> str:
    """Return why a file could not be read, in a few words without the file's place on this machine."""
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()


def _split(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines of some chunks, each with whether a line feed followed it."""
    parts: list[bytes] = []
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        parts.append(first)
        for part in others:
            yield b"".join(parts), True
            parts = [part]
    rest = b"".join(parts)
    if rest:
        yield rest, False
