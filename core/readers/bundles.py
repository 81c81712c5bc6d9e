"""A folder or a ZIP archive as files, within bounds.

Nothing is written while an archive is read, and a file's name never tells more than its place inside: what leads
out of the archive (`..`, a drive, a root) is cut off. Sizes are those that the archive declares; its reader gives no
byte more. Compressions whose unpacked size cannot be bounded piece by piece are refused.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, cast

from .problems import Report
from .source import FAILURES, Content, Member, reason_of
from .zstandard_members import ZSTANDARD, open_zstandard

MOST_FILES = 10_000
MOST_BYTES = 1 << 30
"""Unpacked bytes of one file in an archive."""
MOST_TOTAL = 4 << 30
"""Unpacked bytes of all files of an archive."""
MOST_RATIO = 400
"""Unpacked bytes for each packed one: logs that repeat their prompts reach 200, archives made to fill a disk 1,000."""
SMALL = 16 << 20
"""A file of no more bytes may be packed as tightly as it likes."""
MOST_INNER = 256 << 20
"""Bytes of an archive inside an archive, which is held in memory."""

STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_PASSED_OVER = frozenset(
    {".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__", "__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"}
)
"""Folders and files that systems and tools put beside what people keep."""
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, ZSTANDARD})
_DRIVE = re.compile(r"^[A-Za-z]:")
_UNSHOWABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def is_folder(content: object) -> bool:
    """Tell whether content is the path of a folder."""
    try:
        return isinstance(content, Path) and content.is_dir()
    except (OSError, ValueError):
        return False


def is_zip(content: Content) -> bool:
    """Tell whether content begins as a ZIP archive does."""
    try:
        if isinstance(content, Path | Member):
            with opened(content) as handle:
                return handle.read(4) in STARTS
    except FAILURES:
        return False
    return not isinstance(content, str) and content[:4] in STARTS


def opened(content: Path | Member) -> BinaryIO:
    """Return an open file."""
    return content.open() if isinstance(content, Member) else content.open("rb")


def folder_files(folder: Path, report: Report) -> list[Member]:
    """Return the files of a folder and the folders in it, in the order of their names."""
    found: list[Member] = []
    for path in _walk(folder, report):
        if len(found) == MOST_FILES:
            report.add(f"there are more than {MOST_FILES:,} files in it", "The first ones were read; give it in parts.")
            break
        name = _shown(path.relative_to(folder).as_posix())
        if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            report.add(f"{name} is a link that leads out of the folder", "It was left out; give the file itself.")
        elif path.is_file():
            found.append(Member(name, partial(opened, path), path.stat().st_size))
        else:
            report.add(f"{name} is no file that can be read", "It was left out.", warning=True)
    return found


def _walk(folder: Path, report: Report) -> Iterator[Path]:
    def failed(error: OSError) -> None:
        name = _shown(Path(error.filename).relative_to(folder).as_posix()) if error.filename else "a folder"
        report.add(f"{name} cannot be opened ({reason_of(error)})", "It was left out.")

    passed: set[str] = set()
    for where, folders, files in os.walk(folder, onerror=failed):
        passed.update(name for name in [*folders, *files] if _is_passed_over(name))
        folders[:] = sorted(name for name in folders if not _is_passed_over(name))
        yield from (Path(where, name) for name in sorted(files) if not _is_passed_over(name))
    _tell_passed(passed, report)


def zip_files(content: Path | bytes | Member, report: Report) -> list[Member]:
    """Return the files of a ZIP archive in its own order; what is out of bounds is a problem and left out."""
    archive = _archive(content, report)
    if archive is None:
        return []
    found: list[Member] = []
    passed: set[str] = set()
    total = 0
    for info in archive.infolist():
        name = _inside(info.filename)
        parts = name.split("/")
        if info.is_dir() or not name:
            continue
        if any(map(_is_passed_over, parts)):
            passed.add(next(filter(_is_passed_over, parts)))
        elif problem := _out_of_bounds(info, total, len(found)):
            report.add(f"{name} {problem}", "It was left out; unpack the archive and give the folder.")
        else:
            total += info.file_size
            found.append(Member(name, partial(_open_member, archive, info), info.file_size))
    _tell_passed(passed, report)
    return found


def _archive(content: Path | bytes | Member, report: Report) -> zipfile.ZipFile | None:
    try:
        if isinstance(content, Member):
            if content.size > MOST_INNER:
                limit = f"{MOST_INNER >> 20} MB"
                report.add(f"an archive inside an archive has more than {limit}", "Unpack the outer archive first.")
                return None
            with content.open() as handle:
                content = handle.read()
        return zipfile.ZipFile(content if isinstance(content, Path) else BytesIO(content))
    except FAILURES as error:
        report.add(f"the ZIP archive is damaged ({reason_of(error)})", "Copy or pack it again.")
        return None


def _out_of_bounds(info: zipfile.ZipInfo, total: int, number: int) -> str:
    """Return why a file in an archive is not read; empty if it may be."""
    if number >= MOST_FILES:
        return f"comes after {MOST_FILES:,} other files"
    if info.flag_bits & 1:
        return "is locked with a password"
    if info.compress_type not in _METHODS:
        return "is packed in a way that cannot be unpacked safely (Deflate was expected)"
    if info.file_size > MOST_BYTES or total + info.file_size > MOST_TOTAL:
        return f"unpacks to {info.file_size >> 20:,} MB, more than is read of an archive"
    if info.file_size > SMALL and info.file_size > MOST_RATIO * max(info.compress_size, 1):
        return f"unpacks to more than {MOST_RATIO} times its size"
    return ""


def _open_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    if info.compress_type == ZSTANDARD:
        return open_zstandard(archive, info)
    return cast(BinaryIO, archive.open(info))


def _inside(name: str) -> str:
    """Return a name in an archive as a path inside it, whatever it claims to be."""
    parts = _DRIVE.sub("", name.replace("\\", "/")).split("/")
    return _shown("/".join(part for part in parts if part not in ("", ".", "..")))


def _shown(name: str) -> str:
    return _UNSHOWABLE.sub("\ufffd", name)


def _is_passed_over(name: str) -> bool:
    return name in _PASSED_OVER or name.startswith("._")


def _tell_passed(passed: set[str], report: Report) -> None:
    if passed:
        names = ", ".join(sorted(map(_shown, passed))[:10])
        report.add(f"what tools and systems keep was passed over ({names})", "It holds no transcripts.", warning=True)
