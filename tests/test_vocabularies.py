"""Encodings load from the bundled files alone, and the files are the ones that tiktoken demands."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import tiktoken_ext.openai_public

from core import vocabularies
from core.errors import ConfigError
from core.vocabularies import ENCODINGS, VOCABULARIES, encoding, require_encoding

ROOT = Path(__file__).parents[1]
LOAD = """
import sys
from core.vocabularies import encoding
print([len(encoding(name).encode_ordinary("The quick brown fox, \\u4e2d\\u6587.")) for name in sys.argv[1:]])
"""


def load_in_new_process(*names: str, cache: Path, before: tuple[str, ...] = ()) -> str:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT), "TIKTOKEN_CACHE_DIR": "kept"}
    command = [*before, sys.executable, "-c", LOAD, *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False, cwd=cache)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", sorted(ENCODINGS))
def test_source_and_hash_are_those_of_tiktoken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def note(url: str, expected_hash: str) -> dict[bytes, int]:
        asked.append((url, expected_hash))
        return {}

    monkeypatch.setattr(tiktoken_ext.openai_public, "load_tiktoken_bpe", note)
    tiktoken_ext.openai_public.ENCODING_CONSTRUCTORS[name]()
    assert asked == [(ENCODINGS[name].url, ENCODINGS[name].sha256)]


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda vocabulary: vocabulary.name)
def test_bundled_file_unpacks_to_the_expected_bytes(vocabulary: vocabularies.Vocabulary) -> None:
    assert vocabulary.matches(vocabulary.unpack())
    packed = (ROOT / "core" / "vocab" / f"{vocabulary.name}.tiktoken.gz").read_bytes()
    assert packed[4:8] == b"\0\0\0\0", "the archive must not hold a time"


@pytest.mark.parametrize(
    ("name", "cache_name"),
    [
        ("cl100k_base", "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"),
        ("o200k_base", "fb374d419588a4632f3f557e76b4b70aebbca790"),
        ("o200k_harmony", "fb374d419588a4632f3f557e76b4b70aebbca790"),
    ],
)
def test_cache_name(name: str, cache_name: str) -> None:
    assert ENCODINGS[name].cache_name == cache_name


@pytest.mark.parametrize(
    ("name", "tokens"),
    [("o200k_base", [24912, 2375]), ("cl100k_base", [15339, 1917]), ("o200k_harmony", [24912, 2375])],
)
def test_encoding_gives_the_published_tokens(name: str, tokens: list[int]) -> None:
    assert encoding(name).name == name
    assert encoding(name).encode_ordinary("hello world") == tokens


@pytest.mark.parametrize("name", ["p50k_base", "gpt2", "o200k", "", "O200K_BASE"])
def test_unknown_encoding_is_an_error_that_names_the_known_ones(name: str) -> None:
    with pytest.raises(ConfigError, match=r"counter\.encoding: .*cl100k_base, o200k_base, o200k_harmony") as raised:
        encoding(name)
    assert raised.value.key == "counter.encoding"
    with pytest.raises(ConfigError):
        require_encoding(name)


def test_loads_from_an_empty_cache_and_writes_only_there(tmp_path: Path) -> None:
    assert load_in_new_process("o200k_base", "cl100k_base", "o200k_harmony", cache=tmp_path) == "[7, 8, 7]"
    written = sorted(path.name for path in (tmp_path / "prompt-inspector").iterdir())
    assert written == sorted({vocabulary.cache_name for vocabulary in VOCABULARIES})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["prompt-inspector"]


def test_a_damaged_cached_file_is_replaced(tmp_path: Path) -> None:
    vocabulary = ENCODINGS["cl100k_base"]
    path = tmp_path / "prompt-inspector" / vocabulary.cache_name
    path.parent.mkdir()
    path.write_bytes(vocabulary.unpack()[:-100])
    assert load_in_new_process("cl100k_base", cache=tmp_path) == "[8]"
    assert vocabulary.matches(path.read_bytes())


def test_a_good_cached_file_is_not_written_again(tmp_path: Path) -> None:
    load_in_new_process("cl100k_base", cache=tmp_path)
    path = tmp_path / "prompt-inspector" / ENCODINGS["cl100k_base"].cache_name
    before = path.stat().st_ino, path.stat().st_mtime_ns
    load_in_new_process("cl100k_base", cache=tmp_path)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == before


def test_loads_where_the_cache_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "prompt-inspector").write_text("a file stands where the folder should be")
    assert load_in_new_process("cl100k_base", cache=tmp_path) == "[8]"
    assert (tmp_path / "prompt-inspector").is_file()


def test_many_processes_may_start_at_once(tmp_path: Path) -> None:
    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda: answers.append(load_in_new_process("cl100k_base", cache=tmp_path)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["[8]"] * 4
    assert [path.suffix for path in (tmp_path / "prompt-inspector").iterdir()] == [""]


def test_loads_without_a_network(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    alone = (unshare or "", "--map-root-user", "--net")
    if unshare is None or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("network namespaces are not available here")
    assert load_in_new_process("o200k_base", "cl100k_base", cache=tmp_path, before=alone) == "[7, 8]"


def test_environment_is_as_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for value in ("/somewhere/else", "", None):
        if value is None:
            monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
        else:
            monkeypatch.setenv("TIKTOKEN_CACHE_DIR", value)
        encoding.cache_clear()
        encoding("cl100k_base")
        assert os.environ.get("TIKTOKEN_CACHE_DIR") == value


@pytest.mark.parametrize(
    "damage",
    [b"", b"not gzip", gzip.compress(b"other bytes"), gzip.compress(b"cut short")[:-9] + b"\xff" * 9],
    ids=["empty", "no archive", "other content", "damaged archive"],
)
def test_damaged_installation_says_so(damage: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cl100k_base.tiktoken.gz").write_bytes(damage)
    monkeypatch.setattr(vocabularies, "_BUNDLED", tmp_path)
    with pytest.raises(ConfigError, match=r"cl100k_base cannot be read .* Install Prompt Inspector again"):
        ENCODINGS["cl100k_base"].unpack()
