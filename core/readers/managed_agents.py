"""Sessions of Anthropic's managed agents: the events of one, alone or with the name of the client's call before each.

A reply stands between `span.model_request_start` and `span.model_request_end`, which reports its usage. Tools are
named in sets; what the model was told of them is not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from .event_log import EventLog, Ignored
from .fields import inner, listed, objects, text
from .formats import Format, Reading, share
from .responses import anthropic_usage
from .times import parse_time
from .trace_calls import NO_TOOLS

CALLS = frozenset(["agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"])
RESULTS = frozenset(["agent.tool_result", "agent.mcp_tool_result", "user.custom_tool_result"])
ANSWERS = ("tool_use_id", "mcp_tool_use_id", "custom_tool_use_id")
KINDS = ("user.", "agent.", "session.", "span.")
_KNOWN = frozenset(
    [
        "agent.thinking",
        "user.tool_confirmation",
        "user.interrupt",
        "session.status_running",
        "session.status_idle",
        "session.status_rescheduled",
        "session.status_terminated",
        "session.thread_created",
        "session.thread_status_running",
        "session.thread_status_idle",
        "request",
        "copy of an event",
    ]
)


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are of a managed agent's session."""
    return 0.96 * share(values, lambda value: any(_is_event(event) for event in _events(value)))


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the session."""
    session = _Session(reading)
    for record in reading.records:
        events = _events(record.value)
        if not events:
            expected = "An event with `type`, or a call of the client with its answer, was expected; it was left out."
            reading.report.broken("this is no event of a managed agent", expected, place=record.place)
            continue
        used = [session.take(event, record.place) for event in events]
        if any(used):
            reading.report.used()
        else:
            reading.report.ignored()
    yield from session.transcripts()


def _events(value: Any) -> list[Wire]:
    """Return the events, or the session object, that a record holds."""
    if isinstance(value, Mapping):
        return objects(value, "data") or ([value] if _is_event(value) or value.get("type") == "session" else [])
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        return [one for one in value if _is_event(one)] if isinstance(value, list) else []
    name, told = value
    if isinstance(told, Mapping) and (_is_event(told) or told.get("type") == "session"):
        return [told]
    return [{"type": "request"}] if name.startswith("client.") else []


def _is_event(value: Any) -> bool:
    kind = text(value, "type") if isinstance(value, Mapping) else ""
    return kind.startswith(KINDS) and ("id" in value or "processed_at" in value)


class _Session:
    def __init__(self, reading: Reading) -> None:
        self.log = EventLog("anthropic", reading)
        self.log.is_whole = True
        self.ignored = Ignored(reading, _KNOWN)
        self.session = ""
        self.title = ""
        self._said: list[Any] = []
        self._results: list[Wire] = []
        self._asked: list[Any] = []
        self._seen: set[str] = set()

    def take(self, event: Wire, place: str) -> bool:
        """Take one event in; tell whether it was of use."""
        kind, own = text(event, "type"), text(event, "id")
        if own and own in self._seen:
            self.ignored.add("copy of an event", place, counted=False)
            return False
        self._seen.add(own)
        self.log.started = self.log.started or parse_time(event.get("processed_at", event.get("created_at")))
        if kind == "session":
            return self._configure(event)
        if kind in CALLS or kind == "agent.message":
            return self._say(event, kind)
        if kind in RESULTS or kind == "user.message":
            return self._hear(event, kind, place)
        if kind == "span.model_request_start":
            self._ask(place)
            return True
        if kind == "span.model_request_end":
            self._answer(event, place)
            return True
        if kind == "agent.thread_context_compacted":
            self._ask(place)
            self.log.rewrite([], "the conversation was compacted, by a summary that is not recorded,")
            return True
        self.ignored.add(kind, place, counted=False)
        return False

    def _configure(self, event: Wire) -> bool:
        agent = inner(event, "agent")
        self.session, self.title = text(event, "id"), text(event, "title")
        model = text(inner(agent, "model"), "id") or text(agent, "model")
        named = {"model": model, "system": text(agent, "system"), "tools": listed(agent, "tools")}
        self.log.settings |= {key: value for key, value in named.items() if value}
        return True

    def _say(self, event: Wire, kind: str) -> bool:
        if kind == "agent.message":
            content = event.get("content")
            self._said += (
                content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
            )
        else:
            given = event.get("input")
            block = {"type": "tool_use", "id": text(event, "id"), "name": text(event, "name"), "input": given}
            self._said.append(block)
        return True

    def _hear(self, event: Wire, kind: str, place: str) -> bool:
        self._close(place)
        content = event.get("content")
        if kind == "user.message":
            self._asked += (
                content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
            )
        else:
            failed = {"is_error": True} if event.get("is_error") is True else {}
            result = {"type": "tool_result", "tool_use_id": text(event, *ANSWERS), "content": content or ""}
            self._results.append({**result, **failed})
        return True

    def _ask(self, place: str) -> None:
        """Put what was heard since the last reply into the window: results first, as the provider wants them."""
        self._close(place)
        if self._results or self._asked:
            self.log.say({"role": "user", "content": [*self._results, *self._asked]}, place)
        self._results, self._asked = [], []

    def _answer(self, event: Wire, place: str) -> None:
        usage, at = anthropic_usage(event.get("model_usage")), parse_time(event.get("processed_at"))
        said, self._said = self._said, []
        wires = [{"role": "assistant", "content": said}] if said else []
        self.log.reply(wires, place, usage=usage, model=str(self.log.settings.get("model", "")), at=at)

    def _close(self, place: str) -> None:
        """A reply whose end is not marked is a call all the same."""
        if self._said:
            said, self._said = self._said, []
            self.log.reply([{"role": "assistant", "content": said}], place)

    def transcripts(self) -> Iterator[Transcript]:
        """Yield the session, if it holds messages."""
        self._ask("")
        counts = self.ignored.tell()
        if not self.log.calls and not self.log.builder.messages:
            return
        if not self.log.settings.get("system"):
            self.log.notes.append("system prompt not recorded")
        self.log.notes.append(NO_TOOLS)
        meta = {"ignored": counts} if counts else {}
        yield self.log.transcript(session=self.session, title=self.title, meta=meta)


FORMAT = Format("managed_agents", "sessions of Anthropic's managed agents", sniff, read)
