"""Figures for the loss measure on real runs: its time against counting the transcript once, and what it tells.

Cold: references, words and lines of all texts, with every memo emptied. Warm: one strategy over all calls. Nothing
here fails by the clock; `pytest tests/benchmarks -m slow -s` prints the tables.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core import references
from core.dialects import dialect
from core.loss import loss
from core.readers import read
from core.reference_chunks import references_of_word
from core.replay import Replay, replay
from core.text_index import watch_words
from core.tokens import encoding
from core.transcript import Transcript
from core.uses import Uses, uses_of

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
}
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


@pytest.mark.slow
def test_the_measure_costs_little_beside_counting(transcripts_folder: Path) -> None:
    print(f"\n{'run':20s}{'kB':>7s}{'used':>7s}{'cold':>8s}" + "".join(f"{name:>13s}" for name in STRATEGIES))
    times = [row(name, transcript) for name, transcript in runs(transcripts_folder)]
    print(f"all, cold: {sum(cold for _, cold in times) / sum(count for count, _ in times):.2f} times counting")


def row(name: str, transcript: Transcript) -> tuple[float, float]:
    """Print the figures of a run; return the seconds of counting and of the cold measure."""
    texts = list(distinct_texts(transcript))
    count = least(lambda: [encoding("o200k_base").encode_ordinary(text) for text in texts])
    cold = least(lambda: fresh(transcript), times=3)
    made = [replay(transcript, config) for config in STRATEGIES.values()]
    warm = [least(partial(loss, one)) / count for one in made]
    used = sum(len(call.used) for call in uses_of(transcript).calls)
    size = sum(map(len, texts)) // 1000
    print(f"{name:20s}{size:7d}{used:7d}{cold / count:8.2f}" + "".join(f"{ratio:13.2f}" for ratio in warm))
    return count, cold


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
    spoken = dialect(transcript.dialect)
    texts = {part.text for wire in transcript.messages for part in spoken.message(wire).parts}
    for head in transcript.heads:
        texts |= {*spoken.system_texts(head), *(tool.text for tool in spoken.tools(head))}
    return texts


def fresh(transcript: Transcript) -> Uses:
    references._MEMO.clear()
    references_of_word.cache_clear()
    watch_words.cache_clear()
    return Uses(transcript)


def least(run: Callable[[], object], times: int = 5) -> float:
    """Return the least of some times of the processor, in seconds."""
    best = float("inf")
    for _ in range(times):
        gc.collect()
        started = time.process_time()
        run()
        best = min(best, time.process_time() - started)
    return best
