"""The rules of the required reserve as a function of plain sections (rule book 2).

Sections stand in a fixed order that never depends on lengths. What later required sections need at least is set aside
first; required sections then grow to their natural length, optional ones share the rest in order (A-R1 to A-R8).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

ELLIPSIS = "..."


class Inclusion(StrEnum):
    """Whether a section stands in the result."""

    INCLUDED = "INCLUDED"
    TRUNCATED = "TRUNCATED"
    OMITTED = "OMITTED"


class Section(NamedTuple):
    """One section. `items`, where given, are cut between items; `cap` of None is no limit."""

    key: str
    label: str
    text: str
    required: bool
    cap: int | None = None
    reason: str = ""
    items: tuple[str, ...] = ()
    joiner: str = " | "


class Placed(NamedTuple):
    """What became of a section; lengths are of its content, in the measure's unit."""

    key: str
    status: Inclusion
    reason: str
    original: int
    included: int
    text: str


class Reserve(NamedTuple):
    """All sections in order, what they use of the total, and by how much required ones exceed it."""

    sections: tuple[Placed, ...]
    total: int
    used: int

    @property
    def overshoot(self) -> int:
        """How much the required sections exceed the total (A-R2)."""
        return max(0, self.used - self.total)

    @property
    def remaining(self) -> int:
        """What is left of the total."""
        return max(0, self.total - self.used)


@dataclass(frozen=True, slots=True)
class Measure:
    """How sections are measured: of a content, and of what stands before it (label; first or not)."""

    content: Callable[[str], int]
    before: Callable[[str, bool], int]


CHARACTERS = Measure(len, lambda label, first: len(label) + 4 + (0 if first else 1))
"""Code points; a line is `- label: content`, with a line break before all but the first (A-P4)."""


@dataclass(frozen=True, slots=True)
class Floors:
    """What a required section gets at least, and an optional one is omitted below."""

    required: int = 24
    optional: int = 40


def fill(sections: Sequence[Section], total: int, measure: Measure, floors: Floors = Floors()) -> Reserve:
    """Share a total among sections; lengths are in the measure's unit."""
    filling = _Filling([section for section in sections if section.text.strip()], total, measure, floors)
    found = filling.placed()
    return Reserve(tuple(found.get(section.key) or _blank(section) for section in sections), total, filling.used)


def _blank(section: Section) -> Placed:
    return Placed(section.key, Inclusion.OMITTED, "source_empty", 0, 0, "")


class _Filling:
    def __init__(self, sections: Sequence[Section], total: int, measure: Measure, floors: Floors) -> None:
        self.sections, self.total, self.measure, self.floors = sections, total, measure, floors
        self.used = 0
        # The first section has no line break before it; that is settled by order alone, never by lengths.
        self.before = {section.key: measure.before(section.label, place == 0) for place, section in enumerate(sections)}
        self.natural = {section.key: measure.content(section.text) for section in sections}

    def placed(self) -> dict[str, Placed]:
        """Place required sections first, then optional ones, each in order."""
        found: dict[str, Placed] = {}
        leasts = [(section, self._least(section)) for section in self.sections if section.required]
        later = 0
        for section, least in leasts:
            later += self.before[section.key] + least
        for section, least in leasts:
            before = self.before[section.key]
            later -= before + least
            found[section.key] = self._take(section, max(self.total - self.used - later - before, least))
        for section in self.sections:
            if not section.required:
                limit = self.total - self.used - self.before[section.key]
                found[section.key] = self._take(section, limit)
        return found

    def _least(self, section: Section) -> int:
        least = min(self.natural[section.key], self.floors.required)
        return least if section.cap is None or section.cap > least else section.cap

    def _take(self, section: Section, limit: int) -> Placed:
        original = self.natural[section.key]
        by_cap = section.cap is not None and section.cap <= limit
        limit = min(limit, original if section.cap is None else section.cap)
        text, included = section.text, original
        if original > limit:
            text = self._cut(section, limit)
            included = self.measure.content(text) if text else 0
        if not section.required and included < min(self.floors.optional, original):
            return Placed(section.key, Inclusion.OMITTED, "budget_exhausted", original, 0, "")
        self.used += included + self.before[section.key]
        if original <= limit:
            return Placed(section.key, Inclusion.INCLUDED, section.reason, original, included, text)
        reason = "truncated_to_cap" if by_cap else "truncated_to_budget"
        return Placed(section.key, Inclusion.TRUNCATED, reason, original, included, text)

    def _items_within(self, section: Section, limit: int) -> int:
        """Return how many items fit with the count of the others."""
        low, high, step = 0, len(section.items) - 1, 1
        while low < high:
            middle = min(low + step, high)
            fits = self.measure.content(_with_count(section, middle)) <= limit
            low, high = (middle, high) if fits else (low, middle - 1)
            step = 2 * step if fits else max(1, (high - low + 1) // 2)
        return low

    def _cut(self, section: Section, limit: int) -> str:
        if section.items:
            kept = self._items_within(section, limit)
            if kept or not section.required:
                return _with_count(section, kept)
        return trimmed(section.text, limit, self.measure.content)


def _with_count(section: Section, kept: int) -> str:
    left_out = f" (+{len(section.items) - kept} more)"
    return section.joiner.join(section.items[:kept]) + left_out if kept else ""


def trimmed(text: str, limit: int, content: Callable[[str], int]) -> str:
    """Return a text of at most `limit` with an ellipsis at its end; without one where there is no room (A-P9)."""
    if content(text) <= limit:
        return text
    if limit <= 0:
        return ""
    ending = ELLIPSIS if limit > content(ELLIPSIS) else ""
    low, high = 0, min(len(text), _longest(text, limit, content))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if content(text[:middle] + ending) <= limit else (low, middle - 1)
    return text[:low] + ending


def _longest(text: str, limit: int, content: Callable[[str], int]) -> int:
    """Return a number of characters that is surely too long, found by doubling: the whole text may be very long."""
    length = max(16, limit)
    while length < len(text) and content(text[:length]) <= limit:
        length *= 2
    return length
