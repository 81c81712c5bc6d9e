"""What the Library page says before and after a transcript is renamed, or some are deleted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pages.parts.library_dialogs import deletion, name_problems
from storage import Library
from tests.pages_app import sample_database, store

__all__ = ["sample_database", "store"]

LONG = "x" * 201


@pytest.mark.parametrize(
    ("title", "tags", "said"),
    [
        ("fine", ["a", "b"], []),
        ("y" * 200, ["z" * 200], []),
        ("  ", ["a"], ["The title is empty. Give it one."]),
        (LONG, ["a"], ["The title has 201 characters, 1 more than the 200 that fit. Shorten it."]),
        (
            f" {LONG} ",
            [" short", f" *b*{LONG}"],
            [
                "The title has 201 characters, 1 more than the 200 that fit. Shorten it.",
                "The tag that begins with “*b*xxxxxxxxxxxxxxxxx” has 204 characters, 4 more than the 200 that fit."
                " Shorten it.",
            ],
        ),
    ],
)
def test_names_that_are_too_long_are_sentences(store: Library, title: str, tags: list[str], said: list[str]) -> None:
    problems = name_problems(store.list(limit=1)[0], title, tags)
    assert [problem.replace("\\", "") for problem in problems] == said


def test_a_title_of_a_recording_may_stay_as_it_is(store: Library) -> None:
    summary = replace(store.list(limit=1)[0], title=LONG)
    assert name_problems(summary, LONG, ["a"]) == []
    assert name_problems(replace(summary, title=""), "", ["a"]) == []
    assert len(name_problems(summary, f"{LONG}!", [])) == 1


@pytest.mark.parametrize(
    ("asked", "deleted", "sentence"),
    [
        (1, 1, "1 transcript was deleted."),
        (3, 3, "3 transcripts were deleted."),
        (3, 1, "1 transcript was deleted. 2 were gone already."),
        (2, 1, "1 transcript was deleted. 1 was gone already."),
    ],
)
def test_what_is_said_of_a_deletion(asked: int, deleted: int, sentence: str) -> None:
    assert deletion(asked, deleted) == sentence
