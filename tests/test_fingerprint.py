"""Kept figures are made anew with every change of the engine's source."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import ENGINE_VERSION
from core.fingerprint import engine_fingerprint, source_hash
from core.scorecard_key import Key


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "inner").mkdir()
    (tmp_path / "a.py").write_text("A = 1\n")
    (tmp_path / "inner" / "prices.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize("change", ["a.py", "inner/prices.json", "inner/new.py"])
def test_a_change_of_any_source_is_another_engine(change: str, source: Path) -> None:
    before = source_hash(source)
    (source / change).write_text("A = 2\n")
    assert source_hash(source) != before


def test_a_source_that_moves_is_another_engine(source: Path) -> None:
    before = source_hash(source)
    (source / "a.py").rename(source / "b.py")
    assert source_hash(source) != before


def test_what_is_no_source_changes_nothing(source: Path) -> None:
    before = source_hash(source)
    (source / "inner" / "a.cpython-311.pyc").write_bytes(b"compiled")
    assert source_hash(source) == before
    assert source_hash(source, "with an extra") != before


def test_scorecards_are_kept_by_engine() -> None:
    assert engine_fingerprint().startswith(f"{ENGINE_VERSION}+")
    assert Key("transcript", "configuration").engine == engine_fingerprint()
