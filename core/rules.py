"""Rules: what a team says about the spans of its prompts, by kind, role, tool, section or pattern.

Rules are read in order and each sets what it names; where two set the same thing, the later one wins. A span that no
rule names is recoverable, unless it is one of those that always stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import re2


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
    min_age: int | None = None
    max_age: int | None = None
    """Turns that were opened after the span's own: 0 in the newest turn. Only messages have an age."""

    @property
    def asks_for_age(self) -> bool:
        """Whether the match changes as the conversation goes on."""
        return self.min_age is not None or self.max_age is not None

    @property
    def may_mean_the_fixed_part(self) -> bool:
        """Whether it may mean a section or a tool, where it names spans."""
        return self.ids is None or any(named[:1] in ("s", "h", "t") and named[1:2].isdigit() for named in self.ids)

    def names(self, *ids: str) -> bool:
        """Return whether a span with these ids may be meant."""
        return self.ids is None or not self.ids.isdisjoint(ids)

    def is_of_age(self, age: int | None) -> bool:
        """Return whether the match may mean a span of this age; None is a span of the fixed part."""
        if not self.asks_for_age:
            return True
        return age is not None and (self.min_age or 0) <= age and (self.max_age is None or age <= self.max_age)

    def fits(self, ids: tuple[str, ...], kind: str, role: str, tool: str, section: str, text: str) -> bool:
        """Return whether a span with these properties is meant."""
        return (
            self.names(*ids)
            and self.kind in (None, kind)
            and self.role in (None, role)
            and (self.tool is None or fnmatchcase(tool, self.tool))
            and (self.section is None or fnmatchcase(section, self.section))
            and (self.pattern is None or is_in(self.pattern, text))
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
    min_tokens: int | None = None
    max_tokens: int | None = None
    """A span is never made smaller than the one, and always cut to the other, in tokens."""

    @property
    def stays(self) -> bool:
        """Whether the span must be sent whatever the budget."""
        return self.evict is Eviction.PINNED or bool(self.required)

    @property
    def said(self) -> dict[str, Any]:
        """What is said, by the name of the setting."""
        return {name: value for name in SETTINGS if (value := getattr(self, name)) is not None}


SETTINGS = ("evict", "priority", "required", "tier", "group", "keywords", "min_tokens", "max_tokens")
"""What rules set, by its name in the configuration."""

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
            found = replace(found, **rule.treatment.said)
    return found


def rules_at(rules: tuple[Rule, ...], age: int | None) -> tuple[Rule, ...]:
    """Return the rules that may mean spans of an age."""
    return tuple(rule for rule in rules if rule.match.is_of_age(age))


def may_become(tokens: int, said: Treatment) -> bool:
    """Return whether a span may be made as small as this, in tokens."""
    return said.min_tokens is None or tokens >= said.min_tokens


def pattern_fault(pattern: str) -> str | None:
    """Return why a pattern cannot be searched for, None if it can.

    Patterns are RE2's: without look-around and references back, so that no pattern takes longer than its text.
    """
    try:
        _compiled(pattern)
    except re2.error as error:
        told = error.args[0] if error.args else ""
        return told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
    return None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def is_in(pattern: str, text: str) -> bool:
    """Return whether a pattern stands in a text; half a surrogate pair in it matches nothing."""
    try:
        return _compiled(pattern).search(text) is not None
    except UnicodeEncodeError:
        return _compiled(pattern).search(text.encode("utf-8", "replace").decode()) is not None
