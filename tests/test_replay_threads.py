"""A replay that several threads read at a time, as pages of several people do: every figure as in one thread."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from core.replay import Replay, replay
from core.spans import SpanKind
from tests.runs import result, run, says, user, uses

THREADS = 4
COLUMNS = [*(f"kind.{kind}" for kind in SpanKind), "action.keep", "action.stub", "action.drop", "cached", "lost"]


@pytest.fixture
def impatient() -> Iterator[None]:
    """Let threads take turns after very little work."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def played(strategy: dict[str, Any]) -> Replay:
    rounds = [m for n in range(30) for m in (uses(f"c{n}", "read", n=n), result(f"c{n}", f"{n} " + "line " * (40 + n)))]
    return replay(run([user("Go."), *rounds, says("Done.")]), {"budget": {"soft_limit": 900}, "strategy": strategy})


def figures(made: Replay) -> dict[str, list[Any]]:
    return {name: list(made.calls[name]) for name in COLUMNS}


@pytest.mark.parametrize("kind", ["span_triage", "keep_last", "mask_tool_results", "tiered_injection"])
def test_what_threads_read_at_once_is_what_one_thread_reads(kind: str, impatient: None) -> None:
    alone = figures(played({"kind": kind}))
    for _ in range(5):
        made, found, gate = played({"kind": kind}), [], threading.Barrier(THREADS)

        def read(made: Replay = made, found: list[Any] = found, gate: threading.Barrier = gate) -> None:
            gate.wait()
            found.append(figures(made))

        threads = [threading.Thread(target=read) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [alone] * THREADS
