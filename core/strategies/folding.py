"""The summary of each unit that `summarize_and_keep` would put in its place, made once and only where asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..decisions import Action, Fate, Replacement, Run
from ..dialects.base import Dialect, Message, Part, PartKind
from ..excerpt import excerpt, summary_text
from ..log import KindSums, Log
from ..marks import SUMMARY, is_injected
from ..rules import may_become
from ..spans import SpanKind
from ..summaries import NOT_SMALLER, Summaries, range_hash, unit_digest
from ..tokens import Counter
from ..unit_decisions import replaced, source_tokens, told_by
from ..units import Unit

FOLD = "fold"


class Folds:
    """For each unit of a log its replacement, or None where that would not be smaller (rule X6).

    `totals` are running sums of the smaller of both, in tokens; `kinds` the same by span kind, without the units that
    always stay.
    """

    action = Action.SUMMARISE

    def __init__(self, log: Log, dialect: Dialect, counter: Counter, summaries: Summaries | None = None) -> None:
        self._log, self._dialect, self._counter, self._summaries = log, dialect, counter, summaries
        self._made: list[Replacement | None] = []
        self.whys: list[str] = []
        """What is said of each unit's summary where a model's was asked for, else an empty text."""
        self.totals: list[int] = [0]
        self.kinds = KindSums()
        self.span_counts: list[int] = [0]
        """Running count of the spans that have a replacement."""

    def __getitem__(self, index: int) -> Replacement | None:
        """Return the replacement of a unit."""
        return self._made[index]

    def catch_up(self, stop: int) -> None:
        """Look at the units before `stop` that were not looked at; what is kept as it is needs no summary."""
        for unit in self._log.units[len(self._made) : stop]:
            made, why = self.smaller(unit), ""
            if self._summaries is not None and _may_fold(unit):
                made, why = self._written(unit, made, self._summaries)
            self._made.append(made)
            self.whys.append(why)
            self.totals.append(self.totals[-1] + (made or unit).tokens)
            self.span_counts.append(self.span_counts[-1] + (len(unit.spans) if made else 0))
            self.kinds.append({} if unit.stays else _kinds(made) if made else unit.kinds())

    def cost(self, index: int) -> int:
        """Return the tokens of the smaller of a unit and its replacement."""
        return self.totals[index + 1] - self.totals[index]

    def smaller(self, unit: Unit) -> Replacement | None:
        """Return the extract that would stand for a unit; None where there is none that is smaller."""
        if FOLD not in unit.memo:
            unit.memo[FOLD] = self._smaller(unit)
        known: Replacement | None = unit.memo[FOLD]
        return known

    def _smaller(self, unit: Unit) -> Replacement | None:
        made = self._fold(unit) if _may_fold(unit) else None
        return made if made is not None and _may_stand_for(unit, made) else None

    def _written(self, unit: Unit, extract: Replacement | None, summaries: Summaries) -> tuple[Replacement | None, str]:
        """Return a model's summary of a unit if there is one that is smaller, else its extract; and the reason."""
        said = "\n\n".join(f"[{span.role}] {span.name}: {span.text}" for span in unit.spans)
        written = summaries.written(range_hash(unit_digest(unit)), lambda: said, unit.tokens // 2)
        if written.text is not None:
            role = "user" if unit.opens_turn else "assistant"
            made = self._replacement([(role, f"{SUMMARY} {written.text}")], written.why)
            if _may_stand_for(unit, made):
                return made, written.why
        why = written.why if written.text is None else NOT_SMALLER
        return None if extract is None else replace(extract, why=why), why

    def _fold(self, unit: Unit) -> Replacement:
        return self._replacement(list(_texts(unit)))

    def _replacement(self, texts: Sequence[tuple[str, str]], why: str = "") -> Replacement:
        messages = [Message(role, (Part(PartKind.TEXT, text),)) for role, text in texts]
        costs = [self._dialect.cost_of_messages([message], self._counter) for message in messages]
        return Replacement(
            tuple((role, text, cost.parts[0][0]) for (role, text), cost in zip(texts, costs, strict=True)),
            sum(cost.overhead for cost in costs),
            why,
        )


def _may_fold(unit: Unit) -> bool:
    """A summary or a stub is never summarised again, and what no dialect knows is not rewritten."""
    known = all(message.role in ("user", "assistant", "tool") for message in unit.messages)
    said = (span.text for span in unit.spans if span.kind is not SpanKind.TOOL_RESULT)
    return known and not unit.stays and not any(map(is_injected, said))


def _may_stand_for(unit: Unit, made: Replacement) -> bool:
    """Return whether a summary is smaller than its unit, and makes no span smaller than a rule lets it become."""
    if made.tokens >= unit.tokens:
        return False
    if not any(span.rule.min_tokens for span in unit.spans):
        return True
    told = replaced(unit, made, Run(0, 1, Fate.REPLACE))
    return all(may_become(one.tokens_after, span.rule) for span, one in zip(unit.spans, told, strict=True))


def _kinds(made: Replacement) -> dict[SpanKind, int]:
    return {SpanKind.SUMMARY: sum(tokens for _, _, tokens in made.texts), SpanKind.OVERHEAD: made.overhead}


def _texts(unit: Unit) -> Iterator[tuple[str, str]]:
    """Yield (role, summary): what the assistant did, its calls named without ids; then what the user said."""
    told = told_by(unit, "user")
    if not unit.opens_turn:
        done = told_by(unit, "assistant")
        names = list(dict.fromkeys(span.tool for span in done if span.kind is SpanKind.TOOL_CALL))
        words = excerpt("".join(span.text for span in done if span.kind is SpanKind.ASSISTANT))
        used = f"used {', '.join(names)}" if names else ""
        yield "assistant", summary_text(": ".join(filter(None, (used, words))), source_tokens(unit, done))
    if told or unit.opens_turn:
        yield "user", summary_text(excerpt("".join(span.text for span in told)), source_tokens(unit, told))
