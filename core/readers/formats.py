"""What a format must bring: a name, a look that says how likely a file is of it, and a reader.

A format sees records, not bytes: whatever a file is packed and encoded in was settled before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..transcript import Transcript
from .problems import Report
from .records import Records
from .source import Member, Source


@dataclass(frozen=True, slots=True)
class Reading:
    """One file being read as one format. `forced`: the format was named, not recognised."""

    records: Records
    report: Report
    forced: bool = False
    files: tuple[Member, ...] = ()
    """The files of a recording that is written as several; the records are those of the first."""

    @property
    def name(self) -> str:
        """The file's name, without folders."""
        return self.records.source.name

    @property
    def stem(self) -> str:
        """The file's name without its endings; empty for a text."""
        return self.records.source.stem

    def others(self) -> Iterator[tuple[Member, Records]]:
        """Yield the files after the first one with their records; problems name the file that they are in."""
        done, size = self.files[0].size if self.files else 0, sum(file.size for file in self.files)
        for file in self.files[1:]:
            inside = file.name if file.name.startswith(f"{self.name}/") else f"{self.name}/{file.name}"
            self.report.span = (done, file.size, size)
            yield file, Records(Source(file, self.report, inside))
            self.report.source = self.name
            done += file.size


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file. `sniff` looks at the first records and returns 0 (not this format) to 1 (certainly).

    A format that is text, not JSON, has `sniff_text`, which looks at the beginning of the text, and reads its lines. A
    format whose recordings are several files has `gather`, which picks them from the names in a folder or archive.
    """

    name: str
    label: str
    """What people call its files, in the plural."""
    sniff: Callable[[Sequence[Any]], float]
    read: Callable[[Reading], Iterator[Transcript]]
    sniff_text: Callable[[str], float] | None = None
    gather: Callable[[Sequence[str]], list[list[str]]] | None = None


def share(values: Sequence[Any], test: Callable[[Any], bool]) -> float:
    """Return the share of values that pass a test, 0 to 1; 0 where there are none."""
    return sum(map(test, values)) / len(values) if values else 0.0
