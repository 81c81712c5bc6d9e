from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path

import pytest

from core.__main__ import main
from core.config import load_config
from core.dialects import dialect
from core.export import exported
from core.models import profile
from core.readers import read
from core.redact import mask, mask_transcript
from core.replay import replay
from core.transcript import Fidelity, Transcript, Usage
from core.unused_rule_settings import unused
from core.validity import validate

SAMPLES = Path(__file__).parent.parent / "sample_data"
CONFIGURATION = SAMPLES / "configuration.json"

# file, format, dialect, calls, messages, turns, tool calls, fidelity, peak tokens
TABLE = [
    ("coding_agent.jsonl", "claude_code", "anthropic", 61, 120, 6, 103, Fidelity.PARTIAL, 74965),
    ("support_triage.jsonl", "openai_chat", "openai_chat", 20, 44, 10, 15, Fidelity.CAPTURED, 8961),
    ("operations_zh.json", "openai_chat", "openai_chat", 49, 113, 24, 40, Fidelity.RECONSTRUCTED, 15359),
    ("long_chat.json", "anthropic", "anthropic", 42, 84, 42, 0, Fidelity.RECONSTRUCTED, 9139),
]
NAMES = [row[0] for row in TABLE]
ESTIMATED_PEAKS = {"operations_zh.json": 15012}
"""Peaks where the extra with the model's own vocabulary is not installed."""
MACHINE_PATH = re.compile(r"(?<![\w.])(/work|/tmp|/root|/home|/Users|/usr|/opt|/var|/etc|/mnt|/nowhere)/|\b[A-Z]:\\\\")
MAIL = re.compile(r"(?<![\\\w.+-])[\w.+-]+@([\w-]+(?:\.[\w-]+)+)")
"""An address; a decorator after a line break written as `\\n` is none."""
LARGEST = 2_500_000


def transcript(name: str) -> Transcript:
    result = read(SAMPLES / name)
    assert [str(problem) for problem in result.problems] == []
    (only,) = result.transcripts
    return only


def turns(found: Transcript) -> int:
    messages = [dialect(found.dialect).message(wire) for wire in found.messages]
    return sum(message.role == "user" and not message.results for message in messages)


@pytest.mark.parametrize(
    ("name", "format_name", "dialect_name", "calls", "messages", "user_turns", "tool_calls", "fidelity", "peak"), TABLE
)
def test_sample_reads_as_described(
    name: str,
    format_name: str,
    dialect_name: str,
    calls: int,
    messages: int,
    user_turns: int,
    tool_calls: int,
    fidelity: Fidelity,
    peak: int,
) -> None:
    found = transcript(name)
    assert (found.format, found.dialect) == (format_name, dialect_name)
    assert (len(found.calls), len(found.messages), turns(found)) == (calls, messages, user_turns)
    read_messages = [dialect(dialect_name).message(wire) for wire in found.messages]
    asked = [part.call_id for message in read_messages for part in message.calls]
    answered = [part.call_id for message in read_messages for part in message.results]
    assert len(set(asked)) == len(asked) == tool_calls
    assert asked == answered
    assert {call.fidelity for call in found.calls} == {fidelity}
    if any(profile(model).extra for model in found.models):
        peak = ESTIMATED_PEAKS[name]
    assert max(replay(found, {"strategy": {"kind": "full_history"}}).calls["in_window"]) == peak


@pytest.mark.parametrize("name", NAMES)
def test_every_recorded_prompt_is_valid_and_extends_the_one_before(name: str) -> None:
    found = transcript(name)
    before: list[object] = []
    for call in range(len(found.calls)):
        body = found.captured(call)
        assert validate(body, found.dialect) == []
        assert body == found.history(call)
        assert body["messages"][: len(before)] == before
        before = body["messages"]


@pytest.mark.parametrize("name", NAMES)
def test_no_usage_is_claimed_because_no_provider_was_called(name: str) -> None:
    assert {call.usage for call in transcript(name).calls} == {Usage()}
    assert '"usage"' not in re.sub(r"\\.", "", (SAMPLES / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_window_of_the_sample_is_known(name: str) -> None:
    (model,) = transcript(name).models
    assert profile(model).window is not None


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_file_names_no_machine_and_no_mailbox(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [match[0] for match in MACHINE_PATH.finditer(text)] == []
    assert {match[1] for match in MAIL.finditer(text)} <= {"example.com"}


@pytest.mark.parametrize("name", NAMES)
def test_sample_holds_no_secret(name: str) -> None:
    found = transcript(name)
    masked, kinds = mask_transcript(found)
    assert masked is found
    assert kinds == {}
    assert mask((SAMPLES / name).read_text(encoding="utf-8")).found == {}


def test_samples_are_small_and_one_record_a_line() -> None:
    assert sum(path.stat().st_size for path in SAMPLES.iterdir()) < LARGEST
    for path in SAMPLES.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert isinstance(json.loads(line), dict)


def test_read_me_gives_the_measured_figures() -> None:
    rows = {}
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].strip("`") in NAMES:
            rows[cells[0].strip("`")] = tuple(int(re.sub(r"\D", "", cell)) for cell in cells[2:5])
    assert rows == {name: (calls, found, peak) for name, _, _, calls, _, found, _, _, peak in TABLE}
    assert all(f"{peak:,}" in text for peak in ESTIMATED_PEAKS.values())


def test_configuration_bites_on_the_support_triage_and_always_fits() -> None:
    found = replay(transcript("support_triage.jsonl"), load_config(CONFIGURATION))
    status = [str(value) for value in found.calls["status"]]
    assert status == ["fits"] * 8 + ["trimmed"] * 12
    assert max(found.calls["in_window"]) == 4786


def test_configuration_is_what_an_export_gives_and_its_golden_calls_hold() -> None:
    """Where an engine that sends other bytes is meant: save it in Compare and export it anew."""
    written = json.loads(CONFIGURATION.read_text(encoding="utf-8"))
    shown = replay(transcript("support_triage.jsonl"), load_config(CONFIGURATION))
    made = exported([shown], datetime.fromisoformat(written["provenance"]["exported_at"]))
    for body in (made, written):
        # How much a plan loses is measured better with time; what was measured at the export stays as it was.
        assert 0 < body["provenance"]["measured"].pop("loss") < 1
    assert written == made
    assert [call["call"] for call in written["provenance"]["golden"]] == [0, 8, 10, 19]


def test_every_setting_of_the_configuration_has_an_effect() -> None:
    config = load_config(CONFIGURATION)
    assert list(unused([rule.rule() for rule in config.rules], config.strategy.kind)) == []
    without = config.model_copy(update={"rules": ()})
    shown = transcript("support_triage.jsonl")
    with_rules, plain = (replay(shown, made).calls["in_window"] for made in (config, without))
    assert not config.rules or list(with_rules) != list(plain)


def test_configuration_is_verified_from_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(CONFIGURATION), str(SAMPLES / "support_triage.jsonl")]) == 0
    assert capsys.readouterr().out.count("the same bytes") == 4


FACTS = {
    "coding_agent.jsonl": ["960a3a8", "core/sections.py", "_TAG_NAME", "<примеры>"],
    "support_triage.jsonl": ["TCK-58213", "HL-203990", "RF-77120", "EM2-0419-7733", "2025-31-R3"],
    "operations_zh.json": ["CHG-20260313-047", "APV-66218", "ACT-90412", "SN-7F2K09B4", "失败 861 次"],
    "long_chat.json": ["276-0981-4471", "DE 09 2204 118", "NET-77203", "PV-2026-3381", "Lagoon 4417"],
}


@pytest.mark.parametrize(("name", "fact"), [(name, fact) for name, facts in FACTS.items() for fact in facts])
def test_a_fact_of_the_first_half_is_needed_in_the_last_fifth(name: str, fact: str) -> None:
    """A strategy can only lose what is asked for again: without such facts a sample would show nothing."""
    messages = [json.dumps(message, ensure_ascii=False) for message in transcript(name).messages]
    assert any(fact in text for text in messages[: len(messages) // 2])
    assert any(fact in text for text in messages[-(len(messages) // 5) :])


STOCK = (
    "have been modified successfully",
    "has been updated successfully",
    "created successfully at",
    "<system-reminder>",
)
"""What tools of other products say of themselves; the samples' tools answer in words of their own."""


@pytest.mark.parametrize("name", NAMES)
def test_no_sentence_is_taken_from_another_product(name: str) -> None:
    text = (SAMPLES / name).read_text(encoding="utf-8")
    assert [sentence for sentence in STOCK if sentence in text] == []
