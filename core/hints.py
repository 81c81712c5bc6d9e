"""What production knows about a request and the request does not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from .errors import RequestError
from .rules import Eviction, Match, Rule, Tier, Treatment


@dataclass(frozen=True, slots=True)
class Hints:
    """Hints of one request. `retrieval` and `pins` name spans by their id or by a tool call's id."""

    goal: str | None = None
    facts: tuple[str, ...] = ()
    memory: str | None = None
    bindings: tuple[str, ...] = ()
    active_tools: tuple[str, ...] = ()
    retrieval: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()

    @classmethod
    def of(cls, hints: Hints | Mapping[str, Any] | None) -> Hints:
        """Return hints from a dictionary, as they are stored with a call. RequestError for an unknown key."""
        if isinstance(hints, Hints):
            return hints
        given = dict(hints or {})
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise RequestError(f"Hints have no {unknown[0]!r}; known are {', '.join(known)}.")
        values: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in given.items()}
        return cls(**values)

    def rules(self) -> Iterator[Rule]:
        """Yield what the hints say about single spans as rules; they come after the configured ones."""
        if self.retrieval:
            yield Rule(Match(ids=frozenset(self.retrieval)), Treatment(tier=Tier.CONTEXTUAL))
        if self.pins:
            yield Rule(Match(ids=frozenset(self.pins)), Treatment(evict=Eviction.PINNED))
