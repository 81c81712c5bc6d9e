"""What every archive and folder has in common: bounds, names that lead nowhere outside, and what is passed over.

Nothing is written where a name says so, and a name never tells more than its place inside: what leads out of an
archive (`..`, a drive, a root) is cut off. Sizes are those that an archive declares; its reader gives no byte more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import BinaryIO

from ..wording import agreeing
from .problems import Report
from .source import Member

MOST_FILES = 10_000
MOST_BYTES = 1 << 30
"""Unpacked bytes of one file in an archive."""
MOST_TOTAL = 4 << 30
"""Unpacked bytes of all files of an archive."""
MOST_RATIO = 400
"""Unpacked bytes for each packed one: logs that repeat their prompts reach 200, archives made to fill a disk 1,000."""
MOST_NAMES = 10
"""Names in one sentence."""
SMALL = 16 << 20
"""A file of no more bytes may be packed as tightly as it likes."""

_PASSED_OVER = frozenset(
    {".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__", "__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"}
)
"""Folders and files that systems and tools put beside what people keep."""
_DRIVE = re.compile(r"^[A-Za-z]:")
_UNSHOWABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class ArchiveFiles:
    """The files of an archive as they are met; what is out of bounds becomes a problem and is left out."""

    def __init__(self, report: Report) -> None:
        self.found: list[Member] = []
        self._report = report
        self._passed: set[str] = set()
        self._total = 0

    def add(self, name: str, size: int, opens: Callable[[], BinaryIO], *, packed: int, problem: str = "") -> None:
        """Take a file of `size` bytes, `packed` in the archive, unless `problem` says why it cannot be."""
        name = inside(name)
        if not name:
            return
        passed = next(filter(is_passed_over, name.split("/")), None)
        if passed is not None:
            self._passed.add(passed)
        elif problem := problem or self._out_of_bounds(size, packed):
            self._report.add(f"{name} {problem}", "It was left out; unpack the archive and give the folder.")
        else:
            self._total += size
            self.found.append(Member(name, opens, size))

    def end(self) -> list[Member]:
        """Say what was passed over, and return the files in the archive's own order."""
        tell_passed(self._passed, self._report)
        return self.found

    def _out_of_bounds(self, size: int, packed: int) -> str:
        if len(self.found) >= MOST_FILES:
            return f"comes after {MOST_FILES:,} other files"
        if size > MOST_BYTES or self._total + size > MOST_TOTAL:
            return f"unpacks to {size >> 20:,} MB, more than is read of an archive"
        return f"unpacks to more than {MOST_RATIO} times its size" if too_tight(size, packed) else ""


def last_of_each_name(files: Sequence[Member], report: Report) -> list[Member]:
    """Return the last file of each name, and say which names stand more than once: adding to a tar keeps the older."""
    last = {file.name: file for file in files}
    again = [name for name, number in Counter(file.name for file in files).items() if number > 1]
    if again:
        names = ", ".join(again[:MOST_NAMES]) + (f" and {more:,} more" if (more := len(again) - MOST_NAMES) > 0 else "")
        report.add(
            f"{names} {agreeing(len(again), 'stands', 'stand')} more than once in it",
            f"The last one{agreeing(len(again), '', ' of each')} was read.",
            warning=True,
        )
    return [file for file in files if last[file.name] is file]


def too_tight(size: int, packed: int) -> bool:
    """Tell whether so many bytes cannot have been packed into so few for an honest reason."""
    return size > SMALL and size > MOST_RATIO * max(packed, 1)


def inside(name: str) -> str:
    """Return a name in an archive as a path inside it, whatever it claims to be."""
    parts = _DRIVE.sub("", name.replace("\\", "/")).split("/")
    return showable("/".join(part for part in parts if part not in ("", ".", "..")))


def showable(name: str) -> str:
    """Return a name without signs that a terminal or a page would obey."""
    return _UNSHOWABLE.sub("\ufffd", name)


def is_passed_over(name: str) -> bool:
    """Tell whether a file or folder of this name is what tools and systems keep for themselves."""
    return name in _PASSED_OVER or name.startswith("._")


def tell_passed(passed: set[str], report: Report) -> None:
    """Note what was passed over, if anything was."""
    if passed:
        names = ", ".join(sorted(map(showable, passed))[:MOST_NAMES])
        report.add(f"what tools and systems keep was passed over ({names})", "It holds no transcripts.", warning=True)
