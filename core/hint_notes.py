"""What hints name and a request does not have: told with the result, for a live request and a replay alike.

A pin on a span that is not there protects nothing, and a tool that is not defined activates nothing. Neither is a
reason to refuse a request that an agent is waiting for, and neither may go unsaid.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from .dialects import dialect
from .hints import Hints
from .intervals import intervals
from .plan import Plan
from .spans import Span, SpanKind

if TYPE_CHECKING:
    from .replay import Replay

__all__ = ["CallNotes", "hint_notes"]

MOST_NAMES = 5
"""Names that one sentence lists; of more it says how many."""


def hint_notes(hints: Hints, plan: Plan) -> tuple[str, ...]:
    """Return a sentence for each hint that names what the planned request does not have."""
    found: dict[str, list[int]] = {}

    def with_call(name: str) -> Sequence[int]:
        if not found:
            for span in (span for unit in plan.log.units[: plan.count] for span in (unit.source or unit).spans):
                found.setdefault(span.call_id, []).append(span.message)
        return found.get(name, ())

    return tuple(_notes(hints, _Named(plan, with_call)))


class CallNotes:
    """The notes on the hints of a replay's calls, by call (0-based); each message is looked at once."""

    def __init__(self, made: Replay) -> None:
        self._replay, self._intervals = made, intervals(made.transcript)

    def __getitem__(self, call: int) -> tuple[str, ...]:
        """Return what is to be said of the hints that were captured with a call."""
        hints, faults = Hints.recorded(self._replay.transcript.calls[call].hints)
        last = self._replay.last_message(call)
        return (*faults, *_notes(hints, _Named(self._replay.plan(call), lambda name: self._messages(name, last))))

    @cached_property
    def _nodes(self) -> dict[str, list[int]]:
        """The nodes of the transcript's messages by the call ids in them, in order."""
        transcript, found = self._replay.transcript, dict[str, list[int]]()
        spoken = dialect(transcript.dialect)
        for node, wire in enumerate(transcript.messages):
            for call_id in {part.call_id for part in spoken.message(wire).parts}:
                found.setdefault(call_id, []).append(node)
        return found

    def _messages(self, call_id: str, last: int) -> Iterator[int]:
        """Yield the messages that have a call id on the branch that ends with a node, the newest first."""
        nodes = self._nodes.get(call_id, [])
        for place in range(bisect_right(nodes, last) - 1, -1, -1):
            if self._intervals.holds(nodes[place], last):
                yield self._replay.transcript.depths[nodes[place]]


class _Named:
    """What a planned request has of what hints may name; `with_call` tells where a call id may stand in it."""

    def __init__(self, plan: Plan, with_call: Callable[[str], Iterable[int]]) -> None:
        self._plan, self._with_call = plan, with_call
        self._sections = {span.id for span in (plan.fixed.source or plan.fixed).spans}
        self.tools = {span.tool for span in plan.fixed.tools}

    def has(self, name: str) -> bool:
        """Return whether a span or a tool call has a name."""
        return name in self._sections or any(True for _ in self._spans(name))

    def has_retrieved(self, name: str) -> bool:
        """Return whether a retrieved result has a name."""
        return any(span.kind is SpanKind.RETRIEVAL for span in self._spans(name))

    def _spans(self, name: str) -> Iterator[Span]:
        """Yield the spans of messages that have a name, or whose call has it."""
        log = self._plan.log
        as_id = _SPAN_ID.fullmatch(name)
        by_id, by_call = [int(as_id[1])] if as_id else [], self._with_call(name) if name else ()
        for message in chain(by_id, by_call):
            index = log.unit_of_message(message)
            if 0 <= index < self._plan.count:
                spans = (log.units[index].source or log.units[index]).spans
                yield from (span for span in spans if name in (span.id, span.call_id))


_SPAN_ID = re.compile(r"m([0-9]{1,12})\.[0-9]+")


def _notes(hints: Hints, named: _Named) -> Iterator[str]:
    for hint in ("pins", "retrieval"):
        given: Sequence[str] = getattr(hints, hint)
        unknown = [name for name in given if not named.has(name)]
        if unknown:
            yield f"The hint {hint!r} names {_listed(unknown)}: this request has no such span or tool call."
    others = [name for name in hints.retrieval if named.has(name) and not named.has_retrieved(name)]
    if others:
        yield (
            f"The hint 'retrieval' names {_listed(others)}: only tool results and user messages can be retrieved"
            " results."
        )
    undefined = [name for name in hints.active_tools if name not in named.tools]
    if undefined:
        near = difflib.get_close_matches(undefined[0], named.tools, n=1)
        guess = f" Did you mean {near[0]!r}?" if near else ""
        yield f"The hint 'active_tools' names {_listed(undefined)}: this request defines no such tool.{guess}"


def _listed(names: Iterable[str]) -> str:
    """Return names in quotes, the first few of many."""
    distinct = [*dict.fromkeys(names)]
    more = len(distinct) - MOST_NAMES
    shown = ", ".join(map(repr, distinct[:MOST_NAMES]))
    return f"{shown} and {more:,} more" if more > 0 else shown
