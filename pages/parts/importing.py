"""Imports while they go on: each in a thread of its own, known by a name that stands in the page's address.

A page's script ends when its tab is reloaded or another page is opened, and an import must not end with it. So the
script only looks on: a tab that was reloaded finds its import by the address and looks on again. A name that this
process does not know means that the server ended in between; what had been stored by then is whole.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from core.errors import PromptInspectorError
from core.wording import counted
from storage import Library
from storage.importing import Importing, import_path, unreadable

MOST_KEPT = 20
"""Imports that are remembered, for tabs that come back."""
_MOMENT = "%Y%m%dT%H%M%S"

log = logging.getLogger(__name__)


class Upload(NamedTuple):
    """A file that a viewer gave, or a pasted text."""

    name: str
    content: bytes


class ImportRun:
    """An import of some uploads. Read it from any thread; `work` fills up file by file."""

    def __init__(self, store: Library, uploads: Sequence[Upload], format_name: str | None = None) -> None:
        now = datetime.now(UTC)
        self.name = f"{now:{_MOMENT}}-{len(uploads)}-{secrets.token_hex(4)}"
        self.work = Importing(progress=self._advance)
        self.number = len(uploads)
        self.done = 0
        self._part = 0.0
        self.failure: PromptInspectorError | None = None
        """What ended it before its time, if something did."""
        self._finished = threading.Event()
        self._todo = (store, tuple(uploads), format_name)

    @property
    def finished(self) -> bool:
        """Whether it has come to its end."""
        return self._finished.is_set()

    @property
    def progress(self) -> float:
        """How much is done, 0 to 1, every file counting the same."""
        return min(1.0, (self.done + self._part) / max(1, self.number))

    def wait(self, seconds: float) -> bool:
        """Wait for the end at most that long, and return whether it came."""
        return self._finished.wait(seconds)

    def run(self) -> None:
        """Take one upload after the other."""
        store, uploads, format_name = self._todo
        try:
            for upload in uploads:
                _take(store, upload, format_name, self.work)
                self.done, self._part = self.done + 1, 0.0
        except BaseException as error:  # for the page, which has somebody to tell it to
            log.exception("An import stopped before its end")
            self.failure = self._stopped(error)
        finally:
            self._todo = (store, (), format_name)
            self._finished.set()

    def _stopped(self, error: BaseException) -> PromptInspectorError:
        reason = str(error) or type(error).__name__
        return PromptInspectorError(
            f"The import stopped after {self.done:,} of {counted(self.number, 'file')} ({reason.rstrip('.')}). Each"
            " transcript that came in is whole. Add the same files again: what is here already is recognised."
        )

    def _advance(self, done: int, size: int) -> None:
        self._part = min(1.0, done / size) if size else 0.0


_runs: dict[str, ImportRun] = {}
_remembering = threading.Lock()
"""Held while `_runs` is changed: sessions begin imports at the same time."""


def begin(store: Library, uploads: Sequence[Upload], format_name: str | None = None) -> ImportRun:
    """Start an import and return it."""
    run = ImportRun(store, uploads, format_name)
    remember(run)
    threading.Thread(target=run.run, name=f"import {run.name}", daemon=True).start()
    return run


def remember(run: ImportRun) -> None:
    """Keep an import to be found by its name, and forget the oldest ones that have ended."""
    with _remembering:
        ended = [name for name, known in _runs.items() if known.finished]
        for name in ended[: max(0, len(ended) - MOST_KEPT)]:
            _runs.pop(name, None)
        _runs[run.name] = run


def import_named(name: str) -> ImportRun | None:
    """Return an import of this process; None where it began in one that has ended."""
    return _runs.get(name)


def began(name: str) -> tuple[datetime, int] | None:
    """Return when the import of a name began and how many files it had; None if it is no such name."""
    moment, _, rest = name.partition("-")
    number = rest.partition("-")[0]
    try:
        return datetime.strptime(moment, _MOMENT).replace(tzinfo=UTC), int(number)
    except ValueError:
        return None


def _take(store: Library, upload: Upload, format_name: str | None, work: Importing) -> None:
    """Store what an upload holds. Readers name the file in their sentences and stream large ones, so it gets a path."""
    name = PurePosixPath(upload.name.replace("\\", "/")).name or "file"
    try:
        with TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(upload.content)
            import_path(store, path, format_name, work)
    except OSError as error:
        work.files.append(unreadable(name, error.strerror or str(error)))
