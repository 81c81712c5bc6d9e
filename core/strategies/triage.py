"""The rules of span triage as a function of plain spans (rule book 1): what goes first, and what may come back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import ConfigError
from ..rules import Eviction

RULE_BOOK_STUB = "[{name} omitted: {class}]"


@dataclass(frozen=True, slots=True)
class TriageSpan:
    """A named text with its class and priority; a lower priority goes earlier."""

    name: str
    text: str
    evict: Eviction = Eviction.RECOVERABLE
    priority: int = 0
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Triaged:
    """The rendered text, its tokens, and the places of the spans that were dropped, in order of the drops."""

    text: str
    tokens: int
    dropped: tuple[int, ...]
    excess: int


def eviction(name: str) -> Eviction:
    """Return an eviction class by its exact name. ConfigError for anything else (S-R5)."""
    try:
        return Eviction(name)
    except ValueError:
        raise ConfigError(
            "rules.evict", f"{name!r} is no eviction class.", "Use pinned, reconstructible or recoverable."
        ) from None


def triage(
    spans: Sequence[TriageSpan],
    soft_budget: int,
    count: Callable[[str], int],
    stub: str = RULE_BOOK_STUB,
    joiner: str = "\n\n",
) -> Triaged:
    """Drop spans by priority, larger first, until the rendered text fits, then restore what still fits (S-R1 to S-R8).

    `count` gives tokens; the text is counted as it is rendered, stubs and joiners included.
    """
    stands = [_stand_in(span, stub) for span in spans]

    def rendered(dropped: set[int]) -> str:
        return joiner.join(stands[i] if i in dropped else span.text for i, span in enumerate(spans))

    order = sorted(
        (i for i, span in enumerate(spans) if span.evict is not Eviction.PINNED and _gains(span, stands[i], count)),
        key=lambda i: (spans[i].priority, -count(spans[i].text)),
    )
    gone: list[int] = []
    for place in order:
        if count(rendered(set(gone))) <= soft_budget:
            break
        gone.append(place)
    for place in gone[::-1]:
        rest = [other for other in gone if other != place]
        if count(rendered(set(rest))) <= soft_budget:
            gone = rest
    text = rendered(set(gone))
    tokens = count(text)
    return Triaged(text, tokens, tuple(gone), max(0, tokens - soft_budget))


def _stand_in(span: TriageSpan, stub: str) -> str:
    if span.evict is Eviction.RECONSTRUCTIBLE and span.summary:
        return span.summary
    return stub.replace("{name}", span.name).replace("{class}", span.evict)


def _gains(span: TriageSpan, stand_in: str, count: Callable[[str], int]) -> bool:
    return count(stand_in) < count(span.text)
