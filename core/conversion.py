"""A transcript in another provider's dialect, so that a configuration made for it can be replayed.

Messages are rewritten part by part. What the other dialect has no place for (thinking, files, opaque items, settings of
the request) is left out and counted, never silently.
"""

from __future__ import annotations

import json
from collections import Counter as Tally
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from .dialects import Message, Part, PartKind, ToolDefinition, dialect
from .transcript import ROOT, Call, Transcript
from .wire import Wire


class Converted(NamedTuple):
    """The transcript in the other dialect, and sentences about what the conversion left out."""

    transcript: Transcript
    dropped: tuple[str, ...]


def converted(transcript: Transcript, target: str) -> Converted:
    """Return a transcript in another dialect."""
    work = _Conversion(transcript.dialect, target)
    heads = tuple(work.head(head) for head in transcript.heads)
    messages: list[Wire] = []
    parents: list[int] = []
    place = {ROOT: ROOT}
    for node, (wire, parent) in enumerate(zip(transcript.messages, transcript.parents, strict=True)):
        last = place[parent]
        for said in work.messages(wire):
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
    def __init__(self, source: str, target: str) -> None:
        self.source, self.target = dialect(source), dialect(target)
        self.dropped: Tally[str] = Tally()
        self._names: dict[str, str] = {}

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

    def messages(self, wire: Wire) -> list[dict[str, Any]]:
        """Return the messages that say in the other dialect what one message says."""
        message = self.source.message(wire)
        for part in message.parts:
            if part.kind not in _CARRIED:
                self.dropped[f"{part.kind} part"] += 1
        self._names.update((part.call_id, part.name) for part in message.calls)
        carried = [self._named(part) for part in message.parts if part.kind in _CARRIED]
        return list(_WRITERS[self.target.name](message, carried))

    def _named(self, part: Part) -> Part:
        """Results mostly know only their call's id; some dialects want the tool's name too."""
        named = part.name or self._names.get(part.call_id, "")
        return replace(part, name=named) if part.kind is PartKind.TOOL_RESULT else part

    def joined(self, before: Wire | None, said: Wire) -> Wire | None:
        """Return two messages of results as one, where the dialect wants all results of a reply in one message."""
        key = _JOINED.get(self.target.name)
        if key is None or before is None or not all(self.target.message(wire).results for wire in (before, said)):
            return None
        return {**before, key: [*before[key], *said[key]]}

    def call(self, call: Call, place: Mapping[int, int]) -> Call:
        """Return a call whose prompt stands elsewhere."""
        response = self.messages(call.response) if call.response is not None else []
        return replace(
            call,
            history=place[call.history],
            captured=place[call.captured],
            response=response[0] if response else None,
            variants=(),
        )


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


def _object(arguments: str) -> Any:
    try:
        parsed = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return {"arguments": arguments}
    return parsed if isinstance(parsed, dict) else {"arguments": parsed}


def _openai_chat(message: Message, parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    calls = [
        {"id": part.call_id, "type": "function", "function": {"name": part.name, "arguments": part.text}}
        for part in parts
        if part.kind is PartKind.TOOL_CALL
    ]
    text = "".join(part.text for part in parts if part.kind is PartKind.TEXT)
    for part in parts:
        if part.kind is PartKind.TOOL_RESULT:
            yield {"role": "tool", "tool_call_id": part.call_id, "content": part.text}
    role = "user" if message.role in ("tool", "other") else message.role
    if text or calls:
        yield {"role": role, "content": text or None} | ({"tool_calls": calls} if calls else {})


def _anthropic(message: Message, parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in parts:
        if part.kind is PartKind.TEXT:
            blocks.append({"type": "text", "text": part.text})
        elif part.kind is PartKind.TOOL_CALL:
            blocks.append({"type": "tool_use", "id": part.call_id, "name": part.name, "input": _object(part.text)})
        else:
            blocks.append({"type": "tool_result", "tool_use_id": part.call_id, "content": part.text})
    if blocks:
        yield {"role": "assistant" if message.role == "assistant" else "user", "content": blocks}


def _openai_responses(message: Message, parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    for part in parts:
        if part.kind is PartKind.TEXT:
            yield {"role": "user" if message.role in ("tool", "other") else message.role, "content": part.text}
        elif part.kind is PartKind.TOOL_CALL:
            yield {"type": "function_call", "call_id": part.call_id, "name": part.name, "arguments": part.text}
        else:
            yield {"type": "function_call_output", "call_id": part.call_id, "output": part.text}


def _gemini(message: Message, parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for part in parts:
        if part.kind is PartKind.TEXT:
            made.append({"text": part.text})
        elif part.kind is PartKind.TOOL_CALL:
            made.append({"functionCall": {"id": part.call_id, "name": part.name, "args": _object(part.text)}})
        else:
            answer = {"id": part.call_id, "name": part.name, "response": {"output": part.text}}
            made.append({"functionResponse": answer})
    if made:
        yield {"role": "model" if message.role == "assistant" else "user", "parts": made}


_WRITERS = {
    "openai_chat": _openai_chat,
    "anthropic": _anthropic,
    "openai_responses": _openai_responses,
    "gemini": _gemini,
}
