"""What the strategies of a transcript share: whatever was measured before, a replay's figures are the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.reading import MOST_READINGS
from core.replay import Replay, replay
from core.retention import retention
from core.transcript import Transcript
from tests.exchange_trees import CONFIGURATIONS, transcripts
from tests.runs import run, says, user

FULL = {"kind": "full_history"}


def figures(made: Replay) -> tuple[Any, ...]:
    loss = made.loss
    return loss._rows, loss.items, list(made.cache.calls), made.cache.breaks, made.cost.calls, retention(made).calls


@given(transcripts(), st.permutations(CONFIGURATIONS))
def test_figures_do_not_depend_on_what_was_measured_before(
    transcript: Transcript, configs: Sequence[dict[str, Any]]
) -> None:
    for config in configs[:5]:
        assert figures(replay(transcript, config)) == figures(replay(replace(transcript), config))


@given(transcripts(), st.sampled_from(CONFIGURATIONS))
def test_whole_prompts_are_predicted_alike_by_all_strategies(transcript: Transcript, config: dict[str, Any]) -> None:
    """Up to the first prompt that a strategy changes, its rows are those of the whole history."""
    made = replay(transcript, config)
    whole = replay(replace(transcript), {**config, "strategy": {"kind": "full_history"}, "shrink": []})
    calls = range(len(transcript.calls))
    changed = next((call for call in calls if made.plan(call).changed), len(transcript.calls))
    assert list(made.cache.calls[:changed]) == list(whole.cache.calls[:changed])
    assert made.cost.calls[:changed] == whole.cost.calls[:changed]


def test_what_is_shared_is_kept_for_the_newest_counters() -> None:
    transcript = run([user("Go."), says("Done.")])
    scales = [1 + number / 100 for number in range(3 * MOST_READINGS)]
    for scale in scales:
        assert (
            len(replay(transcript, {"strategy": FULL, "counter": {"kind": "tiktoken", "scale": scale}}).cost.calls) == 1
        )
    assert [scale for *_, scale in transcript.memo["shared"]] == scales[-MOST_READINGS:]
