from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import marks
from core.excerpt import EXCERPT_LENGTH, excerpt, head, summary_text
from tests.cases import case_file, chat

PITFALL = next(p for p in case_file("summarise_keep_cases.json")["pitfalls"] if p["id"] == "P3")


@pytest.mark.parametrize("case", PITFALL["cases"], ids=lambda case: case["text"][:12])
def test_numbers_of_results_go_and_names_stay(case: dict[str, Any]) -> None:
    words = excerpt(case["text"])
    assert not [gone for gone in case["must_not_contain"] if gone in words]
    assert not [stays for stays in case["must_contain"] if stays not in words]
    assert len(words) <= EXCERPT_LENGTH


def test_a_cut_splits_no_number() -> None:
    case = PITFALL["cut_case"]
    assert head(case["text"]).endswith(case["published_head_ends_with"])
    assert not re.search(r"\d", excerpt(case["text"]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("a  b\n\tc", "a b c"),
        ("cost $1,299.50 in all", "cost  in all"),
        ("took 35ms, then 2 hours", "took , then "),
        ("12GB of 64 GiB", " of "),
        ("up 12.5%", "up "),
        ("order A-1009 from 2026-03-04", "order A-1009 from 2026-03-04"),
        ("see /srv/2024/a and v1.2.3", "see /srv/2024/a and v1.2.3"),
        ("step 3: done", "step : done"),
        ("issue #42 and E0432", "issue #42 and E0432"),
        ("第 3 轮，第5次", "第 3 轮，第5次"),
        ("http://host:8080/x", "http://host:8080/x"),
        ("node-07 and nas02", "node-07 and nas02"),
        ("sha 9f3a7c2b1d", "sha 9f3a7c2b1d"),
        ("共 140 条", "共 "),
    ],
)
def test_what_counts_as_a_number(text: str, words: str) -> None:
    assert excerpt(text) == words


@pytest.mark.parametrize("length", [38, 39, 40, 41, 42, 43])
def test_a_number_across_the_cut_is_left_out_whole(length: int) -> None:
    text = "x" * (length - 3) + " 6384 more words"
    assert excerpt(text) in (
        "x" * (length - 3) + " ",
        "x" * (length - 3) + "  more words"[: 40 - (length - 3)],
        "x" * 40,
    )
    assert not re.search(r"\d", excerpt(text))


def test_published_figures_of_the_conversation() -> None:
    assert head(chat()[18]["content"]) in chat()[18]["content"].replace("\n", " ")
    assert "63 条" in head(chat()[18]["content"])
    assert "63" not in excerpt(chat()[18]["content"])


def test_summary_text() -> None:
    text = summary_text("asked about disks", 90)
    assert text == "[summary] asked about disks… (was ~90 tokens)"
    assert marks.is_summary(text)


@given(st.text(max_size=300), st.integers(1, 60))
def test_head_is_the_start_of_the_words(text: str, length: int) -> None:
    words = " ".join(text.split())
    assert head(text, length) == words[:length]


@given(st.text(st.sampled_from("ab 0123456789.,%$#-/第条GBms\n"), max_size=90))
def test_an_excerpt_is_short_and_takes_only_away(text: str) -> None:
    words = excerpt(text)
    assert len(words) <= EXCERPT_LENGTH
    rest = iter(" ".join(text.split()))
    assert all(character in rest for character in words), "nothing is added or moved"


def test_a_long_text_with_a_blank_beginning() -> None:
    assert head(" " * 5000 + "late words " * 9) == ("late words " * 9)[:40]
