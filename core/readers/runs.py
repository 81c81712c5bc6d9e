"""Which recorded requests of a file belong to one transcript.

A log of growing requests repeats its history with each call. A request joins the run whose conversation it extends,
else the run of its session, else one that begins with the same message; other requests start a transcript of their
own. Where requests are whole conversations (a data set, an export), each is a transcript and shows many calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..transcript import ROOT, Fidelity, Transcript
from .builder import Placed, TranscriptBuilder
from .formats import Reading
from .growing import Growing, Request, compactions, reported
from .items import Item, Items
from .links import linked
from .server_state import ServerState
from .shapes import LISTS
from .stream_logs import joined_streams

OPEN_RUNS = 256
"""Runs kept open for requests to come; beyond that the one that rested longest is complete."""
OPEN_CHARACTERS = 32 << 20
"""Characters of messages in open runs, beyond which the same is done."""


def read_requests(reading: Reading, dialect_name: str) -> Iterator[Transcript]:
    """Read records of requests and responses. The dialect is taken where a record fits several."""
    items = Items(dialect_name, reading.forced, reading.report)
    runs = _Runs(reading)
    for record in joined_streams(reading.records, reading.report):
        found, told = False, reading.report.told
        for item in items.of(record):
            found = True
            yield from runs.add(item)
        if found or items.taken(record):
            reading.report.used()
        elif reading.report.told > told:
            reading.report.counts.broken += 1
        else:
            expected = "A request with its messages, a list of messages or a response was expected; it was left out."
            reading.report.broken("this is no request and no response", expected, place=record.place)
    for item in items.rest():
        yield from runs.add(item)
    yield from runs.close()


def read_items(reading: Reading, items: Iterable[Item]) -> Iterator[Transcript]:
    """Yield the transcripts that some exchanges make up, given in the order of their requests."""
    runs = _Runs(reading)
    for item in items:
        yield from runs.add(item)
    yield from runs.close()


class _Runs:
    """The transcripts of one file that may still grow, in the order of their last request."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._open: dict[int, Growing] = {}
        self._by_first: dict[tuple[str, bytes], list[Growing]] = {}
        self._by_session: dict[tuple[str, str, str], Growing] = {}
        self._started = 0
        self._characters = 0
        self._state = ServerState()

    def add(self, item: Item) -> Iterator[Transcript]:
        """Take an item in; yield what is complete by it."""
        if item.body is None:
            yield _response_alone(item, self.reading)
            return
        request = Request.of(self._state.completed(item))
        growing = self._home(request) or self._start(request)
        self._characters += growing.add(request)
        self._open[growing.number] = self._open.pop(growing.number)
        while len(self._open) > 1 and (len(self._open) > OPEN_RUNS or self._characters > OPEN_CHARACTERS):
            yield self._close(next(iter(self._open.values())))

    def close(self) -> Iterator[Transcript]:
        """Yield what is still open, in the order of the first requests."""
        numbers = sorted(self._open)
        threads = [(self._open[number].item.session, self._open[number].item.thread) for number in numbers]
        yield from linked([self._close(self._open[number]) for number in numbers], threads)

    def _home(self, request: Request) -> Growing | None:
        item = request.item
        same_session = self._by_session.get((item.dialect, item.session, item.thread))
        if request.first is None:
            return same_session
        near = [run for run in self._by_first.get((item.dialect, request.first), []) if run.may_hold(item)]
        extended = [run for run in near if run.is_extended_by(request)]
        if extended and same_session not in extended:
            return extended[-1]
        if same_session is not None and (not item.thread or same_session.shares(request)):
            return same_session
        return next((run for run in reversed(near) if not (run.finished or request.finished or item.bare)), None)

    def _start(self, request: Request) -> Growing:
        item = request.item
        growing = Growing(self._started, request, self.reading)
        self._started += 1
        self._open[growing.number] = growing
        if growing.first_key is not None:
            self._by_first.setdefault(growing.first_key, []).append(growing)
        if item.session:
            self._by_session[item.dialect, item.session, item.thread] = growing
        return growing

    def _close(self, growing: Growing) -> Transcript:
        del self._open[growing.number]
        self._characters -= growing.characters
        if growing.first_key is not None:
            self._by_first[growing.first_key].remove(growing)
        self._by_session.pop((growing.item.dialect, growing.item.session, growing.item.thread), None)
        return growing.transcript()


def _response_alone(item: Item, reading: Reading) -> Transcript:
    assert item.facts is not None
    builder = TranscriptBuilder(item.dialect)
    model = {"model": item.facts.model} if item.facts.model else {}
    builder.call(
        Placed(builder.head({**model, **item.repeated, LISTS[item.dialect]: []}), ROOT),
        response=item.facts.message,
        usage=reported(item.facts, reading.report, item.place),
        model=item.facts.model,
        at=item.at,
        fidelity=Fidelity.PARTIAL,
    )
    return builder.build(
        title=reading.stem or "response",
        format=reading.report.format or "",
        source=reading.name,
        session=item.session,
        notes=["prompt not recorded", *compactions(builder)],
    )
