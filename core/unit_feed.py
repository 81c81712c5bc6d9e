"""Requests read into units, each as far as it is new.

Where only what hints say about single spans changes, or what rules say of an age, all units are given anew, but for
the most part they are the same objects: those of which another thing is said are made anew. They are counted once all
the same, but their sums and what a strategy knows of them are made from the beginning: where hints name other spans
with each call, or rules ask for an age, the work grows with the length of the prompts of all calls that say so, and
not with the transcript alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from .dialects import Message
from .engine import Engine, Step
from .hints import Hints
from .rules import Match, Rule, rules_at
from .shrinkers import shrink_fixed, shrink_unit
from .spans import EMPTY, FixedPart, SpanKind, fixed_part
from .strategies.tiers import is_said
from .units import Grouper, Unit, is_turn, make_unit
from .wire import Wire

MOST_HEADS = 64
MOST_VARIANTS = 4
"""Units kept for one place: with one pin and without, in one turn and in the next."""

Rules = tuple[Rule, ...]
_Place = tuple[int, int]
"""The first message of a group, and how many it has."""


class Heads:
    """Fixed parts that were read, for all conversations that have them."""

    def __init__(self) -> None:
        self._known: dict[Hashable, FixedPart] = {}
        self._readers: dict[Hashable, int] = {}

    def fixed_part(self, engine: Engine, head: Wire, key: Hashable, rules: Rules, said: frozenset[str]) -> FixedPart:
        """Return the fixed part of a request, shrunk; `key` tells heads apart, `said` are keywords."""
        if len(self._known) >= MOST_HEADS:
            self._known.clear()
            self._readers.clear()
        reader = self._readers.setdefault((engine.reader, rules), len(self._readers))
        known = (key, reader, said)
        if known not in self._known:
            fixed = fixed_part(head, engine.dialect, engine.counter, engine.model, rules)
            self._known[known] = shrink_fixed(fixed, engine.shrinkers, said, engine.dialect, engine.counter)
        return self._known[known]


class UnitFeed:
    """Reads one request after another into units, and only what is new where one extends the last.

    Nothing here depends on a strategy or a budget, so a transcript is read once and replayed through many.
    """

    def __init__(self, heads: Heads | None = None) -> None:
        self._heads = heads or Heads()
        self._grouper: Grouper | None = None
        self._groups: list[Any] = []
        self._count = -1
        self._reader: tuple[object, tuple[str, ...] | None] | None = None
        self._hinted: Rules = ()
        self._said: frozenset[str] = frozenset()
        self._made: dict[_Place, dict[tuple[int, Rules], Unit]] = {}
        """Units by their place, and by what configured rules may say of their age and hints of their spans."""
        self._rules: dict[Rules, int] = {}
        """A number for the rules that may mean spans of one age."""

    def read(
        self,
        engine: Engine,
        hints: Hints,
        head: Wire,
        head_key: Hashable,
        shared: int,
        messages_from: Callable[[int], Sequence[Wire]],
    ) -> Step:
        """Read a request. Its first `shared` messages are the first of the last request, in content.

        `head_key` tells heads apart; `messages_from(n)` gives the request's messages from the n-th on.
        """
        new = self._new(engine, hints, shared, messages_from)
        hinted = tuple(hints.rules())
        # What a rule says by age changes with each turn.
        turned = engine.ages and any(is_turn(group.messages) for group in new)
        fresh = len(new) == len(self._groups) or hinted != self._hinted or turned
        self._hinted = hinted
        units = list(self._units(engine, self._groups if fresh else new, hinted))
        if engine.shrinkers:
            self._hear(engine, units, fresh)
        rules = (*rules_at(engine.rules, None), *(rule for rule in hinted if rule.match.may_mean_the_fixed_part))
        return Step(
            fresh, self._heads.fixed_part(engine, head, head_key, rules, self._said), units, hints, engine.body_model
        )

    def _new(
        self, engine: Engine, hints: Hints, shared: int, messages_from: Callable[[int], Sequence[Wire]]
    ) -> Sequence[Any]:
        """Take the groups of new messages, or all groups where the request does not extend the last one."""
        reader, groups = (engine.reader, hints.results), None
        if self._grouper is not None and shared >= self._count and reader == self._reader:
            groups = self._grouper.push(_messages(engine, messages_from(shared)))
        if self._grouper is None or groups is None:
            self._grouper = Grouper(engine.dialect, hints.results)
            groups = self._grouper.push(_messages(engine, messages_from(0))) or []
            self._groups, self._made, self._reader = [], {}, reader
        self._groups += groups
        self._count = self._grouper.count
        return groups

    def _units(self, engine: Engine, groups: Sequence[Any], hinted: Rules) -> Iterator[Unit]:
        """Yield the units of some groups; those of which nothing else is said are the same objects as before."""
        age = sum(is_turn(group.messages) for group in groups)
        said, number = self._said_at(engine, age)
        for group in groups:
            if engine.ages and is_turn(group.messages):
                age -= 1
                said, number = self._said_at(engine, age)
            named = _named_in(group, hinted) if hinted else ()
            known = self._made.setdefault((group.first, len(group.messages)), {})
            if (number, named) not in known:
                while len(known) >= MOST_VARIANTS:
                    del known[next(iter(known))]
                known[number, named] = _unit(engine, group, (*said, *named))
            yield known[number, named]

    def _said_at(self, engine: Engine, age: int) -> tuple[Rules, int]:
        said = rules_at(engine.rules, age)
        return said, self._rules.setdefault(said, len(self._rules))

    def _hear(self, engine: Engine, units: Sequence[Unit], fresh: bool) -> None:
        """Remember which of the shrinkers' keywords users said."""
        said = frozenset() if fresh else self._said
        left = [word for shrinker in engine.shrinkers for word in shrinker.keywords if word not in said]
        texts = [span.text.lower() for unit in units for span in unit.spans if left and span.kind is SpanKind.USER]
        self._said = said.union(word for word in left if any(is_said(word, text) for text in texts))


def _unit(engine: Engine, group: Any, rules: Sequence[Rule]) -> Unit:
    unit = make_unit(group, engine.dialect, engine.counter, rules)
    return shrink_unit(unit, engine.shrinkers, engine.dialect, engine.counter) if engine.shrinkers else unit


def _named_in(group: Any, hinted: Rules) -> Rules:
    """Return what hints say of the spans of a group, by their ids or by those of their calls, and of no others."""
    ids = {
        named
        for place, message in enumerate(group.messages, start=group.first)
        for index, part in enumerate(message.parts or (EMPTY,))
        for named in (f"m{place}.{index}", part.call_id)
    }
    found = ((rule, frozenset(rule.match.ids or ()) & ids) for rule in hinted)
    return tuple(Rule(Match(ids=named), rule.treatment) for rule, named in found if named)


def _messages(engine: Engine, wires: Sequence[Wire]) -> list[Message]:
    return [engine.dialect.message(wire) for wire in wires]
