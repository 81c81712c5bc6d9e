"""A folder or a ZIP archive as files, within bounds.

Nothing is written while an archive is read. Compressions whose unpacked size cannot be bounded piece by piece are
refused, and so are links: what they lead to is not in the archive, or is read under its own name.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, cast

from . import archive_files
from .archive_files import ArchiveFiles, is_passed_over, showable, tell_passed
from .problems import Report
from .source import FAILURES, Content, Member, opened, reason_of
from .zstandard_members import ZSTANDARD, open_zstandard

MOST_INNER = 256 << 20
"""Bytes of an archive inside an archive, which is held in memory."""

STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, ZSTANDARD})


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


def folder_files(folder: Path, report: Report) -> list[Member]:
    """Return the files of a folder and the folders in it, in the order of their names."""
    found: list[Member] = []
    for path in _walk(folder, report):
        if len(found) == archive_files.MOST_FILES:
            report.add(
                f"there are more than {archive_files.MOST_FILES:,} files in it",
                "The first ones were read; give it in parts.",
            )
            break
        name = showable(path.relative_to(folder).as_posix())
        if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            report.add(f"{name} is a link that leads out of the folder", "It was left out; give the file itself.")
        elif path.is_file():
            found.append(Member(name, partial(opened, path), path.stat().st_size))
        else:
            report.add(f"{name} is no file that can be read", "It was left out.", warning=True)
    return found


def _walk(folder: Path, report: Report) -> Iterator[Path]:
    def failed(error: OSError) -> None:
        name = showable(Path(error.filename).relative_to(folder).as_posix()) if error.filename else "a folder"
        report.add(f"{name} cannot be opened ({reason_of(error)})", "It was left out.")

    passed: set[str] = set()
    for where, folders, files in os.walk(folder, onerror=failed):
        passed.update(name for name in [*folders, *files] if is_passed_over(name))
        folders[:] = sorted(name for name in folders if not is_passed_over(name))
        yield from (Path(where, name) for name in sorted(files) if not is_passed_over(name))
    tell_passed(passed, report)


def zip_files(content: Path | bytes | Member, report: Report) -> list[Member]:
    """Return the files of a ZIP archive in its own order; what is out of bounds is a problem and left out."""
    archive = _archive(content, report)
    if archive is None:
        return []
    files = ArchiveFiles(report)
    for info in archive.infolist():
        if not info.is_dir():
            opens = partial(_open_member, archive, info)
            files.add(info.filename, info.file_size, opens, packed=info.compress_size, problem=_problem(info))
    return files.end()


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


def _problem(info: zipfile.ZipInfo) -> str:
    """Return why a file in an archive cannot be read; empty if it can be."""
    if info.flag_bits & 1:
        return "is locked with a password"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "is a link"
    if info.compress_type not in _METHODS:
        return "is packed in a way that cannot be unpacked safely (Deflate was expected)"
    return ""


def _open_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    if info.compress_type == ZSTANDARD:
        return open_zstandard(archive, info)
    return cast(BinaryIO, archive.open(info))
