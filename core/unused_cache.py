"""Providers whose cache a recording never used, as its own usage says: no tokens read and none written in any call.

Only prompts that a cache would have served are evidence: long enough, repeated whole by the call that goes on from
them, and not after a pause. Whether caching was off or only not reported is not known, so a range is all that follows.
"""

from __future__ import annotations

from collections.abc import Iterator

from .cache_lives import pause_between
from .cache_rules import CacheRule, cache_rule
from .chains import links_of
from .transcript import ROOT, Transcript


def unused_caches(transcript: Transcript) -> frozenset[str]:
    """Return the providers whose cache was never used although prompts were long enough and repeated."""
    known: frozenset[str] | None = transcript.memo.get("unused_caches")
    if known is None:
        used, unused = set[str](), set[str]()
        for call, rule in _told(transcript):
            usage = transcript.calls[call].usage
            if usage.cache_read or usage.cache_write:
                used.add(rule.provider)
            elif _could_read(transcript, call, rule):
                unused.add(rule.provider)
        known = transcript.memo["unused_caches"] = frozenset(unused - used)
    return known


def _told(transcript: Transcript) -> Iterator[tuple[int, CacheRule]]:
    """Yield each call with a reported read, and its provider's rule."""
    for call, made in enumerate(transcript.calls):
        rule = cache_rule(transcript.model_of(call), transcript.dialect)
        if rule is not None and made.usage.cache_read is not None:
            yield call, rule


def _could_read(transcript: Transcript, call: int, rule: CacheRule) -> bool:
    """Return whether a call repeats a prompt of its model that was long enough, and soon enough."""
    link = links_of(transcript, captured=True)[call]
    if not link.shared:
        return False
    before, after = transcript.calls[link.before], transcript.calls[call]
    whole = before.captured != ROOT and link.shared == transcript.depths[before.captured] + 1
    soon = rule.life is None or (pause_between(before, after) or 0.0) <= rule.life
    return whole and soon and before.head == after.head and bool(rule.rounded(before.usage.input or 0))
