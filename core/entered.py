"""What enters the window with each call: every message and every text of the fixed part counted once, when it comes.

A conversation that goes on after another one was in its place brings in only what is new in it, and so does a branch.
"""

from __future__ import annotations

from collections.abc import Sequence

from .engine import Engine
from .spans import FixedPart, SpanKind
from .transcript import ROOT, Transcript
from .units import Unit


class Entered:
    """Counts what calls bring in, in their order."""

    def __init__(self, transcript: Transcript) -> None:
        self._parents, self._depths = transcript.parents, transcript.depths
        self._seen: set[int] = set()
        self._heads: dict[int, FixedPart] = {}
        self._texts: set[tuple[SpanKind, str]] = set()
        self._overhead = 0

    def tokens(self, engine: Engine, units: Sequence[Unit], fixed: FixedPart, last: int) -> int:
        """Return the tokens that a call brings in, and take them.

        `units` are at least those that hold its new messages, and `last` is the node of its last message.
        """
        known = self._take(last)
        entered = sum(_new_of_unit(engine, unit.source or unit, known) for unit in units if unit.stop > known)
        return entered + self._new_of_head(fixed.source or fixed)

    def _take(self, last: int) -> int:
        """Take the messages of a prompt, and return how many of them, the first ones, had come before."""
        while last != ROOT and last not in self._seen:
            self._seen.add(last)
            last = self._parents[last]
        return 0 if last == ROOT else self._depths[last] + 1

    def _new_of_head(self, fixed: FixedPart) -> int:
        """Return the tokens of a fixed part that were in none before; a setting that changed has none."""
        if id(fixed) in self._heads:
            return 0
        self._heads[id(fixed)] = fixed  # kept, so that no other one can take its identity
        new = [span for span in fixed.spans if (span.kind, span.text) not in self._texts]
        self._texts.update((span.kind, span.text) for span in new)
        frames = max(0, fixed.overhead - self._overhead)
        self._overhead += frames
        return sum(span.tokens for span in new) + frames


def _new_of_unit(engine: Engine, unit: Unit, known: int) -> int:
    """Return the tokens by which a unit grew beyond the first `known` messages of its prompt."""
    if unit.first >= known:
        return unit.tokens
    before = engine.dialect.cost_of_messages(unit.messages[: known - unit.first], engine.counter)
    return max(0, unit.tokens - before.total)
