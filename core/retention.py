"""What a plan leaves of the fixed part: the tools that a response then called, and the instruction rules.

A rule is a line of an instruction section, numbering and white space aside, so that a rule said twice is one rule and
taking out its repetition loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .shrinkers.dedupe_instructions import SHORTEST_RULE, normal_rule
from .spans import FixedPart, Span, SpanKind
from .uses import uses_of

if TYPE_CHECKING:
    from .plan import Plan
    from .replay import Replay

RULES = "rules"


@dataclass(frozen=True, slots=True)
class CallRetention:
    """One call: tools called that its request defined, those of them left out, rules, and the rules left out."""

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
    responses = uses_of(replay.transcript).calls
    return Retention([meter.call(replay.plan(call), made.names) for call, made in enumerate(responses)])


class RetentionMeter:
    """Looks at each fixed part once for its rules and tools, and at each section once for its rules.

    `known` are the rules of sections by their text, for all strategies of a transcript to share.
    """

    def __init__(self, known: dict[str, tuple[str, ...]] | None = None) -> None:
        self._tools: dict[int, tuple[FixedPart, dict[str, list[str]]]] = {}
        self._known: dict[str, tuple[str, ...]] = {} if known is None else known
        self._said: dict[tuple[str, ...], dict[str, None]] = {}
        self._rules: dict[int, tuple[FixedPart, int, tuple[str, ...]]] = {}

    def call(self, plan: Plan, names: frozenset[str]) -> CallRetention:
        """Return what the plan of a call leaves; `names` are the tools that its response called."""
        defined = self._tools_of(plan.fixed)
        called = tuple(sorted(names.intersection(defined)))
        missing = tuple(name for name in called if all(plan.remains(-1, held) is not None for held in defined[name]))
        _, rules, gone = self._rules_of(plan)
        return CallRetention(called, missing, rules, gone)

    def _tools_of(self, fixed: FixedPart) -> dict[str, list[str]]:
        if id(fixed) not in self._tools:
            named: dict[str, list[str]] = {}
            for span in fixed.tools:
                named.setdefault(span.name, []).append(span.id)
            self._tools[id(fixed)] = (fixed, named)
        return self._tools[id(fixed)][1]

    def _rules_of(self, plan: Plan) -> tuple[FixedPart, int, tuple[str, ...]]:
        """Strategies leave sections alone and shrinkers make a fixed part of their own, so each is looked at once."""
        if id(plan.fixed) not in self._rules:
            sections = [span for span in (plan.fixed.source or plan.fixed).spans if span.kind is SpanKind.INSTRUCTIONS]
            left = [plan.remains(-1, span.id) for span in sections]
            said = self._said_in(tuple(span.text for span in sections))
            kept = said if left.count(None) == len(left) else self._said_in(_sent(sections, left))
            gone = () if kept is said else tuple(rule for rule in said if rule not in kept)
            self._rules[id(plan.fixed)] = (plan.fixed, len(said), gone)
        return self._rules[id(plan.fixed)]

    def _said_in(self, texts: tuple[str, ...]) -> dict[str, None]:
        """Return the rules of some sections, each once."""
        if texts not in self._said:
            self._said[texts] = dict.fromkeys(rule for text in texts for rule in self._rules_in(text))
        return self._said[texts]

    def _rules_in(self, text: str) -> tuple[str, ...]:
        if text not in self._known:
            self._known[text] = tuple(rules_of(text))
        return self._known[text]


def _sent(sections: Sequence[Span], left: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(span.text if kept is None else kept for span, kept in zip(sections, left, strict=True))


def rules_of(text: str) -> Iterator[str]:
    """Yield the rules of an instruction section: its lines, but for headings, tags and lines too short to be one."""
    for line in text.splitlines():
        rule = normal_rule(line)
        if len(rule) >= SHORTEST_RULE and rule[0] not in "#<`":
            yield rule
