"""Which recorded requests of a file belong to one transcript.

A log of growing requests repeats its history with each call. A request joins the run whose conversation it extends,
else the run of its session, else one that begins with the same message; other requests start a transcript of their
own. Where requests are whole conversations (a data set, an export), each is a transcript and shows many calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..dialects import dialect
from ..transcript import ROOT, Fidelity, Transcript
from ..wire import Wire, digest, dump
from .builder import Placed, TranscriptBuilder, exact_keys
from .checks import MessageChecks
from .figures import checked
from .formats import Reading
from .items import Item, Items
from .links import linked
from .replies import compacts, last_reply, reply_of, reply_spans
from .run import Run
from .server_state import ServerState
from .shapes import LISTS
from .stream_logs import joined_streams
from .titles import title_of

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


@dataclass(frozen=True, slots=True)
class _Request:
    """A request, split and keyed once."""

    item: Item
    head: Wire
    wires: list[Wire]
    exact: list[bytes]
    first: bytes | None
    """The content key of the first message after the system part."""
    shown: int
    """How many messages stand before the answer that it ends with."""

    @property
    def finished(self) -> bool:
        """Tell whether it ends with the model's answer: a whole conversation rather than a request as it was sent."""
        return self.shown < len(self.wires)

    @classmethod
    def of(cls, item: Item) -> _Request:
        """Split the item's body."""
        assert item.body is not None
        spoken = dialect(item.dialect)
        head, wires = spoken.split(item.body)
        first = digest(spoken.content_key(wires[0])) if wires else None
        return cls(item, head, wires, exact_keys(wires), first, last_reply(spoken, wires))


class _Runs:
    """The transcripts of one file that may still grow, in the order of their last request."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._open: dict[int, _Growing] = {}
        self._by_first: dict[tuple[str, bytes], list[_Growing]] = {}
        self._by_session: dict[tuple[str, str, str], _Growing] = {}
        self._started = 0
        self._characters = 0
        self._state = ServerState()

    def add(self, item: Item) -> Iterator[Transcript]:
        """Take an item in; yield what is complete by it."""
        if item.body is None:
            yield _response_alone(item, self.reading)
            return
        request = _Request.of(self._state.completed(item))
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

    def _home(self, request: _Request) -> _Growing | None:
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

    def _start(self, request: _Request) -> _Growing:
        item = request.item
        growing = _Growing(self._started, request, self.reading)
        self._started += 1
        self._open[growing.number] = growing
        if growing.first_key is not None:
            self._by_first.setdefault(growing.first_key, []).append(growing)
        if item.session:
            self._by_session[item.dialect, item.session, item.thread] = growing
        return growing

    def _close(self, growing: _Growing) -> Transcript:
        del self._open[growing.number]
        self._characters -= growing.characters
        if growing.first_key is not None:
            self._by_first[growing.first_key].remove(growing)
        self._by_session.pop((growing.item.dialect, growing.item.session, growing.item.thread), None)
        return growing.transcript()


class _Growing:
    """One transcript of the file, with what only a file knows: places, problems, and whether calls are inferred."""

    def __init__(self, number: int, request: _Request, reading: Reading) -> None:
        self.number = number
        self.item = request.item
        self.finished = request.finished
        self.first_key = None if request.first is None else (request.item.dialect, request.first)
        self._reading = reading
        self._run = Run(request.item.dialect)
        self._checks: dict[int, MessageChecks] = {}
        self._only: tuple[_Request, Placed] | None = None
        self._all_finished = True
        self.characters = 0
        self._continued = self._completed = False
        self._told: dict[str, None] = {}

    def may_hold(self, item: Item) -> bool:
        """Tell whether nothing says that an item is of another session."""
        mine, others = (self.item.session, self.item.thread), (item.session, item.thread)
        return not (item.session and self.item.session and mine != others)

    def shares(self, request: _Request) -> bool:
        """Tell whether a request holds a message of this run."""
        spoken, known = self._run.builder.dialect, set(self._run.builder.keys)
        return any(digest(spoken.content_key(wire)) in known for wire in request.wires)

    def is_extended_by(self, request: _Request) -> bool:
        """Tell whether a request repeats one of these prompts and goes on. The same conversation again does not."""
        return self._run.is_extended_by(request.wires[: request.shown], request.exact[: request.shown])

    def add(self, request: _Request) -> int:
        """Add a request as the next call; return how many characters of messages it brought."""
        item, facts = request.item, request.item.facts
        step = self._run.add(
            request.head,
            request.wires,
            request.exact,
            response=facts.message if facts else None,
            usage=checked(facts.usage, self._reading.report, item.place) if facts else None,
            model=item.model,
            at=item.at,
            hints=item.hints,
            fidelity=item.fidelity or item.whole,
        )
        self._told.update(dict.fromkeys(item.notes))
        self._continued = self._continued or item.is_continued
        self._completed = self._completed or item.is_completed
        self._only = None if step.call else (request, step.placed)
        self.finished = request.finished
        self._all_finished = self._all_finished and request.finished
        self._check(request, step.placed)
        new = sum(map(_length, request.wires[step.placed.known :]))
        self.characters += new
        return new

    def _check(self, request: _Request, placed: Placed) -> None:
        """Look at the messages that are new; earlier ones were looked at in earlier requests."""
        checks = next((self._checks.pop(node) for node in reversed(placed.nodes) if node in self._checks), None)
        if checks is None:
            checks = MessageChecks(self._run.builder.dialect)
            for wire in request.wires[: placed.known]:
                checks.seen(wire)
        if placed.nodes:
            self._checks[placed.last] = checks
        numbers = request.item.numbers[len(request.item.numbers) - len(request.wires) :]
        for position in range(placed.known, len(request.wires)):
            place = ", ".join(filter(None, (request.item.place, f"message {numbers[position]}")))
            for problem, expected in checks.problems(request.wires[position]):
                self._reading.report.add(problem, expected, place=place, warning=True)

    def transcript(self) -> Transcript:
        """Return the transcript. One request that no log of calls holds stands for all calls that it shows."""
        if self._only is not None and not self.item.logged:
            self._infer(*self._only)
        builder, item = self._run.builder, self.item
        return builder.build(
            title=title_of(builder.dialect, builder.messages, self._reading.stem or "transcript"),
            format=self._reading.report.format or "",
            source=self._reading.name,
            session=item.session,
            notes=self._notes(),
            meta=item.meta,
        )

    def _infer(self, request: _Request, placed: Placed) -> None:
        """Replace the one call by one per assistant message, and one more if the conversation goes on.

        Their prompts are reconstructed. Only a whole body that ends before an answer is what was sent.
        """
        builder, item = self._run.builder, request.item
        builder.calls.clear()
        partial = Fidelity.PARTIAL if item.is_continued else None
        for start, stop in reply_spans(builder.dialect, request.wires):
            last = placed.nodes[start - 1] if start else ROOT
            variants = tuple(variant for variant in placed.variants if variant[0] < start)
            prompt, response = Placed(placed.head, last, variants), reply_of(request.wires[start:stop])
            builder.call(prompt, response=response, model=item.model, fidelity=partial or Fidelity.RECONSTRUCTED)
        if not request.finished:
            fidelity = partial or (Fidelity.RECONSTRUCTED if item.bare else Fidelity.CAPTURED)
            builder.call(placed, model=item.model, at=item.at, hints=item.hints, fidelity=fidelity)

    def _notes(self) -> list[str]:
        builder = self._run.builder
        notes = [*self._told, *self._run.notes()]
        if self.item.bare and not any(builder.dialect.system_texts(head) for head in builder.heads):
            notes.insert(0, "system prompt not recorded")
        notes += _compactions(builder)
        if self._completed:
            notes.append("what the provider kept of the conversation was put before what the requests sent")
        if self._continued:
            notes.append("earlier items of the conversation are kept by the provider and not recorded")
        if self._all_finished and self._only is None:
            notes.append("each recorded request ends with an assistant message")
        return notes


def _length(wire: Wire) -> int:
    """Return about how many characters a message has."""
    content = wire.get("content")
    return len(content) if isinstance(content, str) and len(wire) == 2 else len(dump(wire))


def _compactions(builder: TranscriptBuilder) -> list[str]:
    found = (at for at, call in enumerate(builder.calls, 1) if compacts(call.response))
    return [f"the provider compacted the conversation during call {at}" for at in found]


def _response_alone(item: Item, reading: Reading) -> Transcript:
    assert item.facts is not None
    builder = TranscriptBuilder(item.dialect)
    model = {"model": item.facts.model} if item.facts.model else {}
    builder.call(
        Placed(builder.head({**model, **item.repeated, LISTS[item.dialect]: []}), ROOT),
        response=item.facts.message,
        usage=checked(item.facts.usage, reading.report, item.place),
        model=item.facts.model,
        at=item.at,
        fidelity=Fidelity.PARTIAL,
    )
    return builder.build(
        title=reading.stem or "response",
        format=reading.report.format or "",
        source=reading.name,
        session=item.session,
        notes=["prompt not recorded", *_compactions(builder)],
    )
