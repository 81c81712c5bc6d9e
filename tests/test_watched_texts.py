"""Texts beside a transcript: what is cheap to look for first never hides what a whole look would find."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.copied_lines import lines_of
from core.normal_text import normal
from core.reference_classes import ReferenceClass
from core.references import references_of
from core.text_index import TextIndex, longest_word
from core.watched_texts import LINE, Use, plain, stands_in, watch_word

PIECES = (
    "C:\\work\\data\\run.py",
    "C:/work/data/run.py",
    "c:/数据/表.csv",
    "/srv/数据/表.csv",
    "/srv/app/main.py",
    "see is\\_open and obj.foo_bar()",
    "https://example.org/a-b/c?id=42",
    "《长安十二时辰》 and “两个词”",
    '"two words: here"',
    '"two\n words: here"',
    "issue #1234, pulls/1234, ABC-77",
    "Exit Code 1 and exit code 1",
    "12 March 2026, 1,234 kB, 42 %",
    "A@Example.org 0x1f2e 9f8e7d6c5b4a",
    "123e4567-e89b-12d3-a456-426614174000",
    "\x1b[31mfoo_bar\x1b[0m",
)
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map(" ".join)


def told(use: Use, text: str) -> bool:
    return stands_in(use, watch_word(use), plain(text))


@given(TEXTS, TEXTS)
def test_a_reference_is_found_as_in_a_whole_look(said: str, text: str) -> None:
    uses = [Use(made.kind, form) for made in references_of(normal(said)) for form in made.forms]
    index = TextIndex(normal(text))
    assert [told(use, text) for use in uses] == [index.holds(*use) for use in uses]


@given(st.lists(st.sampled_from([*PIECES, "    return the_value_of(the_first_line)", "- 12: x"]), max_size=5))
def test_a_line_is_found_as_in_a_whole_look(lines: list[str]) -> None:
    text = "\n".join(lines)
    wanted = [line for piece in (*PIECES, "return the_value_of(the_first_line)") for line in lines_of(normal(piece))]
    known = lines_of(normal(text))
    assert [told(Use(LINE, line), text) for line in wanted] == [line in known for line in wanted]


@pytest.mark.parametrize(
    ("form", "word"),
    [
        ("/srv/app/main.py", "main"),
        ("c:/数据", ""),
        ("两个词", ""),
        ("foo_bar", "foo_bar"),
        ("#12", "12"),
    ],
)
def test_the_longest_word_of_a_form(form: str, word: str) -> None:
    assert longest_word(form) == word


def test_a_class_whose_spelling_differs_is_looked_for_whole() -> None:
    assert told(Use(ReferenceClass.EMAIL, "a@example.org"), "ask A@Example.ORG")
    assert told(Use(ReferenceClass.NUMBER, "1234"), "1,234 of them")
    assert not told(Use(ReferenceClass.NUMBER, "1234"), "11,234 of them")
