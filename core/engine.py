"""The one way from a request body to a plan, for a replay, a live session and a stateless service alike.

A request is read into units, and units are planned. Both remember what came before, so that a request which extends
the last one costs what is new; and neither lets it change a plan, because a request that does not extend the last one
starts anew.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from .assembler import Assembler, Context, Strategy
from .config import Configuration
from .dialects import Message
from .dialects import dialect as dialect_named
from .hints import Hints
from .plan import Plan
from .rules import Rule, rules_at
from .shrinkers import CapByRule, ChunkPinned, Shrinker, shrink_fixed, shrink_unit
from .shrunk_plan import shrunk_plan
from .spans import FixedPart, SpanKind, fixed_part
from .strategies.tiers import available, is_said
from .summaries import Summaries
from .tokens import Counter, counter_for_model, counter_from
from .units import Grouper, Unit, is_turn, make_unit
from .wire import Wire


def soft_budget(config: Configuration) -> int | None:
    """Return the soft budget in tokens; None is no limit. ConfigError when the window leaves nothing.

    A limit that a person sets may take the reserve's place, but nothing above the hard window could be sent.
    """
    limit, window = config.budget.soft_limit, config.model.window
    if limit is not None:
        return limit if window is None else min(limit, window)
    if config.model.window is None:
        return None
    return available(config.model.window, config.budget.reserve_ratio, config.model.max_output or 0)


def counter_of(config: Configuration, model: str | None) -> Counter:
    """Return the counter that a configuration names, else the one for the model. ConfigError if there is none."""
    chosen = config.counter
    if chosen.kind in (None, "tiktoken") and chosen.encoding is None:
        guess = counter_for_model(config.model.name or model)
        return guess if chosen.scale is None else counter_from("tiktoken", guess.encoding_name, chosen.scale)
    return counter_from(chosen.kind or "tiktoken", chosen.encoding or "o200k_base", chosen.scale or 1.0)


class Engine:
    """A configuration made ready for one dialect and model."""

    def __init__(
        self, config: Configuration, dialect: str, model: str | None, summaries: Summaries | None = None
    ) -> None:
        self.config = config
        self.summaries = summaries or Summaries()
        self.dialect = dialect_named(dialect)
        self.body_model = model
        self.model = config.model.name or model
        self.counter = counter_of(config, model)
        self.budget = soft_budget(config)
        self.strategy: Strategy = config.strategy.strategy()
        self.rules = tuple(rule.rule() for rule in config.rules)
        shrinkers = () if config.strategy.exact_recall else config.shrink
        caps = any(rule.treatment.max_tokens is not None for rule in self.rules)
        capping = (CapByRule(),) if caps and not config.strategy.exact_recall else ()
        self.shrinkers: tuple[Shrinker, ...] = (*capping, *(shrinker.shrinker() for shrinker in shrinkers))
        self.ages = any(rule.match.asks_for_age for rule in self.rules)
        self.may_grow = any(isinstance(shrinker, ChunkPinned) for shrinker in self.shrinkers)
        self.reader = (dialect, self.model, self.counter.key, self.rules, self.shrinkers)
        """What the reading of a request depends on. Engines with equal readers read alike."""

    def rules_with(self, hints: Hints) -> tuple[Rule, ...]:
        """Return the configured rules, then what the hints say about single spans."""
        return (*self.rules, *hints.rules())

    def context(self, hints: Hints) -> Context:
        """Return what a strategy works with for requests with these hints."""
        return Context(
            budget=self.budget,
            counter=self.counter,
            dialect=self.dialect,
            model=self.model,
            exact_recall=self.config.strategy.exact_recall,
            hints=hints,
            summaries=self.summaries,
        )


class Step(NamedTuple):
    """What a request adds to the one before it. A `fresh` one starts anew and brings all its units."""

    fresh: bool
    fixed: FixedPart
    units: Sequence[Unit]
    hints: Hints
    model: str | None


MOST_HEADS = 64


class Heads:
    """Fixed parts that were read, for all conversations that have them."""

    def __init__(self) -> None:
        self._known: dict[Hashable, FixedPart] = {}
        self._readers: dict[Hashable, int] = {}

    def reader(self, reader: Hashable) -> int:
        """Return a number for what the reading of a request depends on; equal readers have one."""
        return self._readers.setdefault(reader, len(self._readers))

    def fixed_part(
        self, engine: Engine, head: Wire, key: Hashable, rules: Sequence[Rule], said: frozenset[str]
    ) -> FixedPart:
        """Return the fixed part of a request, shrunk; `key` tells heads and readers apart, `said` are keywords."""
        known = (key, said)
        if known not in self._known:
            if len(self._known) >= MOST_HEADS:
                self._known.clear()
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
        self._reader: tuple[object, tuple[Rule, ...], tuple[str, ...] | None] | None = None
        self._number = 0
        self._said: frozenset[str] = frozenset()
        self._made: dict[tuple[Rule, ...], dict[tuple[int, int], Unit]] = {}
        """Units by the rules that may mean spans of their age, and by place and length."""

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
        rules = engine.rules_with(hints)
        reader = (engine.reader, rules, hints.results)
        fresh = shared < self._count or reader != self._reader
        if fresh:
            self._made = {}
        grouper, groups = self._grouper, None
        if grouper is not None and not fresh:
            groups = grouper.push(_messages(engine, messages_from(shared)))
        if grouper is None or groups is None:
            fresh, grouper = True, Grouper(engine.dialect, hints.results)
            groups = grouper.push(_messages(engine, messages_from(0))) or []
        if engine.ages:
            self._groups = [*groups] if fresh else [*self._groups, *groups]
            # What a rule says by age changes with each turn, so then all units are given anew.
            if any(is_turn(group.messages) for group in groups):
                fresh, groups = True, self._groups
        if reader != self._reader:
            self._reader, self._number = reader, self._heads.reader(reader)
        units = list(self._units(engine, groups, rules))
        if engine.shrinkers:
            self._hear(engine, units, fresh)
        rules = rules_at(rules, None) if engine.ages else rules
        fixed = self._heads.fixed_part(engine, head, (head_key, self._number), rules, self._said)
        self._grouper, self._count = grouper, grouper.count
        return Step(fresh, fixed, units, hints, engine.body_model)

    def _units(self, engine: Engine, groups: Sequence[Any], rules: tuple[Rule, ...]) -> Iterator[Unit]:
        """Yield the units of some groups; those whose rules by age did not change are the same objects as before."""
        if not engine.ages:
            yield from (self._unit(engine, group, rules) for group in groups)
            return
        age = sum(is_turn(group.messages) for group in groups)
        said = rules_at(rules, age)
        known = self._made.setdefault(said, {})
        for group in groups:
            if is_turn(group.messages):
                age -= 1
                said = rules_at(rules, age)
                known = self._made.setdefault(said, {})
            place = (group.first, len(group.messages))
            if place not in known:
                known[place] = self._unit(engine, group, said)
            yield known[place]

    def _unit(self, engine: Engine, group: Any, rules: Sequence[Rule]) -> Unit:
        unit = make_unit(group, engine.dialect, engine.counter, rules)
        return shrink_unit(unit, engine.shrinkers, engine.dialect, engine.counter) if engine.shrinkers else unit

    def _hear(self, engine: Engine, units: Sequence[Unit], fresh: bool) -> None:
        """Remember which of the shrinkers' keywords users said."""
        said = frozenset() if fresh else self._said
        left = [word for shrinker in engine.shrinkers for word in shrinker.keywords if word not in said]
        texts = [span.text.lower() for unit in units for span in unit.spans if left and span.kind is SpanKind.USER]
        self._said = said.union(word for word in left if any(is_said(word, text) for text in texts))


def _messages(engine: Engine, wires: Sequence[Wire]) -> list[Message]:
    return [engine.dialect.message(wire) for wire in wires]


class Planner:
    """Plans step after step with one assembler a conversation. What was planned before never changes a plan.

    All steps come from one feed and one configuration: what is not fresh was read by an equal engine.
    """

    def __init__(self) -> None:
        self._shrunk = _Track()
        self._plain = _Track()
        self._saved: int | None = None
        """Tokens that shrinkers saved in the units so far; None while they left all units alone."""

    def plan(self, engine: Engine, step: Step) -> Plan:
        """Return the plan of the prompt that a step completes."""
        plan = self._shrunk.plan(engine, step)
        if not engine.shrinkers:
            return plan
        self._add_up(step)
        if self._saved is not None or step.fixed.source is not None:
            plan = shrunk_plan(plan, self._saved or 0)
        if not engine.may_grow:
            return plan
        units = [unit.source or unit for unit in step.units]
        plain = self._plain.plan(engine, step._replace(fixed=step.fixed.source or step.fixed, units=units))
        return plan if plan.tokens_after <= plan.tokens_before else plain

    def _add_up(self, step: Step) -> None:
        saved = [unit.source.tokens - unit.tokens for unit in step.units if unit.source is not None]
        if step.fresh:
            self._saved = None
        if saved:
            self._saved = (self._saved or 0) + sum(saved)


class _Track:
    """An assembler and what it was given last."""

    def __init__(self) -> None:
        self._assembler: Assembler | None = None
        self._fixed: FixedPart | None = None
        self._hints: Hints | None = None

    def plan(self, engine: Engine, step: Step) -> Plan:
        """Return the strategy's plan of the prompt that a step completes."""
        assembler = self._assembler
        if assembler is None or step.fresh:
            assembler = engine.strategy.assembler(engine.context(step.hints))
            self._assembler, self._fixed, self._hints = assembler, None, step.hints
        if step.hints != self._hints:
            assembler.hint(step.hints)
            self._hints = step.hints
        if step.fixed is not self._fixed:
            assembler.fix(step.fixed)
            self._fixed = step.fixed
        assembler.extend(step.units)
        return assembler.plan()


def checked(config: Configuration) -> Configuration:
    """Return the configuration if an engine can be made of it. ConfigError otherwise, so that loading tells it."""
    Engine(config, config.model.dialect or "openai_chat", None)
    return config
