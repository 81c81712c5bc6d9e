"""Cut texts that a rule caps to their two ends; the note between says what is left out, and its span."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .. import marks
from ..decisions import Action
from ..edits import is_rewritable
from ..spans import Span, SpanKind
from ..tokens import Counter
from ..units import Unit
from .base import Shrunk, UnitShrinker, is_shrinkable
from .project_tool_results import two_ends

CAPPED = frozenset({SpanKind.TOOL_RESULT, SpanKind.RETRIEVAL, SpanKind.ASSISTANT})


@dataclass(frozen=True, slots=True)
class CapByRule(UnitShrinker):
    """What `max_tokens` of a rule does; it comes before the configured shrinkers."""

    def unit(self, unit: Unit, counter: Counter) -> Mapping[str, Shrunk]:
        """Return the unit's capped texts, where they are above their cap."""
        found = {}
        for span in unit.spans:
            cap = span.rule.max_tokens
            if cap is not None and span.tokens > cap and _may_be_cut(unit, span):
                text = two_ends(span.text, span.id, _within(counter, cap))
                found[span.id] = Shrunk(text, Action.TRIM, "above the cap of a rule", "rules.max_tokens")
        return found


def _may_be_cut(unit: Unit, span: Span) -> bool:
    own = span.kind in CAPPED and not marks.is_injected(span.text)
    return own and is_shrinkable(span) and is_rewritable(unit, span)


def _within(counter: Counter, cap: int) -> Callable[[str], bool]:
    return lambda text: counter.count(text) <= cap
