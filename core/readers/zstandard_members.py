"""Files in a ZIP archive that are packed with Zstandard, which Python before 3.14 cannot open by itself."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import BinaryIO, cast

ZSTANDARD = 93
"""The number of the method in a ZIP archive."""
_HEADER = struct.Struct("<26xHH")


def open_zstandard(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    """Return the unpacked file. NotImplementedError if no library is there for it; its bytes are bounded by `info`."""
    try:
        import zstandard
    except ImportError:
        raise NotImplementedError("it is packed with Zstandard, so the package zstandard must be installed") from None
    packed = io.BytesIO(_packed_bytes(archive, info))
    unpacked = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(packed, read_across_frames=True)
    return cast(BinaryIO, io.BufferedReader(_Bounded(unpacked, info.file_size)))


def _packed_bytes(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    file = archive.fp
    if file is None:
        raise ValueError("the archive is closed")
    file.seek(info.header_offset)
    header = file.read(30)
    if len(header) < 30:
        raise EOFError("the archive ends in the middle")
    name, extra = _HEADER.unpack(header)
    file.seek(name + extra, io.SEEK_CUR)
    return file.read(info.compress_size)


class _Bounded(io.RawIOBase):
    """No more bytes than were declared."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._left = size

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with the next bytes."""
        data = self._read(min(len(buffer), self._left))
        self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)

    def _read(self, size: int) -> bytes:
        import zstandard

        try:
            return self._stream.read(size) if size else b""
        except zstandard.ZstdError as error:
            raise ValueError(f"the Zstandard data is damaged ({error})") from None
