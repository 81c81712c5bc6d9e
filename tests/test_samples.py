"""Samples are loaded once into each database, and a deleted one stays deleted."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from storage.library import Library
from storage.samples import FOLDER, load_samples
from tests.stores import library, openai_body, url

__all__ = ["library", "url"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    samples = tmp_path / "samples"
    samples.mkdir()
    (samples / "README.md").write_text("About the samples")
    (samples / "one.json").write_text(json.dumps(openai_body(3)))
    (samples / "two.jsonl").write_text("\n".join(json.dumps(openai_body(call, note=" 2")) for call in (1, 2)))
    return samples


def test_samples_are_loaded_once(library: Library, folder: Path) -> None:
    assert load_samples(library, folder) == 2
    assert [(one.source, one.tags) for one in library.list()] == [("two.jsonl", ("sample",)), ("one.json", ("sample",))]
    assert load_samples(library, folder) == 0
    assert library.count() == 2


def test_a_deleted_sample_stays_deleted_and_a_new_one_is_added(library: Library, folder: Path) -> None:
    load_samples(library, folder)
    library.delete(library.list("one.json")[0].id)
    assert load_samples(library, folder) == 0
    assert library.count("one.json") == 0
    (folder / "three.json").write_text(json.dumps(openai_body(4, note=" 3")))
    assert load_samples(library, folder) == 1
    assert library.count() == 2


def test_a_configuration_among_the_samples_is_saved_as_one(library: Library, folder: Path) -> None:
    body = {"name": "short", "strategy": {"kind": "keep_last", "keep_turns": 2}}
    (folder / "configuration.json").write_text(json.dumps(body))
    assert load_samples(library, folder) == 3
    assert [(one.name, one.body) for one in library.configs.list()] == [("short", body)]
    library.configs.delete("short")
    assert load_samples(library, folder) == 0


@pytest.mark.parametrize("content", ["no JSON at all", '{"strategy": {"kind": "none such"}}', '{"a": 1}', "[]"])
def test_a_sample_that_cannot_be_read_is_logged_and_stops_nothing(
    content: str, library: Library, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "a_first.json").write_text(content)
    with caplog.at_level(logging.WARNING):
        assert load_samples(library, folder) == 2
    assert "a_first.json" in caplog.text
    assert library.count() == 2


def test_without_a_folder_there_are_no_samples(library: Library, tmp_path: Path) -> None:
    assert load_samples(library, tmp_path / "none") == 0


def test_all_samples_of_the_repository_load(library: Library, caplog: pytest.LogCaptureFixture) -> None:
    files = [path for path in FOLDER.iterdir() if path.suffix in (".json", ".jsonl")]
    with caplog.at_level(logging.WARNING):
        assert load_samples(library) == len(files) > 3
    assert caplog.text == ""
    assert {summary.source for summary in library.list()} | {"configuration.json"} == {path.name for path in files}
