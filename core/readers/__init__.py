"""Reads recorded transcripts; adding a format is a file and a line in `_FORMATS`.

A reader never raises for what a file holds: what it cannot read becomes a problem that says where it is and what was
expected, and all the rest is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..transcript import Transcript
from . import anthropic, claude_code, gemini, openai_chat, openai_responses
from .formats import Format, Reading
from .problems import Counts, Problem, Report, kind_of
from .records import Records
from .source import Source
from .titles import shortened

__all__ = ["Counts", "Problem", "ReadResult", "Report", "format_names", "read", "read_stream"]

_FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        claude_code.FORMAT,
        openai_responses.FORMAT,
        gemini.FORMAT,
        anthropic.FORMAT,
        openai_chat.FORMAT,
    )
}

SAMPLE = 20
"""Records looked at to recognise a format."""

LEAST = 0.1
"""The confidence below which a format is not taken: low, as a file may hold much else beside what can be read."""


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What a file holds. Without transcripts there is at least one problem."""

    transcripts: list[Transcript]
    problems: list[Problem]
    format: str | None
    counts: Counts


def format_names() -> tuple[str, ...]:
    """Return the names of the formats that can be read."""
    return tuple(_FORMATS)


def read(content: Path | bytes | str, format: str | None = None) -> ReadResult:
    """Read all transcripts: a str is content, a Path a file. Never raises for what the content is.

    Without `format` it is recognised; a name that is not known is a problem too.
    """
    report = Report()
    transcripts = list(read_stream(content, format, report))
    return ReadResult(transcripts, report.problems, report.format, report.counts)


def read_stream(
    content: Path | bytes | str, format: str | None = None, report: Report | None = None
) -> Iterator[Transcript]:
    """Yield transcripts one by one, each when it is complete; problems and counts gather in `report`."""
    report = Report() if report is None else report
    records = Records(Source(content, report))
    chosen = _chosen(records, format)
    found = False
    if chosen is not None:
        report.format = chosen.name
        for transcript in _guarded(chosen, Reading(records, report, forced=format is not None)):
            found = True
            yield transcript
    if not found and not any(not problem.warning for problem in report.problems):
        report.add("no transcript was found in it", _expected())
    report.close()


def _chosen(records: Records, name: str | None) -> Format | None:
    if name is not None:
        known = _FORMATS.get(name.replace("-", "_").lower())
        if known is None:
            records.report.add(f"there is no format {name!r}", f"Use one of {', '.join(_FORMATS)}.")
        return known
    values = [record.value for record in records.peek(SAMPLE)]
    best = max(_FORMATS.values(), key=lambda known: known.sniff(values))
    if best.sniff(values) >= LEAST:
        return best
    if values:
        records.report.broken(f"the format was not recognised ({_shape(values[0])})", _expected())
        records.report.counts.broken += len(values) - 1
    return None


def _guarded(chosen: Format, reading: Reading) -> Iterator[Transcript]:
    """Read, and turn a reader's own fault into a problem: one strange file must not stop an import of many."""
    try:
        yield from chosen.read(reading)
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"
        reading.report.add(
            f"the reader for {chosen.name} failed ({fault})", "What was read before was kept; please report it."
        )


def _expected() -> str:
    labels = ", ".join(known.label for known in _FORMATS.values())
    return f"One of these was expected, as JSON or JSON Lines: {labels}."


def _shape(value: object) -> str:
    if isinstance(value, dict):
        keys = ", ".join(shortened(str(key))[:30] for key in list(value)[:6])
        return f"the first record has the keys {keys}" if keys else "the first record is an empty object"
    if isinstance(value, list):
        return f"the first record is a list of {len(value)}"
    return f"the first record is {kind_of(value)}"
