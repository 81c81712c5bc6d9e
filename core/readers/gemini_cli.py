"""Chats of Gemini CLI: one JSON document (2025), or JSON Lines with patches (2026).

A message that is written again replaces the first one, `$rewindTo` takes back a message and all that follow, and
`$set.messages` replaces what the model reads from there on, as after a compression. A reply holds its tool calls with
their results; the model gets them in a message of their own. System prompt and tools are not in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript, Usage
from ..wire import Wire
from .event_log import EventLog, Ignored
from .fields import listed, objects, text, texts_of
from .figures import figure
from .formats import Format, Reading, share
from .records import Record
from .times import parse_time

REPLIES = ("gemini", "model", "assistant", "qwen")
SHOWN = ("info", "error", "warning")
_KNOWN = frozenset({*SHOWN, "header", "$set", "$rewindTo", "copy", "rewound", "logs"})


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are a chat of Gemini CLI."""
    if any(_is_document(value) or _is_header(value) for value in values):
        return 0.95 * share(values, lambda value: _is_document(value) or _is_line(value))
    return 0.85 * share(values, _is_reply)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the chat, or each of several. Lines behind a document go on with its chat."""
    chat = _Chat(reading)
    for record in reading.records:
        documents = record.value if isinstance(record.value, list) else [record.value]
        if not any(map(_is_document, documents)):
            chat.take(record)
            continue
        reading.report.used()
        for document in filter(_is_document, documents):
            yield from chat.transcript()
            chat = _Chat(reading)
            chat.document(document, record.place)
    yield from chat.transcript()


class _Chat:
    """The messages of one chat as they stand after all patches."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.ignored = Ignored(reading, _KNOWN)
        self.meta: dict[str, Any] = {}
        self._entries: dict[str, tuple[Wire | None, str]] = {}
        """By id, messages in their order; None marks where the window begins anew."""
        self._resets: dict[str, list[Wire]] = {}

    def document(self, document: Wire, place: str) -> None:
        """Take a whole chat in."""
        self.meta = {key: value for key, value in document.items() if key != "messages"}
        for number, message in enumerate(listed(document, "messages"), 1):
            self.message(message, ", ".join(filter(None, (place, f"message {number}"))), counted=False)

    def take(self, record: Record) -> None:
        """Take one line in, and count it."""
        value, place, report = record.value, record.place, self.reading.report
        if not _is_line(value):
            expected = "A header, a message or a patch was expected; it was left out."
            report.broken("this is no record of a Gemini CLI chat", expected, place=place)
        elif isinstance(value.get("$rewindTo"), str):
            report.used()
            self._rewind(value["$rewindTo"])
        elif isinstance(value.get("$set"), Mapping):
            self._patch(value["$set"], "$set", place)
        elif "type" in value:
            self.message(value, place)
        else:
            self._patch(value, "header", place)

    def message(self, value: Any, place: str, counted: bool = True) -> None:
        """Take a message in; one with the id of an earlier one replaces it."""
        if not _is_message(value):
            expected = "An object with `type` and `content` was expected; it was left out."
            if counted:
                self.reading.report.broken("this is no message of a Gemini CLI chat", expected, place=place)
            else:
                self.reading.report.add("this is no message of a Gemini CLI chat", expected, place=place)
            return
        if value["type"] not in (*REPLIES, "user"):
            self.ignored.add(value["type"], place, counted=counted)
            return
        if counted:
            self.reading.report.used()
        name = text(value, "id") or place
        for messages in self._resets.values():
            again = [value if text(message, "id") == name else message for message in messages]
            if any(new is not old for new, old in zip(again, messages, strict=True)):
                messages[:] = again
                return
        self._entries[name] = (value, place)

    def _patch(self, patch: Wire, kind: str, place: str) -> None:
        messages = patch.get("messages")
        self.meta.update({key: value for key, value in patch.items() if key != "messages"})
        if isinstance(messages, list) and (messages or self._entries):
            self.reading.report.used()
            self._replace([message for message in messages if _is_message(message)], place)
        elif kind == "header":
            self.reading.report.used()
        else:
            self.ignored.add(kind, place)

    def _replace(self, messages: list[Wire], place: str) -> None:
        """Begin the window anew, unless the messages are those that are there."""
        kept = [text(message, "id") for message in messages]
        if not self._entries:
            for number, message in enumerate(messages, 1):
                self.message(message, f"{place}, message {number}", counted=False)
        elif kept != [name for name, (value, _) in self._entries.items() if value is not None]:
            name = f"\x00{len(self._resets)}"
            self._entries[name] = (None, place)
            self._resets[name] = messages

    def _rewind(self, target: str) -> None:
        names = list(self._entries)
        at = names.index(target) if target in names else 0
        for name in names[at:]:
            del self._entries[name]
        self.ignored.kinds["rewound"] += len(names) - at

    def transcript(self) -> Iterator[Transcript]:
        """Yield the chat, if it holds messages."""
        ignored = self.ignored.tell()
        if not self._entries:
            return
        log = EventLog("gemini", self.reading)
        log.started = parse_time(self.meta.get("startTime"))
        for name, (value, place) in self._entries.items():
            if value is None:
                log.compact([wire for message in self._resets[name] for wire in _wires(message)])
            else:
                _add(log, value, place)
        kept = ("kind", "projectHash", "summary", "directories")
        meta = {key: self.meta[key] for key in kept if self.meta.get(key)}
        if self.meta.get("kind") == "subagent":
            meta["agent"] = text(self.meta, "sessionId")
        yield log.transcript(
            title=text(self.meta, "summary"),
            session=text(self.meta, "sessionId"),
            prompt=_first_prompt(value for value, _ in self._entries.values()),
            meta={**meta, **({"ignored": ignored} if ignored else {})},
        )


def _add(log: EventLog, value: Wire, place: str) -> None:
    wires = _wires(value)
    if value["type"] == "user":
        for wire in wires:
            log.say(wire, place)
        return
    thoughts = [{"text": _thought(thought), "thought": True} for thought in objects(value, "thoughts")]
    answer: list[Any] = [*wires[0]["parts"]] if wires and wires[0]["role"] == "model" else []
    log.reply(
        [{"role": "model", "parts": [*thoughts, *answer]}],
        place,
        kept=wires[:1] if answer else [],
        usage=chat_usage(value.get("tokens")),
        model=text(value, "model"),
        at=parse_time(value.get("timestamp")),
    )
    for wire in wires[1:] if answer else wires:
        log.say(wire, place)


def _wires(value: Wire) -> list[Wire]:
    """Return a message as contents: for a reply, what the model said and called, then the results.

    Thoughts are left out, as later prompts do not hold them.
    """
    parts = _parts(value.get("content", value.get("parts")))
    if value["type"] == "user":
        return [{"role": "user", "parts": parts}] if parts else []
    calls = objects(value, "toolCalls")
    answer = [*parts, *({"functionCall": _named(call, "args")} for call in calls)]
    results = [part for call in calls for part in _results(call)]
    turns = (("model", answer), ("user", results))
    return [{"role": role, "parts": said} for role, said in turns if said]


def _results(call: Wire) -> list[Any]:
    """Return the results of a call as parts; one that was cancelled or failed has what was shown instead."""
    result = call.get("result")
    parts = [part for part in (result if isinstance(result, list) else [result]) if isinstance(part, Mapping)]
    if any("functionResponse" in part for part in parts):
        return parts
    if not parts and call.get("status") not in ("success", "error", "cancelled"):
        return []
    output = "\n".join(text(part, "text") for part in parts) or texts_of(call.get("resultDisplay"))
    return [{"functionResponse": {**_named(call), "response": {"output": output}}}]


def _named(call: Wire, arguments: str = "") -> dict[str, Any]:
    named = {key: call[key] for key in ("id", "name") if isinstance(call.get(key), str)}
    return {**named, **({"args": call.get(arguments) or {}} if arguments else {})}


def _parts(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"text": content}] if content else []
    parts = content if isinstance(content, list) else [content] if isinstance(content, Mapping) else []
    return [{"text": part} if isinstance(part, str) else part for part in parts if isinstance(part, str | Mapping)]


def _thought(thought: Wire) -> str:
    return "\n".join(filter(None, (text(thought, "subject"), text(thought, "description"))))


def chat_usage(tokens: Any) -> Usage:
    """Return the usage of a reply: its input includes cached tokens, its output leaves out thoughts."""
    if not isinstance(tokens, Mapping):
        return Usage()
    given, tool = figure(tokens.get("input")), figure(tokens.get("tool"))
    answer, thoughts = figure(tokens.get("output")), figure(tokens.get("thoughts"))
    return Usage(
        input=None if given is None else given + (tool or 0),
        cache_read=figure(tokens.get("cached")),
        output=None if answer is None else answer + (thoughts or 0),
        reasoning=thoughts,
    )


def _first_prompt(messages: Iterator[Wire | None]) -> str:
    """Return what the user first typed; `displayContent` is that where the command put more into the message."""
    for value in messages:
        if value is not None and value["type"] == "user":
            said = texts_of(value.get("displayContent")) or texts_of(value.get("content"))
            if said.strip():
                return said
    return ""


def _is_document(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("messages"), list) or "sessionId" not in value:
        return False
    typed = [message for message in value["messages"] if isinstance(message, Mapping) and "type" in message]
    return bool(typed) and ("projectHash" in value or any(map(_is_reply, typed)))


def _is_header(value: Any) -> bool:
    return isinstance(value, Mapping) and "sessionId" in value and "projectHash" in value and "type" not in value


def _is_line(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    return _is_header(value) or "$set" in value or "$rewindTo" in value or _is_message(value)


def _is_message(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("type"), str):
        return False
    return any(key in value for key in ("content", "parts", "toolCalls", "thoughts"))


def _is_reply(value: Any) -> bool:
    return _is_message(value) and value["type"] in ("gemini", "qwen") and not _dotted(value)


def _dotted(value: Wire) -> bool:
    return "message" in value or "role" in value


FORMAT = Format("gemini_cli", "Gemini CLI chats", sniff, read)
