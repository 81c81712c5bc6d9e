"""Cut texts that a rule caps to their two ends; the note between says what is left out, and its span."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .. import marks
from ..decisions import Action
from ..rules import may_become
from ..spans import SpanKind
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
            if cap is None or span.tokens <= cap or span.kind not in CAPPED or not is_shrinkable(span):
                continue
            text = span.text if marks.is_injected(span.text) else two_ends(span.text, span.id, _within(counter, cap))
            tokens = counter.count(text)
            if tokens < span.tokens and may_become(tokens, span.rule):
                found[span.id] = Shrunk(text, Action.TRIM, "above the cap of a rule", "rules.max_tokens")
        return found


def _within(counter: Counter, cap: int) -> Callable[[str], bool]:
    return lambda text: counter.count(text) <= cap
