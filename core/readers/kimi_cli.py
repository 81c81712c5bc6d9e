"""Wire logs of Kimi CLI: JSON Lines of typed events, each step of a turn between `step.begin` and `step.end`.

System prompt and model are in the file, the tools in newer versions. A step that never ended was a request without a
response. After a compaction the window holds the newest user prompts and the summary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ..transcript import Fidelity, Transcript, Usage
from ..wire import Wire
from ..wording import counted
from .event_log import EventLog, Ignored
from .fields import inner, objects, text, texts_of
from .figures import count
from .formats import Format, Reading, share
from .kimi_steps import Step, call_of, content_of, usage_of
from .kimi_wire import OldWire, is_old
from .records import Record
from .times import parse_time

_KNOWN = frozenset(
    """
    metadata config.update tools.set_active_tools turn.prompt context.append_loop_event llm.tools_snapshot llm.request
    usage.record permission.record_approval_result plan_mode.enter plan_mode.exit full_compaction.begin
    full_compaction.complete context.append_message context.apply_compaction turn.steer turn.end todo.update message
    """.split()  # noqa: SIM905
)


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are a wire log of Kimi CLI."""
    first = values[0] if values else None
    named = text(first, "type") == "metadata" and "protocol_version" in first if isinstance(first, Mapping) else False
    return 0.97 if named else 0.95 * share(values, _is_own)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the session, then its sub-agents where an older log holds them."""
    session = _Session(reading)
    agents: dict[str, _Session] = {}
    for record in reading.records:
        nested = inner(record.value, "message", "payload", "event")
        agent = text(inner(record.value, "message", "payload"), "task_tool_call_id", "parent_tool_call_id")
        if is_old(record.value) and nested and agent:
            record = Record({**record.value, "message": nested}, record.place)
            agents.setdefault(agent, _Session(reading)).take(record)
        else:
            session.take(record)
    yield from session.transcript({})
    for name, sub in agents.items():
        yield from sub.transcript({"agent": name, "task": name})


class _Session:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.log = EventLog("openai_chat", reading)
        self.ignored = Ignored(reading, _KNOWN)
        self._old = OldWire()
        self.model = ""
        self.prompt = ""
        self._failed = 0
        self._step: Step | None = None
        self._compacting: Usage | None = None
        self._prompts: list[Wire] = []
        self._typed: tuple[Wire, str] | None = None

    def take(self, record: Record) -> None:
        """Take one event in, and count it."""
        value, place = record.value, record.place
        kind = text(value, "type")
        if is_old(value):
            events = [self._used(event, place) for event in self._old.events(value)]
            self.reading.report.counts.used += any(events)
            if not any(events):
                self.ignored.add("message/" + text(inner(value, "message"), "type"), place)
        elif not kind:
            expected = "An object with `type` was expected; it was left out."
            self.reading.report.broken("this is no event of Kimi CLI", expected, place=place)
        elif self._used(value, place):
            self.reading.report.used()
        else:
            self.ignored.add("/".join(filter(None, (kind, text(inner(value, "event"), "type")))), place)

    def _used(self, value: Wire, place: str) -> bool:
        """Take an event in; tell whether it was of use."""
        kind = text(value, "type")
        if kind == "context.append_loop_event":
            return self._loop(inner(value, "event"), place, parse_time(value.get("time")))
        return self._event(kind, value, place)

    def _event(self, kind: str, value: Wire, place: str) -> bool:
        """Take in an event that is no part of a step; tell whether it was of use."""
        if kind == "context.append_message":
            return self._message(inner(value, "message"), place)
        if kind == "config.update":
            return self._config(value)
        if kind == "llm.request":
            self.model = text(value, "model") or self.model
            return bool(self.model)
        if kind == "llm.tools_snapshot" and objects(value, "tools"):
            self.log.settings["tools"] = [_definition(tool) for tool in objects(value, "tools")]
            return True
        if kind == "usage.record" and value.get("usageScope") == "session":
            self._compacting = usage_of(value.get("usage"))
            return True
        if kind == "context.apply_compaction":
            self._compacted(value)
            return True
        if kind == "context.compacted_unseen":
            self._end()
            self._say_typed()
            self.log.rewrite([], "the conversation was compacted, behind a summary that is not recorded,")
            return True
        if kind == "metadata":
            self.log.started = parse_time(value.get("created_at"))
            return True
        return False

    def _config(self, value: Wire) -> bool:
        prompt = text(value, "systemPrompt")
        if prompt:
            self.log.lead({"role": "system", "content": prompt})
        self.model = text(value, "modelAlias") or self.model
        return bool(prompt or text(value, "modelAlias"))

    def _message(self, message: Wire, place: str) -> bool:
        """Add a message; prompts that got no answer are sent as one with the next."""
        self._end()
        content = message.get("content")
        wire: dict[str, Any] = {"role": text(message, "role") or "user", "content": content_of(content)}
        calls = objects(message, "toolCalls")
        if calls:
            wire["tool_calls"] = [call_of(call) for call in calls]
        if text(message, "toolCallId"):
            wire["tool_call_id"] = text(message, "toolCallId")
        typed = wire["role"] == "user" and text(inner(message, "origin"), "kind") in ("", "user")
        if typed:
            self.prompt = self.prompt or texts_of(content)
            self._typed = (wire if self._typed is None else _joined(self._typed[0], wire), place)
        else:
            self._say_typed()
            self.log.say(wire, place)
        return True

    def _say_typed(self) -> None:
        if self._typed is not None:
            self.log.say(*self._typed)
            self._prompts.append(self._typed[0])
            self._typed = None

    def _loop(self, event: Wire, place: str, at: datetime | None) -> bool:
        """Take in an event of a step; tell whether it was of use."""
        kind = text(event, "type")
        if kind == "step.begin":
            self._end()
            self._step = Step(place)
            return True
        if self._step is None or not self._step.take(kind, event):
            return False
        self._step.at = at or self._step.at
        if kind == "step.end":
            self._end()
        return True

    def _end(self) -> None:
        """Add the step as a call, if the model answered."""
        step, self._step = self._step, None
        if step is None:
            return
        if not (step.said or step.thought or step.calls or step.usage.input):
            self._failed += 1
            return
        self._say_typed()
        known = bool(self.log.settings.get("tools"))
        fidelity = Fidelity.RECONSTRUCTED if known else Fidelity.PARTIAL
        self.log.reply([step.reply()], step.place, usage=step.usage, model=self.model, at=step.at, fidelity=fidelity)
        for result in step.results:
            self.log.say(result, step.place)

    def _compacted(self, value: Wire) -> None:
        self._end()
        self._say_typed()
        summary = text(value, "contextSummary") or text(value, "summary")
        if self._compacting is not None:
            before = self.log.at
            answer = {"role": "assistant", "content": text(value, "summary")}
            at = parse_time(value.get("time"))
            self.log.reply([answer], usage=self._compacting, model=self.model, at=at)
            self.log.at, self._compacting = before, None
        kept = count(value.get("keptUserMessageCount")) or 0
        prompts = self._prompts[-kept:] if kept else []
        self.log.compact([*self.log.at.lead, *prompts, {"role": "user", "content": summary}])

    def transcript(self, meta: Mapping[str, Any]) -> Iterator[Transcript]:
        """Yield the session, if it holds anything."""
        self._end()
        self._say_typed()
        ignored = self.ignored.tell()
        if not self.log.builder.messages and not self.log.calls:
            return
        if self._failed:
            self.log.notes.append(f"{counted(self._failed, 'request')} got no response")
        more = {"ignored": ignored} if ignored else {}
        yield self.log.transcript(prompt=self.prompt, session=str(meta.get("agent", "")), meta={**meta, **more})


def _definition(tool: Wire) -> Wire:
    if isinstance(tool.get("function"), Mapping):
        return tool
    named = {key: tool[key] for key in ("name", "description", "parameters") if key in tool}
    return {"type": "function", "function": named}


def _joined(first: Wire, second: Wire) -> Wire:
    parts = [part for wire in (first, second) for part in _parts(wire["content"])]
    return {**first, "content": parts}


def _parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _is_own(value: Any) -> bool:
    if is_old(value):
        return text(value["message"], "type")[0].isupper()
    kind = text(value, "type")
    return kind in _KNOWN and kind not in ("metadata", "message") and ("time" in value or "event" in value)


FORMAT = Format("kimi_cli", "Kimi CLI wire logs", sniff, read)
