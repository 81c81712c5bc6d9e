"""Where rules meet on a transcript: which of two wins, which finds nothing, which asks for what a strategy ignores.

Rules that set the same thing differently are settled by their order, and a rule that finds nothing is no error, so
neither stops a replay. Both are easily overlooked, and are told here in sentences. Matching is that of the engine:
the spans of a replay without rules are shown to `Match.fits`, each distinct span once, whatever the number of calls.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from .finding import calls_by_log, calls_of
from .log import Log
from .newest import Newest
from .replay import Replay, replay
from .rules import Match, Rule
from .spans import FixedPart, Span, SpanKind
from .strategy_config import AsCapturedConfig, FullHistoryConfig
from .transcript import Transcript
from .unused_rule_settings import unused
from .wording import counted

__all__ = ["Example", "RuleConflict", "RuleReport", "described", "rule_report"]


@dataclass(frozen=True, slots=True)
class Example:
    """A span that two rules meet on, and the first call (0-based) in which they do."""

    span_id: str
    name: str
    call: int


@dataclass(frozen=True, slots=True)
class RuleConflict:
    """Two rules, by number from 1, that set one thing differently on the same spans; the later one wins.

    `spans` are distinct spans of the transcript.
    """

    setting: str
    loser: int
    winner: int
    loser_match: str
    winner_match: str
    lost: Any
    won: Any
    spans: int
    example: Example

    def __str__(self) -> str:
        """Return the whole sentence."""
        return (
            f"Rule {self.winner} ({self.winner_match}) and rule {self.loser} ({self.loser_match}) both set"
            f" {self.setting} on {counted(self.spans, 'span')}, for example {self.example.span_id}"
            f" ({self.example.name}) in call {self.example.call + 1}: rule {self.winner} wins with"
            f" {_shown(self.won)} over {_shown(self.lost)}, because it stands later."
        )


@dataclass(frozen=True, slots=True)
class RuleReport:
    """What is worth knowing of the rules of a configuration on a transcript. Empty where all is plain."""

    conflicts: tuple[RuleConflict, ...] = ()
    unmatched: tuple[str, ...] = ()
    """A sentence for each rule that matches no span of any call."""
    unused: tuple[str, ...] = ()
    """A sentence for each setting of a rule that the strategy does not look at."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything in sentences, conflicts first."""
        return (*map(str, self.conflicts), *self.unmatched, *self.unused)


def rule_report(made: Replay) -> RuleReport:
    """Return where the rules of a replay's configuration meet on its transcript."""
    rules = tuple(rule.rule() for rule in made.config.rules)
    if not rules:
        return RuleReport()
    known: Newest[Any, tuple[tuple[RuleConflict, ...], tuple[str, ...]]]
    known = made.transcript.memo.setdefault("rules met", Newest(MOST_REPORTS))

    def met() -> tuple[tuple[RuleConflict, ...], tuple[str, ...]]:
        meeting = _Meeting(rules)
        meeting.read(made)
        return tuple(meeting.conflicts()), tuple(meeting.unmatched())

    return RuleReport(*known.get((rules, made.of_captured), met), tuple(unused(rules, made.config.strategy.kind)))


MOST_REPORTS = 32


def described(match: Match) -> str:
    """Return in a few words what a match looks for."""
    return ", ".join(_words(match)) or "everything"


def _words(match: Match) -> Iterator[str]:
    if match.kind is not None:
        yield str(match.kind)
    for name in ("role", "tool", "section", "pattern"):
        if getattr(match, name) is not None:
            yield f"{name} {getattr(match, name)}"
    for words, age in (("at least", match.min_age), ("at most", match.max_age)):
        if age is not None:
            yield f"{words} {counted(age, 'turn')} old"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return f"{value:,}" if isinstance(value, int) else str(value)


class _Key(NamedTuple):
    """What makes a span the same in two prompts: all that rules look at."""

    ids: tuple[str, ...]
    kind: str
    role: str
    tool: str
    section: str
    text: str


def _key(span: Span) -> _Key:
    is_section = span.message < 0 and span.kind is not SpanKind.TOOL_DEFINITION
    section = span.name if is_section else ""
    return _Key((span.id, span.call_id), span.kind, span.role, span.tool, section, span.text)


class _Calls(NamedTuple):
    """Calls whose prompts are beginnings of one log: their numbers, and how many units and turns each has."""

    numbers: Sequence[int]
    units: Sequence[int]
    turns: Sequence[int]

    def first_with(self, unit: int) -> int:
        """Return the place of the first call that has a unit."""
        return bisect_right(self.units, unit)

    def first_at(self, unit: int, before: int, low: int, high: int | None) -> int | None:
        """Return the first call (0-based) in which a unit is from `low` to `high` (exclusive) turns old.

        `before` are the turns up to the unit. None if there is no such call.
        """
        place = bisect_left(self.turns, low + before, self.first_with(unit))
        there = place < len(self.turns) and (high is None or self.turns[place] - before < high)
        return self.numbers[place] if there else None


def _without_hints(transcript: Transcript) -> Transcript:
    """Return a transcript without what hints say of single spans, which rules do not look at, made once.

    Where that changes with each call, each would be read as a conversation of its own.
    """
    if not any(call.hints for call in transcript.calls):
        return transcript
    known: Transcript | None = transcript.memo.get("without hints")
    if known is None:
        calls = (replace(call, hints=_grouping(call.hints or {})) for call in transcript.calls)
        known = transcript.memo["without hints"] = replace(transcript, calls=tuple(calls))
    return known


def _grouping(hints: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return of hints what makes user messages results of tools."""
    return {"results": hints["results"]} if "results" in hints else None


_Pair = tuple[int, int, str]
"""A conflict: loser, winner (both 0-based) and setting."""


class _Meeting:
    """Shows all spans of a transcript to rules, and remembers what they found."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._rules = rules
        self._fitting: dict[_Key, tuple[int, ...]] = {}
        self._pairs: dict[tuple[int, ...], tuple[_Pair, ...]] = {}
        self._found: dict[_Pair, dict[_Key, Example]] = {}
        self._matched: set[int] = set()

    def read(self, made: Replay) -> None:
        """Read the prompts that a replay's strategy was given, without its rules and shrinkers."""
        baseline = AsCapturedConfig(kind="as_captured") if made.of_captured else FullHistoryConfig(kind="full_history")
        config = made.config.model_copy(update={"rules": (), "shrink": (), "strategy": baseline})
        plain = replay(_without_hints(made.transcript), config)
        heads: set[FixedPart] = set()
        for call in calls_of(plain):
            fixed = plain.plan(call).fixed
            if fixed not in heads:
                heads.add(fixed)
                self._read_head(fixed, call)
        for calls in calls_by_log(plain):
            log, counts = plain.plan(calls[0]).log, [plain.plan(call).count for call in calls]
            self._read_log(log, _Calls(calls, counts, [bisect_left(log.turns, count) for count in counts]))

    def _read_head(self, fixed: FixedPart, call: int) -> None:
        for span in fixed.spans:
            fitting = self._fits(_key(span))
            self._note(span, call, tuple(rule for rule in fitting if self._rules[rule].match.is_of_age(None)))

    def _read_log(self, log: Log, calls: _Calls) -> None:
        for index, unit in enumerate(log.units[: calls.units[-1]]):
            before = bisect_right(log.turns, index)
            for span in unit.spans:
                for call, applying in self._at_ages(self._fits(_key(span)), calls, index, before):
                    self._note(span, call, applying)

    def _fits(self, key: _Key) -> tuple[int, ...]:
        if key not in self._fitting:
            self._fitting[key] = tuple(at for at, rule in enumerate(self._rules) if rule.match.fits(*key))
        return self._fitting[key]

    def _at_ages(
        self, fitting: tuple[int, ...], calls: _Calls, unit: int, before: int
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield the rules that mean a span together, for each stretch of ages that it has, with its first call."""
        matches = [self._rules[at].match for at in fitting]
        if not any(match.asks_for_age for match in matches):
            yield calls.numbers[calls.first_with(unit)], fitting
            return
        starts = {0, *(match.min_age or 0 for match in matches)}
        starts |= {match.max_age + 1 for match in matches if match.max_age is not None}
        lows = sorted(starts)
        for low, high in zip(lows, [*lows[1:], None], strict=True):
            call = calls.first_at(unit, before, low, high)
            if call is not None:
                yield call, tuple(at for at, match in zip(fitting, matches, strict=True) if match.is_of_age(low))

    def _note(self, span: Span, call: int, applying: tuple[int, ...]) -> None:
        self._matched.update(applying)
        if len(applying) < 2:
            return
        if applying not in self._pairs:
            self._pairs[applying] = tuple(self._conflicting(applying))
        for pair in self._pairs[applying]:
            found, key = self._found.setdefault(pair, {}), _key(span)
            if key not in found or call < found[key].call:
                found[key] = Example(span.id, span.name, call)

    def _conflicting(self, applying: Sequence[int]) -> Iterator[_Pair]:
        """Yield what each rule sets otherwise than the last that sets it."""
        winners: dict[str, int] = {}
        for at in reversed(applying):
            for setting, value in self._rules[at].treatment.said.items():
                winner = winners.setdefault(setting, at)
                if self._rules[winner].treatment.said[setting] != value:
                    yield at, winner, setting

    def conflicts(self) -> Iterator[RuleConflict]:
        """Yield the conflicts, by the numbers of their rules."""
        for (loser, winner, setting), spans in sorted(self._found.items(), key=lambda item: item[0]):
            lost, won = self._rules[loser], self._rules[winner]
            yield RuleConflict(
                setting=setting,
                loser=loser + 1,
                winner=winner + 1,
                loser_match=described(lost.match),
                winner_match=described(won.match),
                lost=lost.treatment.said[setting],
                won=won.treatment.said[setting],
                spans=len(spans),
                example=next(iter(spans.values())),
            )

    def unmatched(self) -> Iterator[str]:
        """Yield a sentence for each rule that found nothing."""
        for at, rule in enumerate(self._rules):
            if at not in self._matched:
                yield f"Rule {at + 1} ({described(rule.match)}) matches no span of this transcript."
