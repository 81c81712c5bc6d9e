"""What production knows about a request and the request does not say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from .errors import RequestError
from .rules import Eviction, Match, Rule, Tier, Treatment, pattern_fault


@dataclass(frozen=True, slots=True)
class Hints:
    """Hints of one request. `retrieval` and `pins` name spans by their id or by a tool call's id.

    `results` are regular expressions by which user texts after a reply or its results are known as results of tools:
    for an agent that has them as text. None goes by the formats that are known, an empty list finds none.
    """

    goal: str | None = None
    facts: tuple[str, ...] = ()
    memory: str | None = None
    bindings: tuple[str, ...] = ()
    active_tools: tuple[str, ...] = ()
    retrieval: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()
    results: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Take any sequence of texts for a tuple. RequestError for anything else."""
        for name in ("facts", "bindings", "active_tools", "retrieval", "pins", "results"):
            value = getattr(self, name)
            if name == "results" and value is None:
                continue
            if isinstance(value, str) or not isinstance(value, Iterable) or not all(isinstance(v, str) for v in value):
                raise RequestError(f"The hint {name!r} is a list of texts, not {value!r}.")
            object.__setattr__(self, name, tuple(value))
        for name in ("goal", "memory"):
            if not isinstance(getattr(self, name), str | None):
                raise RequestError(f"The hint {name!r} is a text or null, not {getattr(self, name)!r}.")
        for pattern in self.results or ():
            fault = pattern_fault(pattern)
            if fault is not None:
                raise RequestError(f"The hint 'results' has {pattern!r}, which is no regular expression: {fault}")

    @classmethod
    def of(cls, hints: Hints | Mapping[str, Any] | None) -> Hints:
        """Return hints from a dictionary, as they are stored with a call; a null says nothing. RequestError else."""
        if isinstance(hints, Hints):
            return hints
        if not isinstance(hints, Mapping | None):
            raise RequestError(f"Hints are an object, not {hints!r}.")
        given = {key: value for key, value in (hints or {}).items() if value is not None}
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(hints or {}) - set(known), key=str)
        if unknown:
            raise RequestError(f"Hints have no {unknown[0]!r}; known are {', '.join(known)}.")
        return cls(**given)

    @classmethod
    def recorded(cls, hints: Mapping[str, Any] | None) -> tuple[Hints, tuple[str, ...]]:
        """Return what can be used of the hints stored with a call, and a sentence for each that cannot.

        A live request is refused for these, so that its author hears of it; a recording is replayed all the same.
        """
        usable, faults = {}, []
        for key, value in (hints or {}).items():
            try:
                cls.of({key: value})
            except RequestError as error:
                faults.append(str(error))
            else:
                usable[key] = value
        return cls.of(usable), tuple(faults)

    def rules(self) -> Iterator[Rule]:
        """Yield what the hints say about single spans as rules; they come after the configured ones."""
        if self.retrieval:
            yield Rule(Match(ids=frozenset(self.retrieval)), Treatment(tier=Tier.CONTEXTUAL))
        if self.pins:
            yield Rule(Match(ids=frozenset(self.pins)), Treatment(evict=Eviction.PINNED))
