"""Reads whatever it is given: one file of one format, or all files of a folder or an archive, each of its own.

A format is chosen by its own look at the beginning. One that is named is taken without a look, for all files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from ..transcript import Transcript
from .archive_files import last_of_each_name
from .bundles import folder_files, is_folder, is_zip, zip_files
from .configurations import is_configuration
from .formats import Format, Reading
from .problems import Report, kind_of
from .read_once import rereadable
from .records import Records
from .source import Content, Member, Source
from .tar_archives import is_tar, tar_files
from .titles import shortened

SAMPLE = 20
"""Records looked at to recognise a format."""

LEAST = 0.1
"""The confidence below which a format is not taken: low, as a file may hold much else beside what can be read."""

Progress = Callable[[int, int], None]
Archive = Path | bytes | Member
Listed = Callable[[Archive, Report], list[Member]]
DEEPEST = 2
"""Archives inside archives that are opened: a folder or an archive may hold archives, and no more."""


class Reader:
    """Reads with the formats that it is given, by name; where two are equally sure, the first one is taken."""

    def __init__(self, formats: Mapping[str, Format]) -> None:
        self.formats = formats

    def stream(self, content: Content, name: str | None, report: Report, depth: int = 0) -> Iterator[Transcript]:
        """Yield the transcripts of a text, a file, a folder or an archive, and close the report."""
        with rereadable(content, report) as again:
            if again is not None:
                yield from self._stream(again, name, report, depth)
        report.close()

    def _stream(self, content: Content, name: str | None, report: Report, depth: int) -> Iterator[Transcript]:
        if name is not None and self._known(name) is None:
            report.source = Source(content, report).name
            report.add(f"there is no format {name!r}", f"Use one of {', '.join(self.formats)}.")
        elif isinstance(content, Path) and is_folder(content):
            report.source = content.name or "the folder"
            yield from self._several(folder_files(content, report), name, report, depth)
        elif not isinstance(content, str) and (listed := _archive_of(content)) is not None:
            yield from self._archive(content, listed, name, report, depth)
        else:
            yield from self._one(content, (), name, report)

    def _archive(
        self, content: Archive, listed: Listed, name: str | None, report: Report, depth: int
    ) -> Iterator[Transcript]:
        report.source = content.name if isinstance(content, Path | Member) else "the archive"
        if depth >= DEEPEST:
            report.add("an archive stands too deep inside others", "Unpack the outer archives first.")
            return
        yield from self._several(listed(content, report), name, report, depth + 1)

    def _several(self, found: Sequence[Member], name: str | None, report: Report, depth: int) -> Iterator[Transcript]:
        """Read files one after another; those that are one recording together are read at once."""
        files = last_of_each_name(found, report)
        done, size, alone = 0, sum(file.size for file in files), report.progress
        for group, chosen in self._groups(files, name):
            if chosen is not None and len(group) == len(files) and depth:
                yield from self._one(group[0], tuple(group), chosen, report, report.source)
                return
            inner = Report()
            part = sum(file.size for file in group)
            if alone is not None:
                inner.progress = _within(alone, done, part, size)
            if len(group) > 1 or chosen is not None:
                yield from self._one(group[0], tuple(group), chosen or name, inner, _folder_of(group))
                inner.close()
            else:
                yield from self.stream(group[0], name, inner, depth)
            report.take(inner)
            done += part
        if not files and not report.problems:
            report.add("there is no file in it", "Transcripts were expected.")

    def _groups(self, files: Sequence[Member], name: str | None) -> Iterator[tuple[list[Member], str | None]]:
        """Yield the files that belong together, with the format that says so; all others alone."""
        by_name = {file.name: file for file in files}
        asked = [self._known(name)] if name is not None else self.formats.values()
        for known in asked:
            for names in known.gather(list(by_name)) if known is not None and known.gather is not None else ():
                group = [by_name.pop(found) for found in names if found in by_name]
                if group:
                    yield group, known.name if known else None
        yield from (([file], None) for file in files if by_name.get(file.name) is file)

    def _one(
        self, content: Content, files: tuple[Member, ...], name: str | None, report: Report, label: str = ""
    ) -> Iterator[Transcript]:
        if files:
            report.span = (0, files[0].size, sum(file.size for file in files))
        source = Source(content, report, label)
        records = Records(source)
        chosen = self._known(name) if name is not None else self._text(source) or self._chosen(records)
        found = False
        if chosen is not None:
            report.format = chosen.name
            for transcript in _guarded(chosen, Reading(records, report, forced=name is not None, files=files)):
                found = True
                report.transcripts += 1
                report.calls += len(transcript.calls)
                report.messages += len(transcript.messages)
                yield transcript
        report.configuration = not found and is_configuration(source)
        if not found and not any(not problem.warning for problem in report.problems):
            report.add("no transcript was found in it", "A recording with at least one message was expected.")

    def _known(self, name: str | None) -> Format | None:
        return None if name is None else self.formats.get(name.replace("-", "_").lower())

    def _text(self, source: Source) -> Format | None:
        """Return the format of a text that is no JSON, if one knows it."""
        start = source.start()
        looks = [known for known in self.formats.values() if known.sniff_text is not None]
        if not looks or start.lstrip()[:1] in ("{", "["):
            return None
        sure = {known.name: known.sniff_text(start) for known in looks if known.sniff_text is not None}
        best = max(sure, key=lambda name: sure[name])
        return self.formats[best] if sure[best] >= LEAST else None

    def _chosen(self, records: Records) -> Format | None:
        values = [record.value for record in records.peek(SAMPLE)]
        sure = {known.name: known.sniff(values) for known in self.formats.values()}
        best = max(sure, key=lambda name: sure[name])
        if sure[best] >= LEAST:
            return self.formats[best]
        if values:
            records.report.broken(f"the format was not recognised ({_shape(values[0])})", self._expected())
            records.report.counts.broken += len(values) - 1
        return None

    def _expected(self) -> str:
        known = f"None of the {len(self.formats)} known formats looks like it."
        return f"{known} Choose one by its name if you know it, or give request bodies or messages as JSON."


def _archive_of(content: Archive) -> Listed | None:
    """Return what lists the files of an archive; None if it is no archive that can be opened."""
    if is_zip(content):
        return zip_files
    return tar_files if is_tar(content) else None


def _folder_of(files: Sequence[Member]) -> str:
    """Return the folder that some files have in common; the first file's name if they have none."""
    folders = [file.name.split("/")[:-1] for file in files]
    common = list(takewhile(lambda parts: len(set(parts)) == 1, zip(*folders, strict=False)))
    return "/".join(parts[0] for parts in common) or files[0].name


def _within(progress: Progress, done: int, part: int, size: int) -> Progress:
    """Return a progress of one file that tells the whole's; an archive inside counts by its packed size."""
    return lambda read, of: progress(done + (part * min(read, of) // of if of else 0), size)


def _guarded(chosen: Format, reading: Reading) -> Iterator[Transcript]:
    """Read, and turn a reader's own fault into a problem: one strange file must not stop an import of many."""
    try:
        yield from chosen.read(reading)
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"
        reading.report.add(
            f"the reader for {chosen.name} failed ({fault})", "What was read before was kept; please report it."
        )


def _shape(value: object) -> str:
    if isinstance(value, dict):
        keys = ", ".join(shortened(str(key))[:30] for key in list(value)[:6])
        return f"the first record has the keys {keys}" if keys else "the first record is an empty object"
    if isinstance(value, list):
        return f"the first record is a list of {len(value)}"
    return f"the first record is {kind_of(value)}"
