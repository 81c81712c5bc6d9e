"""Previews are bounded, show no base64, and are text that any browser takes."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.parts.edge import JOINER, escaped
from pages.parts.previews import MOST_CHARACTERS, MOST_LINES, as_text, one_line, preview, without_base64

PICTURE = base64.b64encode(bytes(range(256)) * 8).decode()
WRAPPED = base64.encodebytes(bytes(range(256)) * 8).decode()


@given(st.text())
def test_a_preview_is_bounded_and_counts_what_is_left(text: str) -> None:
    shown = preview(text)
    assert len(shown.text) <= MOST_CHARACTERS
    assert shown.text.count("\n") <= MOST_LINES
    assert len(shown.text) + shown.characters_left == len(without_base64(text))
    shown.text.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "lines", "characters"),
    [("short", 0, 0), ("x" * 10_001, 1, 1), ("a\n" * 101, 1, 2), ("a\n" * 100, 0, 0), ("", 0, 0)],
)
def test_what_is_left_is_counted(text: str, lines: int, characters: int) -> None:
    shown = preview(text)
    assert (shown.lines_left, shown.characters_left, shown.cut) == (lines, characters, characters > 0)


@pytest.mark.parametrize(
    "text",
    [PICTURE, WRAPPED, f"data:image/png;base64,{PICTURE}", json.dumps({"data": PICTURE}), f"before {PICTURE} after"],
    ids=["plain", "wrapped", "data url", "in JSON", "in a sentence"],
)
def test_base64_is_named_by_its_length(text: str) -> None:
    shown = without_base64(text)
    assert "not shown]" in shown
    assert len(shown) < 120


@pytest.mark.parametrize(
    "text", ["word " * 200, "-" * 400, "a" * 600, "https://example.org/" + "path/" * 30, "0123456789abcdef" * 8]
)
def test_other_long_texts_are_kept(text: str) -> None:
    assert without_base64(text) == text


def test_a_very_long_text_is_read_at_its_beginning_only() -> None:
    text = "word\n" * 2_000_000
    shown = preview(text)
    assert (shown.text.count("\n"), shown.lines_left) == (100, 1_999_900)
    assert shown.characters_left == len(text) - 500


def test_a_long_text_takes_no_long_time() -> None:
    assert len(without_base64(("A" * 255 + " ") * 4000)) == 256 * 4000


@pytest.mark.parametrize(
    ("text", "line"), [("a\n  b\tc", "a b c"), ("x" * 200, "x" * 119 + "…"), ("", ""), ("\ud800\0", "?\ufffd")]
)
def test_one_line_is_one_line(text: str, line: str) -> None:
    assert one_line(text) == line


@given(st.text(alphabet="\\`*_{}[]()<>#+-!|~$:abc \n"))
def test_escaped_text_has_no_sign_without_a_backslash(text: str) -> None:
    plain = escaped(text)
    unescaped = plain.replace("\\\\", "").replace("\\", "\0")
    assert not any(sign in unescaped.replace(f"\0{sign}", "") for sign in "`*_{}[]()<>#+!|~$:")


def test_json_keeps_its_order_and_its_letters() -> None:
    assert as_text({"b": "ü", "a": [1]}) == '{\n  "b": "ü",\n  "a": [\n    1\n  ]\n}'


@pytest.mark.parametrize(
    ("text", "parted"),
    [
        ("see https://example.com/a", "see https:|//example.com/a"),
        ("HTTP://example.com www.example.com", "HTTP:|//example.com www|.example.com"),
        ("ann@example.com", "ann@|example.com"),
        (":rocket: :material/home: :streamlit:", ":|rocket: :|material/home: :|streamlit:"),
        ("a -> b <- c <-> d", "a -|> b <|- c <|-> d"),
        ("-- >= <= ~=", "-|- >|= <|= ~|="),
        ("a->b x--y 12:30 a: b @ www", "a->b x--y 12:30 a: b @ www"),
    ],
)
def test_what_a_page_would_change_in_spite_of_escapes_is_parted(text: str, parted: str) -> None:
    assert escaped(text).replace("\\", "").replace(JOINER, "|") == parted


@pytest.mark.parametrize("sign", ["\u202e", "\u202a", "\u2066", "\u2069"])
def test_signs_of_direction_do_not_leave_a_text(sign: str) -> None:
    assert escaped(f"a{sign}b") == "ab"
