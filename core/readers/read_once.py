"""What can be read only once, such as a pipe: it is copied to a file first, as formats are recognised before reading.

The copy has the name that was given, so that sentences speak of that.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from .problems import Report
from .source import Content, reason_of

__all__ = ["copied", "rereadable"]


@contextmanager
def copied(handle: BinaryIO, name: str) -> Iterator[Path]:
    """Give a file of some name that holds what is left of a stream, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="transcript-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, name)
        with path.open("wb") as copy:
            shutil.copyfileobj(handle, copy)
        yield path


@contextmanager
def rereadable(content: Content, report: Report) -> Iterator[Content | None]:
    """Give content that can be read again and again: itself, or a copy. None, and a problem, if it cannot be copied."""
    if not isinstance(content, Path) or not _is_read_once(content):
        yield content
        return
    report.source = content.name
    copy: Path | None = None
    with ExitStack() as stack:
        try:
            copy = stack.enter_context(copied(stack.enter_context(content.open("rb")), content.name))
        except OSError as error:
            report.add(
                f"it could not be kept while it is read ({reason_of(error)})", "Give the path of a file instead."
            )
        yield copy


def _is_read_once(path: Path) -> bool:
    """Return whether a path leads to a pipe or a terminal."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)
