"""References of responses are found once: at import, and kept for every later process until the extractor changes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from core import references as extractor
from core.transcript import Transcript
from core.uses import Uses
from storage import references as kept
from storage.database import open_engine
from storage.importing import import_path
from storage.library import Exchange, Library
from tests.runs import run, says, user, uses
from tests.stores import ROOT, anthropic_run, library, openai_body, openai_response, openai_run, url

__all__ = ["library", "url"]

SAMPLES = [path for path in sorted((ROOT / "sample_data").glob("*.json*")) if path.name != "configuration.json"]


@pytest.fixture(autouse=True)
def fresh_process() -> Iterator[None]:
    """Forget what this process has extracted, as a new one would know nothing."""
    extractor._MEMO.clear()
    yield
    extractor._MEMO.clear()


def stored(library: Library) -> set[tuple[bytes, str]]:
    with library.engine.begin() as connection:
        rows = connection.execute(text("SELECT hash, counter FROM analysis WHERE counter LIKE 'references:%'"))
        return {(bytes(key), counter) for key, counter in rows}


def found(transcript: Transcript) -> list[Any]:
    return [(call.extracted, call.used, call.copied) for call in Uses(transcript).calls]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_new_process_extracts_nothing_and_finds_the_same(path: Path, library: Library) -> None:
    import_path(library, path)
    transcript = library.get(number := library.list()[0].id)
    extractor._MEMO.clear()
    expected, extracted = found(transcript), dict(extractor._MEMO)
    extractor._MEMO.clear()
    assert library.references.bring(transcript, number) == 0
    assert extracted == extractor._MEMO
    assert all(type(made) is extractor.Reference for references in extracted.values() for made in references)
    assert found(transcript) == expected
    assert extractor._MEMO.keys() == extracted.keys()  # nothing more was extracted
    assert sum(map(len, extracted.values())) > 0


def test_what_is_no_text_of_a_response_is_not_kept(library: Library) -> None:
    number = library.add(run([user("See docs/guide.md."), says("See shop/prices.py."), says("See shop/prices.py.")])).id
    [(key, counter)] = stored(library)
    assert counter == kept.counter()
    assert [[made.key for made in references] for references in extractor._MEMO.values()] == [["shop/prices.py"]]
    assert library.analyses.get(counter, [key]) == {key: [["path", "shop/prices.py", "prices.py"]]}
    library.delete(number)
    assert stored(library) == set()


def test_the_same_words_are_kept_apart_as_prose_and_as_arguments(library: Library) -> None:
    transcript = run([user("Go."), uses("c1", "look", place="shop/prices"), says("shop/prices")])
    number = library.add(transcript).id
    expected = dict(extractor._MEMO)
    assert sorted(map(len, expected.values())) == [0, 1]
    extractor._MEMO.clear()
    assert library.references.bring(transcript, number) == 0
    assert {key: value for key, value in extractor._MEMO.items() if key in expected} == expected


def test_another_extractor_finds_them_anew(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    first, other = library.add(openai_run(3)).id, library.add(anthropic_run()).id
    before = stored(library)
    monkeypatch.setattr(kept, "version", lambda: "another")
    assert library.references.bring(library.get(first), first) == 3
    assert library.references.bring(library.get(first), first) == 0
    after = stored(library)
    assert {key for key, counter in after if counter == "references:another"} < {key for key, _ in before}
    assert len(after) == len(before)  # those of the older version went
    library.delete(first)
    assert {counter for _, counter in stored(library)} == {f"references:{before.pop()[1].partition(':')[2]}"}
    library.delete(other)


@pytest.mark.parametrize("name", ["references.py", "reference_words.json", "normal_text.py", "reference_new.py"])
def test_the_version_changes_with_the_source(name: str, tmp_path: Path) -> None:
    for path in [*(ROOT / "core").glob("reference*"), ROOT / "core" / "normal_text.py"]:
        shutil.copyfile(path, tmp_path / path.name)
    before = kept.source_hash(tmp_path)
    assert (kept.source_hash(tmp_path), len(before)) == (before, 16)
    (tmp_path / "replay.py").write_text("no part of the extractor")
    assert kept.source_hash(tmp_path) == before
    with (tmp_path / name).open("a") as file:
        file.write(" ")
    assert kept.source_hash(tmp_path) != before


def test_a_captured_run_that_grows_extracts_what_is_new(library: Library) -> None:
    number = library.append_call(Exchange(openai_body(1), openai_response(0))).transcript
    assert stored(library) == set()  # a capture does not wait for it
    assert library.references.bring(library.get(number), number) == 1
    library.append_call(Exchange(openai_body(2), openai_response(1)))
    assert library.references.bring(library.get(number), number) == 1
    assert len(stored(library)) == 2


def test_a_transcript_that_was_deleted_meanwhile_leaves_nothing(library: Library) -> None:
    transcript = library.get(number := library.add(openai_run(3)).id)
    library.delete(number)
    assert library.references.bring(transcript, number) == 3
    assert stored(library) == set()


def test_a_database_that_may_only_be_read_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    writable = Library(open_engine(f"sqlite:///{path}"))
    number = writable.append_call(Exchange(openai_body(1), openai_response(0))).transcript
    writable.engine.dispose()
    library = Library(open_engine(f"sqlite:///file:{path}?mode=ro&uri=true"))
    transcript = library.get(number)
    assert [library.references.bring(transcript, number) for _ in range(2)] == [1, 1]
    assert stored(library) == set()


def test_the_memory_is_not_filled_beyond_its_bound(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    transcript = library.get(number := library.add(openai_run(4)).id)
    monkeypatch.setattr(extractor, "_MOST_MEMOS", 5)
    extractor._MEMO.clear()
    extractor.references_of("See shop/prices.py.")
    extractor.references_of("See shop/orders.py.")
    library.references.bring(transcript, number)
    assert len(extractor._MEMO) == 4
