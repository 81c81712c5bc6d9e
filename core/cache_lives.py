"""How long what is written to the cache is kept: five minutes, or an hour, which costs more to write.

A request says so in its cache marks, and then nothing older can be read. A recording without requests shows it where
a call reads everything that the one before had read and written although the pause was too long for five minutes: more
than twice as long, because the one recording with the short life hit after 376 seconds of log time, and reads of
hour-long entries were seen after 477 to 2,947 seconds. Marks may differ within a request: the system part for an hour,
the conversation for five minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .cache_marks import marks_in
from .cache_rules import FIVE_MINUTES, ONE_HOUR, CacheRule
from .chains import links_of
from .fixed_prefix import head_tokens
from .plan import Plan
from .transcript import Call, Transcript

TOO_LONG = 2 * FIVE_MINUTES
"""Seconds after which nothing can be left that was kept for five minutes."""
HOUR, USUAL = "1h", "5m"


class HourLife(NamedTuple):
    """Which part of a prompt is written for an hour."""

    head: bool
    messages: bool


class Life(NamedTuple):
    """For how long an entry is certainly kept, and for how long at most, in seconds."""

    least: float
    most: float


class Lives(NamedTuple):
    """How long the entries of the fixed part are kept, and those of the messages."""

    fixed: Life
    messages: Life


_SECONDS = {USUAL: Life(FIVE_MINUTES, FIVE_MINUTES), HOUR: Life(ONE_HOUR, ONE_HOUR)}


class _Marks(NamedTuple):
    """The lives that recorded marks name, in fixed parts and in messages."""

    heads: frozenset[str]
    messages: frozenset[str]


def lives(transcript: Transcript, rule: CacheRule) -> Lives | None:
    """Return how long what the calls of a transcript write is kept; None where nothing is known of a provider."""
    if rule.life is None:
        return None
    either, marks = Life(rule.life, rule.longest_life or rule.life), _marks(transcript)
    if not rule.by_marks or not (marks.heads or marks.messages):
        return Lives(either, either)
    # Anthropic takes an hour-long mark only before shorter ones, so what follows a short one is short.
    follow = marks.messages or marks.heads - {HOUR}
    messages = _SECONDS[min(follow, key=lambda life: _SECONDS[life].most)] if follow else either
    fixed = max((_SECONDS[life] for life in marks.heads), default=messages)
    return Lives(fixed, messages)


def hour_life(transcript: Transcript) -> HourLife:
    """Return which part of a transcript's prompts was written for an hour, as far as the recording shows."""
    known: HourLife | None = transcript.memo.get("hour_life")
    if known is None:
        heads, messages = _marks(transcript)
        outlived = not heads | messages and any(_outlives(*pair) for pair in _pairs(transcript))
        known = transcript.memo["hour_life"] = HourLife(
            HOUR in heads | messages or outlived, messages == {HOUR} or outlived
        )
    return known


def hour_written(life: HourLife, plan: Plan, hidden: int, read: int) -> int:
    """Return how many of the tokens after those read are written for an hour; `hidden` ones stand before all."""
    if life.messages:
        return plan.tokens_after + hidden - read
    return max(0, head_tokens(plan) + hidden - read) if life.head else 0


def _marks(transcript: Transcript) -> _Marks:
    known: _Marks | None = transcript.memo.get("mark_lives")
    if known is None:
        variants = (wire for call in transcript.calls for _, wire in call.variants)
        heads, messages = transcript.heads, (*transcript.messages, *variants)
        found = (frozenset(_life(mark) for wire in wires for mark in marks_in(wire)) for wires in (heads, messages))
        known = transcript.memo["mark_lives"] = _Marks(*found)
    return known


def _life(mark: Mapping[str, Any]) -> str:
    return HOUR if mark.get("ttl") == HOUR else USUAL


def _pairs(transcript: Transcript) -> Iterator[tuple[Call, Call]]:
    """Yield each call after the one that it goes on from."""
    for call, link in zip(transcript.calls, links_of(transcript, captured=True), strict=True):
        if link.before >= 0:
            yield transcript.calls[link.before], call


def _outlives(before: Call, after: Call) -> bool:
    """Return whether a call read all that the one before had read and written after too long a pause."""
    first, second = before.usage, after.usage
    if not first.cache_write or first.cache_read is None or second.cache_read is None:
        return False
    pause = pause_between(before, after)
    paused = pause is not None and pause > TOO_LONG
    return paused and second.cache_read >= first.cache_read + first.cache_write


def pause_between(before: Call, after: Call) -> float | None:
    """Return the seconds between two calls; None where a time is missing or only one has a zone."""
    if before.at is None or after.at is None or (before.at.tzinfo is None) is not (after.at.tzinfo is None):
        return None
    return (after.at - before.at).total_seconds()
