"""Taking files, folders and archives into the library, and saying what became of each file.

Transcripts are stored one by one as they are read, each whole or not at all, so a large file needs no more memory than
its largest conversation, and what stands before damage is kept. Reading the same file again stores nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from core.errors import PromptInspectorError
from core.readers import Report, read_stream
from core.wording import agreeing, counted

from .library import Added, Library

__all__ = ["ImportedFile", "Importing", "import_path", "unreadable"]

CONFIGURATION = "this is an exported configuration, not a transcript. Import it on the page Configurations."


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """What became of one file. `problems` are sentences on what was not read, `remarks` on what was read anyway."""

    name: str
    format: str | None
    transcripts: int
    """Those that are in the library now, new or not."""
    new: int
    calls: int
    messages: int
    ignored: int
    """Records that are no messages by design."""
    problems: tuple[str, ...]
    remarks: tuple[str, ...]
    repeated: int = 0
    """Those that are not new because another of the same import is the same."""
    inside: str = ""
    """The archive or folder that it came in, with those around it; "" for a file given alone."""

    @property
    def refused(self) -> bool:
        """Whether nothing of it could be taken."""
        return not self.transcripts and bool(self.problems)

    @property
    def read_in_part(self) -> bool:
        """Whether some of it was taken and some could not be."""
        return bool(self.transcripts and self.problems)

    @property
    def known(self) -> int:
        """How many of its transcripts were in the library before the import."""
        return self.transcripts - self.new - self.repeated

    @property
    def container(self) -> bool:
        """Whether it is a folder or an archive of which there is only something to remark; its files stand beside."""
        return not self.transcripts and not self.problems


@dataclass(slots=True)
class Importing:
    """An import while it goes on, and its result. `masked` counts secrets by kind."""

    progress: Callable[[int, int], None] | None = None
    """Called with the bytes read so far and their number."""
    new: int = 0
    known: int = 0
    """Those that are not new, whether they were there before or stand twice in what is imported."""
    ids: list[int] = field(default_factory=list)
    fresh: set[int] = field(default_factory=set)
    """The ids of those that are new."""
    masked: Counter[str] = field(default_factory=Counter)
    files: list[ImportedFile] = field(default_factory=list)

    @property
    def transcripts(self) -> int:
        """How many transcripts were read."""
        return self.new + self.known

    def take(self, added: Added) -> None:
        """Count a transcript that is in the library now."""
        self.new += added.new
        self.known += not added.new
        self.ids.append(added.id)
        if added.new:
            self.fresh.add(added.id)
        self.masked.update(added.masked)


_Stored = tuple[Added, bool] | str
"""A transcript of a file with whether the same import had stored it before, or why it could not be stored."""


def import_path(store: Library, path: Path, format_name: str | None = None, work: Importing | None = None) -> Importing:
    """Store the transcripts of a file, a folder or an archive that are new. Never raises for what they hold."""
    work = work or Importing()
    report = Report()
    stored: list[_Stored] = []
    for transcript in read_stream(path, format_name, report, work.progress):
        try:
            added = store.add(transcript)
        except PromptInspectorError as error:
            stored.append(f"{transcript.source}: not stored. {error}")
            continue
        stored.append((added, added.id in work.fresh))
        work.take(added)
    in_order = iter(stored)
    for part, inside in _files(report):
        taken = list(islice(in_order, part.transcripts))
        file = _file(part, taken)
        problems = (*file.problems, *_noted(store, part, taken))
        work.files.append(replace(file, problems=problems, inside=inside))
    return work


def unreadable(name: str, reason: str) -> ImportedFile:
    """Return what became of a file that this machine could not hold or read."""
    sentence = (
        f"{name}: it could not be kept while it was read ({reason.lower()}). Make room on the disk and try again."
    )
    return ImportedFile(name, None, 0, 0, 0, 0, 0, (sentence,), ())


def _files(report: Report, inside: str = "") -> Iterator[tuple[Report, str]]:
    """Yield what is said of each file and what it came in, after what is said of the folder or archive itself."""
    if not report.files:
        yield report, inside
        return
    told = {problem for file in report.files for problem in file.problems}
    own = [problem for problem in report.problems if problem not in told and problem.source == report.source]
    if own:
        yield Report(report.source, problems=own), inside
    for file in report.files:
        yield from _files(file, f"{inside}{report.source}: ")


def _noted(store: Library, part: Report, taken: Sequence[_Stored]) -> list[str]:
    """Note with the new transcripts of a file that it was not read in full; return why that failed, if it did.

    Readers give a transcript as soon as it is complete, and what else the file holds is known at its end.
    """
    note = not_read(part)
    new = [one[0].id for one in taken if not isinstance(one, str) and one[0].new]
    if not note or not new:
        return []
    try:
        store.note(new, note)
    except PromptInspectorError as error:
        return [f"{part.source}: the transcripts do not say that {note}. {error}"]
    return []


def not_read(part: Report) -> str:
    """Return how much of a file was not read, as a clause without a full stop; empty where all of it was."""
    broken, read = part.counts.broken, part.counts.read
    if broken:
        of = counted(read, "line" if part.by_line else "record")
        return f"{broken:,} of {of} of the file {agreeing(broken, 'was', 'were')} not read"
    return "a part of the file was not read" if part.lost else ""


def _file(part: Report, stored: Sequence[_Stored]) -> ImportedFile:
    """Return what became of a file; its transcripts were stored, or could not be for a reason, in its own order."""
    failed = [reason for reason in stored if isinstance(reason, str)]
    taken = [one for one in stored if not isinstance(one, str)]
    problems = [str(problem) for problem in part.problems if not problem.warning]
    if part.configuration:
        problems = [f"{part.source}: {CONFIGURATION}"]
    return ImportedFile(
        name=part.source,
        format=part.format,
        transcripts=part.transcripts - len(failed),
        new=sum(added.new for added, _ in taken),
        calls=part.calls,
        messages=part.messages,
        ignored=part.counts.ignored,
        problems=(*problems, *failed),
        remarks=tuple(str(problem) for problem in part.problems if problem.warning),
        repeated=sum(again for _, again in taken),
    )
