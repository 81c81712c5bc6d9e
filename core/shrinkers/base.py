"""What a shrinker says: smaller texts for single spans, each a function of that span and, for the fixed part, of the
keywords that users said so far. A shrinker never removes a message, so span ids and pairs stay what they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from ..decisions import Action
from ..spans import FixedPart, Span
from ..tokens import Counter
from ..units import Unit


class Shrunk(NamedTuple):
    """The text that stands in the place of a span's own, and why. An empty text removes a section."""

    text: str
    action: Action
    reason: str
    setting: str


class Shrinker(Protocol):
    """Makes single spans smaller before the strategy decides."""

    @property
    def keywords(self) -> tuple[str, ...]:
        """Words that, once a user said them, change what `fixed` answers."""

    def unit(self, unit: Unit, counter: Counter) -> Mapping[str, Shrunk]:
        """Return smaller texts for spans of a unit, by span id."""

    def fixed(self, fixed: FixedPart, said: frozenset[str], counter: Counter) -> Mapping[str, Shrunk]:
        """Return smaller texts for system sections, by span id. `said` are those keywords that users said."""


class UnitShrinker:
    """A shrinker that leaves the fixed part alone."""

    keywords: tuple[str, ...] = ()

    def fixed(self, fixed: FixedPart, said: frozenset[str], counter: Counter) -> Mapping[str, Shrunk]:
        """Return nothing."""
        return {}


def is_shrinkable(span: Span) -> bool:
    """Return whether a span's text may be made smaller: not one that a rule pins or requires."""
    return not span.rule.stays
