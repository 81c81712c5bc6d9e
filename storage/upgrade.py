"""Bringing a database to the newest schema when the app starts.

All migrations run in one transaction that begins with the write lock (an advisory lock on PostgreSQL), so a second
process that starts at the same moment waits and then finds nothing to do, and a process that dies leaves the
database as it was. Foreign keys are off meanwhile: SQLite changes a table by writing a new one and dropping the old,
and with foreign keys on the drop would delete every row that refers to it.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, NullPool, create_engine, event, inspect, text

from core.wording import counted

from .database import BUSY_MILLISECONDS, is_sqlite
from .errors import StorageError
from .schema import Base

if TYPE_CHECKING:
    from alembic.config import Config

__all__ = ["HEAD", "VERSION_TABLE", "alembic_config", "revision", "upgrade"]

HEAD = "0002"
"""The newest migration. Known here so that a start with nothing to do need not load Alembic (0.6 s)."""

VERSION_TABLE = "prompt_inspector_version"
MIGRATIONS = Path(__file__).parent / "migrations"
ADVISORY_LOCK = 0x50524F4D  # "PROM"; any number that no other program on the server uses


def upgrade(engine: Engine) -> None:
    """Create or upgrade the tables. StorageError if the database is newer than this program, or another's."""
    with engine.begin() as connection:
        if revision(connection) == HEAD:
            return
    if is_sqlite(engine):
        _upgrade_sqlite(engine)
    else:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})
            _migrate(connection)
    engine.dispose()  # an open SQLite connection may still answer pragmas from the tables it knew


def revision(connection: Connection) -> str | None:
    """Return the migration that a database is at; None if it is empty."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()


def alembic_config(connection: Connection) -> Config:
    """Return Alembic's configuration for a connection: `alembic.command.check(alembic_config(connection))`."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _upgrade_sqlite(engine: Engine) -> None:
    """Migrate on a connection of its own, with foreign keys off and checked at the end."""
    alone = create_engine(engine.url, poolclass=NullPool)
    event.listen(alone, "connect", _without_foreign_keys)
    event.listen(alone, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    with alone.begin() as connection:
        _migrate(connection)
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise StorageError(
                f"The upgrade of {engine.url.database} was undone, as {counted(len(broken), 'row')} would have lost "
                f"what they refer to (first in the table {broken[0][0]!r}). Keep a copy of the file and report this."
            )


def _without_foreign_keys(connection: sqlite3.Connection, _record: Any) -> None:
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
    connection.execute("PRAGMA foreign_keys=OFF")
    _write_ahead(connection)


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Turn WAL mode on, which the file remembers. SQLite does not wait here while another process looks at it."""
    deadline = time.monotonic() + BUSY_MILLISECONDS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _migrate(connection: Connection) -> None:
    """Run the missing migrations. The lock is held, so what is read here stays true."""
    current = revision(connection)
    if current == HEAD:
        return
    if current is None:
        _refuse_foreign_tables(connection)
    elif not list((MIGRATIONS / "versions").glob(f"{current}_*.py")):
        raise StorageError(
            f"The database {connection.engine.url.database} was written by a newer version of Prompt Inspector "
            f"(schema {current}, this version knows up to {HEAD}). Update the program, or choose another database."
        )
    from alembic import command

    command.upgrade(alembic_config(connection), "head")


def _refuse_foreign_tables(connection: Connection) -> None:
    taken = sorted(set(inspect(connection).get_table_names()) & Base.metadata.tables.keys())
    if taken:
        raise StorageError(
            f"The database {connection.engine.url.database} already has tables of another program "
            f"({', '.join(taken)}). Choose another database."
        )
