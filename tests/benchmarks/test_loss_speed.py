"""Figures for the loss measure on real runs: its time against counting the transcript once, and what it tells.

Cold: references, words and lines of all texts, with every memo emptied. Warm: one strategy over all calls of a new
replay, one measure after the other right behind the replay, as the pages do it; what the strategies of a transcript
share was made by another configuration of the same kind. All times are the processor's, of a single thread; counting
and measuring take turns, and a ratio is the median over the rounds, so that a busy machine slows both alike. Nothing
here fails by the clock; `pytest tests/benchmarks -m slow -s -n 0` prints the tables.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from core import copied_lines, references
from core.dialects import dialect
from core.loss import loss
from core.readers import read
from core.reference_chunks import references_of_word
from core.refetches import made_likelier
from core.replay import Replay, replay
from core.retention import retention
from core.text_index import watch_words
from core.tokens import encoding
from core.transcript import Transcript
from core.uses import Uses, uses_of

from .transcripts import seeded

RUNS = {
    "astroid, 188 calls": ("mini-swe-agent/astroid-1333-188calls.traj.json.gz", 0),
    "django, 156 calls": ("mini-swe-agent/django-11797.traj.json.gz", 0),
    "go-cli": ("claude-code/entire-go-cli-long.jsonl.gz", 0),
    "vct, Chinese": ("claude-code/vct-v1.0.95.jsonl", 0),
    "pandas": ("swe-agent/pandas-53652-swesmith.traj.gz", 0),
    "openhands": ("openai-chat/lmcache-openhands-requests.jsonl.gz", 0),
    "roo": ("cline-roo/roo-heavy-uncondensed.api_conversation_history.json", 0),
    "research": ("langgraph-thread/deerflow-research-74msgs.json", 0),
    "football, Chinese": ("langgraph-thread/deerflow-zh-football.json", 0),
    "airline 13": ("tau-bench/gpt-4o-airline.json.gz", 13),
    "answers, code": ("aider/aider-chat-history-4mb.md.gz", 4),
    "answers, one page": ("claude-ai-export/osteele-bakery.json", 0),
    "short run": ("openhands/gui-mode-trajectory.json", 0),
    "short, 23 calls": ("kimi-cli/agent-sessions-tools.jsonl", 0),
    "many edits": ("claude-code/d-kimuson-demo-v1.0.98.jsonl.gz", 3),
    "tool trees": ("toolbench/G3-13-dfs.json", 1),
}
KINDS = (
    "keep_last",
    "summarize_and_keep",
    "tiered_injection",
    "required_reserve",
    "span_triage",
    "mask_tool_results",
)
ROUNDS = 5
FLOOR = {"soft_limit": 1}
STRATEGIES: dict[str, dict[str, Any]] = {
    "mask 10": {"strategy": {"kind": "mask_tool_results", "keep": 10, "trigger": 0}},
    "mask 5": {"strategy": {"kind": "mask_tool_results", "keep": 5, "trigger": 0}},
    "tiered 8": {"strategy": {"kind": "tiered_injection", "keep_messages": 8, "trigger": 0}},
    "summaries 8": {
        "strategy": {"kind": "summarize_and_keep", "keep_messages": 8, "min_turns": 0, "min_steps": 0},
        "budget": FLOOR,
    },
    "floor": {"strategy": {"kind": "keep_last", "keep_messages": 8}, "budget": FLOOR},
}


MEASURES: dict[str, Callable[[Replay], object]] = {
    "loss": loss,
    "retention": retention,
    "refetches": made_likelier,
    "cache": lambda made: made.cache.calls,
    "cost": lambda made: made.cost.usd,
}


@pytest.mark.slow
def test_reading_the_references_costs_a_few_countings(transcripts_folder: Path) -> None:
    print(f"\n{'run':20s}{'kB':>7s}{'used':>7s}{'cold':>8s}")
    ratios = []
    for name, transcript in runs(transcripts_folder):
        texts = distinct_texts(transcript)
        ratios.append(ratio(texts, partial(fresh, transcript)))
        used = sum(len(call.used) for call in uses_of(transcript).calls)
        print(f"{name:20s}{sum(map(len, texts)) // 1000:7d}{used:7d}{ratios[-1]:8.2f}")
    print(f"worst: {max(ratios):.2f} times counting")


@pytest.mark.slow
def test_all_measures_of_a_strategy_cost_little(transcripts_folder: Path) -> None:
    transcripts = [*runs(transcripts_folder), ("seeded, 4000 calls", seeded(10_000))]
    found = {name: dict(measured(transcript)) for name, transcript in transcripts}
    for strategy in (*KINDS, *STRATEGIES):
        print(f"\n{strategy:20s}" + "".join(f"{name:>10s}" for name in MEASURES) + f"{'all':>10s}")
        for name, shares in found.items():
            print(f"{name:20s}" + "".join(f"{one:10.2f}" for one in (*shares[strategy], sum(shares[strategy]))))
    print(f"\n{'all measures':20s}" + "".join(f"{name[:9]:>10s}" for name in (*KINDS, *STRATEGIES)))
    for name, shares in found.items():
        print(f"{name:20s}" + "".join(f"{sum(shares[one]):10.2f}" for one in (*KINDS, *STRATEGIES)))


def measured(transcript: Transcript) -> Iterator[tuple[str, list[float]]]:
    """Yield for each strategy how many countings each of its measures takes; kinds have half the largest prompt."""
    largest = max(replay(transcript, {"strategy": {"kind": "full_history"}}).calls["in_window"])
    kinds = {kind: {"strategy": {"kind": kind}, "budget": {"soft_limit": largest // 2}} for kind in KINDS}
    for name, config in (kinds | STRATEGIES).items():
        rounds = list(islice(warm(transcript, config, largest), ROUNDS))
        yield name, [statistics.median(times) for times in zip(*rounds, strict=True)]


def warm(transcript: Transcript, config: dict[str, Any], largest: int) -> Iterator[list[float]]:
    """Yield, round by round, how many countings each measure of a new replay takes, one after the other."""
    texts = distinct_texts(transcript)
    first_measured(transcript, {**config, "budget": {"soft_limit": largest // 3}})
    while True:
        counting = least(partial(count, texts), 3)
        gc.collect()
        made = replay(transcript, config)
        assert made.calls["kind.user"]
        yield [once(partial(measure, made)) / counting for measure in MEASURES.values()]


def first_measured(transcript: Transcript, config: dict[str, Any]) -> None:
    made = replay(transcript, config)
    for measure in MEASURES.values():
        measure(made)


@pytest.mark.slow
def test_what_the_measure_tells(transcripts_folder: Path) -> None:
    print(f"\n{'run':20s}" + "".join(f"{name:>30s}" for name in STRATEGIES))
    for name, transcript in runs(transcripts_folder):
        full = sum(replay(transcript, {"strategy": {"kind": "full_history"}}).calls["in_window"])
        print(f"{name:20s}" + "".join(f"{told(replay(transcript, one), full):>30s}" for one in STRATEGIES.values()))


def told(made: Replay, full: int) -> str:
    if made.loss.did_nothing:
        return "did nothing"
    share, lines = made.loss.references, made.loss.lines
    percent = "" if share.value is None else f" {share.value:.1%}"
    return f"{sum(made.calls['in_window']) / full:.0%} {share.lost}/{share.used}{percent}, {lines.lost}/{lines.used}"


def runs(folder: Path) -> Iterator[tuple[str, Transcript]]:
    for name, (file, place) in RUNS.items():
        yield name, read(folder / file).transcripts[place]


def distinct_texts(transcript: Transcript) -> set[str]:
    """Return all texts of a transcript, with those of responses that no later prompt repeats."""
    spoken = dialect(transcript.dialect)
    wires = [*transcript.messages, *(call.response or {} for call in transcript.calls)]
    texts = {part.text for wire in wires for part in spoken.message(wire).parts}
    for head in transcript.heads:
        texts |= {*spoken.system_texts(head), *(tool.text for tool in spoken.tools(head))}
    return texts


def fresh(transcript: Transcript) -> Uses:
    references._MEMO.clear()
    references_of_word.cache_clear()
    watch_words.cache_clear()
    copied_lines._remembered.cache_clear()
    return Uses(transcript)


def ratio(texts: Collection[str], run: Callable[[], object]) -> float:
    """Return how many times as long as counting the texts a run takes."""
    return statistics.median(least(run, 2) / least(partial(count, texts), 3) for _ in range(ROUNDS))


def count(texts: Iterable[str]) -> None:
    encode = encoding("o200k_base").encode_ordinary
    for text in texts:
        encode(text)


def least(run: Callable[[], object], times: int) -> float:
    """Return the least of some times of the processor, in seconds."""
    best = float("inf")
    for _ in range(times):
        gc.collect()
        best = min(best, once(run))
    return best


def once(run: Callable[[], object]) -> float:
    """Return the time of the processor that a run takes, in seconds."""
    started = time.process_time()
    run()
    return time.process_time() - started
