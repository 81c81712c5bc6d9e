"""How long written cache entries live: by marks, by what outlived the usual life, and what that costs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.cache_lives import HourLife, hour_life
from core.readers import read
from core.replay import replay
from core.transcript import ROOT, Call, Transcript, Usage

DAY = datetime(2026, 1, 15, 12, tzinfo=UTC)
MODEL = "claude-sonnet-4-20250514"
FULL = {"strategy": {"kind": "full_history"}}
MARK, HOUR = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}


def said(role: str, text: str, mark: dict[str, str] | None = None) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": text}
    return {"role": role, "content": [{**block, "cache_control": mark} if mark else block]}


def talk(
    head: dict[str, str] | None = None,
    messages: dict[str, str] | None = None,
    usages: tuple[Usage, Usage] = (Usage(), Usage()),
    pause: float = 60,
) -> Transcript:
    """Return two calls to Claude with cache marks of these lives."""
    system: dict[str, Any] = {"type": "text", "text": "rule " * 1500}
    wires = (
        said("user", "word " * 2000, messages),
        said("assistant", "one two three"),
        said("user", "more " * 500, messages),
    )
    times = (DAY, DAY + timedelta(seconds=pause))
    calls = tuple(
        Call(0, last, last, wires[1], usage, MODEL, at) for last, usage, at in zip((0, 2), usages, times, strict=True)
    )
    marked = [{**system, "cache_control": head} if head else system]
    return Transcript("anthropic", wires, (ROOT, 0, 1), ({"model": MODEL, "system": marked, "messages": []},), calls)


@pytest.mark.parametrize(
    ("head", "messages", "life"),
    [
        (None, None, HourLife(False, False)),
        (MARK, MARK, HourLife(False, False)),
        ({**MARK, "ttl": "5m"}, MARK, HourLife(False, False)),
        (HOUR, HOUR, HourLife(True, True)),
        (None, HOUR, HourLife(True, True)),
        (HOUR, MARK, HourLife(True, False)),
        (HOUR, None, HourLife(True, False)),
    ],
)
def test_marks_tell_the_life(head: dict[str, str] | None, messages: dict[str, str] | None, life: HourLife) -> None:
    assert hour_life(talk(head, messages)) == life


WROTE = Usage(5000, 1000, 4000, 3)


@pytest.mark.parametrize(
    ("second", "pause", "hour"),
    [
        (Usage(5600, 5000, 600, 3), 601, True),
        (Usage(5600, 5000, 600, 3), 599, False),
        (Usage(5600, 4999, 601, 3), 3000, False),
        (Usage(5600, None, None, 3), 3000, False),
    ],
)
def test_what_outlived_five_minutes_was_kept_for_an_hour(second: Usage, pause: float, hour: bool) -> None:
    assert hour_life(talk(usages=(WROTE, second), pause=pause)) == HourLife(hour, hour)


def test_marks_have_the_last_word() -> None:
    outlived = talk(MARK, MARK, (WROTE, Usage(5600, 5000, 600, 3)), 3000)
    assert hour_life(outlived) == HourLife(False, False)


def test_an_hour_long_write_costs_twice_the_input() -> None:
    short, mixed, long = (replay(talk(*marks), FULL) for marks in ((MARK, MARK), (HOUR, MARK), (HOUR, HOUR)))
    sent = short.calls["in_window"][0]
    usd = [made.cost.usd[0] or 0 for made in (short, mixed, long)]
    assert usd[2] - usd[0] == pytest.approx(sent * (6.0 - 3.75) * 1e-6)
    head = 1500 * 1.2  # the system part by the model's estimate
    assert usd[1] - usd[0] == pytest.approx(head * (6.0 - 3.75) * 1e-6, rel=0.02)
    # The second call writes what is new, after the head.
    assert mixed.cost.usd[1] == short.cost.usd[1]
    assert (long.cost.usd[1] or 0) > (short.cost.usd[1] or 0)


def test_times_without_zones_tell_nothing() -> None:
    made = talk(usages=(WROTE, Usage(5600, 5000, 600, 3)), pause=3000)
    naive = replace(made.calls[1], at=datetime(2026, 1, 15, 13))
    assert hour_life(replace(made, calls=(made.calls[0], naive))) == HourLife(False, False)


@pytest.mark.parametrize(
    ("file", "hour"),
    [("entire-go-cli-long.jsonl.gz", True), ("vct-v1.0.95.jsonl", False)],  # reported: all for 1 h, all for 5 min
)
def test_recorded_lives(file: str, hour: bool, transcripts_folder: Path) -> None:
    made = max(read(transcripts_folder / "claude-code" / file).transcripts, key=lambda each: len(each.calls))
    assert hour_life(made) == HourLife(hour, hour)
