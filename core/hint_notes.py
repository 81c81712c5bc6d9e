"""What hints name and a request does not have: told with the result, for a live request and a replay alike.

A pin on a span that is not there protects nothing, and a tool that is not defined activates nothing. Neither is a
reason to refuse a request that an agent is waiting for, and neither may go unsaid.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .hints import Hints
from .log import Log
from .plan import Plan
from .spans import SpanKind

if TYPE_CHECKING:
    from .replay import Replay

__all__ = ["CallNotes", "hint_notes"]

MOST_NAMES = 5
"""Names that one sentence lists; of more it says how many."""


def hint_notes(hints: Hints, plan: Plan) -> tuple[str, ...]:
    """Return a sentence for each hint that names what the planned request does not have."""
    return tuple(_notes(hints, plan, _Names(plan.log)))


class CallNotes:
    """The notes on the hints of a replay's calls, by call (0-based); each span is looked at once."""

    def __init__(self, made: Replay) -> None:
        self._replay = made
        self._names: _Names | None = None

    def __getitem__(self, call: int) -> tuple[str, ...]:
        """Return what is to be said of the hints that were captured with a call."""
        hints, faults = Hints.recorded(self._replay.transcript.calls[call].hints)
        plan = self._replay.plan(call)
        if self._names is None or self._names.log is not plan.log:
            self._names = _Names(plan.log)
        return (*faults, *_notes(hints, plan, self._names))


class _Names:
    """The span ids and call ids of a growing log: the unit that each comes in first, and that with a result in it."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self._seen = 0
        self._first: dict[str, int] = {}
        self._retrieved: dict[str, int] = {}

    def _catch_up(self, count: int) -> None:
        for index in range(self._seen, count):
            unit = self.log.units[index]
            for span in (unit.source or unit).spans:
                for name in filter(None, (span.id, span.call_id)):
                    self._first.setdefault(name, index)
                    if span.kind is SpanKind.RETRIEVAL:
                        self._retrieved.setdefault(name, index)
        self._seen = max(self._seen, count)

    def has(self, name: str, count: int, retrieved: bool = False) -> bool:
        """Return whether a name stands in the first `count` units."""
        self._catch_up(count)
        return (self._retrieved if retrieved else self._first).get(name, count) < count


def _notes(hints: Hints, plan: Plan, names: _Names) -> Iterator[str]:
    fixed = (plan.fixed.source or plan.fixed).spans
    sections = {span.id for span in fixed}
    for hint in ("pins", "retrieval"):
        given: Sequence[str] = getattr(hints, hint)
        unknown = [name for name in given if name not in sections and not names.has(name, plan.count)]
        if unknown:
            yield f"The hint {hint!r} names {_listed(unknown)}: this request has no such span or tool call."
    known = [name for name in hints.retrieval if name in sections or names.has(name, plan.count)]
    others = [name for name in known if not names.has(name, plan.count, retrieved=True)]
    if others:
        yield (
            f"The hint 'retrieval' names {_listed(others)}: only tool results and user messages can be retrieved"
            " results."
        )
    tools = {span.tool for span in plan.fixed.tools}
    undefined = [name for name in hints.active_tools if name not in tools]
    if undefined:
        near = difflib.get_close_matches(undefined[0], tools, n=1)
        guess = f" Did you mean {near[0]!r}?" if near else ""
        yield f"The hint 'active_tools' names {_listed(undefined)}: this request defines no such tool.{guess}"


def _listed(names: Iterable[str]) -> str:
    """Return names in quotes, the first few of many."""
    distinct = [*dict.fromkeys(names)]
    more = len(distinct) - MOST_NAMES
    shown = ", ".join(map(repr, distinct[:MOST_NAMES]))
    return f"{shown} and {more:,} more" if more > 0 else shown
