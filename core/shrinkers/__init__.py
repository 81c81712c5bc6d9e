"""The shrinkers, one file each, and how they are applied: in the order configured, before the strategy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..dialects.base import Dialect
from ..edits import Smaller, edited_messages, is_rewritable, smaller
from ..spans import FixedPart, Span
from ..tokens import Counter
from ..units import Unit
from .base import Shrinker, Shrunk
from .cap_by_rule import CapByRule
from .chunk_pinned import ChunkPinned
from .dedupe_instructions import DedupeInstructions
from .project_tool_results import ProjectToolResults

__all__ = [
    "CapByRule",
    "ChunkPinned",
    "DedupeInstructions",
    "ProjectToolResults",
    "Shrinker",
    "Shrunk",
    "shrink_fixed",
    "shrink_unit",
]


def shrink_unit(unit: Unit, shrinkers: Sequence[Shrinker], dialect: Dialect, counter: Counter) -> Unit:
    """Return the unit after all shrinkers, with the unit itself as its source; the unit itself if none did anything."""
    for shrinker in shrinkers:
        grows = isinstance(shrinker, ChunkPinned)
        found = dict(shrinker.unit(unit, counter)) if grows or not unit.stays else {}
        if found:
            unit = _with_texts(unit, found, grows, dialect, counter)
    return unit


def _with_texts(unit: Unit, found: dict[str, Shrunk], grows: bool, dialect: Dialect, counter: Counter) -> Unit:
    texts = {span_id: shrunk.text for span_id, shrunk in found.items()}
    made = _numbered(unit, texts, dialect, counter) if grows else smaller(unit, texts, dialect, counter)
    if made is None:
        return unit
    texts, cost = made
    spans = [
        replace(span, tokens=tokens, text=texts.get(span.id, span.text))
        for span, tokens in zip(unit.spans, cost.spans, strict=True)
    ]
    return replace(
        unit,
        messages=tuple(edited_messages(unit, texts)),
        spans=tuple(spans),
        overhead=cost.overhead,
        tokens=cost.total,
        source=unit.source or unit,
        shrunk={**unit.shrunk, **{span_id: found[span_id] for span_id in texts}},
        memo={},
    )


def _numbered(unit: Unit, texts: dict[str, str], dialect: Dialect, counter: Counter) -> Smaller | None:
    """Return the texts that may stand in the unit, larger than what they stand for as they are."""
    texts = {span.id: texts[span.id] for span in unit.spans if span.id in texts and is_rewritable(unit, span)}
    return Smaller(texts, dialect.cost_of_messages(edited_messages(unit, texts), counter)) if texts else None


def shrink_fixed(
    fixed: FixedPart, shrinkers: Sequence[Shrinker], said: frozenset[str], dialect: Dialect, counter: Counter
) -> FixedPart:
    """Return the fixed part after all shrinkers, with the part itself as its source; itself if none did anything."""
    for shrinker in shrinkers:
        found = shrinker.fixed(fixed, said.intersection(shrinker.keywords), counter)
        if found:
            fixed = _with_sections(fixed, dict(found), dialect, counter)
    return fixed


def _with_sections(fixed: FixedPart, found: dict[str, Shrunk], dialect: Dialect, counter: Counter) -> FixedPart:
    sections: dict[int, list[Span]] = {text: [] for text in range(len(dialect.system_texts(fixed.head)))}
    for span in fixed.sections:
        text = found[span.id].text if span.id in found else span.text
        if text:
            sections[span.part].append(replace(span, text=text))
    texts = [[span.text for span in spans] for spans in sections.values()]
    before = dialect.cost_of_system(fixed.head, counter, [[text] for text in dialect.system_texts(fixed.head)])
    head = dialect.with_system_texts(fixed.head, ["".join(parts) for parts in texts])
    filled = (spans for spans in sections.values() if spans)
    kept = [next(filled) if text else [] for text in dialect.system_texts(head)]
    cost = dialect.cost_of_system(head, counter, [[span.text for span in spans] for spans in kept])
    spans = [
        replace(span, tokens=tokens, part=place)
        for place, (named, row) in enumerate(zip(kept, cost.parts, strict=True))
        for span, tokens in zip(named, row, strict=True)
    ]
    spans += [*fixed.parts, *fixed.tools]
    overhead = fixed.overhead - before.overhead + cost.overhead
    tokens = sum(span.tokens for span in spans) + overhead
    return FixedPart(head, tuple(spans), overhead, tokens, fixed.source or fixed, {**fixed.shrunk, **found})
