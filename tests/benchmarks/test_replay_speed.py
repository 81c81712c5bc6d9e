"""Figures for the cost contract: replaying a strategy over all calls against counting the transcript once.

Everything is measured in one run and printed as ratios, so that the machine cancels out. Nothing here fails by the
clock; `pytest tests/benchmarks -m slow -s` prints the table.
"""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import pytest

from core.dialects import dialect
from core.log import Log
from core.replay import replay
from core.runtime import ContextRuntime
from core.strategies.folding import Folds
from core.strategies.inference import found_in
from core.tokens import encoding
from core.transcript import Transcript

from .transcripts import seeded

SIZES = (1_000, 10_000)
LARGE = 100_000
BUDGET = {"soft_limit": 20_000}
STRATEGIES: dict[str, dict[str, Any]] = {
    "full_history": {"kind": "full_history"},
    "as_captured": {"kind": "as_captured"},
    "keep_last": {"kind": "keep_last"},
    "keep_last, step 5000": {"kind": "keep_last", "step": 5000},
    "summarize_and_keep": {"kind": "summarize_and_keep"},
    "summarize_and_keep, step 5000": {"kind": "summarize_and_keep", "step": 5000},
    "summarize_and_keep, published": {"kind": "summarize_and_keep", "mode": "published"},
    "tiered_injection": {"kind": "tiered_injection"},
    "tiered_injection, step 5000": {"kind": "tiered_injection", "step": 5000},
    "mask_tool_results": {"kind": "mask_tool_results"},
    "span_triage": {"kind": "span_triage"},
    "span_triage, stubs apart": {"kind": "span_triage", "merge_stubs": False},
    "required_reserve": {"kind": "required_reserve"},
}


@pytest.mark.slow
def test_replay_costs_no_more_than_counting_once() -> None:
    rows = {size: dict(_figures(seeded(size))) for size in SIZES}
    print(f"\n{'strategy':32s}" + "".join(f"{size:>10,} msg    ratio" for size in SIZES) + "    growth")
    for name in rows[SIZES[0]]:
        cells = [f"{rows[size][name]:12.4f} s {rows[size][name] / rows[size]['count once']:8.2f}" for size in SIZES]
        print(f"{name:32s}" + "".join(cells) + f"{rows[SIZES[1]][name] / rows[SIZES[0]][name]:10.1f}")


@pytest.mark.slow
def test_cost_grows_with_the_transcript() -> None:
    """100 times the messages, and the memory that it takes."""
    small, large = dict(_figures(seeded(SIZES[0]))), dict(_figures(seeded(LARGE), times=1))
    print(f"\n{'strategy':32s}{SIZES[0]:>10,} msg{LARGE:>14,} msg     ratio    growth")
    for name in small:
        ratio = large[name] / large["count once"]
        print(f"{name:32s}{small[name]:12.4f} s{large[name]:16.3f} s{ratio:10.2f}{large[name] / small[name]:10.1f}")
    print(f"peak memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


@pytest.mark.slow
@pytest.mark.parametrize("name", STRATEGIES)
def test_a_session_and_a_single_plan(name: str) -> None:
    """What a session adds to a request of 1,000 messages, and what any plan of 10,000 messages takes when asked for."""
    config = {"model": {"name": "gpt-4o"}, "budget": BUDGET, "strategy": STRATEGIES[name]}
    transcript = seeded(SIZES[0])
    session = ContextRuntime.load(config).session()
    session.assemble(transcript.history(len(transcript.calls) - 11))
    added = [_best(lambda call=call: session.assemble(transcript.history(call)), times=1) for call in range(-10, 0)]  # type: ignore[misc]
    histories = [_best(lambda call=call: transcript.history(call), times=1) for call in range(-10, 0)]  # type: ignore[misc]
    made = replay(seeded(SIZES[1]), config)
    calls = range(0, len(made.transcript.calls), 97)
    planned = [_best(lambda call=call: made.plan(call).decisions, times=1) for call in calls]  # type: ignore[misc]
    print(
        f"\n{name:32s} session {1000 * (median(added) - median(histories)):6.2f} ms,"
        f" all decisions of a plan {1000 * max(planned):6.2f} ms at most"
    )


@pytest.mark.slow
def test_a_common_library_on_the_same_replay() -> None:
    """The same 400 calls trimmed one by one with exact counts, as its documentation shows."""
    messages = pytest.importorskip("langchain_core.messages", reason="needs the extra `benchmarks`")
    transcript = seeded(SIZES[0])
    config = {"model": {"name": "gpt-4o"}, "budget": BUDGET, "strategy": {"kind": "keep_last"}}
    ours = _best(lambda: replay(transcript, config), times=3)
    theirs = _best(lambda: _trimmed(transcript, messages), times=1)
    print(f"\nkeep_last over {len(transcript.calls)} calls: {ours:.4f} s")
    print(f"trim_messages over the same calls: {theirs:.1f} s, {theirs / ours:,.0f} times as long")


def _trimmed(transcript: Transcript, messages: Any) -> None:
    """Trim every call's prompt, each message counted with tiktoken each time."""
    encode = encoding("o200k_base").encode_ordinary
    for call in range(len(transcript.calls)):
        given = messages.convert_to_messages(transcript.history(call)["messages"])
        messages.trim_messages(
            given,
            max_tokens=BUDGET["soft_limit"],
            token_counter=lambda kept: sum(len(encode(str(message.content))) + 4 for message in kept),
            include_system=True,
            start_on="human",
        )


def _figures(transcript: Transcript, times: int = 5) -> Iterator[tuple[str, float]]:
    yield "count once", _best(lambda: _count(transcript), times)
    yield "read and count, cold", _best(lambda: _cold(transcript), min(2, times))
    yield "excerpts and facts, cold", _best(lambda: _analysed(transcript), min(2, times))
    for name, strategy in STRATEGIES.items():
        config = {"model": {"name": "gpt-4o"}, "budget": BUDGET, "strategy": strategy}
        made = replay(transcript, config)
        assert len(made.calls["in_window"]) == len(transcript.calls)
        yield name, _best(lambda config=config: replay(transcript, config), times)  # type: ignore[misc]


def _count(transcript: Transcript) -> int:
    encode = encoding("o200k_base").encode_ordinary
    return sum(len(encode(text)) for message in transcript.messages for text in _texts(message))


def _texts(message: Any) -> Iterator[str]:
    if message.get("content"):
        yield message["content"]
    for call in message.get("tool_calls", ()):
        yield call["function"]["name"]
        yield call["function"]["arguments"]


def _cold(transcript: Transcript) -> None:
    transcript.memo.clear()
    replay(transcript, {"strategy": {"kind": "full_history"}})


def _analysed(transcript: Transcript) -> None:
    """Make the analyses of all units that strategies share, as if none had been made."""
    made = replay(transcript, {"strategy": {"kind": "full_history"}})
    units = made.plan(len(transcript.calls) - 1).log.units
    folds = Folds(Log(), dialect(transcript.dialect), made.counter_of(0))
    for unit in units:
        unit.memo.clear()
        folds.smaller(unit)
        found_in(unit)


def _best(run: Callable[[], object], times: int = 5) -> float:
    """Return the least of some processor times, in seconds, which other work on the machine hardly touches."""
    best = float("inf")
    for _ in range(times):
        gc.collect()
        started = time.process_time()
        run()
        best = min(best, time.process_time() - started)
    return best
