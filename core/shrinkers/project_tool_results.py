"""Keep of a large tool result what the next step uses (leaf 3A): named fields of its records, or its two ends.

The projection is a function of the result alone and is made from the first call on, so that the prompt's prefix never
changes when a result grows old. Where records or lines are left out, their number is stated, and the span's id with it.
Fields that are not named go without a word, from each record alike; a result that has none of the named ones is not
of that kind, an error for example, and stays.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from .. import marks
from ..decisions import Action
from ..edits import is_rewritable
from ..spans import Span, SpanKind
from ..tokens import Counter
from ..units import Unit
from ..wire import dump
from ..wording import agreeing
from .base import Shrunk, UnitShrinker, is_shrinkable

HEAD_SHARE = 2 / 3
LEAST_CHARACTERS = 60
"""Fewer of a text say nothing."""
REFINED = 6
"""Times that the length is halved in on; the result is within 2 % of the longest that fits."""


@dataclass(frozen=True, slots=True)
class ProjectToolResults(UnitShrinker):
    """The shrinker `project_tool_results`. `max_tokens` is the most that a result may have."""

    max_tokens: int = 800
    fields: tuple[str, ...] = ()
    tools: tuple[str, ...] = ("*",)

    def unit(self, unit: Unit, counter: Counter) -> Mapping[str, Shrunk]:
        """Return projections of the unit's results, where there is less in them."""
        found = {}
        for span in unit.spans:
            if self._concerns(span) and is_rewritable(unit, span):
                text = self.projected(span, counter)
                if text != span.text:
                    found[span.id] = Shrunk(text, Action.PROJECT, "projected to what is used next", self._setting(text))
        return found

    def _concerns(self, span: Span) -> bool:
        is_result = span.kind in (SpanKind.TOOL_RESULT, SpanKind.RETRIEVAL)
        wanted = any(fnmatchcase(span.tool, glob) for glob in self.tools)
        return is_result and wanted and is_shrinkable(span) and not marks.is_injected(span.text)

    def _setting(self, text: str) -> str:
        return "shrink.max_tokens" if marks.STUB in text or not self.fields else "shrink.fields"

    def projected(self, span: Span, counter: Counter) -> str:
        """Return the text of a result with only the named fields, and at most `max_tokens` tokens of it."""
        text = span.text
        if self.fields:
            text = _with_fields(text, frozenset(self.fields))
        if counter.count(text) <= self.max_tokens:
            return text
        return _fewer_records(text, span.id, self._fits(counter)) or two_ends(text, span.id, self._fits(counter))

    def _fits(self, counter: Counter) -> Callable[[str], bool]:
        return lambda text: counter.count(text) <= self.max_tokens


def _parsed(text: str) -> Any:
    """Return what a JSON text holds; None if it is none, or if it has a number that could not be written again."""
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        return None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _with_fields(text: str, fields: frozenset[str]) -> str:
    kept = _only(_parsed(text), fields)
    return dump(kept) if _leads_somewhere(kept) else text


def _only(value: Any, fields: frozenset[str]) -> Any:
    """Keep named fields whole, and the containers that lead to them; a list keeps its number of records."""
    if isinstance(value, list):
        return [_only(item, fields) for item in value]
    if not isinstance(value, dict):
        return value
    inner = {key: _only(item, fields) for key, item in value.items() if isinstance(item, dict | list)}
    return {
        key: item if key in fields else inner[key]
        for key, item in value.items()
        if key in fields or _leads_somewhere(inner.get(key))
    }


def _leads_somewhere(value: Any) -> bool:
    return any(map(_leads_somewhere, value)) if isinstance(value, list) else isinstance(value, dict) and bool(value)


def _fewer_records(text: str, span_id: str, fits: Callable[[str], bool]) -> str | None:
    """Return the first records of a JSON list that fit, and how many are left out; None if there is no such list."""
    records = _parsed(text)
    if not isinstance(records, list) or len(records) < 2:
        return None
    low, high = 0, len(records) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(_listed(records, middle, span_id)) else (low, middle - 1)
    return _listed(records, low, span_id) if low else None


def _listed(records: Sequence[Any], kept: int, span_id: str) -> str:
    note = f"{marks.STUB} {span_id}, {len(records) - kept} of {len(records)} records]"
    return dump([*records[:kept], note])


def two_ends(text: str, span_id: str, fits: Callable[[str], bool]) -> str:
    """Return the beginning and the end of a text, in whole lines where it has such, with a note between.

    The length is found from short to long, so that of a huge text no more is counted than may stay.
    """
    low = LEAST_CHARACTERS
    if low >= len(text) or not fits(_cut(text, low, span_id)):
        return f"{marks.STUB} {span_id}, {_lines(text)}]"
    while 2 * low < len(text) and fits(_cut(text, 2 * low, span_id)):
        low *= 2
    high = min(2 * low, len(text))
    for _ in range(REFINED):
        middle = (low + high) // 2
        low, high = (middle, high) if fits(_cut(text, middle, span_id)) else (low, middle)
    return _cut(text, low, span_id)


def _cut(text: str, characters: int, span_id: str) -> str:
    start = int(characters * HEAD_SHARE)
    end = len(text) - (characters - start)
    line = text.rfind("\n", 0, start) + 1
    start = line if line > start // 2 else start
    line = text.find("\n", end) + 1
    end = line if 0 < line < (end + len(text)) // 2 else end
    return f"{text[:start]}{marks.STUB} {span_id}, {_lines(text[start:end])}]\n{text[end:]}"


def _lines(text: str) -> str:
    lines = len(text.splitlines())
    return f"{lines} {agreeing(lines, 'line', 'lines')}"
