"""Golden calls: the same bytes hold, other bytes are told with both hashes and the first byte that differs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.config import load_config
from core.conversion import converted
from core.export import exported
from core.identity import transcript_sha256
from core.readers import read
from core.redact import mask_transcript
from core.replay import replay
from core.verification import first_difference, golden, verify
from tests.runs import run, says, user

DIALECTS = ("openai_chat", "openai_responses", "anthropic", "gemini")
SAMPLES = Path(__file__).parents[1] / "sample_data"
SAMPLE = SAMPLES / "support_triage.jsonl"
AT = datetime(2026, 5, 1, tzinfo=UTC)
CONFIG = {"budget": {"soft_limit": 4000}, "strategy": {"kind": "keep_last", "keep_turns": 2}}


@pytest.fixture(scope="module")
def export() -> dict[str, Any]:
    transcript = read(SAMPLE).transcripts[0]
    return exported([replay(transcript, CONFIG)], AT)


def test_golden_calls_hold_on_the_transcript_they_were_made_from(export: dict[str, Any]) -> None:
    config = load_config(export)
    checked = list(verify(config, read(SAMPLE).transcripts))
    assert len(checked) == len(golden(config)) >= 3
    assert all(call.holds for call in checked)
    assert all("the same bytes" in str(call) for call in checked)


def test_a_changed_setting_is_told_with_both_hashes(export: dict[str, Any]) -> None:
    changed = {**export, "strategy": {"kind": "keep_last", "keep_turns": 1}}
    broken = [call for call in verify(load_config(changed), read(SAMPLE).transcripts) if not call.holds]
    assert broken
    for call in broken:
        assert call.got is not None and call.got != call.expected
        assert call.got in str(call) and call.expected in str(call)


def test_a_transcript_that_is_missing_is_not_taken_for_proof(export: dict[str, Any]) -> None:
    checked = list(verify(load_config(export), []))
    assert not any(call.holds for call in checked)
    assert all("not checked" in str(call) for call in checked)


@pytest.mark.parametrize("name", ["coding_agent.jsonl", "operations_zh.json"])
@pytest.mark.parametrize("spoken", DIALECTS)
@pytest.mark.parametrize("recorded", DIALECTS)
def test_golden_calls_of_a_configuration_for_any_dialect_hold(recorded: str, spoken: str, name: str) -> None:
    """Whoever verifies has the transcript as it is stored, never the converted one."""
    (first, *_) = read(SAMPLES / name).transcripts
    transcript = first if first.dialect == recorded else converted(first, recorded).transcript
    made = replay(transcript, {"strategy": {"kind": "mask_tool_results"}, "model": {"dialect": spoken}})
    body = exported([made], AT)
    assert [entry["sha256"] for entry in body["provenance"]["transcripts"]] == [transcript_sha256(transcript)]
    checked = list(verify(load_config(body), [transcript]))
    assert len(checked) >= 2 and all(call.holds for call in checked)
    captured = exported([made.as_captured], AT)
    assert all(call.holds for call in verify(load_config(captured), [transcript]))


@pytest.mark.parametrize("spoken", DIALECTS)
def test_a_file_with_secrets_proves_what_was_exported_of_its_masked_copy(spoken: str) -> None:
    """The inspector stores transcripts masked; production has the file as it was."""
    said = [user(f"Use the key sk-proj-{'aB3dE5gH' * 6}."), says("Done.")]
    given = run(said)
    masked, _ = mask_transcript(given)
    assert transcript_sha256(masked) != transcript_sha256(given)
    body = exported([replay(masked, {"strategy": {"kind": "full_history"}, "model": {"dialect": spoken}})], AT)
    for transcript in (given, masked):
        checked = list(verify(load_config(body), [transcript]))
        assert len(checked) == 1 and all(call.holds for call in checked)


@pytest.mark.parametrize(
    ("ours", "theirs", "byte"),
    [
        ({"a": 1}, {"a": 1}, None),
        ({"a": 1}, {"a": 2}, 5),
        ({"a": "é1"}, {"a": "é2"}, 8),
        ({"a": 1}, {"a": 1, "b": 2}, 6),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, 2),
    ],
)
def test_the_first_byte_that_differs(ours: dict[str, Any], theirs: dict[str, Any], byte: int | None) -> None:
    found = first_difference(ours, theirs)
    assert (found.byte if found else None) == byte


def test_a_provenance_of_another_shape_has_no_golden_calls() -> None:
    assert golden(load_config({"strategy": {"kind": "keep_last"}, "provenance": {"golden": "none"}})) == []


@pytest.mark.parametrize("call", ["x", None, [1], -1, 99])
def test_a_call_that_does_not_exist_is_not_taken_for_proof(call: Any, export: dict[str, Any]) -> None:
    made = {**export["provenance"]["golden"][0], "call": call}
    (checked,) = verify(load_config({**export, "provenance": {"golden": [made]}}), read(SAMPLE).transcripts)
    assert not checked.holds
    assert "not checked" in str(checked)
