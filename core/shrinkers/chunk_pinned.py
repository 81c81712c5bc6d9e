"""Number the parts of a pinned text that is too large to read as one (leaf 1A).

Nothing is dropped: the parts cover the text without gap or overlap, and each says its number, the number of parts,
and which fields to carry on. The labels cost tokens; a prompt that would be larger than its input is sent unchanged,
so this shrinker serves together with one that saves, or with a strategy that cuts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..cuts import cut_points
from ..decisions import Action
from ..spans import FixedPart, Span, SpanKind
from ..tokens import Counter
from ..units import Unit
from .base import Shrunk

LABEL = "[part "


@dataclass(frozen=True, slots=True)
class ChunkPinned:
    """The shrinker `chunk_pinned`. `max_tokens` is the most that a part may have, its label apart."""

    max_tokens: int = 2000
    fields: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()

    def unit(self, unit: Unit, counter: Counter) -> Mapping[str, Shrunk]:
        """Return the unit's large pinned texts in numbered parts."""
        kinds = (SpanKind.USER, SpanKind.TOOL_RESULT, SpanKind.RETRIEVAL)
        return self._chunked([span for span in unit.spans if span.kind in kinds], counter)

    def fixed(self, fixed: FixedPart, said: frozenset[str], counter: Counter) -> Mapping[str, Shrunk]:
        """Return the large pinned sections in numbered parts."""
        return self._chunked(fixed.sections, counter)

    def _chunked(self, spans: list[Span], counter: Counter) -> Mapping[str, Shrunk]:
        found = {}
        for span in spans:
            if span.rule.stays and span.tokens > self.max_tokens and not span.text.startswith(LABEL):
                text = self.labelled(span.text, span.name, counter)
                found[span.id] = Shrunk(text, Action.PROJECT, "in numbered parts", "shrink.max_tokens")
        return found

    def labelled(self, text: str, name: str, counter: Counter) -> str:
        """Return a text in numbered parts."""
        chunks = list(self.chunks(text, counter))
        carry = f"; carry on only {', '.join(self.fields)}" if self.fields else ""
        return "".join(
            f"{LABEL}{number} of {len(chunks)} of {name}{carry}]\n{chunk}" for number, chunk in enumerate(chunks, 1)
        )

    def chunks(self, text: str, counter: Counter) -> Iterator[str]:
        """Yield the parts of a text, each of at most `max_tokens` tokens where the text can be cut so."""
        points = [*cut_points(text), len(text)]
        sizes = counter.pieces([text[a:b] for a, b in zip([0, *points], points, strict=False)])
        start, tokens, last = 0, 0, 0
        for point, size in zip(points, sizes, strict=True):
            if tokens and tokens + size > self.max_tokens:
                yield text[start:last]
                start, tokens = last, 0
            tokens, last = tokens + size, point
        yield text[start:]
