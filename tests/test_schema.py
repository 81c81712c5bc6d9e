"""The tables are the ones that the migrations make, and every constraint can be named by a later one."""

from __future__ import annotations

from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import CheckConstraint, inspect, text

from storage.database import open_engine
from storage.schema import Base
from storage.upgrade import HEAD, VERSION_TABLE, alembic_config
from tests.stores import url

__all__ = ["url"]

TABLES = {
    *("transcript", "tag", "head", "message", "call", "variant", "content"),
    *("analysis", "configuration", "flag", "scorecard"),
}


def test_models_and_migrations_say_the_same(url: str) -> None:
    engine = open_engine(url)
    with engine.begin() as connection:
        command.check(alembic_config(connection))
    engine.dispose()


def test_the_newest_migration_is_the_one_that_a_start_looks_for(url: str) -> None:
    engine = open_engine(url)
    with engine.begin() as connection:
        assert ScriptDirectory.from_config(alembic_config(connection)).get_current_head() == HEAD
        assert connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars().all() == [HEAD]
    engine.dispose()


def test_a_new_database_has_all_tables(url: str) -> None:
    engine = open_engine(url)
    assert set(inspect(engine).get_table_names()) == TABLES | {VERSION_TABLE}
    engine.dispose()


def test_every_constraint_and_index_has_a_name() -> None:
    for table in Base.metadata.tables.values():
        for constraint in table.constraints:
            assert constraint.name or isinstance(constraint, CheckConstraint), (table.name, constraint)
        assert all(index.name for index in table.indexes)


def test_every_reference_to_a_content_has_an_index(url: str) -> None:
    """Without one, deleting a content would read the whole table that may refer to it."""
    engine = open_engine(url)
    inspector = inspect(engine)
    references = [(table, key) for table in sorted(TABLES) for key in inspector.get_foreign_keys(table)]
    to_contents = [
        (table, key["constrained_columns"]) for table, key in references if key["referred_table"] == "content"
    ]
    assert len(to_contents) == 5
    for table, columns in to_contents:
        assert columns in [index["column_names"] for index in inspector.get_indexes(table)], (table, columns)
    engine.dispose()


def test_json_is_text_so_that_key_order_survives() -> None:
    for name, column in (
        ("content", "json"),
        ("transcript", "meta"),
        ("configuration", "body"),
        ("analysis", "value"),
        ("scorecard", "value"),
    ):
        assert str(Base.metadata.tables[name].c[column].type) == "TEXT"
