"""The one way from a request body to a plan, for a replay, a live session and a stateless service alike.

A request is read into units, and units are planned. Both remember what came before, so that a request which extends
the last one costs what is new; and neither lets it change a plan, because a request that does not extend the last one
starts anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .assembler import Assembler, Context, Strategy
from .config import Configuration
from .dialects import dialect as dialect_named
from .hints import Hints
from .plan import Plan
from .shrinkers import CapByRule, ChunkPinned, Shrinker
from .shrunk_plan import shrunk_plan
from .spans import FixedPart
from .strategies.tiers import available
from .summaries import Summaries
from .tokens import Counter, counter_for_model, counter_from
from .units import Unit


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
