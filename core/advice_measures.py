"""What the five-branch tree asks of a prompt, measured and not guessed (rule book 1.4).

A prompt is measured on the whole history of a call. What projection and deduplication would give back is found by
running the shrinkers on it; what is pinned is what no strategy may touch: the fixed part, what rules pin, and the
newest user message.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .advice_sizes import Sizes, unrecorded_parts
from .advice_tree import SUMMARY_CAP, Measured
from .boundaries import Keep, keep_boundary
from .config import Configuration
from .dialects import dialect
from .dialects.base import Dialect
from .engine import Engine, Planner, soft_budget
from .hints import Hints
from .log import Log
from .plan import Plan
from .replay import Replay
from .result_spans import RESULTS, carried_by_results
from .shrinkers import DedupeInstructions, ProjectToolResults, shrink_fixed, shrink_unit
from .shrinkers.dedupe_instructions import repeated_rules
from .spans import Span, SpanKind
from .strategies.tiers import is_said
from .tokens import Counter
from .unit_feed import UnitFeed
from .units import Unit
from .wording import counted

TEXT = frozenset({SpanKind.USER, SpanKind.ASSISTANT, SpanKind.THINKING})
HARD_CASES = ("example", "for instance", "hard case", "例如")
"""Words of users that bring demoted examples back; a start that a team replaces by its own."""
CAPS = (800, 400, 200, 100)
"""Tokens that a projected result may have: the largest that covers the overflow is taken."""
GROWTH = 0.75
STEPS_A_TURN = 3
"""From this many steps a turn on, a transcript is a run of an agent and is cut by steps."""


@dataclass(frozen=True)
class Prompt:
    """The whole history of one call, with the budget it is judged by."""

    history: Replay
    call: int
    budget: int
    exact_strings_needed: bool = False

    @cached_property
    def plan(self) -> Plan:
        """The prompt as it is."""
        return self.history.plan(self.call)

    @cached_property
    def log(self) -> Log:
        """Its units, without what came later."""
        log = Log()
        log.extend(self.plan.log.units[: self.plan.count])
        return log

    @property
    def named(self) -> str:
        """The call in words; a recorded compaction removed some of the history that is looked at here."""
        made = self.history.transcript.calls[self.call]
        return f"call {self.call + 1}{'' if made.captured == made.history else ' with its whole history'}"

    @property
    def dialect(self) -> Dialect:
        """The dialect of the transcript."""
        return dialect(self.history.transcript.dialect)

    @property
    def counter(self) -> Counter:
        """The counter of the prompt."""
        return self.history.counter_of(self.call)

    @property
    def total(self) -> int:
        """Tokens of the prompt."""
        return self.plan.fixed.tokens + self.log.totals[-1]

    @cached_property
    def sizes(self) -> Sizes:
        """What a size of this call is compared with the budget by."""
        lacks = unrecorded_parts(self.history.transcript.notes)
        return Sizes.of(self.budget, self.history.calibration.calls[self.call], lacks)

    @property
    def allowed(self) -> int:
        """Tokens that the budget leaves to what is recorded."""
        return self.sizes.allowed

    @property
    def unseen(self) -> str:
        """What is not recorded of the fixed part, as a sentence; "" if all is there."""
        return self.sizes.unseen(self.total, bool(self.plan.fixed.spans))

    @property
    def is_agent(self) -> bool:
        """Whether there are many steps a turn."""
        return len(self.log.steps) > STEPS_A_TURN * max(1, len(self.log.turns))

    @cached_property
    def keep(self) -> Keep:
        """How much is kept verbatim at least, by which old is told from new: 4 turns or 8 steps, less if too large."""
        return self._largest((8, 4, 2, 1) if self.is_agent else (4, 2, 1), 1.0)

    @property
    def kept(self) -> str:
        """How much is kept at least, in words: "4 turns", "1 step"."""
        return kept_words(self.keep)

    @cached_property
    def keep_most(self) -> Keep:
        """How much a configuration keeps: what leaves a quarter of the room for the calls to come."""
        more = self._largest((48, 32, 24, 16, 12) if self.is_agent else (24, 16, 12, 8, 6), GROWTH)
        return more if self._tokens_from(self._cut(more)) <= self._room * GROWTH else self.keep

    @property
    def _room(self) -> int:
        return self.allowed - self.plan.fixed.tokens - SUMMARY_CAP

    def _largest(self, numbers: tuple[int, ...], share: float) -> Keep:
        """Return the first of some numbers that fits in a share of the room, else the last."""
        wanted = [Keep("steps" if self.is_agent else "turns", number) for number in numbers]
        return next((keep for keep in wanted if self._tokens_from(self._cut(keep)) <= self._room * share), wanted[-1])

    @cached_property
    def cut(self) -> int:
        """The first unit that is kept verbatim."""
        return self._cut(self.keep)

    def _cut(self, keep: Keep) -> int:
        return keep_boundary(self.log, keep).cut

    def _tokens_from(self, cut: int) -> int:
        return self.log.totals[-1] - self.log.totals[cut]

    @property
    def old_units(self) -> list[Unit]:
        """The units that may go: older than the kept ones, not pinned, not the newest user message."""
        units = self.log.units[: self.cut]
        return [unit for index, unit in enumerate(units) if not unit.stays and index != self.log.last_user]

    @cached_property
    def results(self) -> list[Span]:
        """The tool results and retrieved texts, of any age."""
        return [span for unit in self.log.units for span in unit.spans if span.kind in RESULTS]

    @cached_property
    def carried(self) -> list[Span]:
        """The images and files that stand in tool results: they are part of the output, and are not projected."""
        return [span for unit in self.log.units for span in carried_by_results(unit)]

    @cached_property
    def pinned(self) -> list[Span]:
        """The spans that no strategy may touch."""
        newest = self.log.last_user
        staying = [unit for index, unit in enumerate(self.log.units) if unit.stays or index == newest]
        return [*self.plan.fixed.spans, *(span for unit in staying for span in unit.spans if span.kind not in RESULTS)]

    @cached_property
    def largest_pinned(self) -> Span | None:
        """The largest span that no strategy may touch."""
        return max(self.pinned, key=lambda span: span.tokens, default=None)

    @cached_property
    def measured(self) -> Measured:
        """What the tree asks for."""
        return Measured(
            total=self.total,
            soft_budget=self.allowed,
            old_history=sum(tokens_of(unit, TEXT) for unit in self.old_units),
            tool_output=sum(span.tokens for span in (*self.results, *self.carried)),
            tool_projected=self.projection[1] + sum(span.tokens for span in self.carried),
            instruction_duplicates=self.instruction_duplicates,
            largest_pinned=self.largest_pinned.tokens if self.largest_pinned else 0,
            summary_cap=SUMMARY_CAP,
            exact_strings_needed=self.exact_strings_needed,
            is_hopeless=self.sizes.is_hopeless,
        )

    @cached_property
    def projection(self) -> tuple[int, int]:
        """The cap that results are projected to, and the tokens of all results then."""
        output, overflow = sum(span.tokens for span in self.results), self.sizes.over(self.total)
        found = (CAPS[0], output)
        for cap in CAPS:
            found = (cap, self._projected(ProjectToolResults(cap)))
            if output - found[1] >= overflow:
                break
        return found

    def _projected(self, shrinker: ProjectToolResults) -> int:
        holding = [unit for unit in self.log.units if any(span.kind in RESULTS for span in unit.spans)]
        return sum(tokens_of(shrink_unit(unit, (shrinker,), self.dialect, self.counter), RESULTS) for unit in holding)

    @property
    def instruction_duplicates(self) -> int:
        """Tokens of exact duplicate rules and of examples that can be put aside."""
        return self.restated + self.examples

    @cached_property
    def restated(self) -> int:
        """Tokens of rules that were said before."""
        return self.plan.fixed.tokens - self._deduplicated(DedupeInstructions())

    @cached_property
    def examples(self) -> int:
        """Tokens of examples that can be put aside, as no user asked for them up to this call."""
        return self._deduplicated(DedupeInstructions()) - self._deduplicated(DedupeInstructions(HARD_CASES))

    def _deduplicated(self, shrinker: DedupeInstructions) -> int:
        made = shrink_fixed(self.plan.fixed, (shrinker,), self._hard_cases, self.dialect, self.counter)
        return made.tokens

    @cached_property
    def _hard_cases(self) -> frozenset[str]:
        """The words of hard cases that users said."""
        spans = (span for unit in self.log.units for span in unit.spans if span.kind is SpanKind.USER)
        texts = [span.text.lower() for span in spans]
        return frozenset(word for word in HARD_CASES if any(is_said(word, text) for text in texts))

    @cached_property
    def repeated_rules(self) -> list[str]:
        """The lines of the instructions that were said before."""
        return repeated_rules(self.plan.fixed)


def kept_words(keep: Keep) -> str:
    """Return how much is kept, in words: "4 turns", "1 step"."""
    return counted(keep.number, keep.unit.removesuffix("s"))


def tokens_of(unit: Unit, kinds: frozenset[SpanKind]) -> int:
    """Return the tokens of a unit's spans of some kinds."""
    return sum(span.tokens for span in unit.spans if span.kind in kinds)


def prompt_of(history: Replay, call: int | None = None, exact_strings_needed: bool = False) -> Prompt | None:
    """Return a call's prompt as advice needs it, by default that of the worst call; None without a limit or a call."""
    budget = soft_budget(history.config)
    if budget is None or not history.transcript.calls:
        return None
    beyond = history.calls["not_recorded"]
    sent = [tokens + (beyond[at] or 0) for at, tokens in enumerate(history.calls["before"])]
    worst = max(range(len(sent)), key=sent.__getitem__)
    return Prompt(history, worst if call is None else call, budget, exact_strings_needed)


def plan_alone(history: Replay, config: Configuration, call: int) -> Plan:
    """Return the plan of one call under another configuration: the same as in a replay of all calls."""
    transcript = history.transcript
    made = transcript.calls[call]
    head = transcript.heads[made.head]
    model = head.get("model")
    engine = Engine(config, transcript.dialect, model if isinstance(model, str) else None)
    messages = [transcript.messages[node] for node in transcript.path(made.history)]
    step = UnitFeed().read(engine, Hints.recorded(made.hints)[0], head, made.head, 0, lambda start: messages[start:])
    return Planner().plan(engine, step)


def as_records(text: str) -> list[Any] | None:
    """Return the records of a JSON list; None if a text is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None
