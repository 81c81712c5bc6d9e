"""Scorecards are kept by transcript, configuration and engine, go with their transcript, and are never half read."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, text

from core.replay import replay
from core.scorecard import Scorecard, scorecard
from core.scorecard_key import Key, scorecard_key
from core.transcript import Transcript
from storage import upgrade
from storage.database import open_engine
from storage.errors import StorageError
from storage.library import Exchange, Library
from tests.stores import anthropic_run, library, openai_body, openai_response, openai_run, rows, url

__all__ = ["library", "url"]

KEEP: dict[str, Any] = {"strategy": {"kind": "keep_last", "keep_messages": 2}, "budget": {"soft_limit": 60}}
FULL: dict[str, Any] = {"strategy": {"kind": "full_history"}}


def judged(library: Library, transcript_id: int, config: dict[str, Any] = KEEP) -> Scorecard:
    return scorecard(replay(library.get(transcript_id), config))


def stored(library: Library) -> int:
    with library.engine.begin() as connection:
        return int(connection.execute(text("SELECT count(*) FROM scorecard")).scalar_one())


@pytest.mark.parametrize("make", [openai_run, anthropic_run])
@pytest.mark.parametrize("config", [KEEP, FULL], ids=["keep", "full"])
def test_a_scorecard_comes_back_as_it_was(
    make: Callable[[], Transcript], config: dict[str, Any], library: Library
) -> None:
    transcript = library.add(make()).id
    card = judged(library, transcript, config)
    assert library.scorecards.get(card.key) is None
    library.scorecards.put(card, transcript)
    assert library.scorecards.get(card.key) == card


@pytest.mark.parametrize("spoken", ["anthropic", "gemini"])
@pytest.mark.parametrize("noted", [True, False])
def test_the_key_of_a_loaded_transcript_can_be_made_with_the_sha256_in_the_list(
    noted: bool, spoken: str, library: Library
) -> None:
    given = anthropic_run() if noted else replace(anthropic_run(), notes=(), meta={})
    assert not noted or (given.notes and given.meta)
    transcript = library.add(given).id
    made = replay(library.get(transcript), {**KEEP, "model": {"dialect": spoken}})
    sha256 = library.summary(transcript).sha256
    assert scorecard_key(made) == scorecard_key(made, sha256)
    assert (scorecard_key(made).transcript == sha256) is not noted


def test_what_is_noted_later_asks_for_another_scorecard(library: Library) -> None:
    transcript = library.add(anthropic_run()).id
    before = judged(library, transcript)
    library.scorecards.put(before, transcript)
    library.note([transcript], "3 tool results were truncated")
    after = judged(library, transcript)
    assert after.key != before.key
    assert library.scorecards.get(after.key) is None
    library.scorecards.put(after, transcript)
    assert library.scorecards.get(before.key) is None and library.scorecards.get(after.key) == after


def test_another_configuration_transcript_or_engine_has_none(library: Library) -> None:
    transcript = library.add(openai_run()).id
    card = judged(library, transcript)
    library.scorecards.put(card, transcript)
    other = judged(library, transcript, FULL).key
    for key in (other, replace(card.key, transcript="0" * 64), replace(card.key, engine="1.0.1")):
        assert library.scorecards.get(key) is None
    library.scorecards.put(replace(card, key=other), transcript)
    assert library.scorecards.get(card.key) == card
    assert stored(library) == 2


def test_a_new_scorecard_takes_the_place_of_the_old_one(library: Library) -> None:
    transcript = library.add(openai_run()).id
    card = judged(library, transcript)
    library.scorecards.put(replace(card, prices="USD, genai-prices 0.0.0"), transcript)
    library.scorecards.put(card, transcript)
    assert library.scorecards.get(card.key) == card
    assert stored(library) == 1


def test_those_of_another_engine_go_when_the_transcript_is_judged_anew(library: Library) -> None:
    first, second = library.add(openai_run()).id, library.add(anthropic_run()).id
    cards = {number: judged(library, number) for number in (first, second)}
    old = {number: replace(card, key=replace(card.key, engine="0.9")) for number, card in cards.items()}
    for number, card in old.items():
        library.scorecards.put(card, number)
    library.scorecards.put(cards[first], first)
    assert [library.scorecards.get(old[number].key) for number in (first, second)] == [None, old[second]]


def test_a_captured_run_that_grows_is_judged_anew(library: Library) -> None:
    number = library.append_call(Exchange(openai_body(1), openai_response(0))).transcript
    before = judged(library, number)
    library.scorecards.put(before, number)
    library.append_call(Exchange(openai_body(2), openai_response(1)))
    after = judged(library, number)
    assert (before.calls, after.calls) == (1, 2)
    assert library.scorecards.get(after.key) is None
    library.scorecards.put(after, number)
    assert library.scorecards.get(after.key) == after
    assert stored(library) == 1


def test_a_deleted_transcript_takes_its_scorecards_along(library: Library) -> None:
    first, second = library.add(openai_run()).id, library.add(anthropic_run()).id
    for number in (first, second):
        for config in (KEEP, FULL):
            library.scorecards.put(judged(library, number, config), number)
    kept, gone = judged(library, first), judged(library, second)
    library.delete(second)
    assert library.scorecards.get(gone.key) is None
    assert library.scorecards.get(kept.key) == kept
    assert stored(library) == 2
    library.scorecards.put(gone, second)  # worked out while somebody deleted the transcript
    assert library.scorecards.get(gone.key) is None


def test_what_another_version_wrote_is_passed_over(library: Library) -> None:
    transcript = library.add(openai_run()).id
    card = judged(library, transcript)
    library.scorecards.put(card, transcript)
    with library.engine.begin() as connection:
        connection.execute(text("""UPDATE scorecard SET value = '{"key": {}, "peak": 7}'"""))
    assert library.scorecards.get(card.key) is None
    library.scorecards.put(card, transcript)
    assert library.scorecards.get(card.key) == card


def test_a_database_of_the_first_version_gets_the_table_and_keeps_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    first = tmp_path / "migrations"
    shutil.copytree(upgrade.MIGRATIONS, first, ignore=shutil.ignore_patterns("000[2-9]_*"))
    with monkeypatch.context() as patched:
        patched.setattr(upgrade, "MIGRATIONS", first)
        patched.setattr(upgrade, "HEAD", "0001")
        older = Library(open_engine(url))
        number = older.add(anthropic_run()).id
        before = rows(older)
        assert "scorecard" not in inspect(older.engine).get_table_names()
        older.engine.dispose()
    library = Library(open_engine(url))
    assert rows(library) == before
    library.scorecards.put(card := judged(library, number), number)
    assert library.scorecards.get(card.key) == card
    library.engine.dispose()


def test_a_database_that_may_only_be_read_gives_and_takes_none(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    writable = Library(open_engine(f"sqlite:///{path}"))
    transcript = writable.add(openai_run()).id
    card = judged(writable, transcript)
    writable.scorecards.put(card, transcript)
    writable.engine.dispose()
    library = Library(open_engine(f"sqlite:///file:{path}?mode=ro&uri=true"))
    assert library.scorecards.get(card.key) == card
    with pytest.raises(StorageError, match="cannot be written"):
        library.scorecards.put(replace(card, key=Key(card.key.transcript, "0" * 64)), transcript)
