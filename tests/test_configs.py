"""Configurations are kept in all versions, just as they were saved, and only if they can be loaded."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from core.errors import ConfigError
from storage.errors import NotFound
from storage.library import Library
from tests.stores import library, url

__all__ = ["library", "url"]


def body(keep: int = 4) -> dict[str, Any]:
    return {"strategy": {"keep_turns": keep, "kind": "keep_last"}, "name": "名", "budget": {"soft_limit": None}}


def test_a_version_is_kept_as_it_was_saved(library: Library) -> None:
    saved = library.configs.save("support", body(), note="first try")
    assert (saved.name, saved.version, saved.note) == ("support", 1, "first try")
    loaded = library.configs.get("support")
    assert loaded == saved
    assert json.dumps(loaded.body) == json.dumps(body())


def test_a_change_is_the_next_version(library: Library) -> None:
    saved = [library.configs.save("support", body(keep)) for keep in (4, 5, 4)]
    assert [one.version for one in saved] == [1, 2, 3]
    assert [one.version for one in library.configs.versions("support")] == [3, 2, 1]
    assert library.configs.get("support", 2).body == body(5)
    assert library.configs.get("support").version == 3


def test_saving_the_newest_version_again_changes_nothing(library: Library) -> None:
    first = library.configs.save("support", body(), note="first")
    assert library.configs.save("support", body(), note="again") == first
    assert len(library.configs.versions("support")) == 1


def test_the_time_of_an_export_makes_no_version(library: Library) -> None:
    def exported(moment: str, calls: int) -> dict[str, Any]:
        return {**body(), "provenance": {"exported_at": moment, "transcripts": [{"sha256": "a", "calls": calls}]}}

    first = library.configs.save("support", exported("2026-03-14T15:09:26Z", 3))
    assert library.configs.save("support", exported("2026-03-15T15:09:26Z", 3)) == first
    assert library.configs.save("support", exported("2026-03-15T15:09:26Z", 4)).version == 2


def test_a_name_that_is_too_long_is_refused_and_none_is_cut(library: Library) -> None:
    with pytest.raises(ConfigError, match=r"name.*has 250 characters, 50 more than the 200 that fit\."):
        library.configs.save("n" * 250, body())
    assert library.configs.list() == []
    assert library.configs.save("n" * 200, body()).name == "n" * 200


def test_the_list_has_the_newest_version_of_each_name(library: Library) -> None:
    for name, keep in (("a", 1), ("b", 2), ("a", 3)):
        library.configs.save(name, body(keep))
    assert [(one.name, one.version) for one in library.configs.list()] == [("a", 2), ("b", 1)]


def test_deleting_a_name_deletes_all_its_versions(library: Library) -> None:
    for keep in (1, 2):
        library.configs.save("a", body(keep))
    library.configs.save("b", body())
    library.configs.delete("a")
    assert [one.name for one in library.configs.list()] == ["b"]
    assert library.configs.versions("a") == []
    assert library.configs.save("a", body()).version == 1


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda configs: configs.get("none"), "There is no configuration 'none' here."),
        (lambda configs: configs.get("support", 2), "There is no version 2 of the configuration 'support' here."),
        (lambda configs: configs.delete("none"), "There is no configuration 'none' here."),
    ],
)
def test_what_is_not_there_is_said(ask, said: str, library: Library) -> None:
    library.configs.save("support", body())
    with pytest.raises(NotFound) as raised:
        ask(library.configs)
    assert str(raised.value).startswith(said)


@pytest.mark.parametrize(
    ("name", "given", "key"),
    [
        ("x", {}, "strategy"),
        ("x", {"strategy": {"kind": "keep_lst"}}, "strategy.kind"),
        ("x", {"strategy": {"kind": "keep_last", "keep_turn": 4}}, "strategy.keep_turn"),
        ("x", {**body(), "budgt": {}}, "budgt"),
        ("", body(), "name"),
        ("  ", body(), "name"),
    ],
)
def test_what_cannot_be_loaded_is_not_kept(name: str, given: dict[str, Any], key: str, library: Library) -> None:
    with pytest.raises(ConfigError) as raised:
        library.configs.save(name, given)
    assert raised.value.key.startswith(key)
    assert library.configs.list() == []


def test_versions_saved_at_once_count_on(library: Library) -> None:
    def work(keep: int) -> None:
        library.configs.save("support", body(keep))

    threads = [threading.Thread(target=work, args=(keep,)) for keep in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    versions = library.configs.versions("support")
    assert [one.version for one in versions] == [8, 7, 6, 5, 4, 3, 2, 1]
    assert len({json.dumps(one.body) for one in versions}) == 8
