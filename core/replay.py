"""A transcript through a configuration, call by call, as production would have sent it.

All calls are planned at once, because each mostly goes on from the one before it; what is measured on the plans is
made when it is first asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from typing import Any, TypeVar

from .cache import Cache, cache
from .cache_misses import Misses
from .calibration import Calibration
from .config import BudgetConfig, Configuration, load_config
from .conversion import Converted, converted
from .cost import Cost, cost
from .dialects import dialect
from .drift import Split
from .engine import Engine, Planner, checked, counter_of
from .loss import Loss, loss
from .newest import Newest
from .plan import Plan, apply
from .reading import MOST_READINGS, model_named, models_of, reading, readings_of
from .replay_columns import Columns
from .sent_sizes import excess_as_sent
from .spans import SpanKind
from .summaries import Summaries
from .tokens import Counter, Exactness, TiktokenCounter
from .transcript import Transcript

Shared = TypeVar("Shared")


class Replay:
    """The plans of all calls of a transcript under a configuration."""

    def __init__(
        self,
        transcript: Transcript,
        config: Configuration,
        plans: Sequence[Plan],
        entered: list[int],
        dropped: tuple[str, ...] = (),
        summaries: Mapping[str, str] | None = None,
        original: Transcript | None = None,
    ) -> None:
        self.transcript = transcript
        self.original = transcript if original is None else original
        """The transcript as it was given, before a conversion: the one that is stored, and that its sha256 names."""
        self.config = config
        self.planned = config
        """The configuration that the plans were made for; `judged_by` changes the other one alone."""
        self.dropped = dropped
        """What a conversion to the configuration's dialect left out of the transcript."""
        self.summaries = summaries or {}
        self._plans = plans
        self._entered = entered
        self._counters: dict[str | None, Counter] = {}

    def plan(self, call: int) -> Plan:
        """Return the plan of a call (0-based)."""
        return self._plans[call]

    def request(self, call: int) -> dict[str, Any]:
        """Return the request body of a call as it would have been sent."""
        return apply(self._plans[call], self.prompt(call), dialect(self.transcript.dialect))

    def prompt(self, call: int) -> dict[str, Any]:
        """Return the request body that the strategy was given: what was captured, or the whole history."""
        if self.of_captured:
            return self.transcript.captured(call)
        return self.transcript.history(call)

    @property
    def of_captured(self) -> bool:
        """Whether the strategy was given what was captured instead of the history."""
        return captured_prompts(self.config)

    def last_message(self, call: int) -> int:
        """Return the node of the last message of the prompt that the strategy was given."""
        made = self.transcript.calls[call]
        return made.captured if self.of_captured else made.history

    def judged_by(self, budget: BudgetConfig) -> Replay:
        """Return this replay held against another budget than the one it was planned for; the plans are the same.

        So is what was measured on them, but for the columns, and for what may be this replay itself.
        """
        judged = copy(self)
        judged.config = self.config.model_copy(update={"budget": budget})
        for name in ("calls", "as_captured"):
            vars(judged).pop(name, None)
        return judged

    @cached_property
    def loss(self) -> Loss:
        """What the plans lost of what the recorded responses used."""
        return loss(self)

    def model_of(self, call: int) -> str | None:
        """Return the model that a call is judged by: the configuration's, else the one that answered."""
        return self.config.model.name or self.transcript.model_of(call)

    def counter_of(self, call: int) -> Counter:
        """Return the counter that a call's prompt was counted with."""
        model = model_named(self.transcript.heads[self.transcript.calls[call].head])
        if model not in self._counters:
            self._counters[model] = counter_of(self.config, model)
        return self._counters[model]

    @cached_property
    def cache(self) -> Cache:
        """What the provider's prompt cache would have read at each call."""
        return cache(self)

    @cached_property
    def misses(self) -> Misses:
        """Why the cache reads predicted for recorded prompts are not the reported ones."""
        return Misses(self)

    @cached_property
    def cost(self) -> Cost:
        """What each call would have cost."""
        return cost(self)

    def shared(self, name: Hashable, make: Callable[[], Shared]) -> Shared:
        """Return what all strategies with this configuration's model and counter share, made for the first of them."""
        counter = self.config.counter
        counted_by = (self.config.model.name, counter.kind, counter.encoding, counter.scale)
        groups: Newest[Any, dict[Any, Shared]] = self.transcript.memo.setdefault("shared", Newest(MOST_READINGS))
        known = groups.get(counted_by, dict)
        return known[name] if name in known else known.setdefault(name, make())

    @cached_property
    def as_captured(self) -> Replay:
        """The recorded prompts as they were sent, counted with this configuration's counter."""
        if self.of_captured and not self.config.shrink and not self.config.rules:
            return self
        changes = {"strategy": {"kind": "as_captured"}, "shrink": [], "rules": []}
        return replay(self.original, {**self.config.model_dump(mode="json"), **changes})

    @cached_property
    def calibration(self) -> Calibration:
        """The recorded prompts' counts beside what the provider reported for them.

        Strategies share it; only a correction of counts depends on what is sent.
        """
        return self.shared("calibration", self._calibration).of_sent(lambda: self.calls["in_window"])

    def _calibration(self) -> Calibration:
        calls = self.transcript.calls
        if all(call.usage.input is None for call in calls):
            return Calibration(self.transcript, [0] * len(calls), [Exactness.ESTIMATE] * len(calls))
        captured = self.as_captured
        marks = [plan_exactness(plan, self.counter_of(call)) for call, plan in enumerate(captured._plans)]
        split = partial(_split, self.transcript, captured.config)
        return Calibration(self.transcript, captured.calls["before"], marks, split)

    @cached_property
    def calls(self) -> Columns:
        """Columns of per-call figures: in_window, entered, status, excess, used, lost, kind.<span kind>, ...

        `in_window` and `cached` are tokens of the prompt as recorded. `not_recorded` are those beyond it, negative
        where the count was too high and None where nothing is known; `sent` is the sum of `in_window` and these.
        `excess` is by how much a plan is over the budget that its strategy has, `sent_excess` by how much `sent` is.
        """
        measures: dict[str, Callable[[], Sequence[Any]]] = {
            "used": lambda: self.loss.used,
            "lost": lambda: self.loss.lost,
            "not_recorded": lambda: self.calibration.not_recorded,
            "sent": self._sent,
            "sent_excess": lambda: excess_as_sent(self.calls["sent"], self.config),
            "cached": lambda: self.cache.cached,
            "cost": lambda: self.cost.usd,
            "summary_cost": lambda: self.cost.summaries_usd,
        }
        return Columns(self._plans, self._entered, measures)

    def _sent(self) -> list[int]:
        pairs = zip(self.calls["in_window"], self.calibration.not_recorded, strict=True)
        return [tokens + (more or 0) for tokens, more in pairs]


TEXT_KINDS = frozenset(
    {
        SpanKind.OVERHEAD,
        SpanKind.INSTRUCTIONS,
        SpanKind.EXAMPLES,
        SpanKind.MEMORY,
        SpanKind.SUMMARY,
        SpanKind.USER,
        SpanKind.ASSISTANT,
    }
)
"""What a prompt of text alone holds: its frames are exact too."""


def plan_exactness(plan: Plan, counter: Counter) -> Exactness:
    """Return how far the count of a prompt can be trusted: text alone, formulas for calls and tools, an estimate."""
    if counter.exactness is not Exactness.EXACT:
        return counter.exactness
    return Exactness.EXACT if plan.kinds().keys() <= TEXT_KINDS else Exactness.FORMULA


def captured_prompts(config: Configuration) -> bool:
    """Return whether a configuration replays what was captured instead of the history."""
    return config.strategy.kind == "as_captured"


def replay(
    transcript: Transcript,
    config: Configuration | Mapping[str, Any] | str,
    summaries: Mapping[str, str] | None = None,
) -> Replay:
    """Replay every call of a transcript. ConfigError if the configuration cannot be used.

    A configuration for another dialect replays the transcript as converted to it. `summaries` are those that a model
    wrote before, by the hash of their range; where one is missing an extract stands in, and the decision says so.
    """
    loaded = checked(load_config(config))
    wanted = loaded.model.dialect
    original, dropped = transcript, tuple[str, ...]()
    if wanted is not None and wanted != transcript.dialect:
        transcript, dropped = _converted(transcript, wanted)
    stored = Summaries(known=summaries)
    engines = {model: Engine(loaded, transcript.dialect, model, stored) for model in models_of(transcript)}
    read = reading(transcript, engines, captured_prompts(loaded))
    planners: dict[int, Planner] = defaultdict(Planner)
    plans = [planners[conversation].plan(engines[step.model], step) for conversation, step, _ in read]
    return Replay(transcript, loaded, plans, [entered for _, _, entered in read], dropped, summaries, original)


def _split(transcript: Transcript, config: Configuration) -> Split | None:
    """Return how many tokens of each prompt are texts and how many are not; None where no counter has a factor.

    A prompt counted with the factor 2 has one more token for each of its texts than with the factor 1.
    """
    counters = (counter_of(config, model) for model in models_of(transcript))
    scaled = (one for one in counters if isinstance(one, TiktokenCounter) and one.exactness is Exactness.ESTIMATE)
    encoding = next((one.encoding_name for one in scaled), None)
    if encoding is None:
        return None
    once, twice = (_counted(transcript, config, encoding, factor) for factor in (1.0, 2.0))
    texts = [double - single for single, double in zip(once, twice, strict=True)]
    return Split(encoding, texts, [single - text for single, text in zip(once, texts, strict=True)])


def _counted(transcript: Transcript, config: Configuration, encoding: str, factor: float) -> Sequence[int]:
    """Return the tokens of all prompts by another counter, and keep nothing of that reading."""
    readings = readings_of(transcript)
    before = set(readings)
    counter = {"kind": "tiktoken", "encoding": encoding, "scale": factor}
    counted: Sequence[int] = replay(transcript, {**config.model_dump(mode="json"), "counter": counter}).calls["before"]
    readings.keep(before)
    return counted


def _converted(transcript: Transcript, dialect_name: str) -> Converted:
    """Convert a transcript once, so that replays of several configurations share what was read of it."""
    known = transcript.memo.setdefault("converted", {})
    if dialect_name not in known:
        known[dialect_name] = converted(transcript, dialect_name)
    made: Converted = known[dialect_name]
    return made
