"""Files that commands read from a pipe: all of what came through it, whatever its form, is what a file would give."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from core.__main__ import main
from core.readers import read

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "sample_data" / "support_triage.jsonl"
CONFIG = {"budget": {"soft_limit": 4000}, "strategy": {"kind": "keep_last", "keep_turns": 2}}


def run(*arguments: str | Path, piped: bytes = b"", **environment: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", *map(str, arguments)]
    made = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, input=piped, capture_output=True, check=False
    )
    return made.returncode, made.stdout.decode(), made.stderr.decode()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "configuration.json"
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    return path


def zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(SAMPLE.name, content)
    return packed.getvalue()


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
@pytest.mark.parametrize("packed", [bytes, gzip.compress, zipped])
def test_a_replay_of_a_pipe_is_that_of_the_file(name: str, packed: type[bytes], config: Path) -> None:
    expected = run("core", "replay", config, SAMPLE)
    assert run("core", "replay", config, name, piped=packed(SAMPLE.read_bytes())) == expected
    assert (expected[0], expected[1].count("\n")) == (0, 22)


def test_a_configuration_may_come_through_the_pipe(config: Path) -> None:
    expected = run("core", "replay", config, SAMPLE)
    assert run("core", "replay", "-", SAMPLE, piped=config.read_bytes()) == expected


def test_a_substituted_process_is_read_in_full(config: Path) -> None:
    command = f"'{sys.executable}' -m core replay '{config}' <(cat '{SAMPLE}')"
    made = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (made.returncode, made.stdout, made.stderr) == run("core", "replay", config, SAMPLE)


def test_an_import_takes_a_pipe(tmp_path: Path) -> None:
    body = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}
    url = f"sqlite:///{tmp_path / 'store.db'}"
    made = run("storage", "import", "--quiet", "-", piped=json.dumps(body).encode(), PROMPT_INSPECTOR_DB=url)
    assert made[0] == 0
    assert made[1].splitlines()[1].split() == ["standard", "input", "openai_chat", "1", "1", "1", "2", "0"]


@pytest.mark.parametrize(("name", "shown"), [("-", "standard input"), ("/dev/stdin", "stdin")])
def test_a_sentence_names_what_was_given(name: str, shown: str, config: Path) -> None:
    code, out, told = run("core", "replay", config, name, piped=b"{")
    assert (code, out) == (2, "")
    assert told.startswith(f"{shown}, line 1: this is not JSON")
    assert told.endswith(f"\n{shown} holds no transcript that can be read.\n")


def test_the_standard_input_is_one_file(config: Path) -> None:
    told = "The standard input is one file; give `-` once.\n"
    assert run("core", "replay", "-", "-") == (2, "", told)
    assert run("core", "verify", config, SAMPLE, "-", "--against", "-") == (2, "", told)


def test_a_standard_input_that_is_closed_is_told(config: Path) -> None:
    command = f"'{sys.executable}' -m core replay '{config}' - <&-"
    made = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    told = "The standard input is closed; give the path of a file instead of `-`.\n"
    assert (made.returncode, made.stdout, made.stderr) == (2, "", told)


def test_a_standard_input_that_cannot_be_kept_is_told(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{")))
    assert main(["replay", str(config), "-"]) == 2
    told = "The standard input could not be kept while it is read (no such file or directory); give the path of a file."
    assert capsys.readouterr() == ("", f"{told}\n")


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """Return a named pipe that is filled with the sample once it is opened."""
    path = tmp_path / "named.jsonl"
    os.mkfifo(path)

    def fill() -> None:
        with suppress(BrokenPipeError):
            path.write_bytes(SAMPLE.read_bytes())

    threading.Thread(target=fill, daemon=True).start()
    return path


def test_readers_take_a_named_pipe_and_leave_no_copy(
    pipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "temporary"
    kept.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(kept))
    found = read(pipe)
    assert (len(found.transcripts), found.problems, list(kept.iterdir())) == (1, [], [])
    assert found.transcripts[0].source == "named.jsonl"
    assert found.transcripts[0].messages == read(SAMPLE).transcripts[0].messages


def test_a_pipe_that_cannot_be_kept_is_a_problem(pipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    found = read(pipe)
    assert (found.transcripts, [*map(str, found.problems)]) == (
        [],
        [
            "named.jsonl: it could not be kept while it is read (no such file or directory)."
            " Give the path of a file instead."
        ],
    )
