"""Counts are tiktoken's own, pieces add up to the whole, and no text makes counting fail."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import exact_count, tokens
from core.cuts import cut_points, is_cut, parts
from core.errors import ConfigError
from core.exact_count import count_exactly
from core.tokens import (
    Chars4,
    CjkEstimate,
    Counter,
    Exactness,
    TiktokenCounter,
    counter_for_model,
    counter_from,
    encoding,
)

ENCODING_NAMES = ["o200k_base", "cl100k_base", "o200k_harmony"]
COUNTERS: list[Counter] = [
    TiktokenCounter("o200k_base"),
    TiktokenCounter("cl100k_base"),
    TiktokenCounter("o200k_base", 1.2),
    TiktokenCounter("o200k_base", 0.37),
    CjkEstimate(),
    Chars4(),
]
# What prompts are made of, with everything that the split patterns treat in their own way.
WORDS = [
    "word",
    "Word",
    "it's",
    "中文",
    "é",
    "1234",
    "!",
    "</x>",
    "/",
    "\\n",
    "😀",
    "\ud83d",
    "\ude00",
    "<|endoftext|>",
    "x",
]
SPACES = [" ", "  ", "\n", "\r\n", "\n\n", "\t", "\u3000", "\x85", "\x1c", "\u2028"]
texts = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS + SPACES), max_size=40).map("".join))


def by_key(counter: Counter) -> str:
    return counter.key


@pytest.mark.parametrize(
    ("text", "o200k", "cl100k"),
    [
        ("", 0, 0),
        ("hello world", 2, 2),
        ("The quick brown fox, 中文.", 7, 8),
        ("<|endoftext|>", 7, 7),
        ("\ud800", 1, 1),
    ],
)
def test_exact_counts(text: str, o200k: int, cl100k: int) -> None:
    assert TiktokenCounter("o200k_base").count(text) == o200k
    assert TiktokenCounter("cl100k_base").count(text) == cl100k


@given(texts)
def test_exact_count_is_that_of_tiktoken(text: str) -> None:
    for name in ENCODING_NAMES:
        assert TiktokenCounter(name).count(text) == len(encoding(name).encode_ordinary(text))


@pytest.mark.parametrize(
    ("scale", "text", "expected"),
    [
        (1.2, "hello world", 2),
        (1.25, "hello world", 3),
        (1.5, "hello", 2),
        (1.49, "hello", 1),
        (0.1, "hello world", 0),
        (100, "hello world", 200),
        (1.2, "", 0),
    ],
)
def test_scaled_count_rounds_half_up(scale: float, text: str, expected: int) -> None:
    assert TiktokenCounter("o200k_base", scale).count(text) == expected


@pytest.mark.parametrize("scale", [0, -1, 100.1, math.inf, math.nan])
def test_unusable_scale(scale: float) -> None:
    with pytest.raises(ConfigError, match=r"^counter\.scale: .* is not a usable factor"):
        TiktokenCounter("o200k_base", scale)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("中", 1),
        ("中" * 5, 3),
        ("中" * 15, 9),
        ("，" * 4, 1),
        ("😀", 1),
        ("😀" * 3, 2),
        ("一龥", 2),  # the first and the last character of the range
        ("\u4dff\u9fa6", 1),  # their neighbours outside
        ("\ud83d\ude00", 1),
        ("\ud800" * 5, 2),
        ("中a", 1),
        ("中abc", 2),
    ],
)
def test_cjk_estimate_follows_rule_b_p1(text: str, expected: int) -> None:
    assert CjkEstimate().count(text) == expected


@given(texts)
def test_cjk_estimate_is_the_formula_of_rule_b_p1(text: str) -> None:
    cjk = sum(0x4E00 <= ord(character) <= 0x9FA5 for character in text)
    other = sum(2 if ord(character) > 0xFFFF else 1 for character in text) - cjk
    assert CjkEstimate().count(text) == math.ceil((12 * cjk + 5 * other) / 20)


@pytest.mark.parametrize(("text", "expected"), [("", 1), ("abc", 1), ("abcd", 1), ("abcdefg", 1), ("a" * 8, 2)])
def test_chars4_follows_rule_s_p2(text: str, expected: int) -> None:
    assert Chars4().count(text) == expected


@pytest.mark.parametrize(
    ("counter", "kind_of_figure", "frames", "message_overhead", "key"),
    [
        (TiktokenCounter("o200k_base"), Exactness.EXACT, True, 0, "tiktoken:o200k_base:1.0"),
        (TiktokenCounter("o200k_base", 1), Exactness.EXACT, True, 0, "tiktoken:o200k_base:1.0"),
        (TiktokenCounter("o200k_base", 1.2), Exactness.ESTIMATE, True, 0, "tiktoken:o200k_base:1.2"),
        (TiktokenCounter("o200k_base", assumed=True), Exactness.ESTIMATE, True, 0, "tiktoken:o200k_base:1.0"),
        (CjkEstimate(), Exactness.ESTIMATE, False, 4, "cjk_estimate"),
        (Chars4(), Exactness.ESTIMATE, False, 0, "chars4"),
    ],
)
def test_what_a_counter_says_of_itself(
    counter: Counter, kind_of_figure: Exactness, frames: bool, message_overhead: int, key: str
) -> None:
    stated = counter.exactness, counter.frames, counter.message_overhead, counter.key
    assert stated == (kind_of_figure, frames, message_overhead, key)


@pytest.mark.parametrize("counter", COUNTERS, ids=by_key)
@settings(max_examples=200)
@given(pieces=st.lists(texts, max_size=8))
def test_pieces_add_up_to_the_whole(counter: Counter, pieces: list[str]) -> None:
    counts = counter.pieces(pieces)
    assert len(counts) == len(pieces)
    assert all(count >= 0 for count in counts)
    assert sum(counts) == (counter.count("".join(pieces)) if pieces else 0)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([], []),
        (["hello world"], [2]),
        (["hello", " world"], [1, 1]),  # an exact cut: each piece as it is
        (["hel", "lo"], [1, 0]),  # "hello" is one token
        (["hello", "", " world", ""], [1, 0, 1, 0]),
        (["", ""], [0, 0]),
        (["one\n", "two"], [2, 1]),
        (["one\n", "\ntwo"], [2, 1]),  # the line breaks are one token together
    ],
)
def test_pieces_of_an_exact_counter(pieces: list[str], expected: list[int]) -> None:
    assert TiktokenCounter("o200k_base").pieces(pieces) == expected


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [([], []), ([""], [1]), (["", ""], [1, 0]), (["", "ab"], [0, 1]), (["ab", "cdefgh", ""], [1, 1, 0])],
)
def test_pieces_of_chars4(pieces: list[str], expected: list[int]) -> None:
    assert Chars4().pieces(pieces) == expected


def test_many_uncut_pieces_take_linear_time() -> None:
    counter = TiktokenCounter("o200k_base")
    pieces = [f"{number:04}abcdefgh" * 8 for number in range(10_000)]  # 960,000 characters without an exact cut
    assert sum(counter.pieces(pieces)) == counter.count("".join(pieces))


@given(texts)
def test_counts_on_both_sides_of_a_cut_add_up(text: str) -> None:
    cuts = list(cut_points(text))
    assert all(is_cut(text[:cut], text[cut:]) for cut in cuts)
    assert [cut for cut in range(1, len(text)) if is_cut(text[:cut], text[cut:])] == cuts
    for name in ENCODING_NAMES[:2]:
        count = TiktokenCounter(name).count
        for cut in cuts:
            assert count(text[:cut]) + count(text[cut:]) == count(text)


@pytest.mark.parametrize(
    ("text", "cuts"),
    [
        ("", []),
        ("a b", [1]),
        ("a  b", [1]),
        ("a\nb", [2]),
        ("a\n b", []),
        ("a\n/b", []),
        ("a\r\nb", [3]),
        ("\nb c", [1, 2]),
        ("a\tb", []),
        (" a", []),
        ("a ", [1]),
    ],
)
def test_cut_points(text: str, cuts: list[int]) -> None:
    assert list(cut_points(text)) == cuts


@given(texts, st.integers(1, 10))
def test_parts_join_to_the_text(text: str, size: int) -> None:
    found = list(parts(text, size))
    assert "".join(found) == text
    assert all(len(part) >= size for part in found[:-1])


@pytest.mark.parametrize("name", ENCODING_NAMES)
@settings(max_examples=300)
@given(text=st.lists(st.sampled_from([*WORDS, *SPACES, " ", "\n"]), max_size=30).map("".join))
def test_keeping_runs_from_the_pattern_changes_no_count(name: str, text: str) -> None:
    """The same code as for runs of 100,000 characters, with the limit lowered to 3."""
    pattern = re.compile(exact_count._LONG_RUN.pattern.replace("{100000,}", "{3,}"))
    assert pattern.pattern != exact_count._LONG_RUN.pattern
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_count, "_LONG_RUN", pattern)
        patch.setattr(exact_count, "_RUN_LIMIT", 3)
        patch.setattr(exact_count, "_PART", 7)
        assert count_exactly(encoding(name), text) == len(encoding(name).encode_ordinary(text))


def count_as_by_tiktoken(name: str, before: str, run: str, after: str) -> bool:
    """tiktoken itself counts runs below its limit; 256,000 characters more cost what the last 256,000 did."""

    def text(characters: int) -> str:
        return before + run * (characters // len(run)) + after

    shorter, short = (len(encoding(name).encode_ordinary(text(length))) for length in (488_000, 744_000))
    return count_exactly(encoding(name), text(1_256_000)) == short + 2 * (short - shorter)


@pytest.mark.parametrize("name", ENCODING_NAMES[:2])
@pytest.mark.parametrize(
    ("before", "run", "after"), [("", " ", ""), ("a \n", " ", "x"), ("a", " \t", "/"), ("", "\u3000", "\nx")], ids=repr
)
def test_runs_that_overflow_the_pattern_are_counted(name: str, before: str, run: str, after: str) -> None:
    assert count_as_by_tiktoken(name, before, run, after)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENCODING_NAMES[:2])
@pytest.mark.parametrize("run", [" ", "\t", " \t", "\u3000", "\x85", "\n"], ids=repr)
@pytest.mark.parametrize("before", ["", "a", "a\n", "a \n\t\n"], ids=repr)
@pytest.mark.parametrize("after", ["", "x", " x", "/", "\nx"], ids=repr)
def test_runs_of_all_kinds_are_counted(name: str, before: str, run: str, after: str) -> None:
    assert count_as_by_tiktoken(name, before, run, after)


def test_counting_prints_nothing_on_long_runs() -> None:
    code = "from core.tokens import TiktokenCounter as T; print(T('o200k_base').count('a' + ' ' * 1_200_001 + 'b'))"
    root = Path(__file__).parents[1]
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=root, check=True)
    assert (done.stdout, done.stderr) == ("9377\n", "")


def test_long_text_in_parts_counts_as_the_whole() -> None:
    text = "".join(
        f"Line {number}: the quick brown fox — 中文,\n\n  indented\t{number * 7}\n" for number in range(20_000)
    )
    for name in ENCODING_NAMES[:2]:
        assert count_exactly(encoding(name), text) == len(encoding(name).encode_ordinary(text))


def test_remembered_counts_are_used_for_short_and_long_texts() -> None:
    counter = TiktokenCounter("o200k_base", 77.5)
    long = "remembered " * 100
    counter.remember({"remembered": 12_345, long: 54_321})
    assert counter.count("remembered") == 12_345
    assert TiktokenCounter("o200k_base", 77.5).count(long) == 54_321, "one memo for a key"
    assert TiktokenCounter("o200k_base", 77.25).count("remembered") != 12_345


def test_memo_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_MEMO_ENTRIES", 10)
    counter = TiktokenCounter("o200k_base", 66.5)
    for number in range(35):
        assert counter.count(f"word {number}") == counter.count(f"word {number}") > 0
        assert len(tokens._MEMOS[counter.key]) <= 10


def test_threads_get_the_same_counts() -> None:
    texts = [f"{number} apples and {number * 3} pears" for number in range(500)]
    answers: list[list[int]] = []

    def count_all() -> None:
        counter = TiktokenCounter("cl100k_base", 55.5)
        answers.append([counter.count(text) for text in texts])

    threads = [threading.Thread(target=count_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [int(55.5 * len(encoding("cl100k_base").encode_ordinary(text)) + 0.5) for text in texts]
    assert answers == [expected] * 4


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (("tiktoken",), "tiktoken:o200k_base:1.0"),
        (("tiktoken", "cl100k_base", 1.1), "tiktoken:cl100k_base:1.1"),
        (("cjk_estimate",), "cjk_estimate"),
        (("chars4",), "chars4"),
    ],
)
def test_counter_from_configuration(arguments: tuple[str, str, float], key: str) -> None:
    assert counter_from(*arguments).key == key


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (("words",), "counter.kind"),
        (("tiktoken", "p50k_base"), "counter.encoding"),
        (("tiktoken", "o200k_base", 0.0), "counter.scale"),
    ],
)
def test_counter_from_a_wrong_configuration(arguments: tuple[str, str, float], key: str) -> None:
    with pytest.raises(ConfigError) as raised:
        counter_from(*arguments)
    assert raised.value.key == key


EXACT, ESTIMATE = Exactness.EXACT, Exactness.ESTIMATE


@pytest.mark.parametrize(
    ("model", "key", "exactness"),
    [
        ("gpt-4o", "tiktoken:o200k_base:1.0", EXACT),
        ("gpt-4o-2024-08-06", "tiktoken:o200k_base:1.0", EXACT),
        ("openai/gpt-5.6-mini", "tiktoken:o200k_harmony:1.0", EXACT),
        ("ft:gpt-4o:team::id", "tiktoken:o200k_base:1.0", EXACT),
        ("o3-mini", "tiktoken:o200k_base:1.0", EXACT),
        ("gpt-4", "tiktoken:cl100k_base:1.0", EXACT),
        ("gpt-oss-120b", "tiktoken:o200k_harmony:1.0", EXACT),
        ("gpt-6-astra", "tiktoken:o200k_base:1.0", ESTIMATE),
        ("text-davinci-003", "tiktoken:o200k_base:1.0", ESTIMATE),
        ("claude-3-5-sonnet-20241022", "tiktoken:o200k_base:1.2", ESTIMATE),
        ("us.anthropic.claude-opus-4-20250514-v1:0", "tiktoken:o200k_base:1.2", ESTIMATE),
        ("claude-sonnet-4-6", "tiktoken:o200k_base:1.2", ESTIMATE),
        ("claude-opus-4-7", "tiktoken:o200k_base:1.5", ESTIMATE),
        ("anthropic/claude-opus-4.8", "tiktoken:o200k_base:1.5", ESTIMATE),
        ("claude-sonnet-5", "tiktoken:o200k_base:1.5", ESTIMATE),
        ("claude-fable-5-20260301", "tiktoken:o200k_base:1.5", ESTIMATE),
        ("claude", "tiktoken:o200k_base:1.5", ESTIMATE),
        ("models/gemini-2.5-pro", "tiktoken:o200k_base:1.08", ESTIMATE),
        ("deepseek-coder-33b-instruct", "tiktoken:o200k_base:1.0", ESTIMATE),
        ("", "tiktoken:o200k_base:1.0", ESTIMATE),
        (None, "tiktoken:o200k_base:1.0", ESTIMATE),
    ],
)
def test_counter_for_model(model: str | None, key: str, exactness: Exactness) -> None:
    counter = counter_for_model(model)
    assert (counter.key, counter.exactness) == (key, exactness)
