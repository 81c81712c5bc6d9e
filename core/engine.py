"""The one way from a request body to a plan, for a replay, a live session and a stateless service alike.

A conversation remembers what it has read, so that a request which extends the one before costs what is new. What it
remembers never changes a plan: a request that does not extend the one before starts a new assembler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from .assembler import Assembler, Context, Strategy
from .config import Configuration
from .dialects import dialect as dialect_named
from .hints import Hints
from .plan import Plan
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
    return counter_from(chosen.kind or "tiktoken", chosen.encoding, 1.0 if chosen.scale is None else chosen.scale)


class Engine:
    """A configuration made ready for one dialect and model."""

    def __init__(self, config: Configuration, dialect: str, model: str | None) -> None:
        self.config = config
        self.dialect = dialect_named(dialect)
        self.model = config.model.name or model
        self.counter = counter_of(config, model)
        self.budget = soft_budget(config)
        self.strategy: Strategy = config.strategy.strategy()
        self.rules = tuple(rule.rule() for rule in config.rules)

    def context(self, hints: Hints) -> Context:
        """Return what a strategy works with for requests with these hints."""
        return Context(
            budget=self.budget,
            counter=self.counter,
            dialect=self.dialect,
            model=self.model,
            rules=(*self.rules, *hints.rules()),
            exact_recall=self.config.strategy.exact_recall,
            active_tools=frozenset(hints.active_tools),
        )


class Conversation:
    """The prompts of one growing conversation under one engine."""

    def __init__(self, engine: Engine, hints: Hints = Hints()) -> None:  # noqa: B008
        self.engine = engine
        self.hints = hints
        self.context = engine.context(hints)
        self.assembler: Assembler = engine.strategy.assembler(self.context)
        self._grouper = Grouper()
        self._fixed = lru_cache(maxsize=64)(self._fixed_part)
        self.units: list[Unit] = []

    def fix(self, head: Wire, key: object) -> FixedPart:
        """Take the head of the coming plan; `key` tells heads apart without reading them."""
        fixed = self._fixed(_Head(head, key))
        self.assembler.fix(fixed)
        return fixed

    def _fixed_part(self, head: _Head) -> FixedPart:
        context = self.context
        return fixed_part(head.wire, context.dialect, context.counter, context.model, context.rules)

    def extend(self, messages: Sequence[Wire]) -> bool:
        """Take new messages. False if one belongs to a unit taken before: then everything must be read anew."""
        dialect = self.context.dialect
        groups = self._grouper.push([dialect.message(wire) for wire in messages])
        if groups is None:
            return False
        new = [make_unit(group, dialect, self.context.counter, self.context.rules) for group in groups]
        self.units += new
        self.assembler.extend(new)
        return True

    def plan(self) -> Plan:
        """Plan the prompt of the head and all messages taken so far."""
        return self.assembler.plan()

    def renewed(self, messages: Sequence[Wire]) -> Conversation:
        """Return a new conversation that has taken all these messages at once."""
        new = Conversation(self.engine, self.hints)
        new.extend(messages)
        return new


class _Head:
    """A head with a key to tell it by, as dictionaries cannot be keys of a memo."""

    def __init__(self, wire: Wire, key: object) -> None:
        self.wire, self.key = wire, key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Head) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class Planned(NamedTuple):
    """A plan and the tokens that are new in its prompt against the one before."""

    plan: Plan
    entered: int


class Feed:
    """Plans one request after another, and keeps the conversation going where the next one extends the last."""

    def __init__(self) -> None:
        self._conversation: Conversation | None = None
        self._count = 0
        self._head: object = None

    def plan(
        self,
        engine: Engine,
        hints: Hints,
        head: Wire,
        head_key: object,
        shared: int,
        messages_from: Callable[[int], Sequence[Wire]],
    ) -> Planned:
        """Plan a request. Its first `shared` messages are the first of the last request, in content.

        `messages_from(n)` gives the request's messages from the n-th on.
        """
        current = self._conversation
        if current is None or shared < self._count or current.engine is not engine or current.hints != hints:
            current = Conversation(engine, hints).renewed(messages_from(0))
        elif not current.extend(messages_from(shared)):
            current = current.renewed(messages_from(0))
        fixed = current.fix(head, head_key)
        plan = current.plan()
        entered = sum(unit.tokens for unit in takewhile(lambda unit: unit.stop > shared, reversed(current.units)))
        if self._conversation is None or head_key != self._head:
            entered += fixed.tokens
        self._conversation, self._head = current, head_key
        self._count = current.units[-1].stop if current.units else 0
        return Planned(plan, entered)


def checked(config: Configuration) -> Configuration:
    """Return the configuration if an engine can be made of it. ConfigError otherwise, so that loading tells it."""
    Engine(config, config.model.dialect or "openai_chat", None)
    return config
