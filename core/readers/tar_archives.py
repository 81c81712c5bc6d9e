"""A tar archive, plain or packed with gzip, as files.

Tar has no table of contents, and gzip cannot be read from the middle: each look at a file would unpack everything
before it again. So a packed archive is unpacked once, within bounds, into a file without a name, which is in memory
while it is small and gone with the reading. What stands before damage is read.
"""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast

from . import archive_files
from .archive_files import ArchiveFiles, inside
from .problems import Report
from .source import CHUNK, FAILURES, Content, Member, opened, reason_of
from .unpack import GZIP, gunzip

__all__ = ["is_tar", "tar_files"]

IN_MEMORY = 64 << 20
"""Bytes of an unpacked archive that are held in memory; the rest of a larger one is on the disk."""
MOST_ENTRIES = 100_000
"""Entries looked at, with folders and links."""
LONGEST_HEADER = 1 << 20
"""Bytes of a name or of attributes before a file: they are held in memory."""
_BLOCK = tarfile.BLOCKSIZE
_MAGIC, _MAGIC_AT = b"ustar", 257
_LONG = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)


class _Entry(tarfile.TarInfo):
    """An entry whose header takes no more memory than it should, and that does not lead back to where it was."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.size < 0 or (self.type in _LONG and self.size > LONGEST_HEADER):
            raise tarfile.ReadError("a header has an impossible size")
        return cast(tarfile.TarInfo, super()._proc_member(archive))  # type: ignore[misc]


def is_tar(content: Content) -> bool:
    """Tell whether content begins as a tar archive does, also one that is packed with gzip."""
    if isinstance(content, str):
        return False
    try:
        with _handle(content) as handle:
            start = handle.read(_BLOCK)
            if start.startswith(GZIP):
                start = zlib.decompressobj(31).decompress(start + handle.read(1 << 16), _BLOCK)
    except FAILURES:
        return False
    return start[_MAGIC_AT:].startswith(_MAGIC) or _is_header(start)


def _is_header(start: bytes) -> bool:
    """Tell whether bytes are the header of an old archive, which has no magic number but a checksum."""
    try:
        tarfile.TarInfo.frombuf(start, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def tar_files(content: Path | bytes | Member, report: Report) -> list[Member]:
    """Return the files of a tar archive in its own order; what is out of bounds is a problem and left out."""
    files, whole = ArchiveFiles(report), True
    try:
        handle = _seekable(content, report)
        whole = not report.told  # else what unpacked it has said that it is cut or damaged
        archive = tarfile.open(fileobj=handle, mode="r:", tarinfo=_Entry, errors="surrogateescape")  # noqa: SIM115
        for entry in _entries(archive, handle, report, whole):
            if not entry.isdir():
                opens = cast(Any, partial(archive.extractfile, entry))
                files.add(entry.name, entry.size, opens, packed=entry.size, problem=_problem(entry))
    except FAILURES as error:
        if whole:
            _tell_damage(report, reason_of(error))
    return files.end()


def _entries(archive: tarfile.TarFile, handle: BinaryIO, report: Report, whole: bool) -> Iterator[tarfile.TarInfo]:
    """Yield what stands in an archive; if it came whole, say where it is damaged instead of taking that for its end."""
    before = -1
    for _ in range(MOST_ENTRIES):
        entry = archive.next()
        if entry is None:
            break
        if entry.offset <= before:
            raise tarfile.ReadError("a header leads back")
        before = entry.offset
        yield entry
    else:
        report.add(f"there are more than {MOST_ENTRIES:,} entries in it", "The first ones were read; give it in parts.")
        return
    if whole:
        handle.seek(archive.offset)
        _check_end(handle.read(_BLOCK), report)


def _check_end(block: bytes, report: Report) -> None:
    if not block:
        report.add("the tar archive has no end mark", "All that is in it was read; more may be missing.", warning=True)
    elif block.strip(b"\x00"):
        _tell_damage(report, "a header cannot be read")


def _tell_damage(report: Report, reason: str) -> None:
    report.add(f"the tar archive is damaged ({reason})", "What stands before the damage was read; copy it again.")


def _problem(entry: tarfile.TarInfo) -> str:
    """Return why an entry is not read; empty if it may be."""
    if entry.issym() or entry.islnk():
        return f"is a link (to {inside(entry.linkname) or 'nothing'})"
    if entry.issparse():
        return "is stored with holes"
    return "" if entry.isfile() else "is no file that can be read"


def _seekable(content: Path | bytes | Member, report: Report) -> BinaryIO:
    """Return the archive as it is before gzip packed it, as a file that can be read from anywhere."""
    handle = _handle(content)
    packed = handle.read(len(GZIP)) == GZIP
    if not packed and not isinstance(content, Member):
        handle.seek(0)
        return handle
    with handle:
        chunks = _chunks(content)
        return _spooled(gunzip(chunks, report, archive_files.MOST_TOTAL) if packed else chunks, _size(content), report)


def _spooled(chunks: Iterator[bytes], packed: int, report: Report) -> BinaryIO:
    spool = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  it is closed with the last member that reads from it
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > archive_files.MOST_TOTAL or archive_files.too_tight(size, packed):
            report.add(
                f"it unpacks to more than {archive_files.MOST_RATIO} times its size", "Only its beginning was read."
            )
            break
        spool.write(chunk)
    spool.seek(0)
    return cast(BinaryIO, spool)


def _chunks(content: Path | bytes | Member) -> Iterator[bytes]:
    with _handle(content) as handle:
        while chunk := handle.read(CHUNK):
            yield chunk


def _handle(content: Path | bytes | Member) -> BinaryIO:
    return BytesIO(content) if isinstance(content, bytes) else opened(content)


def _size(content: Path | bytes | Member) -> int:
    if isinstance(content, Path):
        return content.stat().st_size
    return content.size if isinstance(content, Member) else len(content)
