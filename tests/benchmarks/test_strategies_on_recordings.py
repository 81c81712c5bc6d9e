"""What each strategy sends, loses and costs on ten recordings: at one budget, and at equal tokens.

A strategy that sends less loses more, so figures at one budget only show that less is less. The second table moves
the soft limit of each strategy until it sends as many tokens as masking old tool results does, and compares then.
Nothing here fails by a clock; `pytest tests/benchmarks/test_strategies_on_recordings.py -m slow -s -n 0` prints both.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.replay import Replay, replay
from core.scorecard import Scorecard, scorecard

RECORDINGS = {
    "astroid": "mini-swe-agent/astroid-1333-188calls.traj.json.gz",
    "django": "mini-swe-agent/django-11797.traj.json.gz",
    "go cli": "claude-code/entire-go-cli-long.jsonl.gz",
    "claude demo": "claude-code/d-kimuson-demo-v1.0.98.jsonl.gz",
    "gemini cli": "gemini-contents/gemini-cli-trajectory.json",
    "openhands": "openhands/multi-swe-bench-output.jsonl",
    "pandas": "swe-agent/pandas-53652-swesmith.traj.gz",
    "deerflow": "langgraph-thread/deerflow-research-74msgs.json",
    "openhands log": "openai-chat/lmcache-openhands-requests.jsonl.gz",
    "airline": "tau-bench/gpt-4o-airline.json.gz",
}
LONG = ("astroid", "django")
"""The coding runs of more than 100 calls."""
MASK = {"kind": "mask_tool_results", "keep": 10, "trigger": 0}
STRATEGIES: Mapping[str, Mapping[str, Any]] = {
    "full_history": {"kind": "full_history"},
    "as_captured": {"kind": "as_captured"},
    "keep_last": {"kind": "keep_last"},
    "summarize_and_keep": {"kind": "summarize_and_keep"},
    "tiered_injection": {"kind": "tiered_injection"},
    "required_reserve": {"kind": "required_reserve"},
    "span_triage": {"kind": "span_triage"},
    "mask_tool_results": {"kind": "mask_tool_results"},
}
CUTTING = [name for name in STRATEGIES if name not in ("full_history", "as_captured")]
HEAD = (
    "| recording | strategy | tokens | of full | references lost | lines lost | cost |\n|---|---|---|---|---|---|---|"
)


class Recording:
    """A transcript under several strategies; soft limits are in tokens."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        found = read(folder / RECORDINGS[name]).transcripts
        self.transcript = max(found, key=lambda made: len(made.calls))
        self.full = replay(self.transcript, {"strategy": dict(STRATEGIES["full_history"])}).calls["in_window"]

    def replay(self, strategy: Mapping[str, Any], limit: int | None) -> Replay:
        """Replay the transcript under a strategy with a soft limit."""
        return replay(self.transcript, {"budget": {"soft_limit": limit}, "strategy": dict(strategy)})

    def at_equal_tokens(self, strategy: Mapping[str, Any], wanted: int) -> Replay:
        """Return the replay at the largest soft limit that sends no more than `wanted` tokens in all.

        A lower limit never sends more while a strategy can keep to it, so the limit is found by bisection.
        """
        low, high = 0, max(self.full)
        while low < high:
            middle = (low + high + 1) // 2
            sent = sum(self.replay(strategy, middle).calls["in_window"])
            low, high = (middle, high) if sent <= wanted else (low, middle - 1)
        return self.replay(strategy, low)

    def row(self, strategy: str, card: Scorecard) -> str:
        """Return a row of the table."""
        cost = "unknown" if card.cost_usd is None else f"${card.cost_usd:.3f}"
        share = card.sum_tokens / sum(self.full)
        return f"| {' | '.join([self.name, strategy, f'{card.sum_tokens:,}', f'{share:.0%}', *lost(card), cost])} |"


def lost(card: Scorecard) -> tuple[str, str]:
    """Return what was lost of references and of copied lines, in words."""
    if card.did_nothing:
        return "did nothing", "did nothing"
    counts = [(card.references_lost, card.references_used, card.lost_share)]
    counts.append((card.lines_lost, card.lines_copied, card.lines_lost_share))
    told = [f"{gone} of {used}" + ("" if share is None else f" ({share:.1%})") for gone, used, share in counts]
    return told[0], told[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDINGS)
def test_every_strategy_at_half_of_the_largest_prompt(name: str, transcripts_folder: Path) -> None:
    made = Recording(transcripts_folder, name)
    print(f"\n{HEAD}")
    for strategy, said in STRATEGIES.items():
        card = scorecard(made.replay(said, max(made.full) // 2))
        assert card.violations == 0
        print(made.row(strategy, card))


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_masking_old_results_halves_the_window_for_a_small_loss(name: str, transcripts_folder: Path) -> None:
    """The Complexity Trap's finding (arXiv 2508.21433), on runs of more than 100 calls."""
    made = Recording(transcripts_folder, name)
    card = scorecard(made.replay(MASK, None))
    print(f"\n{HEAD}\n{made.row('mask_tool_results, keep 10', card)}")
    assert card.calls > 100
    assert 0.4 < card.sum_tokens / sum(made.full) < 0.6
    assert card.lost_share is not None and 0.01 <= card.lost_share <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", ["astroid", "django", "go cli", "openhands", "pandas"])
def test_every_strategy_at_equal_tokens(name: str, transcripts_folder: Path) -> None:
    made = Recording(transcripts_folder, name)
    masked = scorecard(made.replay(MASK, None))
    print(f"\n{HEAD}\n{made.row('mask_tool_results, keep 10', masked)}")
    for strategy in CUTTING:
        equal = made.at_equal_tokens(STRATEGIES[strategy], masked.sum_tokens)
        print(made.row(f"{strategy}, soft limit {equal.config.budget.soft_limit:,}", scorecard(equal)))
