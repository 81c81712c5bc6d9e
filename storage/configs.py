"""Configurations by name, each kept in all its versions: what was exported once can always be looked at again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select

from core.config import load_config
from core.errors import ConfigError

from .database import Writer, reading
from .errors import NotFound
from .names import too_long
from .records import text_of_json
from .schema import ConfigurationRow

__all__ = ["Configs", "SavedConfig"]


@dataclass(frozen=True, slots=True)
class SavedConfig:
    """One version of a configuration. Versions of a name count from 1."""

    id: int
    name: str
    version: int
    body: Mapping[str, Any]
    note: str
    created_at: datetime


class Configs:
    """Stored configurations."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def save(self, name: str, body: Mapping[str, Any], note: str = "") -> SavedConfig:
        """Store a configuration as the next version of its name.

        The newest version again, exported at whatever time, is returned as it is.

        ConfigError if the configuration is not valid.
        """
        text = text_of_json(_checked(name, body))
        with self._writer.transaction() as connection:
            newest = _newest(connection, ConfigurationRow.name == name)
            if newest and _without_time(newest[0].body) == _without_time(text):
                return _saved(newest[0])
            row = {"name": name, "version": newest[0].version + 1 if newest else 1, "body": text, "note": note}
            row["created_at"] = datetime.now(UTC)
            added = connection.execute(insert(ConfigurationRow).returning(ConfigurationRow.__table__), row)
            return _saved(added.one())

    def get(self, name: str, version: int | None = None) -> SavedConfig:
        """Return a version of a configuration, the newest by default. NotFound if there is none."""
        condition = ConfigurationRow.name == name
        if version is not None:
            condition &= ConfigurationRow.version == version
        with reading(self._writer.engine) as connection:
            found = _newest(connection, condition)
        if not found:
            which = f"configuration {name!r}" if version is None else f"version {version} of the configuration {name!r}"
            raise NotFound(f"There is no {which} here. It may have been deleted; look in Configurations.")
        return _saved(found[0])

    def versions(self, name: str) -> Sequence[SavedConfig]:
        """Return all versions of a configuration, the newest first; none if there is no such name."""
        with reading(self._writer.engine) as connection:
            return [_saved(row) for row in _newest(connection, ConfigurationRow.name == name)]

    def delete(self, name: str) -> None:
        """Delete all versions of a configuration. NotFound if there is none."""
        with self._writer.transaction() as connection:
            if connection.execute(delete(ConfigurationRow).where(ConfigurationRow.name == name)).rowcount == 0:
                raise NotFound(f"There is no configuration {name!r} here. It may have been deleted already.")

    def list(self) -> Sequence[SavedConfig]:
        """Return the newest version of each configuration, the last saved first."""
        newest = select(func.max(ConfigurationRow.id)).group_by(ConfigurationRow.name)
        with reading(self._writer.engine) as connection:
            rows = _newest(connection, ConfigurationRow.id.in_(newest))
        return [_saved(row) for row in rows]


def _checked(name: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a configuration that can be loaded. ConfigError says which setting is wrong."""
    if not name.strip():
        raise ConfigError("name", "is empty.", "Give the configuration a name to save it under.")
    if problem := too_long(name):
        raise ConfigError("name", f"{problem}.", "Give the configuration a shorter name and save it again.")
    load_config(body)
    return body


def _without_time(text: str) -> Mapping[str, Any]:
    """Return a stored configuration without the time of its export."""
    body: dict[str, Any] = json.loads(text)
    if isinstance(provenance := body.get("provenance"), dict):
        body["provenance"] = {key: value for key, value in provenance.items() if key != "exported_at"}
    return body


def _newest(connection: Connection, condition: ColumnElement[bool]) -> Sequence[Any]:
    query = select(ConfigurationRow.__table__).where(condition)
    return connection.execute(query.order_by(ConfigurationRow.id.desc())).all()


def _saved(row: Any) -> SavedConfig:
    return SavedConfig(row.id, row.name, row.version, json.loads(row.body), row.note, row.created_at)
