"""One transcript that grows while a file of requests is read: its calls so far, and what only the file knows of it.

That is where its messages stand, what is wrong with them, and whether its calls were recorded or are inferred from one
whole conversation.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from ..dialects import dialect
from ..transcript import ROOT, Fidelity, Transcript, Usage
from ..wire import Wire, digest, dump
from .builder import Placed, TranscriptBuilder, exact_keys
from .checks import MessageChecks
from .figures import checked
from .formats import Reading
from .items import Item
from .missing import whole_until
from .problems import Report
from .replies import compacts, last_reply, reply_of, reply_spans
from .responses import ResponseFacts
from .run import Run
from .titles import title_of
from .trace_calls import NO_SYSTEM, NO_TOOLS

__all__ = ["Growing", "Request", "compactions", "reported"]


@dataclass(frozen=True, slots=True)
class Request:
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
    def of(cls, item: Item) -> Request:
        """Split the item's body."""
        assert item.body is not None
        spoken = dialect(item.dialect)
        head, wires = spoken.split(item.body)
        first = digest(spoken.content_key(wires[0])) if wires else None
        return cls(item, head, wires, exact_keys(wires), first, last_reply(spoken, wires))


class Growing:
    """One transcript of the file, with what only a file knows: places, problems, and whether calls are inferred."""

    def __init__(self, number: int, request: Request, reading: Reading) -> None:
        self.number = number
        self.item = request.item
        self.finished = request.finished
        self.first_key = None if request.first is None else (request.item.dialect, request.first)
        self._reading = reading
        self._run = Run(request.item.dialect)
        self._checks: dict[int, MessageChecks] = {}
        self._only: tuple[Request, Placed] | None = None
        self._all_finished = True
        self.characters = 0
        self._told: dict[str, None] = {}

    def may_hold(self, item: Item) -> bool:
        """Tell whether nothing says that an item is of another session."""
        mine, others = (self.item.session, self.item.thread), (item.session, item.thread)
        return not (item.session and self.item.session and mine != others)

    def shares(self, request: Request) -> bool:
        """Tell whether a request holds a message of this run."""
        spoken, known = self._run.builder.dialect, set(self._run.builder.keys)
        return any(digest(spoken.content_key(wire)) in known for wire in request.wires)

    def is_extended_by(self, request: Request) -> bool:
        """Tell whether a request repeats one of these prompts and goes on. The same conversation again does not."""
        return self._run.is_extended_by(request.wires[: request.shown], request.exact[: request.shown])

    def add(self, request: Request) -> int:
        """Add a request as the next call; return how many characters of messages it brought."""
        item, facts = request.item, request.item.facts
        step = self._run.add(
            request.head,
            request.wires,
            request.exact,
            response=facts.message if facts else None,
            usage=reported(facts, self._reading.report, item.place) if facts else None,
            model=item.model,
            at=item.at,
            hints=item.hints,
            fidelity=item.fidelity or Fidelity.CAPTURED,
            completed=item.is_completed,
        )
        self._told.update(dict.fromkeys(item.notes))
        self._only = None if step.call else (request, step.placed)
        self.finished = request.finished
        self._all_finished = self._all_finished and request.finished
        self._check(request, step.placed)
        new = sum(map(_length, request.wires[step.placed.known :]))
        self.characters += new
        return new

    def _check(self, request: Request, placed: Placed) -> None:
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

    def _infer(self, request: Request, placed: Placed) -> None:
        """Replace the one call by one per assistant message, and one more if the conversation goes on.

        Their prompts are reconstructed. Only a whole body that ends before an answer is what was sent.
        """
        builder, item = self._run.builder, request.item
        builder.calls.clear()
        whole = whole_until(request.head, request.wires)
        for start, stop in reply_spans(builder.dialect, request.wires):
            last = placed.nodes[start - 1] if start else ROOT
            variants = tuple(variant for variant in placed.variants if variant[0] < start)
            prompt, response = Placed(placed.head, last, variants), reply_of(request.wires[start:stop])
            fidelity = Fidelity.PARTIAL if start > whole else Fidelity.RECONSTRUCTED
            builder.call(prompt, response=response, model=item.model, fidelity=fidelity)
        if not request.finished:
            sent = Fidelity.RECONSTRUCTED if item.bare else Fidelity.CAPTURED
            fidelity = Fidelity.PARTIAL if len(request.wires) > whole else sent
            builder.call(placed, model=item.model, at=item.at, hints=item.hints, fidelity=fidelity)

    @property
    def _calls_tools(self) -> bool:
        """Whether a message or a response calls a tool, which then was offered in the request."""
        builder = self._run.builder
        wires = chain(builder.messages, (call.response for call in builder.calls if call.response))
        return any(builder.dialect.message(wire).calls for wire in wires)

    def _notes(self) -> list[str]:
        builder = self._run.builder
        notes = [*self._told, *self._run.notes()]
        if self.item.bare and not any(builder.dialect.system_texts(head) for head in builder.heads):
            notes.insert(0, NO_SYSTEM)
        if self.item.bare and self._calls_tools and not any(builder.dialect.tools(head) for head in builder.heads):
            notes.append(NO_TOOLS)
        notes += compactions(builder)
        if self._all_finished and self._only is None:
            notes.append("each recorded request ends with an assistant message")
        return notes


def _length(wire: Wire) -> int:
    """Return about how many characters a message has."""
    content = wire.get("content")
    return len(content) if isinstance(content, str) and len(wire) == 2 else len(dump(wire))


def reported(facts: ResponseFacts, report: Report, place: str) -> Usage:
    """Return the believed part of a response's usage; what else is odd about the response becomes remarks."""
    for problem, expected in facts.remarks:
        report.add(problem, expected, place=place, warning=True)
    return checked(facts.usage, report, place)


def compactions(builder: TranscriptBuilder) -> list[str]:
    """Return a note for each call in which the provider itself compacted the conversation."""
    found = (at for at, call in enumerate(builder.calls, 1) if compacts(call.response))
    return [f"the provider compacted the conversation during call {at}" for at in found]
