"""How each provider's prompt cache rounds, from measured calls; a provider without a measured rule has none.

Anthropic reads what the call before had read and written; OpenAI reads whole steps of 128 from 1,024 on; DeepSeek
blocks of 64, the reply included; Kimi blocks of 256. Gemini's implicit cache follows no rule that was found. Where a
provider documents another minimum for a model, that holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from .models import cache_minimum
from .transcript import Usage

FIVE_MINUTES = 300.0
ONE_HOUR = 3600.0
SLACK = 1.2
"""Times in a recording are those of its lines, and a life begins anew with each read: so much longer is uncertain."""


@dataclass(frozen=True, slots=True)
class CacheRule:
    """A provider's rounding: whole blocks (tokens) from a minimum on. Lives are in seconds."""

    provider: str
    block: int = 1
    minimum: int = 0
    with_output: bool = False
    """Whether the reply is cached with the prompt that it answers."""
    by_marks: bool = False
    """Whether only marked places are cached: the end of tools and system, and the last message."""
    life: float | None = None
    longest_life: float | None = None

    def rounded(self, tokens: int) -> int:
        """Return how many of so many common tokens are read from the cache."""
        return tokens - tokens % self.block if tokens >= self.minimum else 0

    def after(self, usage: Usage) -> int | None:
        """Return what the call after one with this usage reads, if it extends it; None if too little is reported."""
        if usage.input is None:
            return None
        if self.by_marks:
            if usage.cache_read is None:
                return None
            return usage.input if usage.cache_write is None else usage.cache_read + usage.cache_write
        if self.with_output and usage.output is None:
            return None
        return self.rounded(usage.input + (usage.output or 0 if self.with_output else 0))


_ANTHROPIC = CacheRule("anthropic", minimum=1024, by_marks=True, life=FIVE_MINUTES, longest_life=ONE_HOUR)
_HAIKU = CacheRule("anthropic", minimum=2048, by_marks=True, life=FIVE_MINUTES, longest_life=ONE_HOUR)
_RULES = (
    (re.compile(r"claude.*haiku"), _HAIKU),
    (re.compile(r"claude"), _ANTHROPIC),
    (re.compile(r"deepseek"), CacheRule("deepseek", block=64, minimum=64, with_output=True)),
    (re.compile(r"kimi|moonshot"), CacheRule("moonshot", block=256, minimum=256)),
    (
        re.compile(r"(^|[/:.-])(gpt-[4-9]|chatgpt|codex|o[1-9]\b)"),
        CacheRule("openai", block=128, minimum=1024, life=FIVE_MINUTES, longest_life=ONE_HOUR),
    ),
)


@lru_cache(maxsize=1024)
def cache_rule(model: str | None, dialect: str) -> CacheRule | None:
    """Return the rule of a model's provider; the dialect tells it where the name does not. None if it is unknown."""
    name = (model or "").lower()
    for pattern, rule in _RULES:
        if pattern.search(name):
            minimum = cache_minimum(name)
            return rule if minimum is None else replace(rule, minimum=minimum)
    if name:
        return None
    return {"anthropic": _ANTHROPIC, "openai_responses": _RULES[-1][1]}.get(dialect)
