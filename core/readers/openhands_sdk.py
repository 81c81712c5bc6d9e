"""Events of the OpenHands agent SDK as messages: `{"kind", "source", "id"}`, each kind with fields of its own.

Actions of one response share its id and are one reply. Where a condensation forgets events, the window goes on
without them and with the summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..transcript import Fidelity, Transcript
from ..wire import Wire, text_of
from .chat_wire import assistant, call, merged, result, slim, text_part
from .event_log import EventLog
from .fields import inner, listed, objects, text, texts_of
from .formats import Reading
from .openhands_texts import FAILED, REJECTED
from .rows import within
from .times import parse_time
from .tool_definitions import tools_of

KINDS = frozenset(
    """
    SystemPromptEvent MessageEvent ActionEvent ObservationEvent UserRejectObservation AgentErrorEvent Condensation
    CondensationRequest CondensationSummaryEvent PauseEvent ConversationStateUpdateEvent ConversationErrorEvent
    TokenEvent LLMCompletionLogEvent
    """.split()  # noqa: SIM905
)
RESULTS = frozenset({"ObservationEvent", "UserRejectObservation", "AgentErrorEvent"})


def is_sdk_event(value: Any) -> bool:
    """Tell whether a value is an event of the agent SDK."""
    return isinstance(value, Mapping) and text(value, "kind") in KINDS and "id" in value


def read_sdk_events(reading: Reading, events: Sequence[Any], row: Wire, place: str) -> Iterator[Transcript]:
    """Yield the transcript of a conversation."""
    run = _Run(reading)
    for number, event in enumerate(events, 1):
        here = within(place, f"event {number}")
        if is_sdk_event(event):
            run.take(event, here)
        else:
            reading.report.add("this is no event of the agent SDK", "It was left out.", place=here)
    run.end_reply()
    if run.log.builder.messages:
        name = text(row, "instance_id", "conversation_id") or reading.stem
        meta = {"ignored": dict(run.ignored)} if run.ignored else {}
        yield run.log.transcript(title=text(row, "instance_id"), session=name, meta=meta)


@dataclass(slots=True)
class _Reply:
    """What the events of one response say."""

    response: str
    place: str
    at: datetime | None
    events: set[str] = field(default_factory=set)
    wires: list[Wire] = field(default_factory=list)


class _Run:
    def __init__(self, reading: Reading) -> None:
        self.log = EventLog("openai_chat", reading)
        self.ignored: Counter[str] = Counter()
        self._window: list[tuple[set[str], Wire]] = []
        """The messages in the window, each with the events that it stands for."""
        self._reply: _Reply | None = None

    def take(self, event: Wire, place: str) -> None:
        """Take an event in."""
        kind, at = text(event, "kind"), parse_time(event.get("timestamp"))
        self.log.started = self.log.started or at
        if kind == "SystemPromptEvent":
            self._system(event)
        elif kind == "ActionEvent":
            self._replied(event, _action(event), place)
        elif kind == "MessageEvent":
            self._message(event, place)
        elif kind in RESULTS:
            self._say(event, result(_observed(event), event.get("tool_call_id")), place)
        elif kind == "Condensation":
            self._condense(event)
        else:
            self.ignored[kind] += 1

    def _system(self, event: Wire) -> None:
        prompt = event.get("system_prompt")
        self.log.lead({"role": "system", "content": texts_of(prompt)})
        if tools := tools_of(event.get("tools"), "openai_chat"):
            self.log.settings["tools"] = tools

    def _message(self, event: Wire, place: str) -> None:
        message = inner(event, "llm_message")
        content = slim(_parts(listed(message, "content")) + _parts(listed(event, "extended_content")))
        if text(message, "role") == "assistant" or text(event, "source") == "agent":
            calls = [_call(one) for one in objects(message, "tool_calls")]
            self._replied(event, assistant(content, calls, text(message, "reasoning_content")), place)
        else:
            self._say(event, {"role": "user", "content": content}, place)

    def _say(self, event: Wire, wire: Wire, place: str) -> None:
        self.end_reply()
        self.log.say(wire, place)
        self._window.append(({text(event, "id")}, wire))

    def _replied(self, event: Wire, wire: Wire, place: str) -> None:
        """Take in a reply, or one more action of the response that is being read."""
        name = text(event, "llm_response_id")
        if self._reply is None or not name or name != self._reply.response:
            self.end_reply()
            self._reply = _Reply(name, place, parse_time(event.get("timestamp")))
        self._reply.events.add(text(event, "id"))
        self._reply.wires.append(wire)

    def end_reply(self) -> None:
        """Add the reply whose events are complete as a call."""
        reply, self._reply = self._reply, None
        wire = merged(reply.wires) if reply else None
        if reply is not None and wire is not None:
            self.log.reply([wire], reply.place, at=reply.at, fidelity=self._fidelity())
            self._window.append((reply.events, wire))

    def _fidelity(self) -> Fidelity:
        whole = self.log.at.lead and self.log.settings.get("tools")
        return Fidelity.RECONSTRUCTED if whole else Fidelity.PARTIAL

    def _condense(self, event: Wire) -> None:
        self.end_reply()
        gone = {name for name in listed(event, "forgotten_event_ids") if isinstance(name, str)}
        self._window = [(events, wire) for events, wire in self._window if not events <= gone]
        summary, offset = text(event, "summary"), event.get("summary_offset")
        if summary:
            place = min(1, len(self._window))
            if isinstance(offset, int) and 0 <= offset <= len(self._window):
                place = offset
            self._window.insert(place, (set(), {"role": "user", "content": summary}))
        self.log.rewrite([wire for _, wire in self._window], "the conversation was compacted")


def _action(event: Wire) -> Wire:
    told = inner(event, "tool_call")
    arguments = told.get("arguments", inner(told, "function").get("arguments", inner(event, "action")))
    made = call(text(event, "tool_name"), arguments, event.get("tool_call_id"))
    return assistant(slim(_parts(listed(event, "thought"))), [made], text(event, "reasoning_content"))


def _call(told: Wire) -> Wire:
    function = inner(told, "function") or told
    return call(function.get("name"), function.get("arguments"), told.get("id"))


def _observed(event: Wire) -> Any:
    kind, observation = text(event, "kind"), inner(event, "observation")
    if kind == "AgentErrorEvent":
        return f"{text_of(event.get('error'))}\n{FAILED}"
    if kind == "UserRejectObservation":
        return f"{text_of(event.get('rejection_reason'))}\n{REJECTED}"
    parts = _parts(listed(observation, "content"))
    return slim(parts) if parts else text(observation, "output", "error", "content") or text_of(observation)


def _parts(content: Sequence[Any]) -> list[Any]:
    parts: list[Any] = []
    for part in content:
        if isinstance(part, str) or text(part, "type") == "text":
            parts.append(text_part(part if isinstance(part, str) else text_of(part.get("text"))))
        elif text(part, "type") == "image":
            urls = [url for url in listed(part, "image_urls") if isinstance(url, str)]
            parts += [{"type": "image_url", "image_url": {"url": url}} for url in urls]
        else:
            parts.append(part)
    return parts
