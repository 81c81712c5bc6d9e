"""Sessions of GitHub Copilot CLI: JSON Lines of dotted event types with `data`, in the order of the session.

The system prompt is an event of its own. What the user typed was sent as `transformedContent`. Of each call only the
output was reported, and of the whole session the sums. The provider behind is not told, so the messages are written
as OpenAI chat takes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript, Usage
from ..wire import Wire, dump
from .event_log import EventLog
from .fields import inner, objects, text, texts_of
from .figures import figure
from .formats import Format, Reading, share
from .records import Record
from .sessions import one_session
from .times import parse_time

GROUPS = ("session.", "user.", "assistant.", "tool.", "system.", "hook.", "subagent.", "skill.", "abort", "model.")


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are a session of Copilot CLI."""
    return 0.97 * share(values, _is_event)


class _Session:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.ignored: Counter[str] = Counter()
        self.start: Wire = {}
        self.sums: Wire = {}
        self.model = ""
        self.prompt = ""
        self._logs = {"": EventLog("openai_chat", reading)}
        self._open: set[str] = set()
        """The tool calls that have no result yet."""
        self._agents: dict[str, Wire] = {}

    def take(self, record: Record) -> None:
        """Take one event in, and count it."""
        value, place, report = record.value, record.place, self.reading.report
        if not _is_event(value):
            expected = "An object with `type` and `data` was expected; it was left out."
            report.broken("this is no event of Copilot CLI", expected, place=place)
        elif self._event(value["type"], value["data"], value, place):
            report.used()
        else:
            report.ignored()
            self.ignored[value["type"]] += 1

    def _event(self, kind: str, data: Wire, value: Wire, place: str) -> bool:
        """Take an event in; tell whether it was of use."""
        log = self._log(text(data, "parentToolCallId"))
        if kind == "session.start" or (kind == "session.resume" and not self.start):
            self.start = self.start or data
            log.started = log.started or parse_time(data.get("startTime"))
            self.model = text(data, "selectedModel") or self.model
        elif kind == "session.model_change":
            self.model = text(data, "newModel") or self.model
        elif kind == "system.message":
            log.lead({"role": "system", "content": text(data, "content")})
        elif kind == "user.message":
            self._user(log, data, place)
        elif kind == "assistant.message":
            return self._assistant(log, data, value, place)
        elif kind == "tool.execution_complete":
            return self._result(log, data, place)
        elif kind == "session.compaction_complete":
            return self._compact(log, data)
        elif kind == "session.shutdown":
            self.sums = inner(data, "modelMetrics")
        elif kind == "subagent.started":
            self._agents[text(data, "toolCallId")] = data
        else:
            return False
        return True

    def _log(self, parent: str) -> EventLog:
        if parent not in self._logs:
            self._logs[parent] = EventLog("openai_chat", self.reading)
        return self._logs[parent]

    def _user(self, log: EventLog, data: Wire, place: str) -> None:
        sent = text(data, "transformedContent") or text(data, "content") or texts_of(data.get("content"))
        self.prompt = self.prompt or text(data, "content")
        log.say({"role": "user", "content": sent}, place)

    def _assistant(self, log: EventLog, data: Wire, value: Wire, place: str) -> bool:
        requests = objects(data, "toolRequests")
        said = text(data, "content") or texts_of(data.get("content"))
        wire: dict[str, Any] = {"role": "assistant", "content": said or (None if requests else "")}
        if text(data, "reasoningText"):
            wire["reasoning_content"] = text(data, "reasoningText")
        if requests:
            wire["tool_calls"] = [_call(request) for request in requests]
        if not (said or requests or "reasoning_content" in wire):
            return False
        usage, at = Usage(output=figure(data.get("outputTokens"))), parse_time(value.get("timestamp"))
        log.reply([wire], place, usage=usage, model=text(data, "model") or self.model, at=at)
        self._open.update(text(request, "toolCallId") for request in requests)
        return True

    def _result(self, log: EventLog, data: Wire, place: str) -> bool:
        """Add a result; one whose call no message shows ran behind the model's back."""
        name = text(data, "toolCallId")
        if name not in self._open:
            return False
        self._open.discard(name)
        result = data.get("result")
        shown = inner(data, "result").get("content") if isinstance(result, Mapping) else result
        failed = inner(data, "error").get("message") or data.get("error")
        content = shown if shown is not None else failed
        log.say({"role": "tool", "tool_call_id": name, "content": _text(content)}, place)
        return True

    def _compact(self, log: EventLog, data: Wire) -> bool:
        summary = text(data, "summaryContent") or text(data, "summary")
        if data.get("success") is False or not summary:
            return False
        log.compact([*log.at.lead, {"role": "user", "content": summary}])
        return True

    def transcripts(self) -> Iterator[Transcript]:
        """Yield the session and its sub-agents, those that hold anything."""
        for parent, log in self._logs.items():
            if log.builder.messages or log.calls:
                yield self._transcript(parent, log)

    def _transcript(self, parent: str, log: EventLog) -> Transcript:
        session = text(self.start, "sessionId")
        if parent:
            agent = self._agents.get(parent, {})
            found = {"parent_session": session, "agent": parent, "task": parent, "agent_type": text(agent, "agentName")}
            title = text(agent, "agentDisplayName")
            return log.transcript(title=title, session=parent, meta={k: v for k, v in found.items() if v})
        meta = {"cwd": text(inner(self.start, "context"), "cwd"), "version": text(self.start, "copilotVersion")}
        kept: dict[str, Any] = {key: value for key, value in meta.items() if value}
        sums = {"usage_of_session": dict(self.sums)} if self.sums else {}
        more = {"ignored": dict(self.ignored)} if self.ignored else {}
        return log.transcript(session=session, prompt=self.prompt, meta={**kept, **sums, **more})


def _call(request: Wire) -> Wire:
    given = request.get("arguments")
    named = {"name": text(request, "name"), "arguments": given if isinstance(given, str) else dump(given or {})}
    return {"id": text(request, "toolCallId"), "type": "function", "function": named}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "" if content is None else dump(content)


def _is_event(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("data"), Mapping):
        return False
    kind = text(value, "type")
    return kind.startswith(GROUPS) and "payload" not in value and ("parentId" in value or "id" in value)


FORMAT = Format("copilot_cli", "Copilot CLI sessions", sniff, one_session(_Session))
