"""Rules: what a team says about the spans of its prompts, by kind, role, tool, section or pattern.

Rules are read in order and each sets what it names; where two set the same thing, the later one wins. A span that no
rule names is recoverable, unless it is one of those that always stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache


class Eviction(StrEnum):
    """What may be done to a span when room is needed (rule S-P1)."""

    PINNED = "pinned"
    RECONSTRUCTIBLE = "reconstructible"
    RECOVERABLE = "recoverable"


class Tier(StrEnum):
    """Which tier of the prompt a span belongs to (rule book 4.4)."""

    CORE = "core"
    TOOL = "tool"
    CONTEXTUAL = "contextual"
    KNOWLEDGE = "knowledge"


@dataclass(frozen=True, slots=True)
class Match:
    """What a rule looks for; None matches everything. `tool` is a glob, `pattern` a regular expression."""

    kind: str | None = None
    role: str | None = None
    tool: str | None = None
    section: str | None = None
    pattern: str | None = None
    ids: frozenset[str] | None = None
    """Span ids or call ids: what a hint names."""

    def fits(self, ids: tuple[str, ...], kind: str, role: str, tool: str, section: str, text: str) -> bool:
        """Return whether a span with these properties is meant."""
        return (
            (self.ids is None or not self.ids.isdisjoint(ids))
            and self.kind in (None, kind)
            and self.role in (None, role)
            and (self.tool is None or fnmatchcase(tool, self.tool))
            and (self.section is None or fnmatchcase(section, self.section))
            and (self.pattern is None or _compiled(self.pattern).search(text) is not None)
        )


@dataclass(frozen=True, slots=True)
class Treatment:
    """What is to be done with a span. None where no rule says anything."""

    evict: Eviction | None = None
    priority: int | None = None
    required: bool | None = None
    tier: Tier | None = None
    group: str | None = None
    keywords: tuple[str, ...] | None = None

    @property
    def stays(self) -> bool:
        """Whether the span must be sent whatever the budget."""
        return self.evict is Eviction.PINNED or bool(self.required)


NOTHING_SAID = Treatment()


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: a match and what it sets."""

    match: Match
    treatment: Treatment


def treatment(
    rules: Sequence[Rule], ids: tuple[str, ...], kind: str, role: str, tool: str, section: str, text: str
) -> Treatment:
    """Return what the rules say about a span, later rules over earlier ones. `ids` are its span id and call id."""
    found = NOTHING_SAID
    for rule in rules:
        if rule.match.fits(ids, kind, role, tool, section, text):
            said = {name: value for name in _FIELDS if (value := getattr(rule.treatment, name)) is not None}
            found = replace(found, **said)
    return found


_FIELDS = ("evict", "priority", "required", "tier", "group", "keywords")


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
