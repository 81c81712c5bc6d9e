"""Opening the database: one engine a process, on SQLite by default or on whatever `PROMPT_INSPECTOR_DB` names.

SQLite runs in WAL mode, so that pages read while a capture writes. A writing transaction takes the write lock when
it begins (`BEGIN IMMEDIATE`): one that reads first and writes later could otherwise fail half way, since SQLite
does not wait for the lock in the middle of a transaction.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from .errors import StorageError

__all__ = ["VARIABLE", "Writer", "database_url", "is_sqlite", "open_engine", "reading", "storage_errors"]

VARIABLE = "PROMPT_INSPECTOR_DB"
DEFAULT_FILE = Path(__file__).resolve().parent.parent / "data" / "prompt_inspector.db"
BUSY_MILLISECONDS = 15_000
BACKENDS = ("sqlite", "postgresql")
"""Locks and inserts that leave what is there are written for these, and tested on both."""
EXAMPLES = "Write sqlite:////folder/file.db for a file, or postgresql+psycopg://user:password@host/name for a server."
CHOOSE = f"Set {VARIABLE} to choose another one."

URI_SETTINGS = frozenset({"mode", "immutable", "vfs", "nolock", "psow"})
"""What SQLite takes in an address that begins with `file:`, and nowhere else."""

SQLITE_CAUSES = {
    "file is not a database": "is not a SQLite database, or it is damaged. Restore it from a copy, or move it away.",
    "malformed": "is damaged. Restore it from a copy, or move it away.",
    "readonly": "cannot be written. Give this user the right to write the file and its folder.",
    "unable to open": "cannot be opened. Check that the path is a file, and that its folder may be written.",
    "locked": "is being written by another process that does not finish. Close it and try again.",
    "disk is full": "cannot grow, as the disk is full. Make room and try again.",
}


def database_url() -> str:
    """Return the URL from `PROMPT_INSPECTOR_DB`, else that of a file beside `app.py`."""
    return os.environ.get(VARIABLE, "").strip() or f"sqlite:///{DEFAULT_FILE}"


def is_sqlite(engine: Engine | Connection) -> bool:
    """Return whether the database is SQLite."""
    return engine.dialect.name == "sqlite"


def open_engine(url: str | None = None) -> Engine:
    """Open the database, creating or upgrading it where needed. StorageError with a sentence if that cannot be."""
    from .upgrade import upgrade

    parsed = _parse(url or database_url())
    with storage_errors(parsed):
        engine = _create(parsed)
        upgrade(engine)
    return engine


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Open a transaction that sees one state of the database. StorageError if the database fails."""
    with storage_errors(engine.url), engine.begin() as connection:
        yield connection


class Writer:
    """Writing transactions of one process, one after another."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._turn = threading.Lock()
        """Threads queue here in order; SQLite would make all sleep and let the luckiest one in."""

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Open a transaction that is written as a whole or not at all. StorageError if the database fails."""
        engine = self.engine.execution_options(write=True)
        with self._turn, storage_errors(engine.url), engine.begin() as connection:
            yield connection


@contextmanager
def storage_errors(url: URL) -> Iterator[None]:
    """Turn the database's errors into a sentence that names the database and what to do."""
    try:
        yield
    except SQLAlchemyError as error:
        raise StorageError(_sentence(error, url)) from error
    except OverflowError as error:  # of SQLite's driver, which SQLAlchemy passes on as it is
        raise StorageError(
            "A number is larger than the database can hold, and nothing was stored. Correct it and try again."
        ) from error


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise StorageError(f"{url!r} is not a database URL. {EXAMPLES}") from None
    backend = parsed.get_backend_name()
    if backend not in BACKENDS:
        raise StorageError(f"The library runs on SQLite and PostgreSQL, and not on {backend!r}. {EXAMPLES}")
    if backend == "sqlite":
        parsed = _as_file(parsed)
        _make_folder(parsed)
    return parsed


def _as_file(url: URL) -> URL:
    """Return the URL of a SQLite file as it is meant. Taken by the letter, one of another kind makes a new database."""
    if url.database in (None, "", ":memory:"):
        raise StorageError(f"A database in memory is lost with each thread. {EXAMPLES}")
    if str(url.database).startswith("file:"):
        return url.update_query_dict({"uri": "true"})
    if meant := sorted(URI_SETTINGS & set(url.query)):
        raise StorageError(
            f"{' and '.join(meant)} in the URL of the database {url.database} would be ignored."
            f" Write sqlite:///file:{url.database}?{meant[0]}=…"
        )
    return url


def _make_folder(url: URL) -> None:
    """Create the folder of a SQLite file; transcripts are private, so it is the owner's alone."""
    if url.query.get("uri"):
        return
    folder = Path(str(url.database)).resolve().parent
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StorageError(f"The folder {folder} cannot be created: {error.strerror}. {CHOOSE}") from error


def _create(url: URL) -> Engine:
    options: dict[str, Any] = {"pool_size": 10, "max_overflow": 30}
    if url.get_backend_name() != "sqlite":
        options["pool_pre_ping"] = True
    try:
        engine = create_engine(url, **options)
    except NoSuchModuleError:
        raise StorageError(f"There is no driver for {url.drivername!r} databases. {EXAMPLES}") from None
    except ModuleNotFoundError as error:
        raise StorageError(f"The driver of {url.drivername!r} is missing: run `pip install {error.name}`.") from None
    if is_sqlite(engine):
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
        if not url.query.get("uri"):
            _Watched(Path(str(url.database)).resolve()).listen(engine)
    return engine


class _Watched:
    """The file that an engine opened first. Another one in its place is refused, and none is made where it is gone.

    SQLite would go on with the file that it had opened, whatever became of it; and what this process remembers of its
    transcripts is of that file.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._opened: tuple[int, int] | None = None

    def listen(self, engine: Engine) -> None:
        """Look before each connection and each transaction."""
        event.listen(engine, "do_connect", self._check)
        event.listen(engine, "connect", self._remember)
        event.listen(engine, "begin", self._check, insert=True)

    def _remember(self, *_: Any) -> None:
        self._opened = self._opened or _identity(self._file)

    def _check(self, *_: Any) -> None:
        if self._opened is not None and _identity(self._file) != self._opened:
            raise StorageError(
                f"The database {self._file} was moved, replaced or deleted while it was in use, and nothing was"
                " stored. Put it back, or start the app again."
            )


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _prepare(connection: sqlite3.Connection, _record: object) -> None:
    """Set what SQLite forgets with each connection. Deleted transcripts are overwritten, not only forgotten."""
    connection.isolation_level = None  # the driver starts no transactions of its own; `_begin` does
    for pragma in ("foreign_keys=ON", f"busy_timeout={BUSY_MILLISECONDS}", "synchronous=NORMAL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("write") else "BEGIN")


def _sentence(error: SQLAlchemyError, url: URL) -> str:
    cause = str(error.orig if isinstance(error, DBAPIError) and error.orig is not None else error).strip()
    if url.get_backend_name() == "sqlite":
        for words, sentence in SQLITE_CAUSES.items():
            if words in cause.lower():
                return f"The database {url.database} {sentence} {CHOOSE}"
    shown = url.render_as_string(hide_password=True)
    return f"The database {shown} failed: {cause.splitlines()[0] if cause else type(error).__name__}. {CHOOSE}"
