"""Settings of rules that the chosen strategy does not look at.

The same rules serve several strategies in a comparison, so a setting that one of them ignores is no error. It is told,
because a priority that nobody reads looks like one that works.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .rules import Eviction, Rule, Tier

ONLY: Mapping[str, str] = {
    "priority": "span_triage",
    "tier": "tiered_injection",
    "group": "tiered_injection",
    "keywords": "tiered_injection",
}
"""The one strategy that looks at a setting of rules; the others are looked at by all that cut."""
WHOLE = frozenset({"full_history", "as_captured", "keep_last", "required_reserve"})
"""Strategies that make no span smaller, so that none becomes too small."""


def unused(rules: Sequence[Rule], kind: str) -> Iterator[str]:
    """Yield a sentence for each setting of these rules that a strategy of this kind does not look at."""
    for setting, strategy in ONLY.items():
        setters = [number for number, rule in enumerate(rules, start=1) if setting in rule.treatment.said]
        if setters and strategy != kind:
            yield f"{_numbered(setters, 'set')} {setting}, which only {strategy} looks at; {kind} does not."
    classed = [at for at, rule in enumerate(rules, start=1) if rule.treatment.evict is Eviction.RECONSTRUCTIBLE]
    if classed and kind != "span_triage":
        yield f"{_numbered(classed, 'set')} evict to reconstructible, which {kind} takes for recoverable."
    least = [at for at, rule in enumerate(rules, start=1) if rule.treatment.min_tokens]
    if least and kind in WHOLE:
        yield (
            f"{_numbered(least, 'set')} min_tokens, which caps and shrinkers look at; {kind} does not, because it sends"
            " a message whole or not at all."
        )
    tiers = [rule.treatment.tier for rule in rules]
    idle = [at for at, tier in enumerate(tiers, start=1) if tier in _IDLE and not _RETRIEVED & {*tiers[: at - 1]}]
    if idle and kind == "tiered_injection":
        yield (
            f"{_numbered(idle, 'set')} tier to core or tool, which keeps nothing in place; to keep a span always,"
            " set evict to pinned."
        )


_RETRIEVED = {Tier.CONTEXTUAL, Tier.KNOWLEDGE}
_IDLE = (Tier.CORE, Tier.TOOL)
"""Tiers that only take back what an earlier rule said."""


def _numbered(numbers: Sequence[int], verb: str) -> str:
    """Return `Rule 3 sets` or `Rules 3, 4 and 5 set`."""
    if len(numbers) == 1:
        return f"Rule {numbers[0]} {verb}s"
    return f"Rules {', '.join(map(str, numbers[:-1]))} and {numbers[-1]} {verb}"
