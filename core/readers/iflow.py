"""Sessions of iFlow CLI: lines like those of Claude Code, written while a reply arrives.

A reply is written several times, each line with the tool calls that were new then and the one before, all linked to
the same user message; so the order of the file counts, not the links. Neighbouring lines of the assistant are one
reply, and a call is taken once. Results hold Gemini's form of an answer, usage is all zeros where nothing was counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ..transcript import Transcript, Usage
from ..wire import Wire, dump
from .claude_lines import Line
from .event_log import EventLog, Ignored
from .fields import inner, text
from .formats import Format, Reading, share
from .records import Record
from .responses import anthropic_usage
from .sessions import one_session
from .times import parse_time

_KNOWN = frozenset({"summary", "system", "file-history-snapshot", "progress", "user/meta"})


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are a session of iFlow."""
    return 0.98 * share(values, _is_line) if any(map(_is_own, values)) else 0.0


class _Session:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.log = EventLog("anthropic", reading)
        self.ignored = Ignored(reading, _KNOWN)
        self.session = ""
        self.prompt = ""
        self.cwd = ""
        self._reply: list[Any] = []
        self._results: list[Any] = []
        self._line: Line | None = None
        self._usage = Usage()
        self._seen: set[str] = set()
        self._place = ""

    def take(self, record: Record) -> None:
        """Take one line in, and count it."""
        value, place, report = record.value, record.place, self.reading.report
        if not _is_line(value):
            expected = "An object with `type` and `message` was expected; it was left out."
            report.broken("this is no record of iFlow", expected, place=place)
            return
        line = Line(value, place)
        if line.kind not in ("user", "assistant"):
            self.ignored.add(line.kind, place)
        elif line.content is None:
            expected = "An object `message` with `content` was expected; it was left out."
            report.broken(f"the {line.kind} record has no message", expected, place=place)
        else:
            report.used()
            self.session, self.cwd = line.text("sessionId") or self.session, line.text("cwd") or self.cwd
            self.log.started = self.log.started or parse_time(value.get("timestamp"))
            self._assistant(line) if line.kind == "assistant" else self._user(line)

    def _assistant(self, line: Line) -> None:
        self._say_results()
        self._line = self._line or line
        usage = anthropic_usage(line.message.get("usage"))
        self._usage = usage if usage.input else self._usage
        for block in _blocks(line):
            name = text(block, "id") if text(block, "type") == "tool_use" else ""
            if name not in self._seen and block not in self._reply:
                self._reply.append(block)
            self._seen.update(filter(None, [name]))

    def _user(self, line: Line) -> None:
        self._flush()
        results = [_result(block) for block in line.blocks if block.get("type") == "tool_result"]
        if results:
            others = [block for block in _blocks(line) if text(block, "type") != "tool_result"]
            self._results += [*results, *others]
            self._place = line.place
            return
        self._say_results()
        if line.is_typed:
            self.prompt = self.prompt or line.typed
        self.log.say({"role": "user", "content": line.content}, line.place)

    def _flush(self) -> None:
        """Add the reply that was gathered; lines that only repeated calls are none."""
        line, reply = self._line, self._reply
        if line is not None and reply:
            at: datetime | None = parse_time(line.value.get("timestamp"))
            wire = {"role": "assistant", "content": reply}
            self.log.reply([wire], line.place, usage=self._usage, model=line.model, at=at)
        self._line, self._reply, self._usage = None, [], Usage()

    def _say_results(self) -> None:
        if self._results:
            results, self._results = self._results, []
            ordered = sorted(results, key=lambda block: text(block, "type") != "tool_result")
            self.log.say({"role": "user", "content": ordered}, self._place)

    def transcripts(self) -> Iterator[Transcript]:
        """Yield the session, if it holds messages."""
        self._flush()
        self._say_results()
        ignored = self.ignored.tell()
        if self.log.builder.messages or self.log.calls:
            meta = {**({"cwd": self.cwd} if self.cwd else {}), **({"ignored": ignored} if ignored else {})}
            yield self.log.transcript(session=self.session, prompt=self.prompt, meta=meta)


def _blocks(line: Line) -> list[Any]:
    if isinstance(line.content, str):
        return [{"type": "text", "text": line.content}] if line.content else []
    return list(line.content or [])


def _result(block: Wire) -> dict[str, Any]:
    """Return a result as Anthropic takes it: its text instead of the answer in Gemini's form."""
    content = block.get("content")
    answer = inner(content, "responseParts", "functionResponse", "response")
    if answer:
        shown = answer.get("output", answer.get("error", answer))
        content = shown if isinstance(shown, str) else dump(shown)
    elif isinstance(content, Mapping):
        content = dump(content)
    return {**block, "content": content}


def _is_line(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("type"), str) and "sessionId" in value


def _is_own(value: Any) -> bool:
    """Tell whether a value can only be iFlow's: the ids that it gives to replies and sessions, and its results."""
    if not _is_line(value) or not isinstance(value.get("message"), Mapping):
        return False
    if text(value["message"], "id").startswith("response-"):
        return True
    blocks = value["message"].get("content")
    return isinstance(blocks, list) and any(inner(block, "content", "responseParts") for block in blocks)


FORMAT = Format("iflow", "iFlow CLI sessions", sniff, one_session(_Session))
