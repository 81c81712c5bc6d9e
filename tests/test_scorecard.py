"""The scorecard: its figures are those of the measures, it is plain JSON, and it is the same on every run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.config import BudgetConfig, strategy_kinds
from core.export import exported
from core.findings import findings
from core.fingerprint import engine_fingerprint
from core.identity import transcript_sha256
from core.readers import read
from core.replay import Replay, replay
from core.retention import retention
from core.scorecard import Scorecard, ScorecardError, held_against_budget, is_current, scorecard
from core.scorecard_key import Key, configuration_sha256, scorecard_key
from core.transcript import Transcript, Usage
from tests.runs import result, run, says, tool, user, uses

BODY = "def total_price(order):\n    return order.net_sum + order.tax_sum\n" + "Nothing of note here. " * 40
MASK = {"kind": "mask_tool_results", "keep": 1, "trigger": 0}
SAMPLES = Path(__file__).parents[1] / "sample_data"


def coding() -> Transcript:
    return run(
        [
            user("Fix the rounding in shop/prices.py."),
            uses("c1", "read_file", path="shop/prices.py"),
            result("c1", BODY),
            uses("c2", "list_files"),
            result("c2", "shop/prices.py " * 3),
            uses("c3", "read_file", "total_price again", path="shop/prices.py"),
            result("c3", BODY),
            says("    return order.net_sum + order.tax_sum"),
        ],
        system="Rules:\n- Answer in English, please.\n- Never touch the database.\n",
        tools=[tool("read_file"), tool("list_files")],
    )


def played(strategy: dict[str, Any], budget: int | None = None) -> Replay:
    return replay(coding(), {"budget": {"soft_limit": budget}, "strategy": strategy})


def test_totals_are_those_of_the_measures() -> None:
    made = played(MASK)
    card = scorecard(made)
    assert (card.calls, card.changed, card.did_nothing) == (4, 2, False)
    assert card.peak == max(made.calls["in_window"])
    assert card.sum_tokens == sum(made.calls["in_window"])
    assert card.entered == sum(made.calls["entered"])
    assert (card.references_used, card.references_lost) == (made.loss.references.used, made.loss.references.lost)
    assert card.references_lost > 0
    assert card.lost_share is None  # under twenty references a share would only look exact
    assert (card.lines_copied, card.lines_lost) == (1, 0)
    assert card.refetches_likelier == 1  # the file that is read again had been masked
    assert (card.activation_recall, card.rules, card.rules_missing) == (1.0, 2, 0)
    assert (card.violations, card.violations_checked) == (0, 2)
    assert card.over_budget == card.largest_excess == 0


def test_losses_are_told_by_class_and_by_what_held_them() -> None:
    made = played(MASK)
    card = scorecard(made)
    assert sum(card.used_by_class.values()) == card.references_used
    assert sum(card.lost_by_class.values()) == sum(card.lost_by_span_kind.values()) == card.references_lost
    assert card.lost_by_span_kind == {"tool_result": card.references_lost}
    assert (card.calls_with_loss, card.first_loss) == (made.loss.calls_with_loss, made.loss.first_call) == (1, 2)
    assert (card.references_lost_distinct, card.references_retold) == (made.loss.distinct, sum(made.loss.retold))


def test_the_recording_s_refetches_stand_beside_those_made_likelier() -> None:
    for strategy, likelier in ((MASK, 1), ({"kind": "full_history"}, 0)):
        card = scorecard(played(strategy))
        assert (card.refetches, card.rereads, card.refetches_likelier) == (1, 1, likelier)


def test_tools_that_were_called_and_put_aside_are_counted() -> None:
    long = "It has many options that nobody needs to know. " * 20
    groups = [{"name": "files", "keywords": ["folder"], "tools": ["list_*"]}]
    messages = [user("Look for it."), uses("c1", "list_files"), result("c1", "a.py"), says("Done.")]
    transcript = run(messages, tools=[tool("list_files", long), tool("read_file", long)])
    made = replay(transcript, {"strategy": {"kind": "tiered_injection", "groups": groups}})
    card, found = scorecard(made), retention(made)
    assert (card.tools_called, card.tools_missing) == (found.called, found.missing_tools) == (1, 1)
    assert card.activation_recall == 0.0


def test_cached_written_and_uncached_tokens_are_those_sent() -> None:
    card = scorecard(made := played(MASK))
    known = [row for row in made.cache.calls if row.cached is not None]
    assert card.cache_unknown_calls == len(made.cache.calls) - len(known) == 1
    parts = (card.cached_tokens, card.written_tokens, card.uncached_tokens)
    assert None not in parts
    assert sum(part or 0 for part in parts) == sum(row.sent for row in known)
    assert sum(card.break_causes.values()) == card.prefix_breaks == made.cache.break_count


def test_the_reported_share_is_the_recording_s() -> None:
    transcript = coding()
    usages = [Usage(1000), Usage(1000, 250), Usage(3000, 2750), Usage()]
    calls = tuple(replace(call, usage=usage) for call, usage in zip(transcript.calls, usages, strict=True))
    reported = replace(transcript, calls=calls)
    assert scorecard(replay(reported, {"strategy": MASK})).cached_share_reported == 0.75
    assert scorecard(played(MASK)).cached_share_reported is None


def test_cost_has_bounds() -> None:
    card = scorecard(made := played(MASK))
    totals = made.cost.totals()
    assert (card.cost_low_usd, card.cost_high_usd) == (totals["low"], totals["high"])
    low, known, high = (cost or 0 for cost in (card.cost_low_usd, card.cost_known_usd, card.cost_high_usd))
    assert 0 < low <= known <= high
    assert card.cost_without_cache_calls == totals["without_cache"]


BY_MODEL = {"kind": "summarize_and_keep", "summary": "model", "keep_turns": 1, "min_turns": 0, "min_steps": 0}


def talk() -> Transcript:
    return run([made for turn in range(6) for made in (user(f"Question {turn}. " * 40), says(f"Answer {turn}. " * 40))])


def test_summaries_that_a_model_would_write_are_part_of_the_cost() -> None:
    made = replay(talk(), {"budget": {"soft_limit": 300}, "strategy": BY_MODEL})
    card, totals = scorecard(made), made.cost.totals()
    assert card.summaries == card.summaries_estimated == totals["summaries"] > 0
    assert card.summaries_usd == totals["summaries_usd"] > 0
    assert (scorecard(played(MASK)).summaries, scorecard(played(MASK)).summaries_usd) == (0, 0.0)


def test_what_a_model_wrote_before_is_part_of_the_key() -> None:
    config = {"budget": {"soft_limit": 300}, "strategy": BY_MODEL}
    one, other = (replay(talk(), config, {"0" * 64: text}) for text in ("Some words.", "Other words."))
    keys = {scorecard_key(made) for made in (replay(talk(), config), replay(talk(), config, {}), one, other)}
    assert len(keys) == 3


def test_findings_are_counted_by_name_and_level() -> None:
    card = scorecard(made := played({"kind": "full_history"}, 1))
    found = findings(made)
    assert card.findings == {finding.name: [one.name for one in found].count(finding.name) for finding in found}
    assert list(card.findings_by_level) == ["error", "warning", "notice"]
    assert sum(card.findings_by_level.values()) == len(found) > 0
    assert scorecard(made, found=found[:1]).findings == {found[0].name: 1}


def test_a_strategy_that_changes_nothing_did_nothing() -> None:
    card = scorecard(played({"kind": "full_history"}))
    assert (card.did_nothing, card.changed, card.lost_share) == (True, 0, None)


def test_over_budget_is_counted() -> None:
    made = played({"kind": "full_history"}, 1)
    card = scorecard(made)
    assert card.over_budget == card.over_budget_recorded == 4
    assert card.largest_excess == max(made.calls["in_window"]) - 1


def test_a_replay_is_held_against_another_budget_than_it_was_planned_for() -> None:
    made = played({"kind": "full_history"}, 1)
    card = scorecard(made)
    assert card.findings["over_budget"] == 1
    judged = made.judged_by(BudgetConfig(soft_limit=max(made.calls["in_window"]) - 5))
    held = held_against_budget(card, judged, findings(judged))
    assert (held.over_budget, held.over_budget_recorded, held.largest_excess) == (1, 4, 5)
    enough = made.judged_by(BudgetConfig(soft_limit=100_000))
    fits = held_against_budget(card, enough, findings(enough))
    assert (fits.over_budget, fits.largest_excess) == (0, 0)
    assert "over_budget" not in fits.findings and fits.findings_by_level["error"] == 0
    rest = {"over_budget", "largest_excess", "findings", "findings_by_level"}
    assert {key: value for key, value in fits.as_json().items() if key not in rest} == {
        key: value for key, value in card.as_json().items() if key not in rest
    }


def test_a_judged_replay_is_measured_once_and_only_its_budget_is_another() -> None:
    made = played({"kind": "as_captured"}, 1)
    measured = [made.loss, made.cache, made.cost, made.calibration]
    assert made.as_captured is made and made.calls["sent_excess"] == [sent - 1 for sent in made.calls["sent"]]
    judged = made.judged_by(BudgetConfig(soft_limit=100_000))
    again = [judged.loss, judged.cache, judged.cost, judged.calibration]
    assert all(one is other for one, other in zip(measured, again, strict=True))
    assert (judged.calls["sent_excess"], judged.calls["excess"]) == ([0] * 4, made.calls["excess"])
    assert judged.as_captured is judged
    assert (made.config.budget.soft_limit, judged.config.budget.soft_limit) == (1, 100_000)


def test_what_is_unknown_is_none_and_not_zero() -> None:
    transcript = run([user("Hello.")])
    assert scorecard(replay(transcript, {"strategy": {"kind": "full_history"}})).calls == 0
    nameless = {"model": {"name": "nobody-knows-it"}, "strategy": {"kind": "full_history"}}
    card = scorecard(replay(coding(), nameless))
    assert card.cost_usd is None and card.cost_known_usd is None
    assert card.cost_unknown_calls == 4
    assert card.cached_share is None


def test_a_known_model_has_a_cost_and_a_cached_share() -> None:
    card = scorecard(played(MASK))
    assert card.cost_usd is not None and card.cost_usd == card.cost_known_usd > 0
    assert card.cached_share is not None
    assert card.prices.startswith("USD, genai-prices ")


def test_it_is_json_and_holds_no_text_of_the_transcript() -> None:
    card = scorecard(played(MASK))
    text = json.dumps(card.as_json())
    assert json.loads(text)["key"]["engine"] == engine_fingerprint()
    assert "shop" not in text and "total_price" not in text


def test_the_key_tells_transcript_configuration_and_engine() -> None:
    made = played(MASK)
    key = scorecard_key(made)
    assert key == Key(transcript_sha256(made.transcript), configuration_sha256(made.config), engine_fingerprint())
    assert scorecard_key(played(MASK)) == key
    assert scorecard_key(played({**MASK, "keep": 2})).configuration != key.configuration
    other = replay(run([user("Hi."), says("Ho.")]), made.config)
    assert scorecard_key(other).transcript != key.transcript


@pytest.mark.parametrize("beside", [{"notes": ("3 tool results were truncated",)}, {"meta": {"truncated": True}}])
def test_what_findings_tell_of_beside_the_calls_is_part_of_the_key(beside: dict[str, Any]) -> None:
    plain = replace(run([user("Hi."), says("Ho.")]), notes=(), meta={})
    config = {"strategy": {"kind": "full_history"}}
    without, noted = (scorecard(replay(transcript, config)) for transcript in (plain, replace(plain, **beside)))
    assert (without.findings, noted.findings) == ({}, {"captured_truncated": 1})
    assert noted.key != without.key
    assert noted.key.transcript != scorecard_key(replay(replace(plain, notes=("none",)), config)).transcript
    assert scorecard_key(replay(replace(plain, title="other"), config)) == without.key


def test_the_provenance_of_an_export_changes_no_key() -> None:
    made = played(MASK)
    body = exported([made], datetime(2026, 1, 1, tzinfo=UTC))
    assert scorecard_key(replay(coding(), body)).configuration == configuration_sha256(made.config)


def strategies() -> list[dict[str, Any]]:
    """Return every strategy with its defaults, and masking, which has something to do."""
    return [*({"kind": kind} for kind in strategy_kinds()), MASK]


def transcripts() -> list[Path]:
    return [path for path in sorted(SAMPLES.glob("*.json*")) if path.name != "configuration.json"]


def configuration(strategy: dict[str, Any]) -> dict[str, Any]:
    return {"budget": {"soft_limit": 4500}, "strategy": strategy}


@pytest.mark.parametrize("path", transcripts(), ids=lambda path: path.stem)
def test_it_comes_back_from_json_as_it_was(path: Path) -> None:
    transcript = read(path).transcripts[0]
    for strategy in strategies():
        card = scorecard(replay(transcript, configuration(strategy)))
        value = card.as_json()
        assert list(value) == [field.name for field in fields(Scorecard)]
        assert Scorecard.from_json(value) == card
        again = Scorecard.from_json(json.loads(json.dumps(value)))
        assert again == card
        assert json.dumps(again.as_json()) == json.dumps(value)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"new": 1}, "differs in new"),
        ({"key": {"transcript": "a"}}, "differs in configuration, engine"),
        ({"key": 7}, "differs in configuration, engine, transcript"),
    ],
)
def test_what_another_version_wrote_is_no_scorecard(changed: dict[str, Any], said: str) -> None:
    value = scorecard(played(MASK)).as_json()
    with pytest.raises(ScorecardError, match=said):
        Scorecard.from_json({**value, **changed})
    value.pop("peak")
    with pytest.raises(ScorecardError, match="differs in peak"):
        Scorecard.from_json(value)


def test_a_kept_scorecard_is_current_while_counters_and_prices_are_the_same() -> None:
    made = played(MASK)
    card = scorecard(made)
    assert card.counters == "tiktoken:o200k_base:1.0"
    assert is_current(card, made)
    assert not is_current(replace(card, counters="tiktoken:cl100k_base:1.0"), made)
    assert not is_current(replace(card, prices="USD, genai-prices 0.0.0"), made)


def test_a_key_can_be_given_for_a_transcript_that_is_stored_in_another_form() -> None:
    key = scorecard_key(made := played(MASK), "a" * 64)
    assert key == replace(scorecard_key(made), transcript="a" * 64)
    assert scorecard(made, key=key).key == key


PROGRAM = """
import json, sys
from pathlib import Path
from core.readers import read
from core.replay import replay
from core.scorecard import scorecard
for path in json.loads(sys.argv[1]):
    transcript = read(Path(path)).transcripts[0]
    for config in json.loads(sys.argv[2]):
        print(json.dumps(scorecard(replay(transcript, config)).as_json()))
"""


def test_it_is_the_same_in_every_process() -> None:
    """Also the order of what is counted by name, as the text in a database is compared."""
    arguments = [json.dumps([str(path) for path in transcripts()]), json.dumps([*map(configuration, strategies())])]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments],
            cwd=Path(__file__).parents[1],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("0", "77")
    ]
    first, second = (process.communicate()[0].splitlines() for process in started)
    assert [process.returncode for process in started] == [0, 0]
    assert first == second
    assert len(first) == len(transcripts()) * len(strategies())
    assert any(json.loads(line)["lost_share"] for line in first)
