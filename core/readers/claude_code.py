"""Claude Code sessions: JSON Lines of `{"type", "uuid", "parentUuid", "message", ...}`.

An event log: each line is a step of the session, so the prompts are rebuilt from the lines before a reply. The
system prompt and the tools are never in the file, so every call is partial. Which line is what is decided here; how
lines become messages is the business of `claude_threads`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript
from ..wire import Wire, digest, dump
from .claude_lines import Line
from .claude_threads import Thread
from .formats import Format, Reading, share
from .records import Record
from .titles import shortened

TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""Record types that hold a title, the best one first."""
TASK_TOOLS = frozenset({"Task", "Agent"})
MAIN = ""


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are Claude Code's."""
    lines = [line for value in values for line in (value if isinstance(value, list) else [value])]
    return (0.95 if any(map(_is_message_line, lines)) else 0.5) * share(lines, _is_line)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the session, then each of its side chains."""
    session = _Session(reading)
    for record in reading.records:
        inner = record.value if isinstance(record.value, list) else [record.value]
        before = reading.report.counts.used, reading.report.counts.broken
        for value in inner:
            session.take(Record(value, record.place))
        if len(inner) != 1:
            _count_once(reading, *before)
    yield from session.transcripts()


def _count_once(reading: Reading, used: int, broken: int) -> None:
    """A list of lines is one record of the file, whatever became of its parts."""
    counts = reading.report.counts
    was_used, was_broken = counts.used > used, counts.broken > broken
    counts.used, counts.broken = used + was_used, broken + (was_broken and not was_used)
    counts.ignored = counts.read - counts.used - counts.broken


class _Session:
    """What the lines of one file say, taken in one after another."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.threads: dict[str, Thread] = {}
        self.titles: dict[str, str] = {}
        self.ignored: Counter[str] = Counter()
        self.session = ""
        self.tasks: dict[str, tuple[str, Wire]] = {}
        """By the prompt of a sub-agent: the id and input of the tool call that started it."""
        self._thread_of: dict[str, str] = {}
        self._seen: set[tuple[str, bytes]] = set()
        self._last_side = ""

    def take(self, record: Record) -> None:
        """Take one line in, and count it."""
        value, report = record.value, self.reading.report
        kind = value.get("type") if isinstance(value, Mapping) else None
        if not isinstance(kind, str):
            expected = "An object with `type` and `message` was expected; it was left out."
            report.broken("this is no record of Claude Code", expected, place=record.place)
        elif kind in ("user", "assistant"):
            self._message(Line(value, record.place))
        else:
            self._other(kind, Line(value, record.place))

    def _message(self, line: Line) -> None:
        report = self.reading.report
        if line.content is None:
            expected = "An object `message` with `content` was expected; it was left out."
            report.broken(f"the {line.kind} record has no message", expected, place=line.place)
            self._link(line)
        elif self._is_copy(line):
            self._ignore("copy of a line")
        elif line.is_api_error or line.is_shown_only:
            self._ignore("error shown to the user" if line.is_api_error else "message shown to the user only")
            self._link(line)
        else:
            report.used()
            self._add(line)

    def _add(self, line: Line) -> None:
        thread = self._thread(line)
        thread.add(line)
        if not line.is_side:
            self.session = line.text("sessionId") or self.session
        for block in line.blocks:
            if block.get("type") == "tool_use" and str(block.get("name")) in TASK_TOOLS:
                given = block.get("input")
                if isinstance(given, Mapping) and isinstance(given.get("prompt"), str):
                    self.tasks[given["prompt"]] = (str(block.get("id") or ""), given)

    def _other(self, kind: str, line: Line) -> None:
        if kind == "system" and line.text("subtype") == "compact_boundary":
            self.reading.report.used()
            self._thread(line).compact(line)
            return
        if kind in TITLES and line.text(TITLES[kind]):
            self.reading.report.used()
            self.titles.setdefault(kind, line.text(TITLES[kind]))
            return
        if kind == "system" and line.text("subtype") == "microcompact_boundary":
            self._thread(line).cleared = True
        self._ignore(f"{kind}/{line.text('subtype')}" if line.text("subtype") else kind)
        self._link(line)

    def _ignore(self, kind: str) -> None:
        self.reading.report.ignored()
        self.ignored[kind] += 1

    def _link(self, line: Line) -> None:
        """A record that is no message can still be a link between two that are."""
        if line.uuid:
            self._thread(line).link(line)

    def _is_copy(self, line: Line) -> bool:
        """A resumed session repeats lines; the same id with other content is another record."""
        if not line.uuid:
            return False
        key = (line.uuid, digest(dump(line.message)))
        copy = key in self._seen
        self._seen.add(key)
        return copy

    def _thread(self, line: Line) -> Thread:
        name = self._thread_name(line)
        if line.uuid:
            self._thread_of[line.uuid] = name
        if name != MAIN:
            self._last_side = name
        return self.threads.setdefault(name, Thread(self.reading.report))

    def _thread_name(self, line: Line) -> str:
        if not line.is_side:
            return MAIN
        if line.text("agentId"):
            return line.text("agentId")
        known = self._thread_of.get(line.parent or "")
        if known:
            return known
        starts = line.parent is None and line.kind == "user"
        return self._last_side if self._last_side and not starts else line.uuid or line.place or "side chain"

    def transcripts(self) -> Iterator[Transcript]:
        """Yield the transcripts that hold messages, the main one first."""
        names = sorted(self.threads, key=lambda name: name != MAIN)
        filled = [name for name in names if self.threads[name].groups]
        for place, name in enumerate(filled):
            yield self._transcript(name, {"ignored": dict(self.ignored)} if not place and self.ignored else {})

    def _transcript(self, name: str, meta: dict[str, Any]) -> Transcript:
        thread, reading = self.threads[name], self.reading
        builder, notes, prompt = thread.build()
        title = next((self.titles[kind] for kind in TITLES if kind in self.titles), "") if name == MAIN else ""
        if name != MAIN:
            task, given = self.tasks.get(prompt, ("", {}))
            title = given.get("description") or ""
            meta = {"parent_session": self._parent_session(thread), "agent": name, "task": task, **meta}
            meta = {**meta, "agent_type": given.get("subagent_type")} if given.get("subagent_type") else meta
        return builder.build(
            title=shortened(str(title)) or shortened(prompt) or reading.stem or "session",
            format=reading.report.format or "",
            source=reading.name,
            session=self.session if name == MAIN else name,
            notes=notes,
            started=thread.started,
            meta=meta,
        )

    def _parent_session(self, thread: Thread) -> str:
        return thread.session or self.session


def _is_line(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("type"), str) or "session_id" in value:
        return False
    linked = any(key in value for key in ("sessionId", "parentUuid", "leafUuid"))
    return linked or _is_message_line(value) or value["type"] == "file-history-snapshot"


def _is_message_line(value: Any) -> bool:
    if not isinstance(value, Mapping) or value.get("type") not in ("user", "assistant") or "session_id" in value:
        return False
    message = value.get("message")
    dated = "timestamp" in value or "uuid" in value or "sessionId" in value
    return dated and isinstance(message, Mapping) and "content" in message


FORMAT = Format("claude_code", "Claude Code sessions", sniff, read)
