"""Sessions of pi: JSON Lines of entries that form a tree by `parentId`; the newest entry ends the visible branch.

Other branches stay in the tree with their calls. A compaction keeps the entries from `firstKeptEntryId` on, behind its
summary. pi speaks to many providers, so the messages are written as OpenAI chat takes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript, Usage
from ..wire import Wire, dump
from .event_log import EventLog, Ignored, Position
from .fields import inner, objects, text, texts_of
from .figures import figure
from .formats import Format, Reading, share
from .records import Record
from .sessions import one_session
from .times import parse_time

COMPACTED = "The conversation history before this point was compacted into the following summary:\n\n"
BRANCHED = "The following is a summary of a branch that this conversation came back from:\n\n"
_KNOWN = frozenset(
    """
    session message model_change thinking_level_change compaction branch_summary custom label session_info
    custom_message
    """.split()  # noqa: SIM905
)


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are a session of pi."""
    if any(_is_header(value) for value in values):
        return 0.97 * share(values, _is_entry)
    return 0.9 * share(values, _is_message)


class _Session:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.log = EventLog("openai_chat", reading)
        self.ignored = Ignored(reading, _KNOWN)
        self.header: Wire = {}
        self.title = ""
        self.model = ""
        self._after: dict[str, Position] = {}
        """By entry: the place in the session that it led to."""
        self._said: dict[str, tuple[str, list[Wire]]] = {}
        """By entry: the entry before it and the messages that it added."""

    def take(self, record: Record) -> None:
        """Take one entry in, and count it."""
        value, place, report = record.value, record.place, self.reading.report
        if not _is_entry(value):
            expected = "An entry with `type` and `id` was expected; it was left out."
            report.broken("this is no entry of a pi session", expected, place=place)
            return
        kind, name = value["type"], text(value, "id")
        if kind == "session":
            report.used()
            self.header = self.header or value
            self.log.started = self.log.started or parse_time(value.get("timestamp"))
            return
        parent = text(value, "parentId")
        if parent in self._after:
            self.log.at = self._after[parent]
        elif "parentId" in value and value["parentId"] is None:
            self.log.at = Position()
        said = self._entry(kind, value, place)
        if said is None:
            self.ignored.add(kind, place)
        else:
            report.used()
        if name:
            self._after[name] = self.log.at
            self._said[name] = (parent, said or [])

    def _entry(self, kind: str, value: Wire, place: str) -> list[Wire] | None:
        """Add an entry; return the messages that it brought, None if it is none by design."""
        if kind == "message":
            return self._message(inner(value, "message"), value, place)
        if kind == "custom_message":
            return self._say({"role": "user", "content": _content(value.get("content"))}, place)
        if kind == "branch_summary" and text(value, "summary"):
            return self._say({"role": "user", "content": BRANCHED + text(value, "summary")}, place)
        if kind == "compaction":
            return self._compact(value)
        if kind == "model_change":
            self.model = text(value, "modelId") or self.model
        if kind == "session_info" and text(value, "name"):
            self.title = text(value, "name")
            return []
        return None

    def _say(self, wire: Wire, place: str) -> list[Wire]:
        self.log.say(wire, place)
        return [wire]

    def _message(self, message: Wire, value: Wire, place: str) -> list[Wire] | None:
        role = text(message, "role")
        if role == "assistant":
            return self._reply(message, value, place)
        if role == "toolResult":
            content = _content(message.get("content"))
            return self._say({"role": "tool", "tool_call_id": text(message, "toolCallId"), "content": content}, place)
        if role == "bashExecution":
            if message.get("excludeFromContext") is True:
                return None
            output = text(message, "output") or "(no output)"
            return self._say({"role": "user", "content": f"Ran `{text(message, 'command')}`\n{output}"}, place)
        if role in ("user", "custom", "hookMessage"):
            return self._say({"role": "user", "content": _content(message.get("content"))}, place)
        if role in ("branchSummary", "compactionSummary") and text(message, "summary"):
            return self._say({"role": "user", "content": text(message, "summary")}, place)
        return self._say({"role": role or "unknown", "content": _content(message.get("content"))}, place)

    def _reply(self, message: Wire, value: Wire, place: str) -> list[Wire] | None:
        blocks = objects(message, "content")
        thought = [text(block, "thinking") for block in blocks if block.get("type") == "thinking"]
        calls = [_call(block) for block in blocks if block.get("type") == "toolCall"]
        said = [text(block, "text") for block in blocks if block.get("type") == "text"]
        usage = _usage(message.get("usage"))
        if not (any(thought) or calls or any(said)) and not usage.input:
            return None
        wire: dict[str, Any] = {"role": "assistant", "content": "".join(said) or (None if calls else "")}
        if any(thought):
            wire["reasoning_content"] = "\n".join(filter(None, thought))
        if calls:
            wire["tool_calls"] = calls
        model = text(message, "model") or self.model
        at = parse_time(value.get("timestamp")) or parse_time(message.get("timestamp"))
        self.log.reply([wire], place, usage=usage, model=model, at=at)
        return [wire]

    def _compact(self, value: Wire) -> list[Wire]:
        """Begin the window with the summary and the entries that were kept."""
        summary: Wire = {"role": "user", "content": COMPACTED + text(value, "summary")}
        kept: list[list[Wire]] = []
        name, first = text(value, "parentId"), text(value, "firstKeptEntryId")
        while name in self._said and first:
            before, messages = self._said[name]
            kept.append(messages)
            if name == first:
                break
            name = before
        else:
            kept = []
        self.log.compact([summary, *(wire for messages in reversed(kept) for wire in messages)])
        return [summary]

    def transcripts(self) -> Iterator[Transcript]:
        """Yield the session, if it holds anything."""
        ignored = self.ignored.tell()
        if not self.log.builder.messages and not self.log.calls:
            return
        found = {key: text(self.header, key) for key in ("cwd",)}
        found["parent_session"] = text(self.header, "parentSession")
        meta = {**{key: value for key, value in found.items() if value}, **({"ignored": ignored} if ignored else {})}
        yield self.log.transcript(title=self.title, session=text(self.header, "id"), meta=meta)


def _call(block: Wire) -> Wire:
    given = block.get("arguments")
    function = {"name": text(block, "name"), "arguments": given if isinstance(given, str) else dump(given or {})}
    return {"id": text(block, "id"), "type": "function", "function": function}


def _content(content: Any) -> Any:
    """Return content as OpenAI chat takes it."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else texts_of(content)
    parts = [part for block in content if (part := _part(block)) is not None]
    return parts[0]["text"] if len(parts) == 1 and parts[0].get("type") == "text" else parts


def _part(block: Any) -> dict[str, Any] | None:
    if not isinstance(block, Mapping):
        return {"type": "text", "text": block} if isinstance(block, str) else None
    if block.get("type") == "image":
        url = f"data:{text(block, 'mimeType') or 'image/png'};base64,{text(block, 'data')}"
        return {"type": "image_url", "image_url": {"url": url}}
    if block.get("type") == "text":
        return {"type": "text", "text": text(block, "text")}
    return dict(block)


def _usage(usage: Any) -> Usage:
    """Return the usage of a reply: its input leaves out what came from the cache or went into it."""
    if not isinstance(usage, Mapping):
        return Usage()
    plain, read, write = (figure(usage.get(key)) for key in ("input", "cacheRead", "cacheWrite"))
    output = figure(usage.get("output"))
    if not any((plain, read, write, output)):
        return Usage()
    whole = None if plain is None else plain + (read or 0) + (write or 0)
    return Usage(whole, read, write, output, figure(usage.get("reasoning")))


def _is_header(value: Any) -> bool:
    return text(value, "type") == "session" and "cwd" in value and "id" in value


def _is_entry(value: Any) -> bool:
    kind = text(value, "type")
    return kind in _KNOWN or (bool(kind) and ("parentId" in value or "id" in value))


def _is_message(value: Any) -> bool:
    message = value.get("message") if isinstance(value, Mapping) else None
    if text(value, "type") != "message" or not isinstance(message, Mapping):
        return False
    return "id" in value and ("parentId" in value or text(message, "role") in ("toolResult", "bashExecution"))


FORMAT = Format("pi", "pi sessions", sniff, one_session(_Session))
