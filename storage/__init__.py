"""What Prompt Inspector remembers: transcripts, configurations and what was computed for them.

`library()` is the one way in, for pages and routes alike: it opens, upgrades and fills the database the first time.
"""

from __future__ import annotations

import os
import threading

from core.errors import ConfigError
from core.redact import Privacy

from .database import database_url, open_engine
from .errors import NotFound, StorageError
from .library import Added, Appended, Exchange, FileGroup, Library, Summary

__all__ = ["Added", "Appended", "Exchange", "FileGroup", "Library", "NotFound", "StorageError", "Summary", "library"]

PRIVACY = "PROMPT_INSPECTOR_PRIVACY"
"""What is hidden beside secrets before anything is written: `emails`, `content`, or both with a comma."""

_libraries: dict[str, Library] = {}
_opening = threading.Lock()


def library() -> Library:
    """Return this process's library of the database that `PROMPT_INSPECTOR_DB` names.

    StorageError if it cannot be opened; the next call tries again.
    """
    url = database_url()
    with _opening:
        if url not in _libraries:
            from .samples import load_samples

            privacy = _privacy()
            opened = Library(open_engine(url))
            if not opened.read_only():  # else it can be looked at all the same
                load_samples(opened)
            opened = Library(opened.engine, privacy)
            _libraries[url] = opened
        return _libraries[url]


def _privacy() -> Privacy:
    try:
        return Privacy.of(os.environ.get(PRIVACY, ""))
    except ConfigError as error:
        raise StorageError(f"{PRIVACY}: {error}") from None
