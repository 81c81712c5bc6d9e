"""Tasks of Cline and Roo Code: `api_conversation_history.json`, the context as Anthropic Messages take it.

Results of native tool calls may stand as texts, `[read_file for 'x'] Result: ...`, in the order of the calls; here
they are results. Roo writes a condensed history behind a summary message and may keep what it replaced, marked as
hidden; Cline leaves out old messages without a word in this file. System prompt and tools are not stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript, Usage
from ..wire import Wire
from .event_log import EventLog
from .fields import inner, objects, text, texts_of
from .figures import figure
from .formats import Format, Reading, share
from .times import parse_time

MARKS = ("<task>", "<environment_details>", "<feedback>", "<user_message>")
_RECORDED = frozenset(
    """
    ts modelInfo metrics isSummary condenseId condenseParent truncationParent truncationId isTruncationMarker id type
    """.split()  # noqa: SIM905
)
"""What a message holds beside role and content, for the extension's own use."""
_RESULT = re.compile(r"\[(\w+)(?: for .*?)?\] Result:", re.DOTALL)


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are the API history of a Cline or Roo task."""
    return 0.97 * share(values, _is_history)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the task of each history."""
    for record in reading.records:
        if not _is_history(record.value):
            expected = "A list of messages with roles was expected; it was left out."
            reading.report.broken("this is no history of a Cline or Roo task", expected, place=record.place)
            continue
        reading.report.used()
        task = _Task(reading)
        for number, message in enumerate(record.value, 1):
            task.take(message, ", ".join(filter(None, (record.place, f"message {number}"))))
        meta = {"ignored": {"reasoning": task.thoughts}} if task.thoughts else {}
        yield task.log.transcript(prompt=task.prompt, meta=meta)


class _Task:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.log = EventLog("anthropic", reading)
        self.prompt = ""
        self.thoughts = 0
        self._calls: list[Wire] = []
        self._first: Wire | None = None
        self._sent: list[tuple[Wire, str]] = []
        """The messages in the window, each with the id of the truncation that hides it."""

    def take(self, message: Any, place: str) -> None:
        """Take one message in."""
        if isinstance(message, Mapping) and _is_thought(message):
            self.thoughts += 1
            return
        if not isinstance(message, Mapping) or not isinstance(message.get("content"), str | list):
            expected = "An object with a role and content was expected; it was left out."
            self.reading.report.add("this is no message", expected, place=place)
            return
        wire = {key: value for key, value in message.items() if key not in _RECORDED}
        if message.get("isSummary") is True:
            self._condense(wire)
        elif message.get("isTruncationMarker") is True:
            self._truncate(wire, text(message, "truncationId"))
        elif wire.get("role") == "assistant":
            self._reply(message, wire, place)
        else:
            self._user(message, wire, place)
        self.log.started = self.log.started or parse_time(message.get("ts"))

    def _user(self, message: Wire, wire: Wire, place: str) -> None:
        wire = self._with_results(wire)
        if self._first is None:
            self._first = wire
            self.prompt = task_of(texts_of(wire.get("content")))
        self.log.say(wire, place)
        self._sent.append((wire, text(message, "truncationParent")))
        self._calls = []

    def _reply(self, message: Wire, wire: Wire, place: str) -> None:
        model = text(message.get("modelInfo"), "modelId")
        at = parse_time(message.get("ts"))
        self.log.reply([wire], place, usage=_usage(inner(message, "metrics", "tokens")), model=model, at=at)
        self._sent.append((wire, text(message, "truncationParent")))
        self._calls = [block for block in objects(wire, "content") if block.get("type") == "tool_use"]

    def _condense(self, wire: Wire) -> None:
        """Begin the window with the summary; one in the assistant's role stands behind the first message."""
        first = [self._first] if wire.get("role") == "assistant" and self._first is not None else []
        self.log.compact([*first, wire])
        self._sent = [(kept, "") for kept in (*first, wire)]
        self._calls = []

    def _truncate(self, wire: Wire, name: str) -> None:
        kept = [sent for sent, hidden in self._sent if not name or hidden != name]
        self.log.rewrite(kept, "old messages were left out of the prompt")
        self.log.say(wire)
        self._sent = [*((sent, "") for sent in kept), (wire, "")]

    def _with_results(self, wire: Wire) -> Wire:
        """Return a user message whose texts that hold results are results of the calls before it."""
        waiting = [call for call in self._calls if text(call, "id") not in _answered(wire)]
        if not waiting or not isinstance(wire.get("content"), list):
            return wire
        named = [_named(block) for block in wire["content"]]
        by_order = sum(map(bool, named)) == len(waiting)
        results: list[Any] = []
        others: list[Any] = []
        for block, name in zip(wire["content"], named, strict=True):
            call = next((call for call in waiting if name and call.get("name") == name), None)
            call = waiting[0] if call is None and name and by_order else call
            if call is None:
                (results if text(block, "type") == "tool_result" else others).append(block)
            else:
                waiting.remove(call)
                results.append({"type": "tool_result", "tool_use_id": text(call, "id"), "content": [block]})
                self._note()
        return {**wire, "content": [*results, *others]}

    def _note(self) -> None:
        note = "tool results are recorded as texts and were given to their calls by name and order"
        if note not in self.log.notes:
            self.log.notes.append(note)


def _named(block: Any) -> str:
    """Return the tool whose result a text says that it is; empty if it is no result."""
    found = _RESULT.match(text(block, "text")) if text(block, "type") == "text" else None
    return found.group(1) if found else ""


def _answered(wire: Wire) -> set[str]:
    return {text(block, "tool_use_id") for block in objects(wire, "content") if block.get("type") == "tool_result"}


def task_of(said: str) -> str:
    """Return what the user typed, without the tags and what was put behind it."""
    inside = re.search(r"<(task|feedback|user_message)>\s*(.*?)\s*(</\1>|$)", said, re.DOTALL)
    return inside.group(2) if inside else said.partition("<environment_details>")[0]


def _usage(tokens: Wire) -> Usage:
    """Return the usage that Cline keeps: `cached` is what was read from the cache and written to it together."""
    prompt, cached = figure(tokens.get("prompt")), figure(tokens.get("cached"))
    return Usage(input=None if prompt is None else prompt + (cached or 0), output=figure(tokens.get("completion")))


def _is_history(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    messages = [message for message in value if isinstance(message, Mapping)]
    if any(message.get("role") not in ("user", "assistant") for message in messages if not _is_thought(message)):
        return False
    return any(map(_shows, messages))


def _is_thought(message: Wire) -> bool:
    """Tell whether an entry is encrypted reasoning, which Roo keeps beside the messages."""
    return message.get("type") == "reasoning" and "content" not in message


def _shows(message: Wire) -> bool:
    if any(key in message for key in ("modelInfo", "isSummary", "condenseParent", "truncationParent")):
        return True
    if isinstance(message.get("ts"), int) and "content" in message:
        return True
    content = message.get("content")
    said = [content] if isinstance(content, str) else [text(block, "text") for block in objects(message, "content")]
    return message.get("role") == "user" and any(part.lstrip().startswith(MARKS[:2]) for part in said)


FORMAT = Format("cline_roo", "API histories of Cline and Roo tasks", sniff, read)
