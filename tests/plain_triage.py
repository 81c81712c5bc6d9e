"""The rules of span triage (rule book 1, S-R1 to S-R8) on plain texts: what the strategy is held against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.rules import Eviction

STUB = "[{name} omitted: {class}]"


@dataclass(frozen=True, slots=True)
class TriageSpan:
    """A named text with its class and priority; a lower priority goes earlier."""

    name: str
    text: str
    evict: Eviction = Eviction.RECOVERABLE
    priority: int = 0

    @property
    def stub(self) -> str:
        return STUB.replace("{name}", self.name).replace("{class}", self.evict)


@dataclass(frozen=True, slots=True)
class Triaged:
    """The rendered texts, their tokens, and the places of the spans that were dropped, in order of the drops."""

    texts: tuple[str, ...]
    tokens: int
    dropped: tuple[int, ...]
    excess: int


def triage(spans: Sequence[TriageSpan], soft_budget: int, count: Callable[[Sequence[str]], int]) -> Triaged:
    """Drop spans by priority, larger first, until what is rendered fits, then restore what still fits.

    `count` gives the tokens of texts as they are rendered, stubs included, which stand where the spans stood.
    """

    def rendered(dropped: Sequence[int]) -> tuple[str, ...]:
        return tuple(span.stub if place in dropped else span.text for place, span in enumerate(spans))

    def gains(span: TriageSpan) -> bool:
        return span.evict is not Eviction.PINNED and count([span.stub]) < count([span.text])

    order = sorted(
        (place for place, span in enumerate(spans) if gains(span)),
        key=lambda place: (spans[place].priority, -count([spans[place].text])),
    )
    gone: list[int] = []
    for place in order:
        if count(rendered(gone)) <= soft_budget:
            break
        gone.append(place)
    for place in gone[::-1]:
        rest = [other for other in gone if other != place]
        if count(rendered(rest)) <= soft_budget:
            gone = rest
    tokens = count(rendered(gone))
    return Triaged(rendered(gone), tokens, tuple(gone), max(0, tokens - soft_budget))
