"""How long written cache entries live: by marks, by what outlived the usual life, and what that costs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.cache_lives import HourLife, Life, Lives, hour_life, lives
from core.cache_rules import cache_rule
from core.prefix import Cause
from core.readers import read
from core.replay import replay
from core.transcript import ROOT, Call, Fidelity, Transcript, Usage

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


@pytest.mark.parametrize(
    ("own", "other", "hour"),
    [
        (Usage(5600, 5000, 600, 3), Usage(900, 0, 900, 3), True),  # the other's call stands between
        (Usage(5600, 0, 5600, 3), Usage(5600, 5000, 600, 3), False),  # what another model reads is of another cache
    ],
)
def test_a_call_outlives_only_the_one_that_it_goes_on_from(own: Usage, other: Usage, hour: bool) -> None:
    made = talk(usages=(WROTE, own), pause=3000)
    between = replace(made.calls[1], model="claude-opus-4-1", usage=other, at=DAY + timedelta(seconds=2990))
    assert hour_life(replace(made, calls=(made.calls[0], between, made.calls[1]))) == HourLife(hour, hour)


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


FIVE, SIXTY, EITHER = Life(300, 300), Life(3600, 3600), Life(300, 3600)


@pytest.mark.parametrize(
    ("head", "messages", "known"),
    [
        (None, None, Lives(EITHER, EITHER)),
        (MARK, MARK, Lives(FIVE, FIVE)),
        ({**MARK, "ttl": "5m"}, None, Lives(FIVE, FIVE)),
        (None, MARK, Lives(FIVE, FIVE)),
        (HOUR, HOUR, Lives(SIXTY, SIXTY)),
        (None, HOUR, Lives(SIXTY, SIXTY)),
        (HOUR, MARK, Lives(SIXTY, FIVE)),
        (HOUR, None, Lives(SIXTY, EITHER)),
    ],
)
def test_marks_tell_how_long_is_read(
    head: dict[str, str] | None, messages: dict[str, str] | None, known: Lives
) -> None:
    claude, openai, kimi = (cache_rule(model, "anthropic") for model in (MODEL, "gpt-4o", "kimi-k2"))
    assert claude is not None and openai is not None and kimi is not None
    assert lives(talk(head, messages), claude) == known
    assert lives(talk(head, messages), openai) == Lives(EITHER, EITHER)
    assert lives(talk(head, messages), kimi) is None


MARKED = {"usual": (MARK, MARK), "hour": (HOUR, HOUR), "mixed": (HOUR, MARK)}


@pytest.mark.parametrize(
    ("marks", "pause", "low", "cached", "cause"),
    [
        ("usual", 300, "all", "all", Cause.NONE),
        ("usual", 301, "none", "all", Cause.PAUSE),
        ("usual", 360, "none", "all", Cause.PAUSE),
        ("usual", 361, "none", "none", Cause.PAUSE),
        ("usual", 4000, "none", "none", Cause.PAUSE),
        ("hour", 301, "all", "all", Cause.NONE),
        ("hour", 3600, "all", "all", Cause.NONE),
        ("hour", 3601, "none", "all", Cause.PAUSE),
        ("hour", 4321, "none", "none", Cause.PAUSE),
        ("mixed", 300, "all", "all", Cause.NONE),
        ("mixed", 301, "fixed", "all", Cause.PAUSE),
        ("mixed", 361, "fixed", "fixed", Cause.PAUSE),
        ("mixed", 3601, "none", "fixed", Cause.PAUSE),
        ("mixed", 4321, "none", "none", Cause.PAUSE),
    ],
)
def test_what_is_left_after_a_pause(marks: str, pause: float, low: str, cached: str, cause: Cause) -> None:
    made = replay(talk(*MARKED[marks], pause=pause), FULL)
    row, sent = made.cache.calls[1], made.calls["in_window"][0]
    left = {"none": 0, "fixed": made.plan(1).fixed.tokens, "all": sent}
    assert (row.low, row.cached, row.high, row.cause) == (left[low], left[cached], left[cached], cause)
    cost = made.cost.calls[1]
    assert cost.usd == cost.low and (cost.high == cost.usd) == (row.low == row.cached)


def test_a_life_that_nobody_recorded_stays_a_range() -> None:
    plain = talk(pause=4000)
    partial = replace(plain, calls=tuple(replace(call, fidelity=Fidelity.PARTIAL) for call in plain.calls))
    made = replay(partial, FULL)
    row, sent = made.cache.calls[1], made.calls["in_window"][0]
    assert (row.low, row.cached, row.cause) == (0, sent, Cause.PAUSE)


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
