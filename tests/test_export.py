"""An exported configuration gives production the bytes that were seen here, and holds no text of a transcript."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from core import ENGINE_VERSION
from core.config import load_config
from core.export import as_json, exported, golden_calls, is_as_measured, model_name, pinned
from core.readers import read
from core.readers.builder import TranscriptBuilder
from core.replay import Replay, replay
from core.runtime import ContextRuntime
from core.transcript import Transcript
from core.wire import body_sha256, dump

SAMPLES = sorted(
    path for path in (Path(__file__).parents[1] / "sample_data").glob("*.json*") if path.name != "configuration.json"
)
AT = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)
STRATEGIES: dict[str, dict[str, Any]] = {
    "full history": {"kind": "full_history"},
    "as captured": {"kind": "as_captured"},
    "keep 3 steps": {"kind": "keep_last", "keep_steps": 3, "step": 500},
    "summaries": {"kind": "summarize_and_keep", "keep_turns": 2, "min_turns": 0, "min_steps": 0},
    "published": {"kind": "summarize_and_keep", "mode": "published", "min_turns": 0, "min_steps": 0},
    "tiers": {"kind": "tiered_injection", "keep_messages": 4},
}


@cache
def sample(path: Path) -> Transcript:
    return read(path).transcripts[0]


def played(transcript: Transcript, strategy: dict[str, Any], soft_limit: int | None) -> Replay:
    config = load_config({"budget": {"soft_limit": soft_limit}, "strategy": strategy})
    return replay(transcript, pinned(config, transcript))


def half_peak(transcript: Transcript) -> int:
    return max(replay(transcript, {"strategy": {"kind": "as_captured"}}).calls["in_window"]) // 2


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES.keys())
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_production_sends_the_bytes_that_were_exported(path: Path, strategy: dict[str, Any]) -> None:
    transcript = sample(path)
    shown = played(transcript, strategy, half_peak(transcript))
    text = json.dumps(exported([shown], AT), ensure_ascii=False)
    runtime = ContextRuntime.load(text)
    for golden in json.loads(text)["provenance"]["golden"]:
        call = golden["call"]
        sent = runtime.assemble(shown.prompt(call), transcript.calls[call].hints).request
        assert dump(sent) == dump(shown.request(call))
        assert body_sha256(sent) == golden["prompt_sha256"]


def test_provenance_says_what_was_measured() -> None:
    transcript = sample(SAMPLES[-1])
    shown = played(transcript, STRATEGIES["keep 3 steps"], 5000)
    sent = shown.calls["in_window"]
    provenance = exported([shown], AT)["provenance"]
    assert provenance["exported_at"] == "2026-03-14T15:09:26Z"
    assert provenance["inspector"] == ENGINE_VERSION
    assert [entry["calls"] for entry in provenance["transcripts"]] == [len(transcript.calls)]
    measured = provenance["measured"]
    plain = {"peak_tokens": max(sent), "sum_tokens": sum(sent), "calls_over_budget": 0}
    assert {key: measured[key] for key in plain} == plain
    share = shown.loss.references
    assert measured.get("loss") == (None if share.value is None else round(share.lost / share.used, 4))
    assert measured.get("cost_usd") == (None if shown.cost.total is None else round(shown.cost.total, 6))


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        ({"name": "another name"}, True),
        ({"strategy": {"kind": "keep_last", "keep_steps": 4, "step": 500}}, False),
        ({"budget": {"soft_limit": 5_001}}, False),
        ({"provenance": None}, None),
        ({"provenance": {"inspector": ENGINE_VERSION}}, None),
        ({"provenance": {"inspector": "0.1", "settings_sha256": "of other settings"}}, None),
    ],
)
def test_settings_that_were_changed_are_not_those_that_were_measured(change: dict[str, Any], same: bool | None) -> None:
    value = exported([played(sample(SAMPLES[-1]), STRATEGIES["keep 3 steps"], 5000)], AT)
    written = json.loads(json.dumps({**value, **change}))
    assert is_as_measured(load_config(written)) is same


def test_the_sample_configuration_is_as_measured() -> None:
    assert is_as_measured(load_config(SAMPLES[0].with_name("configuration.json"))) is True


def test_the_time_of_the_export_is_written_in_utc() -> None:
    at = datetime(2026, 3, 14, 1, 0, tzinfo=timezone(timedelta(hours=2)))
    shown = played(conversation("gpt-4o"), STRATEGIES["full history"], None)
    assert exported([shown], at)["provenance"]["exported_at"] == "2026-03-13T23:00:00Z"


def test_several_transcripts_are_measured_together() -> None:
    first, second = (played(conversation("gpt-4o", turns), STRATEGIES["full history"], 1) for turns in (2, 3))
    provenance = exported([first, second], AT)["provenance"]
    names = [entry["sha256"] for entry in provenance["transcripts"]]
    assert len(set(names)) == 2
    assert provenance["measured"]["sum_tokens"] == sum(first.calls["in_window"]) + sum(second.calls["in_window"])
    assert provenance["measured"]["calls_over_budget"] == 5
    assert {golden["transcript"] for golden in provenance["golden"]} == set(names)


def test_a_loss_is_of_all_that_was_used_in_all_transcripts() -> None:
    """It is no mean of shares and not the first one's: a transcript in which more is used weighs more."""
    config = {"budget": {"soft_limit": 3000}, "strategy": {"kind": "keep_last", "keep_steps": 1}}
    replays = [replay(sample(path), config) for path in SAMPLES]
    shares = [made.loss.references for made in replays]
    assert len({share.value for share in shares}) == len(shares) == 4 and None not in [share.value for share in shares]
    for some in (replays, replays[::-1], replays[:1], replays[1:3]):
        used, lost = (sum(getattr(made.loss.references, name) for made in some) for name in ("used", "lost"))
        assert exported(some, AT)["provenance"]["measured"]["loss"] == round(lost / used, 4)


def test_no_loss_is_told_where_it_is_not_known_of_every_transcript() -> None:
    config = {"budget": {"soft_limit": 3000}, "strategy": {"kind": "keep_last", "keep_steps": 1}}
    known, unknown = replay(sample(SAMPLES[0]), config), replay(conversation("gpt-4o"), config)
    assert unknown.loss.references.value is None
    for some in ([known, unknown], [unknown, known], [unknown]):
        assert "loss" not in exported(some, AT)["provenance"]["measured"]
    assert "loss" in exported([known], AT)["provenance"]["measured"]


def conversation(model: str | None, turns: int = 4, word: str = "word", answered: str | None = None) -> Transcript:
    builder = TranscriptBuilder("openai_chat")
    head: dict[str, Any] = {"model": model} if model else {}
    messages: list[dict[str, Any]] = [{"role": "system", "content": f"{word} system"}]
    for turn in range(turns):
        messages.append({"role": "user", "content": f"{word} {turn} " * 20})
        builder.call(builder.body({**head, "messages": list(messages)}), model=answered)
        messages.append({"role": "assistant", "content": f"{word} answer {turn}"})
    return builder.build(title=f"{word} title", source=f"{word}.json", session=f"{word} session")


def test_no_text_of_a_transcript_is_exported() -> None:
    transcript = conversation("gpt-4o", word="Rumpelstiltskin")
    for strategy in STRATEGIES.values():
        assert "rumpelstiltskin" not in json.dumps(exported([played(transcript, strategy, 60)], AT)).lower()


def test_golden_calls_are_the_first_the_last_the_largest_and_the_most_changed() -> None:
    shown = played(conversation("gpt-4o", turns=9), {"kind": "keep_last", "keep_turns": 2}, 150)
    sent = list(shown.calls["in_window"])
    changed = [call for call in range(9) if shown.plan(call).changed]
    assert sent.index(max(sent)) in golden_calls(shown)
    assert {0, 8, changed[0]} <= set(golden_calls(shown))
    assert len(golden_calls(shown)) <= 5


def test_a_transcript_without_calls_has_no_golden_ones() -> None:
    shown = played(TranscriptBuilder("openai_chat").build(), STRATEGIES["keep 3 steps"], 10)
    assert exported([shown], AT)["provenance"]["golden"] == []


@pytest.mark.parametrize(
    ("asked", "answered", "name"),
    [
        ("gpt-4o", None, "gpt-4o"),
        ("gpt-4o", "gpt-4o-2024-08-06", "gpt-4o"),
        (None, "gpt-4o-2024-08-06", "gpt-4o-2024-08-06"),
        (None, None, None),
    ],
)
def test_the_model_is_the_one_asked_for(asked: str | None, answered: str | None, name: str | None) -> None:
    transcript = conversation(asked, answered=answered)
    assert model_name(transcript) == name
    unused = replace(transcript, heads=(*transcript.heads, {"messages": [], "model": "other"}))
    assert model_name(unused) == name, "a head that no call has names nothing"


def test_two_models_are_not_pinned_to_one() -> None:
    builder = TranscriptBuilder("openai_chat")
    for model in ("gpt-4o", "gpt-4"):
        builder.call(builder.body({"model": model, "messages": [{"role": "user", "content": "hi"}]}))
    config = pinned(load_config({"strategy": {"kind": "keep_last"}}), builder.build())
    assert (config.model.name, config.model.window, config.counter.encoding) == (None, None, None)
    assert config.model.dialect == "openai_chat"


def test_what_is_known_of_the_model_is_pinned() -> None:
    config = pinned(load_config({"strategy": {"kind": "keep_last"}}), conversation("gpt-4o"))
    assert as_json(config)["model"] == {
        "name": "gpt-4o",
        "window": 128000,
        "max_output": 16384,
        "dialect": "openai_chat",
    }
    assert as_json(config)["counter"] == {"kind": "tiktoken", "encoding": "o200k_base", "scale": 1.0}


def test_the_encoding_of_an_unknown_model_stays_open() -> None:
    config = pinned(load_config({"strategy": {"kind": "keep_last"}}), conversation("some-new-model"))
    assert as_json(config)["model"] == {"name": "some-new-model", "dialect": "openai_chat"}
    assert as_json(config)["counter"] == {}


def test_what_a_person_set_is_kept() -> None:
    said = {"model": {"window": 9000, "max_output": 0}, "counter": {"kind": "chars4"}}
    config = pinned(load_config({**said, "strategy": {"kind": "keep_last"}}), conversation("gpt-4o"))
    assert (config.model.window, config.model.max_output, config.counter.kind) == (9000, 0, "chars4")


def test_a_null_that_means_never_survives() -> None:
    config = load_config({"strategy": {"kind": "tiered_injection", "trigger": None}})
    written = as_json(config)
    assert written["strategy"]["trigger"] is None
    assert next(iter(written["strategy"])) == "kind"
    assert load_config(written) == config


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES.keys())
def test_json_and_configuration_are_the_same(strategy: dict[str, Any]) -> None:
    rules = [{"match": {"kind": "tool_result", "tool": "search_*"}, "evict": "recoverable", "priority": 10}]
    config = load_config({"name": "n", "rules": rules, "budget": {"soft_limit": 0}, "strategy": strategy})
    assert load_config(json.dumps(as_json(config))) == config
