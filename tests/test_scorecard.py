"""The scorecard: its figures are those of the measures, it is plain JSON, and it is the same on every run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core import ENGINE_VERSION
from core.export import exported
from core.identity import transcript_sha256
from core.readers import read
from core.replay import Replay, replay
from core.scorecard import Key, configuration_sha256, scorecard, scorecard_key
from core.transcript import Transcript
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


def test_a_strategy_that_changes_nothing_did_nothing() -> None:
    card = scorecard(played({"kind": "full_history"}))
    assert (card.did_nothing, card.changed, card.lost_share) == (True, 0, None)


def test_over_budget_is_counted() -> None:
    made = played({"kind": "full_history"}, 1)
    card = scorecard(made)
    assert card.over_budget == 4
    assert card.largest_excess == max(made.calls["in_window"]) - 1


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
    assert json.loads(text)["key"]["engine"] == ENGINE_VERSION
    assert "shop" not in text and "total_price" not in text


def test_the_key_tells_transcript_configuration_and_engine() -> None:
    made = played(MASK)
    key = scorecard_key(made)
    assert key == Key(transcript_sha256(made.transcript), configuration_sha256(made.config), ENGINE_VERSION)
    assert scorecard_key(played(MASK)) == key
    assert scorecard_key(played({**MASK, "keep": 2})).configuration != key.configuration
    other = replay(run([user("Hi."), says("Ho.")]), made.config)
    assert scorecard_key(other).transcript != key.transcript


def test_the_provenance_of_an_export_changes_no_key() -> None:
    made = played(MASK)
    body = exported([made], datetime(2026, 1, 1, tzinfo=UTC))
    assert scorecard_key(replay(coding(), body)).configuration == configuration_sha256(made.config)


PROGRAM = """
import json, sys
from core.readers import read
from core.replay import replay
from core.scorecard import scorecard
from pathlib import Path
transcript = read(Path(sys.argv[1])).transcripts[0]
config = {"budget": {"soft_limit": 4500}, "strategy": {"kind": "tiered_injection", "keep_turns": 2}}
print(json.dumps(scorecard(replay(transcript, config)).as_json()))
"""


@pytest.mark.parametrize("seed", ["0", "77"])
def test_it_is_the_same_in_every_process(seed: str) -> None:
    path = SAMPLES / "support_triage.jsonl"
    made = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    config = {"budget": {"soft_limit": 4500}, "strategy": {"kind": "tiered_injection", "keep_turns": 2}}
    here = scorecard(replay(read(path).transcripts[0], config)).as_json()
    assert json.loads(made.stdout) == json.loads(json.dumps(here))
    assert here["lost_share"] is not None
