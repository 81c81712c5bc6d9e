"""What is written comes back as it was, unknown names are errors, and the engine runs where nothing else is there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.__main__ import main
from core.config import load_config
from core.errors import ConfigError, RequestError
from core.export import as_json
from core.readers import read
from core.readers.builder import TranscriptBuilder
from core.replay import replay
from core.runtime import ContextRuntime, Hints
from core.transcript import Fidelity, Usage
from storage.database import open_engine
from storage.library import Library
from tests.talks import CUTTING, DIALECTS, Wire, body, long, said, step, user

ROOT = Path(__file__).parents[1]
EVERY = pytest.mark.parametrize("dialect", DIALECTS)
COMMON: Wire = {"min_turns": 1, "min_steps": 2, "exact_recall": True}
FULL: list[Wire] = [
    {"kind": "full_history", "exact_recall": True},
    {"kind": "as_captured", "exact_recall": True},
    *(
        {"kind": "keep_last", f"keep_{unit}": 0, "step": 7, **COMMON}
        for unit in ("turns", "steps", "messages", "tokens")
    ),
    {"kind": "summarize_and_keep", "mode": "published", "keep_messages": 0},
    {"kind": "summarize_and_keep", "mode": "right", "keep_tokens": 9, "step": 1, **COMMON},
    {
        "kind": "tiered_injection",
        "keep_turns": 2,
        "trigger": None,
        "summary_chars": 0,
        "summary_tokens": 0,
        "overhead": 500,
        "groups": [{"name": "订单", "keywords": ["订单"], "tools": ["find_*"]}],
    },
    {"kind": "tiered_injection", "trigger": 0},
    {
        "kind": "mask_tool_results",
        "keep": 0,
        "trigger": None,
        "min_cleared": 3,
        "exclude": ["a*"],
        "placeholder": "{id}",
    },
    {"kind": "span_triage", "stub": "[{name} omitted: {class}]", "merge_stubs": False, **COMMON},
    {
        "kind": "required_reserve",
        "total": 24,
        "unit": "chars",
        "caps": {"goal": 5, "used_tools": None},
        "labels": "chinese",
    },
]
RULES = [
    {"match": {"kind": "user", "pattern": "^<I>", "tool": "a*"}, "evict": "pinned", "priority": -1, "tier": "core"}
]
SHRINK = [
    {"kind": "project_tool_results", "max_tokens": 9, "fields": ["id"], "tools": ["a*"]},
    {"kind": "dedupe_instructions", "hard_case_keywords": ["难"]},
    {"kind": "chunk_pinned", "max_tokens": 9, "fields": ["id"]},
]


@pytest.mark.parametrize("strategy", FULL, ids=lambda strategy: f"{strategy['kind']}-{len(strategy)}")
def test_a_configuration_comes_back_from_all_places_as_it_was(strategy: Wire, tmp_path: Path) -> None:
    given = {
        "name": "名",
        "model": {"name": "gpt-4o", "window": 128_000, "max_output": 0, "dialect": "openai_chat"},
        "counter": {"kind": "tiktoken", "encoding": "cl100k_base", "scale": 1.5},
        "budget": {"reserve_ratio": 0.0, "soft_limit": 0},
        "rules": RULES,
        "shrink": SHRINK,
        "strategy": strategy,
    }
    config = load_config(given)
    written = as_json(config)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(written), encoding="utf-8")
    with_store = Library(open_engine(f"sqlite:///{tmp_path / 'store.db'}"))
    with_store.configs.save("名", written)
    for place in (written, json.dumps(written), path, with_store.configs.get("名").body):
        assert load_config(place) == config
        assert as_json(load_config(place)) == written
    with_store.engine.dispose()
    for name, value in strategy.items():
        assert written["strategy"].get(name, value) == value or name == "caps"


@EVERY
@pytest.mark.parametrize("kind", CUTTING)
def test_a_transcript_comes_back_from_the_store_as_it_was(kind: str, dialect: str, tmp_path: Path) -> None:
    """Hints, figures and times are read back as what they were, and plans made from them are the same."""
    builder = TranscriptBuilder(dialect)
    events = [user(long("u1")), step("A", text=long("I look")), said(long("a1")), user("u2")]
    for stop, hints in ((1, {"pins": ["m0.0"]}), (4, {"goal": "ship it", "facts": ["A-1"], "active_tools": ["look"]})):
        made = body(dialect, *events[:stop], system="rules", tools=["look"])
        builder.call(
            builder.body(made),
            response={"role": "assistant", "content": "ok"},
            usage=Usage(10, 8, None, 2, 0),
            model="gpt-4o",
            at=datetime(2026, 5, 1, 9, 30, stop, tzinfo=UTC),
            fidelity=Fidelity.CAPTURED,
            hints=hints,
        )
    transcript = builder.build(title="t", notes=["noted"], meta={"a": 1})
    library = Library(open_engine(f"sqlite:///{tmp_path / 'store.db'}"))
    stored = library.get(library.add(transcript).id)
    library.engine.dispose()
    assert (stored.calls, stored.messages, stored.heads) == (transcript.calls, transcript.messages, transcript.heads)
    config = {"budget": {"soft_limit": 120}, "strategy": {"kind": kind, **CUTTING[kind]}}
    before, after = (replay(one, config) for one in (transcript, stored))
    for call in range(2):
        assert json.dumps(after.request(call)) == json.dumps(before.request(call))
        assert after.plan(call).decisions == before.plan(call).decisions


@EVERY
def test_a_name_that_nobody_knows_is_an_error(dialect: str) -> None:
    made = body(dialect, user("u1"), said("a1"))
    runtime = ContextRuntime.load({"strategy": {"kind": "keep_last"}})
    assert runtime.restore("m0.0", made) == "u1"
    for unknown in ("m9.0", "t0", "", "m0", "[left out: m0.0"):
        with pytest.raises(RequestError, match="no span"):
            runtime.restore(unknown, made)
    with pytest.raises(RequestError, match="evidence"):
        runtime.assemble(made, {"evidence": ["98"]})
    for key in ("keep_lost", "step_", "keep"):
        with pytest.raises(ConfigError):
            ContextRuntime.load({"strategy": {"kind": "keep_last", key: 1}})
    with pytest.raises(RequestError):
        Hints(pins="m0.0")  # type: ignore[arg-type]


def test_a_file_that_is_not_there_is_said_and_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.json").write_text('{"strategy": {"kind": "keep_last"}}', encoding="utf-8")
    for arguments in (
        ["replay", "config.json", "nosuchfile"],
        ["replay", "nosuchfile", "config.json"],
        ["verify", "config.json", "nosuchfile"],
    ):
        assert main(arguments) == 2
        assert "nosuchfile" in capsys.readouterr().err
    found = read(Path("nosuchfile"))
    assert (found.transcripts, len(found.problems)) == ([], 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json"]


ALONE = """
import socket, sys

def refuse(event, arguments):
    if event == "socket.connect" or event == "socket.getaddrinfo":
        raise OSError("there is no network here")

sys.addaudithook(refuse)
from prompt_inspector.runtime import ContextRuntime
from prompt_inspector.tokens import encoding

result = ContextRuntime.load({"budget": {"soft_limit": 9}, "strategy": {"kind": "keep_last"}}).assemble(
    {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}]}
)
print(result.tokens_after, len(encoding("cl100k_base").encode_ordinary("hello world")))
print([name for name in ("streamlit", "pandas", "altair", "sqlalchemy") if name in sys.modules])
"""


def test_the_engine_runs_alone_under_another_name_without_a_network(tmp_path: Path) -> None:
    """Everything that it needs is in its folder, in files that every platform reads."""
    shutil.copytree(ROOT / "core", tmp_path / "prompt_inspector", ignore=shutil.ignore_patterns("__pycache__"))
    suffixes = {path.suffix for path in (tmp_path / "prompt_inspector").rglob("*") if path.is_file()}
    assert suffixes - {".py", ".json", ".gz", ".typed", ".md", ""} == set()
    environment = {"PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, env=environment, check=False)
    assert (done.stdout.splitlines(), done.stderr) == (["8 2", "[]"], "")


def test_no_part_of_the_engine_is_compiled() -> None:
    known: Any = {path.suffix for path in (ROOT / "core").rglob("*") if "__pycache__" not in path.parts}
    assert not known & {".so", ".pyd", ".dll", ".dylib", ".c", ".pyx"}
