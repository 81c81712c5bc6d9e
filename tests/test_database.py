"""A database opens, upgrades without losing a row, and says in a sentence what is wrong with it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from storage import library as open_library
from storage import upgrade
from storage.database import database_url, open_engine, reading
from storage.errors import StorageError
from storage.library import Library
from tests.stores import ROOT, anthropic_run, bodies, openai_run, rows, url

__all__ = ["url"]

KEPT = {"strategy": {"kind": "keep_last", "keep_turns": 2}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def url_of(file: Path) -> str:
    return f"sqlite:///{file}"


def test_a_sqlite_connection_is_set_up(file: Path) -> None:
    engine = open_engine(url_of(file))
    with engine.begin() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "busy_timeout", "synchronous", "secure_delete")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "foreign_keys": 1,
        "busy_timeout": 15_000,
        "synchronous": 1,
        "secure_delete": 1,
    }


def test_folders_are_made_for_the_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    open_engine(url_of(folder / "store.db")).dispose()
    assert (folder / "store.db").is_file()
    assert folder.stat().st_mode & 0o077 == 0


def test_the_variable_names_the_database(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    monkeypatch.setenv("PROMPT_INSPECTOR_DB", url_of(file))
    assert database_url() == url_of(file)
    first = open_library()
    assert open_library() is first
    assert file.is_file()
    monkeypatch.setenv("PROMPT_INSPECTOR_DB", url_of(file.with_name("other.db")))
    assert open_library() is not first
    monkeypatch.delenv("PROMPT_INSPECTOR_DB")
    assert database_url() == f"sqlite:///{ROOT / 'data' / 'prompt_inspector.db'}"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nonsense", "'nonsense' is not a database URL. Write sqlite:////folder/file.db for a file"),
        ("sqlite:///:memory:", "A database in memory is lost with each thread."),
        ("sqlite://", "A database in memory is lost with each thread."),
        ("oddbase://host/name", "The library runs on SQLite and PostgreSQL, and not on 'oddbase'."),
        ("mysql+pymysql://host/name", "The library runs on SQLite and PostgreSQL, and not on 'mysql'."),
        ("postgresql+oddriver://host/name", "There is no driver for 'postgresql+oddriver' databases."),
        ("postgresql+pg8000://host/name", "The driver of 'postgresql+pg8000' is missing: run `pip install pg8000`."),
    ],
)
def test_an_url_that_cannot_be_used_is_a_sentence(given: str, said: str) -> None:
    with pytest.raises(StorageError) as raised:
        open_engine(given)
    assert str(raised.value).startswith(said)


def test_a_password_is_never_shown() -> None:
    with pytest.raises(StorageError) as raised:
        open_engine("postgresql+psycopg://ann:hunter2@127.0.0.1:1/none?connect_timeout=2")
    assert "hunter2" not in str(raised.value)
    assert "ann:***@127.0.0.1:1/none" in str(raised.value)


def damaged(file: Path) -> str:
    Library(open_engine(url_of(file))).add(openai_run(50))
    content = bytearray(file.read_bytes())
    content[100:] = b"\x55" * (len(content) - 100)
    file.write_bytes(content)
    return url_of(file)


def no_database(file: Path) -> str:
    file.write_text("a text, and no database at all " * 100)
    return url_of(file)


def folder(file: Path) -> str:
    file.mkdir()
    return url_of(file)


def below_a_file(file: Path) -> str:
    file.write_text("")
    return url_of(file / "below" / "store.db")


def read_only(file: Path) -> str:
    sqlite3.connect(file).close()
    file.touch()
    return f"sqlite:///file:{file}?mode=ro&uri=true"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (damaged, "is damaged"),
        (no_database, "is not a SQLite database"),
        (folder, "cannot be opened. Check that the path is a file"),
        (below_a_file, "cannot be created"),
        (read_only, "cannot be written. Give this user the right to write"),
    ],
)
def test_a_file_that_cannot_be_used_is_a_sentence(make, said: str, file: Path) -> None:
    given = make(file)
    with pytest.raises(StorageError) as raised:
        Library(open_engine(given)).add(openai_run())
    assert said in str(raised.value)
    assert str(file) in str(raised.value)
    assert str(raised.value).endswith("Set PROMPT_INSPECTOR_DB to choose another one.")


def test_a_database_that_may_only_be_read_can_be_read(file: Path) -> None:
    added = Library(open_engine(url_of(file))).add(openai_run())
    library = Library(open_engine(f"sqlite:///file:{file}?mode=ro&uri=true"))
    assert library.get(added.id) == openai_run()
    with pytest.raises(StorageError, match="cannot be written"):
        library.delete(added.id)


def test_a_database_that_may_only_be_read_says_so_until_it_may_be_written(file: Path) -> None:
    library = Library(open_engine(url_of(file)))
    assert library.read_only() == ""
    closed = Library(open_engine(f"sqlite:///file:{file}?mode=ro&uri=true"))
    assert str(file) in closed.read_only() and "cannot be written. Give this user the right" in closed.read_only()


def test_an_address_of_a_file_is_no_name_of_a_new_one(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added = Library(open_engine(url_of(file))).add(openai_run())
    monkeypatch.chdir(file.parent)
    before = sorted(file.parent.iterdir())
    assert Library(open_engine(f"sqlite:///file:{file}?mode=ro")).get(added.id) == openai_run()
    with pytest.raises(StorageError, match=f"mode in the URL of the database {file} would be ignored"):
        open_engine(f"{url_of(file)}?mode=ro")
    assert sorted(file.parent.iterdir()) == before


def test_tables_of_another_program_are_left_alone(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE message (id INTEGER)")
    with pytest.raises(StorageError, match=r"already has tables of another program \(message\)"):
        open_engine(url_of(file))
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("message",)]


def test_a_database_of_a_newer_version_is_left_alone(file: Path) -> None:
    engine = open_engine(url_of(file))
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {upgrade.VERSION_TABLE} SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(StorageError, match=r"written by a newer version of Prompt Inspector \(schema 9999"):
        open_engine(url_of(file))


NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("content", "transcript", "call", "message"):
        with op.batch_alter_table(table, recreate="{recreate}") as batch:
            batch.add_column(sa.Column("added", sa.Text(), server_default="x", nullable=False))
    {also}
"""


def with_next_migration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, recreate: str, also: str = "pass") -> None:
    """Let the program have one migration more, which writes every parent table anew."""
    migrations = tmp_path / "migrations"
    shutil.copytree(upgrade.MIGRATIONS, migrations)
    (migrations / "versions" / "0003_next.py").write_text(NEXT.format(recreate=recreate, also=also))
    monkeypatch.setattr(upgrade, "MIGRATIONS", migrations)
    monkeypatch.setattr(upgrade, "HEAD", "0003")


def filled(url: str) -> tuple[dict[str, int], list[int]]:
    library = Library(open_engine(url))
    added = [library.add(run).id for run in (openai_run(5), anthropic_run())]
    library.tag(added[0], ["a", "b"])
    library.analyses.put("counter", {b"0123456789abcdef": {"tokens": 3}}, transcript=added[0])
    counted = rows(library)
    library.engine.dispose()
    return counted, added


def test_an_upgrade_loses_no_row(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, (first, second) = filled(url)
    assert all(before.values())
    with_next_migration(monkeypatch, tmp_path, "always" if url.startswith("sqlite") else "auto")
    library = Library(open_engine(url))
    assert rows(library) == before
    with reading(library.engine) as connection:
        assert upgrade.revision(connection) == "0003"
        assert connection.execute(text("SELECT DISTINCT added FROM message")).scalars().all() == ["x"]
    assert library.get(first) == openai_run(5)
    assert bodies(library.get(second)) == bodies(anthropic_run())
    library.engine.dispose()


def test_an_upgrade_that_would_break_references_is_undone(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, _ = filled(url_of(file))
    with monkeypatch.context() as patched:
        with_next_migration(patched, tmp_path, "always", 'op.execute("DELETE FROM content")')
        with pytest.raises(StorageError, match=r"The upgrade of .* was undone"):
            open_engine(url_of(file))
    assert rows(Library(open_engine(url_of(file)))) == before


def test_an_upgrade_that_fails_half_way_is_undone(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, _ = filled(url_of(file))
    with monkeypatch.context() as patched:
        with_next_migration(patched, tmp_path, "always", 'op.execute("SELECT * FROM nowhere")')
        with pytest.raises(StorageError, match="no such table: nowhere"):
            open_engine(url_of(file))
    assert rows(Library(open_engine(url_of(file)))) == before


def test_processes_that_start_at_once_create_one_database(url: str) -> None:
    code = "import sys; from storage.database import open_engine; open_engine(sys.argv[1])"
    started = [
        subprocess.Popen([sys.executable, "-c", code, url], cwd=ROOT, env=os.environ, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [process.communicate()[1] for process in started] == [""] * 4
    assert [process.returncode for process in started] == [0] * 4
    engine = open_engine(url)
    with reading(engine) as connection:
        assert connection.execute(text(f"SELECT count(*) FROM {upgrade.VERSION_TABLE}")).scalar() == 1
    engine.dispose()


def test_a_start_with_nothing_to_do_does_not_load_alembic(file: Path) -> None:
    open_engine(url_of(file)).dispose()
    code = "import sys; from storage.database import open_engine as o; o(sys.argv[1]); print('alembic' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code, url_of(file)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "False\n"


def test_a_file_that_is_gone_is_told_until_it_is_back(tmp_path: Path) -> None:
    file, away = tmp_path / "library.db", tmp_path / "away.db"
    store = Library(open_engine(url_of(file)))
    store.configs.save("one", KEPT)
    file.rename(away)
    for ask in (store.ping, store.configs.list, lambda: store.configs.save("two", KEPT), store.ping):
        with pytest.raises(StorageError, match="was moved, replaced or deleted while it was in use"):
            ask()
    assert not file.exists()
    away.rename(file)
    assert [saved.name for saved in store.configs.list()] == ["one"]
    store.configs.save("two", KEPT)
    assert store.ping() == 0


def test_another_file_in_the_place_of_the_one_that_was_opened_is_refused(tmp_path: Path) -> None:
    """What is remembered of the first one, of runs that go on for instance, is not of the other."""
    file, other = tmp_path / "library.db", tmp_path / "other.db"
    store, second = Library(open_engine(url_of(file))), Library(open_engine(url_of(other)))
    second.configs.save("other", KEPT)
    second.engine.dispose()
    assert store.configs.list() == []
    other.replace(file)
    for _ in range(3):
        with pytest.raises(StorageError, match="was moved, replaced or deleted"):
            store.configs.list()
    assert [saved.name for saved in Library(open_engine(url_of(file))).configs.list()] == ["other"]


def test_a_new_thread_makes_no_empty_file_in_the_place_of_one_that_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "library.db"
    store = Library(open_engine(url_of(file)))
    store.engine.dispose()
    file.unlink()
    with pytest.raises(StorageError, match="was moved, replaced or deleted"):
        store.ping()
    assert not file.exists()
