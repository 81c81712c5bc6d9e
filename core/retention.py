"""What a plan leaves of the fixed part: the tools that a response then called, and the instruction rules.

Three calls of one tool are three calls: what is counted is whether the definition was there when it was used. A rule is
a line of an instruction section, numbering and white space aside, so that a rule said twice is one rule and taking out
its repetition loses nothing. Strategies leave sections alone, so rules go only where a shrinker worked on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from .dialects import dialect
from .shrinkers.dedupe_instructions import SHORTEST_RULE, normal_rule
from .spans import FixedPart, Span, SpanKind
from .transcript import Transcript
from .wire import Wire

if TYPE_CHECKING:
    from .plan import Plan
    from .replay import Replay

RULES, CALLED = "rules", "tools called"


@dataclass(frozen=True, slots=True)
class CallRetention:
    """One call: the tool calls of its response that its request defined, those of them left out, rules, rules left out.

    `called` and `missing_tools` have a tool's name as often as it was called.
    """

    called: tuple[str, ...]
    missing_tools: tuple[str, ...]
    rules: int
    missing_rules: tuple[str, ...]


class Retention:
    """Activation recall and rule retention of a replay."""

    def __init__(self, calls: list[CallRetention]) -> None:
        self.calls = calls

    @property
    def called(self) -> int:
        """Calls of tools that were defined, over all calls."""
        return sum(len(call.called) for call in self.calls)

    @property
    def missing_tools(self) -> int:
        """Those of them whose definition the plan did not send."""
        return sum(len(call.missing_tools) for call in self.calls)

    @property
    def activation_recall(self) -> float | None:
        """The share of called tools whose definition was sent, 0 to 1; None where no defined tool was called."""
        return 1 - self.missing_tools / self.called if self.called else None

    @cached_property
    def missing_rules(self) -> tuple[str, ...]:
        """Distinct rules that at least one prompt lacked, in order of first absence."""
        return tuple(dict.fromkeys(rule for call in self.calls for rule in call.missing_rules))

    def totals(self) -> dict[str, Any]:
        """Return all totals as plain values for JSON."""
        return {
            "tools_called": self.called,
            "tools_missing": self.missing_tools,
            "activation_recall": self.activation_recall,
            "rules": max((call.rules for call in self.calls), default=0),
            "rules_missing": len(self.missing_rules),
        }


def retention(replay: Replay) -> Retention:
    """Return which called tools and which instruction rules a replay's prompts were without."""
    meter = RetentionMeter(replay.transcript.memo.setdefault(RULES, {}))
    return Retention([meter.call(replay.plan(call), made) for call, made in enumerate(tools_called(replay.transcript))])


def tools_called(transcript: Transcript) -> list[tuple[str, ...]]:
    """Return for each call the tools that its response called, each as often as it was; found once a transcript."""
    if CALLED not in transcript.memo:
        responses = (dialect(transcript.dialect).message(call.response or {}) for call in transcript.calls)
        transcript.memo[CALLED] = [tuple(part.name for part in response.calls) for response in responses]
    found: list[tuple[str, ...]] = transcript.memo[CALLED]
    return found


class _Head(NamedTuple):
    """What was read of one head: the spans of each tool, and the rules that its sections say."""

    head: Wire
    tools: dict[str, list[str]]
    rules: dict[str, None]


class RetentionMeter:
    """Reads each head once, whatever the strategy, and each section once for its rules.

    `known` are the heads by identity, what a whole head leaves, and the rules of sections by their texts, for all
    strategies of a transcript.
    """

    def __init__(self, known: dict[Any, Any] | None = None) -> None:
        self._known: dict[Any, Any] = {} if known is None else known

    def call(self, plan: Plan, names: tuple[str, ...]) -> CallRetention:
        """Return what the plan of a call leaves; `names` are the tools that its response called."""
        fixed, head = plan.fixed, plan.head
        if fixed.shrunk or (head is not None and head.deferred):
            return self._left(plan, names)
        key = (id(fixed.head), names)
        found: CallRetention | None = self._known.get(key)
        if found is None:
            found = self._known[key] = self._left(plan, names)
        return found

    def _left(self, plan: Plan, names: tuple[str, ...]) -> CallRetention:
        source = plan.fixed.source or plan.fixed
        read = self._known.get(id(source.head)) or self._read(source)
        called = tuple(name for name in names if name in read.tools) if names else ()
        missing = {name for name in called if all(plan.remains(-1, held) is not None for held in read.tools[name])}
        gone = self._gone(plan.fixed, read) if plan.fixed.shrunk else ()
        return CallRetention(called, tuple(name for name in called if name in missing), len(read.rules), gone)

    def _read(self, fixed: FixedPart) -> _Head:
        named: dict[str, list[str]] = {}
        for span in fixed.tools:
            named.setdefault(span.name, []).append(span.id)
        made = _Head(fixed.head, named, self._said_in(tuple(span.text for span in _sections(fixed))))
        self._known[id(fixed.head)] = made
        return made

    def _gone(self, fixed: FixedPart, read: _Head) -> tuple[str, ...]:
        """Return the rules that shrinkers took out."""
        shrunk = fixed.shrunk
        sections = _sections(fixed.source or fixed)
        kept = self._said_in(tuple(shrunk[span.id].text if span.id in shrunk else span.text for span in sections))
        return tuple(rule for rule in read.rules if rule not in kept)

    def _said_in(self, texts: tuple[str, ...]) -> dict[str, None]:
        """Return the rules of some sections, each once."""
        if texts not in self._known:
            self._known[texts] = dict.fromkeys(rule for text in texts for rule in self._rules_in(text))
        found: dict[str, None] = self._known[texts]
        return found

    def _rules_in(self, text: str) -> tuple[str, ...]:
        if text not in self._known:
            self._known[text] = tuple(rules_of(text))
        found: tuple[str, ...] = self._known[text]
        return found


def _sections(fixed: FixedPart) -> list[Span]:
    return [span for span in fixed.sections if span.kind is SpanKind.INSTRUCTIONS]


def rules_of(text: str) -> Iterator[str]:
    """Yield the rules of an instruction section: its lines, but for headings, tags and lines too short to be one."""
    for line in text.splitlines():
        rule = normal_rule(line)
        if len(rule) >= SHORTEST_RULE and rule[0] not in "#<`":
            yield rule
