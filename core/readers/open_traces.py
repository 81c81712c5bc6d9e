"""Spans that come one after another, gathered by their trace: files list them as they ended, all traces mixed.

A trace is complete at the end of the file, or when many others have come up since its last span.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from ..transcript import Transcript
from ..wording import counted
from .formats import Reading
from .items import Item
from .runs import read_items
from .trace_calls import Recorded, items_of

MOST_OPEN = 400
"""Traces held for spans to come; beyond that the older half is complete."""

Span = TypeVar("Span")


class OpenTraces(Generic[Span]):
    """Spans by their trace, in the order of the last span."""

    def __init__(self) -> None:
        self._open: dict[str, list[Span]] = {}

    def add(self, trace: str, span: Span) -> list[list[Span]]:
        """Take a span in; return the traces that are complete by it."""
        spans = self._open.pop(trace, [])
        spans.append(span)
        self._open[trace] = spans
        if len(self._open) <= MOST_OPEN:
            return []
        oldest = list(self._open)[: MOST_OPEN // 2]
        return [self._open.pop(name) for name in oldest]

    def rest(self) -> list[list[Span]]:
        """Return the traces that are still open."""
        return list(self._open.values())


def read_traces(
    reading: Reading,
    spans: Iterable[tuple[str, Span]],
    calls_of: Callable[[list[Span]], list[Recorded]],
    looked_for: str,
) -> Iterator[Transcript]:
    """Yield the conversations that spans hold, given with their traces; each span counts as a record that was read.

    `looked_for` says what a call to a model looks like, for a file that holds none.
    """
    seen = _Seen(reading, calls_of)
    yield from read_items(reading, seen.items(spans))
    if not seen.calls and not any(not problem.warning for problem in reading.report.problems):
        what = (
            f"no call to a language model is among {counted(seen.spans, 'span')}"
            if seen.spans
            else "no span was found in it"
        )
        reading.report.add(what, looked_for)


class _Seen(Generic[Span]):
    """Counts the spans that went by: those that are calls were used, the others are ignored by design."""

    def __init__(self, reading: Reading, calls_of: Callable[[list[Span]], list[Recorded]]) -> None:
        self.reading = reading
        self.calls_of = calls_of
        self.spans = 0
        self.calls = 0

    def items(self, spans: Iterable[tuple[str, Span]]) -> Iterator[Item]:
        """Yield the calls of all traces."""
        open_traces: OpenTraces[Span] = OpenTraces()
        for trace, span in spans:
            yield from self._complete(open_traces.add(trace, span))
        yield from self._complete(open_traces.rest())

    def _complete(self, traces: list[list[Span]]) -> Iterator[Item]:
        calls: list[Recorded] = []
        for trace in traces:
            found = self.calls_of(trace)
            self.spans += len(trace)
            self.calls += len(found)
            used = sum(call.records for call in found)
            self.reading.report.counts.used += used
            self.reading.report.counts.ignored += len(trace) - used
            calls += found
        yield from items_of(calls)
