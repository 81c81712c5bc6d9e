"""The key of a library's fingerprints of dropped content: drawn by chance once, and kept with the library.

Without it a transcript that is imported again would not be known, nor which run a captured call goes on from.
"""

from __future__ import annotations

import secrets

from sqlalchemy import select

from core.dropped_content import ContentDropper

from .database import Writer
from .records import insert_new
from .schema import FlagRow

__all__ = ["LibraryDropper"]

NAME = "content key"
KEY_BYTES = 32


class LibraryDropper:
    """Drops content for one library. The key is read when it is first needed."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._dropper: ContentDropper | None = None

    def __call__(self) -> ContentDropper:
        """Return what drops content. StorageError if the database fails."""
        if self._dropper is None:
            self._dropper = ContentDropper(self._key())
        return self._dropper

    def _key(self) -> bytes:
        drawn = {"name": NAME, "value": secrets.token_hex(KEY_BYTES)}
        with self._writer.transaction() as connection:
            connection.execute(insert_new(connection, FlagRow), drawn)  # another process may have drawn one
            return bytes.fromhex(connection.execute(select(FlagRow.value).where(FlagRow.name == NAME)).scalar_one())
