"""A transcript in another provider's dialect, so that a configuration made for it can be replayed.

Messages are rewritten part by part. What the other dialect has no place for (thinking, files, opaque items, settings of
the request) is left out and counted, never silently. A call of the provider's own tools stands with its result inside a
reply, which no other provider takes: both become text. What is one reply in several items becomes one message.
"""

from __future__ import annotations

import json
from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from .conversion_ids import CallIds
from .conversion_writers import WRITERS
from .dialects import Message, Part, PartKind, ToolDefinition, dialect
from .transcript import ROOT, Call, Transcript
from .wire import Wire


class Converted(NamedTuple):
    """The transcript in the other dialect, and sentences about what the conversion left out."""

    transcript: Transcript
    dropped: tuple[str, ...]


def converted(transcript: Transcript, target: str) -> Converted:
    """Return a transcript in another dialect."""
    work = _Conversion(transcript, target)
    heads = tuple(work.head(head) for head in transcript.heads)
    messages: list[Wire] = []
    parents: list[int] = []
    place = {ROOT: ROOT}
    for node, (wire, parent) in enumerate(zip(transcript.messages, transcript.parents, strict=True)):
        last = place[parent]
        for said in work.node(node, wire):
            before = messages[last] if last != ROOT else None
            joined = work.joined(before, said)
            parents.append(last if joined is None else parents[last])
            messages.append(said if joined is None else joined)
            last = len(messages) - 1
        place[node] = last
    calls = tuple(work.call(call, place) for call in transcript.calls)
    written = replace(
        transcript, dialect=target, messages=tuple(messages), parents=tuple(parents), heads=heads, calls=calls
    )
    return Converted(written, tuple(f"{count} × {what}" for what, count in sorted(work.dropped.items())))


class _Conversion:
    def __init__(self, transcript: Transcript, target: str) -> None:
        self.source, self.target = dialect(transcript.dialect), dialect(target)
        self.dropped: Tally[str] = Tally()
        self._names: dict[str, str] = {}
        read = [self.source.message(wire) for wire in transcript.messages]
        self._ids = CallIds(read, transcript.parents, transcript.depths, target)
        served = {part.call_id for message in read if _is_reply(message) for part in message.results} - {""}
        self._loose = served | _late(read, transcript.parents)
        one_reply = self.source.continues(_REPLY, _REPLY) and not self.target.continues(_REPLY, _REPLY)
        self._joins_replies = one_reply or target == "gemini"

    def head(self, head: Wire) -> Wire:
        """Return the fixed part: model, system texts and tools; other settings belong to the provider."""
        known = {"model", "messages", "input", "contents", "system", "instructions", "tools", *_SYSTEM_KEYS}
        for key in head:
            if key not in known:
                self.dropped[f"request setting {key}"] += 1
        lists = {"openai_responses": "input", "gemini": "contents"}
        made: Wire = {"model": head.get("model"), lists.get(self.target.name, "messages"): []}
        for text in self.source.system_texts(head):
            made = self.target.with_system_text(made, text)
        tools = [_plain_tool(tool) for tool in self.source.tools(head)]
        return {**made, "tools": _tools(self.target.name, tools)} if tools else made

    def node(self, node: int, wire: Wire) -> list[dict[str, Any]]:
        """Return the messages that say in the other dialect what one message says."""
        return self._written(self._ids.message(node, self._carried(wire)))

    def _carried(self, wire: Wire) -> Message:
        """Return what the other dialect has a place for; a pair that it has none for is text."""
        message = self.source.message(wire)
        for part in message.parts:
            if part.kind not in _CARRIED:
                self.dropped[f"{part.kind} part"] += 1
        self._names.update((part.call_id, part.name) for part in message.calls if part.call_id)
        within = {part.call_id for part in message.results} if _is_reply(message) else set()
        parts = [self._named(part) for part in message.parts if part.kind in _CARRIED]
        told = (part.call_id in within or part.call_id in self._loose for part in parts)
        return replace(
            message, parts=tuple(_told(part) if text else part for part, text in zip(parts, told, strict=True))
        )

    def _written(self, message: Message) -> list[dict[str, Any]]:
        nameless = self.target.name != "gemini"
        parts = [_told(part) if nameless and _is_nameless(part) else part for part in message.parts]
        return list(WRITERS[self.target.name](message, parts))

    def _named(self, part: Part) -> Part:
        """Results mostly know only their call's id; some dialects want the tool's name too."""
        named = part.name or self._names.get(part.call_id, "")
        return replace(part, name=named) if part.kind is PartKind.TOOL_RESULT else part

    def joined(self, before: Wire | None, said: Wire) -> Wire | None:
        """Return two messages as one: results that must stand in one message, and items of one reply."""
        if before is None:
            return None
        first, second = self.target.message(before), self.target.message(said)
        if _is_reply(first) and _is_reply(second):
            return _one_reply(before, said) if self._joins_replies else None
        key = _JOINED.get(self.target.name)
        return {**before, key: [*before[key], *said[key]]} if key and first.results and second.results else None

    def call(self, call: Call, place: Mapping[int, int]) -> Call:
        """Return a call whose prompt stands elsewhere."""
        response = self._written(self._carried(call.response)) if call.response is not None else []
        several = {"role": "assistant", "output": response} if len(response) > 1 else None
        return replace(
            call,
            history=place[call.history],
            captured=place[call.captured],
            response=several or next(iter(response), None),
            variants=(),
        )


def _is_reply(message: Message) -> bool:
    return message.role == "assistant"


def _late(messages: Sequence[Message], parents: Sequence[int]) -> set[str]:
    """Return the ids of calls whose results do not follow their reply at once, as only OpenAI Responses takes them."""
    replies: dict[int, int] = {ROOT: ROOT}
    asked: dict[str, set[int]] = {}
    late: set[str] = set()
    for node, (message, parent) in enumerate(zip(messages, parents, strict=True)):
        goes_on = message.results and not _is_reply(message)
        if _is_reply(message):
            goes_on = parent != ROOT and _is_reply(messages[parent])
        replies[node] = replies[parent] if goes_on else node
        for call in message.calls:
            asked.setdefault(call.call_id, set()).add(replies[node])
        late |= {
            part.call_id for part in message.results if replies[node] not in asked.get(part.call_id, (replies[node],))
        }
    return late - {""}


def _is_nameless(part: Part) -> bool:
    return part.kind is PartKind.TOOL_RESULT and not part.call_id


def _told(part: Part) -> Part:
    """Return a call or a result as a text."""
    if part.kind is PartKind.TEXT:
        return part
    said = (
        f"[{part.name} {part.text}]"
        if part.kind is PartKind.TOOL_CALL
        else f"[{part.name or 'tool'} answered] {part.text}"
    )
    return Part(PartKind.TEXT, f"{said.rstrip()}\n", place=part.place)


def _one_reply(before: Wire, said: Wire) -> Wire:
    """Return two messages of the assistant as one; texts that stood apart stay so."""
    made = {**before}
    for key, value in said.items():
        if isinstance(value, list):
            made[key] = [*(before.get(key) or ()), *value]
        elif key == "content":
            made[key] = "\n".join(text for text in (before[key], value) if text) or None
    return made


_REPLY = Message("assistant", ())
_CARRIED = frozenset({PartKind.TEXT, PartKind.TOOL_CALL, PartKind.TOOL_RESULT})
_JOINED = {"anthropic": "content", "gemini": "parts"}
_SYSTEM_KEYS = ("systemInstruction", "system_instruction")


class _Tool(NamedTuple):
    name: str
    description: str
    schema: Any


def _plain_tool(tool: ToolDefinition) -> _Tool:
    body = json.loads(tool.text) if tool.text.startswith("{") else {}
    body = body.get("function", body) if isinstance(body.get("function"), dict) else body
    keys = ("parameters", "input_schema", "parametersJsonSchema")
    schema: Any = next((body[key] for key in keys if key in body), {})
    return _Tool(tool.name, str(body.get("description") or ""), schema)


def _tools(target: str, tools: Sequence[_Tool]) -> list[Any]:
    plain = [{"name": tool.name, "description": tool.description, "parameters": tool.schema} for tool in tools]
    if target == "openai_chat":
        return [{"type": "function", "function": tool} for tool in plain]
    if target == "openai_responses":
        return [{"type": "function", **tool} for tool in plain]
    if target == "gemini":
        return [{"functionDeclarations": plain}]
    return [{"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in tools]
