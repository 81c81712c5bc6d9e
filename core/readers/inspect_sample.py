"""One sample of an inspect_ai log: its model events as calls, in the order in which they were made.

An event holds the request as it was sent to the provider, which is taken where its dialect is known; else the
messages that inspect_ai made it from. Long texts stand apart and are put back, as are messages that events share. A
conversation that extends no other one of the sample (a sub-agent, a grader) is a transcript of its own. A sample whose
log has no model events is read from its messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..dialects import detect, dialect
from ..transcript import Fidelity, Transcript, Usage
from ..wire import Wire, digest
from .builder import exact_keys
from .checks import MessageChecks
from .event_log import EventLog
from .fields import inner, listed, objects, text
from .figures import checked
from .formats import Reading
from .inspect_messages import (
    REMOVED,
    images_of,
    inspect_usage,
    message_wire,
    request_of,
    slices,
    tool_wires,
    with_images,
)
from .responses import response_facts
from .rows import within
from .run import Run
from .shapes import is_body
from .times import parse_time
from .titles import title_of

PROTOCOLS = ("attachment://", "tc://")
MISSING = "a text that stands apart in the log is missing"


def sample_transcripts(reading: Reading, sample: Wire, log: Wire, place: str) -> Iterator[Transcript]:
    """Yield the transcripts of a sample, the main conversation first."""
    return _Sample(reading, sample, log, place).transcripts()


@dataclass(eq=False, slots=True)
class _Thread:
    """One conversation of a sample: its calls, and what tells it from others."""

    run: Run
    key: tuple[str, bytes, bytes]
    purpose: str
    stripped: bool = False
    checks: MessageChecks | None = None


class _Sample:
    def __init__(self, reading: Reading, sample: Wire, log: Wire, place: str) -> None:
        self.reading = reading
        self.sample = sample
        self.log = log
        self.place = place
        inside = inner(sample, "transcript")
        self.events = objects(sample, "events") or objects(inside, "events")
        self.texts = {**inner(inside, "content"), **inner(sample, "attachments")}
        data = inner(sample, "events_data")
        self.pool = listed(sample, "message_pool") or listed(data, "messages")
        self.calls = listed(data, "calls")
        self.threads: list[_Thread] = []
        self._spans: dict[str, str] = {}
        self._missing = False

    def transcripts(self) -> Iterator[Transcript]:
        """Yield one transcript a conversation."""
        for number, event in enumerate(self.events, 1):
            kind = text(event, "event")
            if kind == "span_begin" and text(event, "type") in ("scorers", "scorer"):
                self._spans[text(event, "id")] = "scorer"
            elif kind == "model":
                self._model(event, within(self.place, f"event {number}"))
        if self._missing:
            self.reading.report.add(MISSING, "The reference to it was kept.", place=self.place, warning=True)
        if not self.threads:
            yield from self._messages()
        for number, thread in enumerate(self.threads):
            yield self._transcript(thread, number)

    def _model(self, event: Wire, place: str) -> None:
        body, recorded = self._body(event)
        if not body:
            return
        spoken = detect(body)
        known = dialect(spoken)
        head, wires = known.split(body)
        thread = self._thread(spoken, head, wires, event)
        output, answer = inner(event, "output"), self._resolved(inner(event, "call").get("response"))
        facts = response_facts(answer)
        message = facts.message if facts.dialect == spoken else None
        if message is None and spoken == "openai_chat":
            choice = next(iter(objects(output, "choices")), {})
            message = message_wire(self._resolved(inner(choice, "message"))) if inner(choice, "message") else None
        usage = facts.usage if facts.usage.input is not None else inspect_usage(inner(output, "usage"))
        at = parse_time(event.get("timestamp"))
        model = facts.model or text(output, "model") or text(event, "model")
        usage = checked(usage, self.reading.report, place)
        step = thread.run.add(
            head, wires, exact_keys(wires), response=message, usage=usage, model=model, at=at, fidelity=recorded
        )
        new = wires[step.placed.known :]
        thread.stripped = thread.stripped or REMOVED in str(new)
        self._check(thread, new, place)

    def _check(self, thread: _Thread, wires: Sequence[Wire], place: str) -> None:
        thread.checks = thread.checks or MessageChecks(thread.run.builder.dialect)
        for wire in wires:
            for problem, expected in thread.checks.problems(wire):
                self.reading.report.add(problem, expected, place=place, warning=True)

    def _body(self, event: Wire) -> tuple[Wire, Fidelity]:
        """Return the request of an event, and how far it can be trusted."""
        sent = self._resolved(request_of(inner(event, "call"), self.calls))
        given = listed(event, "input") or slices(self.pool, listed(event, "input_refs"))
        if is_body(sent):
            images = images_of(self._resolved(given)) if REMOVED in str(sent) else []
            return with_images(sent, iter(images)) if images else sent, Fidelity.CAPTURED
        wires = [message_wire(self._resolved(message)) for message in given if isinstance(message, Mapping)]
        if not wires:
            return {}, Fidelity.PARTIAL
        tools = tool_wires(self._resolved(listed(event, "tools")))
        model = text(event, "model")
        settings = {**({"model": model} if model else {}), **({"tools": tools} if tools else {})}
        return {**settings, "messages": wires}, Fidelity.RECONSTRUCTED

    def _thread(self, spoken: str, head: Wire, wires: Sequence[Wire], event: Wire) -> _Thread:
        known = dialect(spoken)
        exact = exact_keys(wires)
        system = digest("\n".join(known.system_texts(head)))
        first = digest(known.content_key(wires[0])) if wires else b""
        key = (spoken, system, first)
        same = [thread for thread in self.threads if thread.key == key]
        extended = [
            thread for thread in self.threads if thread.key[0] == spoken and thread.run.is_extended_by(wires, exact)
        ]
        found = next(iter([thread for thread in extended if thread in same] or same or extended), None)
        if found is None:
            found = _Thread(Run(spoken), key, self._spans.get(text(event, "span_id"), ""))
            self.threads.append(found)
        return found

    def _messages(self) -> Iterator[Transcript]:
        """Read a sample without model events from its messages; only the last call's usage is known."""
        log = EventLog("openai_chat", self.reading)
        output, wires = inner(self.sample, "output"), []
        for message in objects(self.sample, "messages"):
            if isinstance(message.get("role"), str):
                wires.append((message, message_wire(self._resolved(message))))
        last = max((at for at, (_, wire) in enumerate(wires) if wire["role"] == "assistant"), default=-1)
        log.may_have_tools = any(wire.get("tool_calls") for _, wire in wires)
        for at, (message, wire) in enumerate(wires):
            here = within(self.place, f"message {at + 1}")
            if wire["role"] == "assistant":
                usage = inspect_usage(inner(output, "usage")) if at == last else Usage()
                log.reply([wire], here, usage=usage, model=text(message, "model") or text(output, "model"))
            else:
                log.say(wire, here)
        if wires:
            yield log.transcript(session=self._session(0), meta=self._meta(0, ""))

    def _transcript(self, thread: _Thread, number: int) -> Transcript:
        builder, notes = thread.run.builder, thread.run.notes()
        if thread.stripped:
            notes.append("images and files were taken out of the recorded requests")
        if compacted := sum(text(event, "event") == "compaction" for event in self.events):
            notes.append(f"the log holds {compacted} compaction events")
        title = title_of(builder.dialect, builder.messages, text(inner(self.log, "eval"), "task") or self.reading.stem)
        return builder.build(
            title=title,
            format=self.reading.report.format or "",
            source=self.reading.name,
            session=self._session(number),
            notes=notes,
            meta=self._meta(number, thread.purpose),
        )

    def _session(self, number: int) -> str:
        told = inner(self.log, "eval")
        run = text(told, "eval_id", "run_id") or self.reading.stem
        base = f"{run}/{self.sample.get('id')}/{self.sample.get('epoch')}"
        return f"{base}/{number}" if number else base

    def _meta(self, number: int, purpose: str) -> dict[str, Any]:
        scores = {
            str(name): score.get("value")
            for name, score in inner(self.sample, "scores").items()
            if isinstance(score, Mapping)
        }
        meta = {"task": text(inner(self.log, "eval"), "task"), "sample": self.sample.get("id")}
        meta |= {
            "epoch": self.sample.get("epoch"),
            "scores": scores,
            "error": text(inner(self.sample, "error"), "message"),
        }
        meta |= {"parent_session": self._session(0) if number else "", "purpose": purpose}
        return {key: value for key, value in meta.items() if value not in (None, "", {})}

    def _resolved(self, value: Any) -> Any:
        """Return a value with the texts that stand apart put back."""
        if isinstance(value, str):
            if not value.startswith(PROTOCOLS):
                return value
            name = value.partition("://")[2]
            self._missing = self._missing or not isinstance(self.texts.get(name), str)
            return self.texts[name] if isinstance(self.texts.get(name), str) else value
        if isinstance(value, list):
            return [self._resolved(one) for one in value]
        if isinstance(value, Mapping):
            return {key: self._resolved(one) for key, one in value.items()}
        return value
