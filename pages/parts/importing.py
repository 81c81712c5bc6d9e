"""Taking files and pasted text into the library, and saying what became of them.

Every transcript is stored as a whole or not at all, one after the other, so a file that breaks half way still gives
what stands before the break. What was skipped is listed with its reason.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from core.errors import PromptInspectorError
from core.readers import Report, read_stream
from storage import Library

PASTED = "the pasted text"
CONFIGURATION = "This is an exported configuration, not a transcript. Import it on the page Configurations."


@dataclass
class Imported:
    """What became of one file. `problems` and `warnings` are sentences; `masked` counts secrets by kind."""

    name: str
    format: str | None = None
    ids: list[int] = field(default_factory=list)
    known: int = 0
    calls: int = 0
    masked: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    ignored: int = 0

    @property
    def stored(self) -> int:
        """How many transcripts are new in the library."""
        return len(self.ids) - self.known


def import_text(store: Library, text: str, format_name: str | None = None) -> Imported:
    """Take pasted text. Never raises for what it holds."""
    return _take(store, PASTED, text.encode("utf-8", "surrogatepass"), format_name)


def import_file(store: Library, name: str, content: bytes, format_name: str | None = None) -> Imported:
    """Take a file. Never raises for what it holds."""
    return _take(store, PurePosixPath(name.replace("\\", "/")).name or "file", content, format_name)


def _take(store: Library, name: str, content: bytes, format_name: str | None) -> Imported:
    done, report = Imported(name), Report()
    with TemporaryDirectory() as folder:
        # A path, not bytes: readers name the file in their sentences, and stream large ones.
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            for transcript in read_stream(path, format_name, report):
                added = store.add(transcript)
                done.ids.append(added.id)
                done.known += not added.new
                done.calls += len(transcript.calls)
                done.masked.update(added.masked)
        except PromptInspectorError as error:
            done.problems.append(str(error))
    return _told(done, report, content)


def _told(done: Imported, report: Report, content: bytes) -> Imported:
    done.format, done.ignored = report.format, report.counts.ignored
    for problem in report.problems:
        (done.warnings if problem.warning else done.problems).append(str(problem))
    if not done.ids and _is_configuration(content):
        done.problems = [f"{done.name}: {CONFIGURATION}"]
    return done


def _is_configuration(content: bytes) -> bool:
    if len(content) > 1_000_000:
        return False
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, Mapping) and isinstance(value.get("strategy"), Mapping)
