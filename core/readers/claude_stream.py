"""Streams of Claude's `--output-format stream-json` and of the Agent SDK: what a program sees of a session.

The lines hold the messages of Claude Code's own log without its links, in the order in which they happened, so the
same rules put them together. A sub-agent's lines name the tool call that started it. Recordings of the SDK's tests
wrap each line in its direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from .claude_lines import Line
from .claude_threads import Thread
from .event_log import Ignored
from .fields import inner, listed, text
from .formats import Format, Reading, share
from .records import Record
from .titles import shortened

KNOWN = frozenset(
    """
    system result stream_event rate_limit_event control_request control_response control_cancel_request keep_alive
    tool_progress tool_use_summary auth_status user assistant
    """.split()  # noqa: SIM905
)
MAIN = ""


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are a stream of Claude Code."""
    lines = [line for value in values for line in _lines(value)]
    return 0.97 * share(lines, _is_line) if any(map(_is_own, lines)) else 0.0


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the session, then its sub-agents."""
    session = _Session(reading)
    for record in reading.records:
        lines = _lines(record.value)
        if lines == [record.value]:
            session.take(record, counted=True)
            continue
        reading.report.used()
        for number, line in enumerate(lines, 1):
            place = f"message {number}"
            session.take(Record(line, f"{record.place}, {place}" if record.place else place), counted=False)
    yield from session.transcripts()


class _Session:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.lines: dict[str, list[tuple[Wire, str]]] = {MAIN: []}
        """By the tool call that started a sub-agent: its messages and compactions."""
        self.ignored = Ignored(reading, KNOWN)
        self.start: Wire = {}
        self.result: Wire = {}
        self.session = ""
        self.tasks: dict[str, Wire] = {}
        self._seen: set[str] = set()
        self._outputs: dict[str, float] = {}
        """By message id: the output tokens that its stream reported at its end."""
        self._streaming: dict[str, str] = {}

    def take(self, record: Record, counted: bool) -> None:
        """Take one line in, and count it if it is a record of its own."""
        value, place, report = record.value, record.place, self.reading.report
        if not _is_line(value):
            self._broken("this is no line of a Claude stream", "An object with `type` was expected", place, counted)
        elif value["type"] in ("user", "assistant") and isinstance(value.get("message"), Mapping):
            self._message(value, place, counted)
        elif self._other(value["type"], value):
            report.counts.used += counted
        else:
            kind = "/".join(filter(None, (value["type"], text(value, "subtype"))))
            self.ignored.add(kind, place, counted=counted)

    def _broken(self, problem: str, expected: str, place: str, counted: bool) -> None:
        self.reading.report.counts.broken += counted
        self.reading.report.add(problem, f"{expected}; it was left out.", place=place)

    def _message(self, value: Wire, place: str, counted: bool) -> None:
        line = Line(value, place)
        if line.content is None:
            self._broken("the message has no content", "A text or a list of blocks was expected", place, counted)
            return
        if value.get("isReplay") is True or (line.uuid and line.uuid in self._seen):
            self.ignored.add("user/replay", place, counted=counted)
            return
        self._seen.add(line.uuid)
        self.session = text(value, "session_id") if text(value, "session_id") not in ("", "default") else self.session
        self.reading.report.counts.used += counted
        self.lines.setdefault(text(value, "parent_tool_use_id"), []).append((value, place))
        for block in line.blocks:
            if block.get("type") == "tool_use":
                self.tasks[text(block, "id")] = inner(block, "input")

    def _other(self, kind: str, value: Wire) -> bool:
        """Take in a line that is no message; tell whether it was of use."""
        subtype = text(value, "subtype")
        if kind == "system" and subtype == "init":
            self.start = self.start or value
            self.session = text(value, "session_id") or self.session
        elif kind == "system" and subtype == "compact_boundary":
            self.lines.setdefault(text(value, "parent_tool_use_id"), []).append((value, ""))
        elif kind == "result":
            self.result = value
        elif kind == "stream_event":
            return self._event(inner(value, "event"), text(value, "parent_tool_use_id"))
        else:
            return False
        return True

    def _event(self, event: Wire, parent: str) -> bool:
        """The last usage of a stream counts: its messages were written before it ended."""
        if event.get("type") == "message_start":
            self._streaming[parent] = text(inner(event, "message"), "id")
        output = inner(event, "usage").get("output_tokens")
        if event.get("type") == "message_delta" and isinstance(output, int | float) and self._streaming.get(parent):
            self._outputs[self._streaming[parent]] = output
        return event.get("type") in ("message_start", "message_delta")

    def transcripts(self) -> Iterator[Transcript]:
        """Yield the transcripts that hold messages, the main one first."""
        ignored = self.ignored.tell()
        if self.result and not any(self.lines.values()):
            expected = "Record it with `--output-format stream-json --verbose`."
            self.reading.report.add("this is only the result of a session, without its messages", expected)
        for name, lines in self.lines.items():
            thread = Thread(self.reading.report)
            for line, is_compaction in self._linked(name, lines):
                thread.compact(line) if is_compaction else thread.add(line)
            if thread.groups:
                yield self._transcript(name, thread, ignored)

    def _linked(self, name: str, lines: list[tuple[Wire, str]]) -> Iterator[tuple[Line, bool]]:
        """Yield lines with the links that Claude Code's own log has: each follows the one before."""
        last, summary = None, False
        for number, (value, place) in enumerate(lines):
            uuid = text(value, "uuid") or f"{name}/{number}"
            compacted = value["type"] == "system"
            parent = "logicalParentUuid" if compacted else "parentUuid"
            linked = {**value, "uuid": uuid, "parentUuid": None, parent: last}
            if value["type"] == "user" and summary:
                linked["isCompactSummary"] = True
            elif value["type"] == "assistant":
                linked["message"] = self._counted(value["message"])
            last, summary = uuid, compacted
            yield Line(linked, place), compacted

    def _counted(self, message: Wire) -> Wire:
        """Return a message with the usage that its stream, or the result of a session of one call, told at the end."""
        name, usage = text(message, "id"), inner(message, "usage")
        output = self._outputs.get(name)
        told = inner(self.result, "usage")
        same = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        if output is None and told and usage and all(told.get(key) == usage.get(key) for key in same):
            output = told.get("output_tokens")
        return {**message, "usage": {**usage, "output_tokens": output}} if isinstance(output, int | float) else message

    def _transcript(self, name: str, thread: Thread, ignored: Mapping[str, int]) -> Transcript:
        builder, notes, prompt = thread.build()
        given = self.tasks.get(name, {})
        meta: dict[str, Any] = {"parent_session": self.session, "agent": name, "task": name}
        meta["agent_type"] = text(given, "subagent_type")
        if name == MAIN:
            meta = {"cwd": text(self.start, "cwd"), "tools": listed(self.start, "tools"), "ignored": dict(ignored)}
            meta |= {key: self.result.get(key) for key in ("total_cost_usd", "num_turns", "modelUsage")}
        return builder.build(
            title=shortened(text(given, "description")) or shortened(prompt) or self.reading.stem or "session",
            format=self.reading.report.format or "",
            source=self.reading.name,
            session=self.session if name == MAIN else name,
            notes=notes,
            started=thread.started,
            meta={key: value for key, value in meta.items() if value not in (None, "", [], {})},
        )


def _lines(value: Any) -> list[Any]:
    """Return the lines in a record: a recording of the SDK holds all of them."""
    if isinstance(value, Mapping) and isinstance(value.get("messages"), list) and "type" not in value:
        return [_unwrapped(message) for message in value["messages"]]
    return [_unwrapped(line) for line in value] if isinstance(value, list) else [_unwrapped(value)]


def _unwrapped(value: Any) -> Any:
    """Return a line without its direction."""
    if isinstance(value, Mapping) and "direction" in value and isinstance(value.get("message"), Mapping):
        return value["message"]
    return value


def _is_line(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("type"), str) and "sessionId" not in value


def _is_own(value: Any) -> bool:
    """Tell whether a value can only be a line of such a stream: it names its session in snake case."""
    if not _is_line(value):
        return False
    if value["type"] in ("user", "assistant"):
        return isinstance(value.get("message"), Mapping) and ("session_id" in value or "parent_tool_use_id" in value)
    if value["type"] == "system":
        return text(value, "subtype") == "init" and "session_id" in value
    return value["type"] in ("control_request", "control_response") or (
        value["type"] in ("result", "stream_event") and "session_id" in value
    )


FORMAT = Format("claude_stream_json", "Claude stream-json and Agent SDK streams", sniff, read)
