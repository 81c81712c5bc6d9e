"""What a summariser is asked, and what stands where it fails: the same in a session and for a single request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.runtime import ContextRuntime
from core.summaries import Range
from core.wire import dump

KINDS = ["summarize_and_keep", "tiered_injection"]


def config(kind: str, limit: int = 300) -> dict[str, Any]:
    strategy = {"kind": kind, "summary": "model", "keep_messages": 3, "min_turns": 0, "min_steps": 0}
    return {"model": {"dialect": "openai_chat"}, "budget": {"soft_limit": limit}, "strategy": strategy}


def chat(messages: int) -> dict[str, Any]:
    said = [f"message {number}: " + "some words of it " * 8 for number in range(messages)]
    return {"messages": [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(said)]}


def fails_first(times: int) -> Callable[[Range], str]:
    """A summariser that fails a number of times and then writes."""
    left = [times]

    def write(asked: Range) -> str:
        left[0] -= 1
        if left[0] >= 0:
            raise TimeoutError
        return f"written about {asked.hash[:4]}"

    return write


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_session_gives_what_a_single_call_gives_after_a_failure(kind: str, times: int) -> None:
    runtime = ContextRuntime.load(config(kind), summarizer=fails_first(times))
    session = runtime.session()
    for messages in (9, 9, 11, 13, 13):
        live = session.assemble(chat(messages))
        alone = runtime.assemble(chat(messages))
        assert dump(live.request) == dump(alone.request)
        assert live.decisions == alone.decisions


@pytest.mark.parametrize("kind", KINDS)
def test_a_range_that_failed_is_not_asked_for_again(kind: str) -> None:
    """What was sent with an extract stays so: a later summary would change the prompt at its beginning."""
    asked: list[str] = []

    def refuse(wanted: Range) -> str:
        asked.append(wanted.hash)
        raise ConnectionError

    runtime = ContextRuntime.load(config(kind), summarizer=refuse)
    first = runtime.assemble(chat(11))
    assert dump(runtime.assemble(chat(11)).request) == dump(first.request)
    assert asked and len(set(asked)) == len(asked)


@pytest.mark.parametrize("messages", [9, 11, 21])
def test_messages_that_are_kept_are_not_summarised(messages: int) -> None:
    asked: list[str] = []

    def write(wanted: Range) -> str:
        asked.append(wanted.text)
        return "short"

    runtime = ContextRuntime.load(config("summarize_and_keep", 250), summarizer=write)
    result = runtime.assemble(chat(messages))
    kept = [made.span_id for made in result.decisions if made.action == "keep" and made.span_id.startswith("m")]
    assert len(kept) == 3
    assert len(asked) == messages - 3
    assert all(f"message {messages - last}:" not in text for text in asked for last in (1, 2, 3))
