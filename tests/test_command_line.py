"""`python -m core`: what it prints and how it exits, run as a command."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.export import exported
from core.readers import read
from core.replay import replay

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "sample_data" / "support_triage.jsonl"
CONFIG = {"budget": {"soft_limit": 4000}, "strategy": {"kind": "keep_last", "keep_turns": 2}}


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "core", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "configuration.json"
    made = exported([replay(read(SAMPLE).transcripts[0], CONFIG)], datetime(2026, 5, 1, tzinfo=UTC))
    path.write_text(json.dumps(made), encoding="utf-8")
    return path


def test_replay_prints_one_row_a_call(config: Path) -> None:
    transcript = read(SAMPLE).transcripts[0]
    made = run("replay", config, SAMPLE, "--json")
    rows = [json.loads(line) for line in made.stdout.splitlines()]
    assert made.returncode == 0
    assert [row["call"] for row in rows] == list(range(len(transcript.calls)))
    assert [row["in_window"] for row in rows] == list(replay(transcript, CONFIG).calls["in_window"])


def test_replay_prints_a_table(config: Path) -> None:
    made = run("replay", config, SAMPLE)
    assert made.returncode == 0
    assert "in_window" in made.stdout.splitlines()[1]
    assert len(made.stdout.splitlines()) == 2 + len(read(SAMPLE).transcripts[0].calls)


def test_verify_exits_0_when_all_calls_hold(config: Path) -> None:
    made = run("verify", config, SAMPLE)
    assert (made.returncode, made.stderr) == (0, "")
    assert "the same bytes" in made.stdout


def test_verify_exits_1_and_names_the_hashes(config: Path) -> None:
    changed = json.loads(config.read_text(encoding="utf-8"))
    changed["strategy"]["keep_turns"] = 1
    other = config.with_name("changed.json")
    other.write_text(json.dumps(changed), encoding="utf-8")
    made = run("verify", other, SAMPLE, "--against", config)
    assert made.returncode == 1
    assert "other bytes; expected" in made.stdout
    assert "They differ first at byte" in made.stdout


@pytest.mark.parametrize("text", ["{", "[]", '{"strategy": {"kind": "keep_lst"}}'])
def test_a_bad_configuration_is_a_sentence_and_exit_code_2(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    made = run("replay", path, SAMPLE)
    assert made.returncode == 2
    assert made.stdout == ""
    assert "Traceback" not in made.stderr and made.stderr.strip()


def test_schema_is_json() -> None:
    assert "strategy" in json.loads(run("schema").stdout)["properties"]
