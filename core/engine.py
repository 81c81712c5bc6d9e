"""The one way from a request body to a plan, for a replay, a live session and a stateless service alike.

A request is read into units, and units are planned. Both remember what came before, so that a request which extends
the last one costs what is new; and neither lets it change a plan, because a request that does not extend the last one
starts anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .assembler import Assembler, Context, Strategy
from .config import Configuration
from .dialects import Message
from .dialects import dialect as dialect_named
from .hints import Hints
from .plan import Plan
from .rules import Rule
from .spans import FixedPart, fixed_part
from .strategies.tiers import available
from .tokens import Counter, counter_for_model, counter_from
from .units import Grouper, Unit, make_unit
from .wire import Wire


def soft_budget(config: Configuration) -> int | None:
    """Return the soft budget in tokens; None is no limit. ConfigError when the window leaves nothing."""
    if config.budget.soft_limit is not None:
        return config.budget.soft_limit
    if config.model.window is None:
        return None
    return available(config.model.window, config.budget.reserve_ratio, config.model.max_output or 0)


def counter_of(config: Configuration, model: str | None) -> Counter:
    """Return the counter that a configuration names, else the one for the model. ConfigError if there is none."""
    chosen = config.counter
    if chosen.kind is None and chosen.encoding is None and chosen.scale is None:
        return counter_for_model(config.model.name or model)
    return counter_from(chosen.kind or "tiktoken", chosen.encoding or "o200k_base", chosen.scale or 1.0)


class Engine:
    """A configuration made ready for one dialect and model."""

    def __init__(self, config: Configuration, dialect: str, model: str | None) -> None:
        self.config = config
        self.dialect = dialect_named(dialect)
        self.body_model = model
        self.model = config.model.name or model
        self.counter = counter_of(config, model)
        self.budget = soft_budget(config)
        self.strategy: Strategy = config.strategy.strategy()
        self.rules = tuple(rule.rule() for rule in config.rules)
        self.reader = (dialect, self.model, self.counter.key, self.rules)
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
            active_tools=frozenset(hints.active_tools),
        )


class Step(NamedTuple):
    """What a request adds to the one before it. A `fresh` one starts anew and brings all its units."""

    fresh: bool
    fixed: FixedPart
    units: Sequence[Unit]
    entered: int
    hints: Hints
    model: str | None


class UnitFeed:
    """Reads one request after another into units, and only what is new where one extends the last.

    Nothing here depends on a strategy or a budget, so a transcript is read once and replayed through many.
    """

    def __init__(self) -> None:
        self._grouper: Grouper | None = None
        self._count = -1
        self._reader: tuple[object, Hints] | None = None
        self._head: object = None
        self._fixed: dict[object, FixedPart] = {}

    def read(
        self,
        engine: Engine,
        hints: Hints,
        head: Wire,
        head_key: object,
        shared: int,
        messages_from: Callable[[int], Sequence[Wire]],
    ) -> Step:
        """Read a request. Its first `shared` messages are the first of the last request, in content.

        `head_key` tells heads apart; `messages_from(n)` gives the request's messages from the n-th on.
        """
        reader = (engine.reader, hints)
        fresh = shared < self._count or reader != self._reader
        grouper, groups = self._grouper, None
        if grouper is not None and not fresh:
            groups = grouper.push(_messages(engine, messages_from(shared)))
        if grouper is None or groups is None:
            fresh, grouper = True, Grouper(engine.dialect)
            groups = grouper.push(_messages(engine, messages_from(0))) or []
        if reader != self._reader:
            self._fixed, self._reader = {}, reader
        rules = engine.rules_with(hints)
        units = [make_unit(group, engine.dialect, engine.counter, rules) for group in groups]
        fixed = self._fixed_part(engine, head, head_key, rules)
        entered = sum(unit.tokens for unit in units if unit.stop > shared or not fresh)
        if head_key != self._head:
            entered += fixed.tokens
        self._head = head_key
        self._grouper, self._count = grouper, grouper.count
        return Step(fresh, fixed, units, entered, hints, engine.body_model)

    def _fixed_part(self, engine: Engine, head: Wire, key: object, rules: Sequence[Rule]) -> FixedPart:
        if key not in self._fixed:
            if len(self._fixed) >= MOST_HEADS:
                self._fixed.clear()
            self._fixed[key] = fixed_part(head, engine.dialect, engine.counter, engine.model, rules)
        return self._fixed[key]


MOST_HEADS = 64


def _messages(engine: Engine, wires: Sequence[Wire]) -> list[Message]:
    return [engine.dialect.message(wire) for wire in wires]


class Planner:
    """Plans step after step with one assembler a conversation. What was planned before never changes a plan."""

    def __init__(self) -> None:
        self._assembler: Assembler | None = None
        self._fixed: FixedPart | None = None

    def plan(self, engine: Engine, step: Step) -> Plan:
        """Return the plan of the prompt that a step completes.

        All steps come from one feed and one configuration: what is not fresh was read by an equal engine.
        """
        assembler = self._assembler
        if assembler is None or step.fresh:
            assembler = engine.strategy.assembler(engine.context(step.hints))
            self._assembler, self._fixed = assembler, None
        if step.fixed is not self._fixed:
            assembler.fix(step.fixed)
            self._fixed = step.fixed
        assembler.extend(step.units)
        return assembler.plan()


def checked(config: Configuration) -> Configuration:
    """Return the configuration if an engine can be made of it. ConfigError otherwise, so that loading tells it."""
    Engine(config, config.model.dialect or "openai_chat", None)
    return config
