"""What summaries stand for and what they cost, both with their frames: a frame goes with the message that it is for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .decisions import Action, Fate, Injected
from .dialects.base import Dialect
from .plan import Plan
from .shrunk_plan import ShrunkPlan
from .spans import SpanKind
from .strategies.published import PublishedPlan
from .tokens import Counter

__all__ = ["Swap", "swaps"]


class Swap(NamedTuple):
    """A summary: its span, and the tokens of what it stands for and of what is sent instead."""

    span_id: str
    before: int
    after: int


def swaps(plan: Plan, dialect: Dialect, counter: Counter) -> Iterator[Swap]:
    """Yield each message or unit summarised in place, and the summary put in for all that is gone."""
    if isinstance(plan, ShrunkPlan):
        plan = plan.inner
    yield from _published(plan) if isinstance(plan, PublishedPlan) else _in_place(plan)
    for text in plan.head.injected if plan.head else ():
        if text.kind is SpanKind.SUMMARY:
            yield Swap(text.span_id, _gone(plan), text.tokens + _frame(plan, text, dialect, counter))


def _published(plan: PublishedPlan) -> Iterator[Swap]:
    for place, sent, tokens in plan.pieces():
        if isinstance(sent, str):
            yield Swap(f"m{place}.0", plan.source.verbatim([place]), tokens)


def _in_place(plan: Plan) -> Iterator[Swap]:
    if plan.replacements.action is not Action.SUMMARISE:
        return
    for index, fate, _ in plan.fates():
        made = plan.made(index, fate) if fate is Fate.REPLACE else None
        if made is not None:
            unit = plan.log.units[index]
            yield Swap(unit.spans[0].id, (unit.source or unit).tokens, made.tokens)


def _gone(plan: Plan) -> int:
    """Return the tokens of the units that are not sent."""
    units = (plan.log.units[index] for index, fate, _ in plan.fates() if fate in (Fate.DROP, Fate.FOLD))
    return sum((unit.source or unit).tokens for unit in units)


def _frame(plan: Plan, text: Injected, dialect: Dialect, counter: Counter) -> int:
    """Return the tokens of the frame that a text at the end of the system part brings with it."""
    assert plan.head is not None
    before = len(dialect.system_texts(plan.fixed.head)) + plan.head.injected.index(text)
    less, more = (dialect.cost_of_system(plan.fixed.head, counter, [["text"]] * n) for n in (before, before + 1))
    return more.overhead - less.overhead
