"""A file or a text as lines.

Lines are cut at line feeds only (JSON may hold other line separators inside strings) and given one by one, so that
a file of many conversations needs no more memory than its longest line. Nothing here raises for content: what stops
a reading is noted, and what came before it stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from .problems import Report
from .unpack import utf8_chunks

CHUNK = 1 << 20


class Line(NamedTuple):
    """One line, without its end. `ended` tells whether a line feed followed it."""

    number: int
    text: str
    ended: bool


class Source:
    """Where transcripts are read from: a str is content, bytes are a file's content, a Path is a file."""

    def __init__(self, content: Path | bytes | str, report: Report) -> None:
        self.content = content if isinstance(content, Path | str) else bytes(content)
        self.report = report
        self.name = content.name if isinstance(content, Path) else "the text"
        report.source = self.name

    @property
    def stem(self) -> str:
        """The file's name without its endings; empty for a text."""
        return self.name.split(".")[0] if isinstance(self.content, Path) else ""

    def lines(self) -> Iterator[Line]:
        """Yield the lines that are not blank, without NUL bytes at their ends."""
        numbered = self._text_lines() if isinstance(self.content, str) else self._byte_lines()
        for line in numbered:
            text = line.text.strip("\x00") if "\x00" in line.text else line.text
            if text and not text.isspace():
                yield line._replace(text=text)

    def _text_lines(self) -> Iterator[Line]:
        assert isinstance(self.content, str)
        lines = self.content.removeprefix("\ufeff").split("\n")
        for number, text in enumerate(lines, 1):
            yield Line(number, text, number < len(lines))

    def _byte_lines(self) -> Iterator[Line]:
        for number, (raw, ended) in enumerate(_split(utf8_chunks(self._chunks(), self.report)), 1):
            yield Line(number, self._decoded(raw, number), ended)

    def _chunks(self) -> Iterator[bytes]:
        if isinstance(self.content, bytes):
            yield from (self.content[start : start + CHUNK] for start in range(0, len(self.content), CHUNK))
            return
        assert isinstance(self.content, Path)
        try:
            with self.content.open("rb") as handle:
                while chunk := handle.read(CHUNK):
                    yield chunk
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            reason = getattr(error, "strerror", None) or str(error)
            self.report.add(f"the file cannot be read ({reason.lower()})", "Give the path of a readable file.")

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
