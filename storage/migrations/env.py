"""Runs migrations on the connection that `storage.upgrade` passes in; its transaction decides about all of them."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from sqlalchemy import TypeDecorator

from storage.schema import Base
from storage.upgrade import VERSION_TABLE


def render_item(kind: str, item: Any, _context: Any) -> str | Literal[False]:
    """Write our own types as the column types behind them: a migration must not change with the program."""
    if kind == "type" and isinstance(item, TypeDecorator):
        return f"sa.{item.impl_instance!r}"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,  # SQLite cannot alter a table in place
    render_item=render_item,
)
context.run_migrations()
