"""`python -m core` and how every command ends: what is printed and with which code, run as a command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core import command_line
from core.command_line import command_parser
from core.config import load_config
from core.errors import ConfigError
from core.export import exported
from core.readers import read
from core.replay import replay
from storage import Library
from storage.database import open_engine

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


RULES = [
    {"match": {"kind": "tool_result"}, "evict": "pinned"},
    {"match": {"kind": "tool_result", "tool": "search_orders"}, "evict": "recoverable"},
]
CLASH = "Rule 2 (tool_result, tool search_orders) and rule 1 (tool_result) both set evict on"


def test_replay_says_where_rules_meet_and_what_hints_name_in_vain(tmp_path: Path) -> None:
    path, captured = tmp_path / "clashing.json", tmp_path / "captured.jsonl"
    path.write_text(json.dumps({**CONFIG, "rules": RULES}), encoding="utf-8")
    made = run("replay", path, SAMPLE)
    assert made.stdout.splitlines()[-1].startswith(CLASH)
    as_json = run("replay", path, SAMPLE, "--json")
    assert as_json.stderr.startswith(CLASH)
    assert [json.loads(line)["call"] for line in as_json.stdout.splitlines()] == list(range(20))
    talk = [{"role": role, "content": str(at)} for at, role in enumerate(["user", "assistant", "user"])]
    reply = {"choices": [{"message": {"role": "assistant", "content": "ok"}}]}
    lines = [{"request": {"messages": talk[:end]}, "response": reply, "hints": {"pins": ["m7.0"]}} for end in (1, 3)]
    captured.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    last = run("replay", path, captured).stdout.splitlines()[-1]
    assert last == "Call 1 and 1 more: The hint 'pins' names 'm7.0': this request has no such span or tool call."


def test_replay_says_what_a_conversion_loses(tmp_path: Path) -> None:
    path, captured = tmp_path / "other.json", tmp_path / "captured.json"
    path.write_text(json.dumps({**CONFIG, "model": {"dialect": "anthropic"}}), encoding="utf-8")
    talk = {"model": "gpt-4o", "messages": [{"role": "user", "content": "q"}], "temperature": 0}
    captured.write_text(json.dumps({"request": talk, "response": None}), encoding="utf-8")
    said = "Converted from openai_chat to anthropic. Lost by it: the setting temperature."
    made = run("replay", path, captured)
    assert (made.stdout.splitlines()[-1], made.stderr) == (said, "")
    as_json = run("replay", path, captured, "--json")
    assert as_json.stderr == f"{said}\n" and len(as_json.stdout.splitlines()) == 1


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


def test_calls_are_counted_from_1_for_people_and_from_0_in_json(config: Path) -> None:
    calls = len(read(SAMPLE).transcripts[0].calls)
    table = run("replay", config, SAMPLE).stdout.splitlines()[2:]
    assert [int(row.split()[0]) for row in table] == list(range(1, calls + 1))
    golden = json.loads(config.read_text(encoding="utf-8"))["provenance"]["golden"]
    said = run("verify", config, SAMPLE).stdout.splitlines()
    assert [f", call {made['call'] + 1}: the same bytes" in line for made, line in zip(golden, said, strict=True)]
    assert {made["call"] for made in golden} <= set(range(calls))


def test_the_first_call_that_differs_is_counted_from_1(config: Path) -> None:
    other = config.with_name("other.json")
    other.write_text(json.dumps({"strategy": {"kind": "full_history"}}), encoding="utf-8")
    transcript = read(SAMPLE).transcripts[0]
    ours, theirs = (replay(transcript, load_config(path)) for path in (config, other))
    first = next(call for call in range(len(transcript.calls)) if ours.request(call) != theirs.request(call))
    assert f", call {first + 1}: They differ first" in run("verify", config, SAMPLE, "--against", other).stdout


def into_a_closed_pipe(*command: str, **environment: str) -> tuple[int, str]:
    """Return the exit code of a command that nobody reads, and what it says of it."""
    reads, writes = os.pipe()
    os.close(reads)
    try:
        made = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=ROOT, env=os.environ | environment, stdout=writes, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    finally:
        os.close(writes)
    return made.returncode, made.stderr


@pytest.mark.parametrize("arguments", [("replay",), ("replay", "--json"), ("verify",), ("schema",)])
def test_a_reader_that_leaves_ends_a_command_quietly(arguments: tuple[str, ...], config: Path) -> None:
    files = () if arguments[0] == "schema" else (str(config), str(SAMPLE))
    assert into_a_closed_pipe("core", *arguments, *files) == (141, "")


def test_a_reader_that_leaves_ends_an_import_quietly_and_all_is_stored(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    assert into_a_closed_pipe("storage", "import", str(SAMPLE), PROMPT_INSPECTOR_DB=url) == (141, "")
    stored = Library(open_engine(url)).list(limit=10)
    assert SAMPLE.name in [summary.source for summary in stored]


FULL = "The output cannot be written (no space left on device).\n"
CLOSED = "The output cannot be written (it is closed).\n"


def with_output(redirected: str, *command: str, **environment: str) -> tuple[int, str]:
    """Return the exit code of a command whose output a shell puts elsewhere, and what it says of it."""
    shell = ["bash", "-c", f'"$@" {redirected}', "bash", sys.executable, "-m", *command]
    buffered = os.environ | {"PYTHONUNBUFFERED": ""} | environment
    made = subprocess.run(shell, cwd=ROOT, env=buffered, stderr=subprocess.PIPE, text=True, check=False)
    return made.returncode, made.stderr


@pytest.mark.parametrize(
    ("redirected", "told"), [("> /dev/full", FULL), (">&-", CLOSED), ("> /dev/full 2>&1", ""), (">&- 2>&-", "")]
)
@pytest.mark.parametrize("arguments", [("replay",), ("replay", "--json"), ("verify",), ("schema",)])
def test_an_output_that_takes_nothing_is_told(
    arguments: tuple[str, ...], redirected: str, told: str, config: Path
) -> None:
    files = (str(config), str(SAMPLE)) if arguments[0] in ("replay", "verify") else ()
    assert with_output(redirected, "core", *arguments, *files) == (3, told)


def test_an_import_with_a_full_output_is_told_and_all_is_stored(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    command = ("storage", "import", "--quiet", str(SAMPLE))
    assert with_output("> /dev/full", *command, PROMPT_INSPECTOR_DB=url) == (3, FULL)
    stored = Library(open_engine(url)).list(limit=10)
    assert SAMPLE.name in [summary.source for summary in stored]


def test_errors_that_nobody_can_read_have_their_code(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.json")
    assert with_output("2> /dev/full", "core", "replay", missing, str(SAMPLE))[0] == 2


@pytest.mark.parametrize("module", ["core", "storage"])
def test_help_tells_the_exit_codes(module: str) -> None:
    made = subprocess.run([sys.executable, "-m", module, "-h"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert made.stdout.startswith(f"usage: python -m {module} [-h]")
    assert "3 the output cannot be written." in " ".join(made.stdout.split())


def test_help_names_the_package_as_it_is_installed(tmp_path: Path) -> None:
    (tmp_path / "prompt_inspector").symlink_to(ROOT / "core")
    command = [sys.executable, "-B", "-m", "prompt_inspector", "-h"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert made.stdout.startswith("usage: python -m prompt_inspector [-h]")
    assert "core" not in made.stdout


@pytest.mark.parametrize(("raised", "code"), [(KeyboardInterrupt, 130), (ConfigError("a", "b.", "C."), 2)])
def test_what_ends_a_command_gives_its_code(
    raised: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def ends(_options: object) -> int:
        raise raised

    parser = command_parser("example", "An example.\n\nMore.")
    parser.set_defaults(run=ends)
    assert command_line.run(parser, []) == code
    assert capsys.readouterr().err.count("\n") == 1
    assert parser.description == "An example."
