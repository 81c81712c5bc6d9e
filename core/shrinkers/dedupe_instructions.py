"""Say each rule once, and show examples only when they are needed (leaf 4A).

Exact duplicates of a rule, numbering and white space aside, go; the first stays where it stands. Sections of examples
are put aside until a user says one of the keywords of the hard cases; from then on they stay, so that the fixed part
changes once and not with every message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..decisions import Action
from ..spans import FixedPart, Span, SpanKind
from ..tokens import Counter
from ..units import Unit
from .base import Shrunk, is_shrinkable

SHORTEST_RULE = 12
"""Characters; shorter lines (rules across the page, closing braces) repeat for good reasons."""

_NUMBERING = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)、])\s*")
_FENCE = re.compile(r"^\s*(?:```|~~~)")


@dataclass(frozen=True, slots=True)
class DedupeInstructions:
    """The shrinker `dedupe_instructions`. Without keywords examples stay."""

    hard_case_keywords: tuple[str, ...] = ()

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords of the hard cases."""
        return self.hard_case_keywords

    def unit(self, unit: Unit, counter: Counter) -> Mapping[str, Shrunk]:
        """Return nothing: the conversation is left alone."""
        return {}

    def fixed(self, fixed: FixedPart, said: frozenset[str], counter: Counter) -> Mapping[str, Shrunk]:
        """Return sections without the rules said before, and without examples unless they are needed."""
        found: dict[str, Shrunk] = {}
        seen: set[str] = set()
        for span in fixed.sections:
            if not is_shrinkable(span):
                continue
            if span.kind is SpanKind.EXAMPLES:
                if self.hard_case_keywords and not said:
                    found[span.id] = Shrunk("", Action.DEFER, "no hard case was named", "shrink.hard_case_keywords")
                continue
            text = "".join(line for line, is_new in _lines(span, seen) if is_new)
            if text != span.text:
                action = Action.TRIM if text.strip() else Action.DROP
                kept = text if text.strip() else ""
                found[span.id] = Shrunk(kept, action, "rules that were said before", "shrink")
        return found


def repeated_rules(fixed: FixedPart) -> list[str]:
    """Return the lines that were said before, each as often as it was said again: those that the shrinker takes."""
    seen: set[str] = set()
    spans = (span for span in fixed.sections if span.kind is not SpanKind.EXAMPLES and is_shrinkable(span))
    return [line.strip() for span in spans for line, is_new in _lines(span, seen) if not is_new]


def _lines(span: Span, seen: set[str]) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a section, each with whether it was not said before."""
    fenced = False
    for line in span.text.splitlines(keepends=True):
        fenced ^= _FENCE.match(line) is not None
        rule = normal_rule(line)
        is_rule = not fenced and len(rule) >= SHORTEST_RULE
        yield line, not (is_rule and rule in seen)
        if is_rule:
            seen.add(rule)


def normal_rule(line: str) -> str:
    """Return a rule without its numbering and with single spaces, to compare it by."""
    return " ".join(_NUMBERING.sub("", line).split())
