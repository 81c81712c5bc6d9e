"""Figures for conversations that are recorded in turns, and for sessions whose hints change with every request.

Printed as ratios to counting the texts once, and as growth, by which what grows with the square is seen at once.
Nothing here fails by the clock; `pytest tests/benchmarks -m slow -s -n 0` prints the tables.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from core.loss import loss
from core.replay import replay
from core.runtime import ContextRuntime
from core.tokens import encoding
from core.transcript import ROOT, Call, Transcript

from .transcripts import seeded

TALKS = 4
CONFIG = {"budget": {"soft_limit": 3000}, "strategy": {"kind": "keep_last"}}


@pytest.mark.slow
def test_conversations_in_turns_grow_with_their_length() -> None:
    count(in_turns(1))
    print(f"\n{'calls':>8s}{'read, plan':>12s}{'cache':>8s}{'loss':>8s}   countings")
    for calls in (500, 2_000, 8_000):
        transcript = in_turns(calls)
        counting = seconds(lambda made=transcript: count(made))  # type: ignore[misc]
        made = replay(transcript, CONFIG)
        transcript.memo.clear()
        shares = [
            seconds(lambda of=transcript: replay(of, CONFIG)) / counting,  # type: ignore[misc]
            seconds(lambda of=made: of.cache) / counting,  # type: ignore[misc]
            seconds(lambda of=made: loss(of)) / counting,  # type: ignore[misc]
        ]
        print(f"{calls:8,}{shares[0]:12.2f}{shares[1]:8.2f}{shares[2]:8.2f}")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["none", "pins", "tools"])
def test_hints_that_change_with_every_request(name: str) -> None:
    transcript, hinted = seeded(5_000), HINTS[name]
    session = ContextRuntime.load(CONFIG).session()
    found = []
    for first in (200, 800):
        session.assemble(transcript.history(first), hinted(first))
        requests = [(transcript.history(call), hinted(call)) for call in range(first + 1, first + 21)]
        found.append(seconds(lambda of=requests: [session.assemble(*one) for one in of]) / len(requests))  # type: ignore[misc]
    print(f"\n{name:8s} {1000 * found[0]:6.2f} ms a request at 500 messages, {found[1] / found[0]:.1f} times at 2,000")


HINTS: Mapping[str, Callable[[int], Any]] = {
    "none": lambda call: None,
    "pins": lambda call: {"pins": [f"m{call}.0"]},
    "tools": lambda call: {"active_tools": [f"tool_{call % 5}"]},
}


def in_turns(calls: int) -> Transcript:
    """Return so many calls of conversations that take turns, each a question and an answer."""
    messages: list[dict[str, Any]] = []
    parents: list[int] = []
    made: list[Call] = []
    tips = [ROOT] * TALKS
    for number in range(calls):
        talk = number % TALKS
        asked = {"role": "user", "content": f"Question {number} of talk_{talk}. " + "What of the rest of it? " * 10}
        reply = {"role": "assistant", "content": f"Answer {number} of talk_{talk}. " + "There is no rest of it. " * 10}
        for message in (asked, reply):
            parents.append(tips[talk])
            tips[talk] = len(messages)
            messages.append(message)
        made.append(Call(0, parents[-1], parents[-1], reply))
    return Transcript("openai_chat", tuple(messages), tuple(parents), ({"messages": []},), tuple(made))


def count(transcript: Transcript) -> None:
    encode = encoding("o200k_base").encode_ordinary
    texts: Iterable[str] = (message["content"] for message in transcript.messages)
    for text in texts:
        encode(text)


def seconds(run: Callable[[], object]) -> float:
    """Return the processor time of a run."""
    started = time.process_time()
    run()
    return time.process_time() - started
