"""What a reader could not read, said in sentences, and the counts that show nothing was lost in silence."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..wording import counted

MOST_PROBLEMS = 200
"""Problems kept one by one; a file with more is described by the first ones and a count."""


_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a file that could not be read as it stands. `str(problem)` is the whole sentence."""

    source: str
    """The file's name, or "the text" for pasted content."""
    place: str
    """Where in the file: "line 3", "message 5", "line 3, message 5"; empty for the whole file."""
    problem: str
    """What is wrong, as a clause without a full stop."""
    expected: str = ""
    """What was expected, and what to do, as a sentence."""
    warning: bool = False
    """True where everything that the file holds was read all the same."""

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.source, self.place) if part)
        return f"{where}: {self.problem}." + (f" {self.expected}" if self.expected else "")


@dataclass(slots=True)
class Counts:
    """Records of one file (lines of JSON Lines, else documents): `read` = `used` + `ignored` + `broken`."""

    read: int = 0
    used: int = 0
    ignored: int = 0
    """Not messages by design: file snapshots, progress, copies of lines."""
    broken: int = 0


@dataclass(slots=True)
class Report:
    """What a reading says about its file beside the transcripts. Filled while the transcripts are taken."""

    source: str = ""
    format: str | None = None
    counts: Counts = field(default_factory=Counts)
    problems: list[Problem] = field(default_factory=list)
    more: int = 0
    """Problems beyond MOST_PROBLEMS."""
    progress: Callable[[int, int], None] | None = None
    """Called with the bytes of the file read so far and their number, as the file is packed."""
    by_line: bool = False
    """Whether its records are the lines of JSON Lines."""
    lost: bool = False
    """Whether a problem says that something of the file was not read."""
    span: tuple[int, int, int] | None = None
    """Where the file that is read now stands in a recording of several: bytes before it, its own and those of all."""
    configuration: bool = False
    """Whether it is an exported configuration instead of a recording."""
    transcripts: int = 0
    calls: int = 0
    messages: int = 0
    files: list[Report] = field(default_factory=list)
    """What is said of each file, where several were read: a folder, a ZIP archive."""

    @property
    def told(self) -> int:
        """How many problems were noted so far."""
        return len(self.problems) + self.more

    def add(self, problem: str, expected: str = "", *, place: str = "", warning: bool = False) -> None:
        """Note a problem of this file."""
        self.lost = self.lost or not warning
        if len(self.problems) >= MOST_PROBLEMS:
            self.more += 1
        else:
            self.problems.append(Problem(self.source, place, problem, expected, warning))

    def used(self) -> None:
        """Count a record that became part of a transcript."""
        self.counts.used += 1

    def ignored(self) -> None:
        """Count a record that is no message by design."""
        self.counts.ignored += 1

    def broken(self, problem: str, expected: str = "", *, place: str = "", warning: bool = False) -> None:
        """Count a record that cannot be read, and note why."""
        self.counts.broken += 1
        self.add(problem, expected, place=place, warning=warning)

    def advance(self, done: int, size: int) -> None:
        """Tell how many bytes of the file were read."""
        if self.progress is None:
            return
        if self.span is not None:
            before, part, whole = self.span
            done, size = before + (part * min(done, size) // size if size else 0), whole
        self.progress(done, size)

    def take(self, file: Report) -> None:
        """Take in what is said of one of several files, when it is read."""
        self.files.append(file)
        for name in ("transcripts", "calls", "messages", "more"):
            setattr(self, name, getattr(self, name) + getattr(file, name))
        self.lost = self.lost or file.lost
        for name in ("read", "used", "ignored", "broken"):
            setattr(self.counts, name, getattr(self.counts, name) + getattr(file.counts, name))
        room = MOST_PROBLEMS - len(self.problems)
        self.problems += file.problems[: max(room, 0)]
        self.more += max(len(file.problems) - max(room, 0), 0)
        formats = dict.fromkeys(found.format for found in self.files if found.format)
        self.format = ", ".join(formats) or None

    def close(self) -> None:
        """Put the problems in the order of the file, and say how many are not listed."""
        if not self.files:
            self.problems.sort(key=lambda problem: [int(number) for number in _NUMBER.findall(problem.place)])
        if self.more:
            text = f"{counted(self.more, 'more problem', 'is', 'are')} not listed"
            expected = "Correct the first ones and read the file again."
            self.problems.append(Problem(self.source, "", text, expected, warning=not self.lost))
            self.more = 0


def kind_of(value: Any) -> str:
    """Return what a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    names = {str: "a text", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
