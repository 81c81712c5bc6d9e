"""What a request says about goal, facts, bindings and tools when production passes no hints.

Everything is found in the recorded texts by plain patterns, once a unit, and marked as inferred: facts are what users
said in two messages or more; bindings are the paths, addresses and ids at work in the newest units. What
strategies put in (a stub, a summary, a context message) was said by nobody and is not read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from ..excerpt import excerpt
from ..log import Log
from ..marks import is_injected
from ..spans import SpanKind
from ..units import Unit

INFERRED, HINTED = "inferred", "from hints"
"""Where a text that stands for others comes from; decisions say it in these words."""
RECENT_UNITS = 8
MOST_ITEMS = 24
"""Items looked at for one section; its cap is reached long before."""
LONGEST_ITEM = 4000
"""Characters of one item that are looked at; every cap is far below."""
LONGEST_TEXT = 20_000
"""Characters of one text that are searched: what is named over and over is named early."""

_QUOTED = re.compile(r"[\"'`“「『]([^\"'`“”「」『』\n]{3,60})[\"'`”」』]")
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9])(?:#\d+|[A-Z]{2,}-\d+|[A-Za-z]+_\d{3,}|[A-Za-z]{1,3}\d{5,}|\d{6,})(?![A-Za-z0-9])"
)
_QUANTITY = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*\s?(?:%|[KMGT]i?B|ms|kg|km|h|min|EUR|USD|[€$£¥])(?![A-Za-z0-9])")
_RESOURCE = re.compile(
    r"https?://[^\s\"'<>()\[\]{}`，。；、]+"
    r"|(?<![\w/.])(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]+)+"
    r"|(?<![\w/.])[\w-]+(?:/[\w.-]+)*\.(?:py|js|ts|json|md|toml|ya?ml|txt|csv|go|rs|java|c|h|sh|sql|html|css)(?![\w])"
)


@dataclass(frozen=True, slots=True)
class Found:
    """What one unit says. Orders are those of the text."""

    facts: tuple[str, ...]
    resources: tuple[str, ...]
    tools: tuple[str, ...]
    goal: str
    words: tuple[str, ...]
    """Short extracts of what was said, newest first."""


FOUND = "inference"
SPOKEN = (SpanKind.USER, SpanKind.ASSISTANT)


def found_in(unit: Unit) -> Found:
    """Return what a unit says; worked out once."""
    if FOUND not in unit.memo:
        unit.memo[FOUND] = _read(unit)
    made: Found = unit.memo[FOUND]
    return made


def _read(unit: Unit) -> Found:
    spans = [span for span in unit.spans if not is_injected(span.text)]
    said = [span.text[:LONGEST_TEXT] for span in spans if span.kind is SpanKind.USER]
    done = [span.text[:LONGEST_TEXT] for span in spans if span.kind is SpanKind.TOOL_CALL]
    named = (_RESOURCE, _IDENTIFIER)
    return Found(
        facts=_distinct(m for text in said for m in _matches(text, (_QUOTED, _IDENTIFIER, _QUANTITY))),
        resources=_distinct(m for text in [*said, *done] for m in _matches(text, named)),
        tools=tuple(plain(span.tool) for span in spans if span.kind is SpanKind.TOOL_CALL),
        goal=plain(said[0]) if said and unit.opens_turn else "",
        words=tuple(words for span in spans[::-1] if span.kind in SPOKEN and (words := plain(excerpt(span.text)))),
    )


def plain(text: str) -> str:
    """Return the beginning of a text as one line."""
    return " ".join(text[:LONGEST_ITEM].split())


def _matches(text: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[str]:
    for pattern in patterns:
        for match in pattern.finditer(text):
            yield plain(match[1] if pattern.groups else match[0])


def _distinct(texts: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))


class Inference:
    """Follows a log and knows what it says so far."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._seen = 0
        self._mentions: dict[str, int] = {}
        self._facts: list[str] = []
        self._tools: dict[str, int] = {}
        self._told: tuple[str, ...] | None = ()
        self.goal = ""
        self.goal_unit = -1

    def catch_up(self) -> None:
        """Read the units that were added to the log."""
        for index in range(self._seen, len(self._log.units)):
            found = found_in(self._log.units[index])
            for fact in found.facts:
                self._mentions[fact] = self._mentions.get(fact, 0) + 1
                if self._mentions[fact] == 2:
                    self._facts.append(fact)
            for tool in found.tools:
                self._tools[tool] = self._tools.get(tool, 0) + 1
                self._told = None
            if not self.goal and found.goal:
                self.goal, self.goal_unit = found.goal, index
        self._seen = len(self._log.units)

    @property
    def facts(self) -> tuple[str, ...]:
        """What users said in two messages or more, in the order in which it was confirmed."""
        return tuple(self._facts[:MOST_ITEMS])

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools used, most used first, with their counts."""
        if self._told is None:
            used = sorted(self._tools.items(), key=lambda item: -item[1])
            self._told = tuple(f"{name} ×{count}" if count > 1 else name for name, count in used[:MOST_ITEMS])
        return self._told

    @property
    def bindings(self) -> tuple[str, ...]:
        """Paths, addresses and ids of the newest units, newest first."""
        recent = self._log.units[-RECENT_UNITS:][::-1]
        return tuple(dict.fromkeys(name for unit in recent for name in found_in(unit).resources))[:MOST_ITEMS]

    def memory(self, cut: int, sent: Collection[int] = ()) -> tuple[str, ...]:
        """Short extracts of the newest messages before a cut, newest first, without those that are sent themselves."""
        units = self._log.units
        recent = (at for at in range(cut - 1, max(0, cut - RECENT_UNITS) - 1, -1) if at not in sent)
        return tuple(words for at in recent if not units[at].stays for words in found_in(units[at]).words)
