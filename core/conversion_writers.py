"""One message written in each dialect: the wire messages that say what its parts say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .dialects import Message, Part, PartKind

Origin = tuple[int, int]
"""A message of the transcript, and which of its parts."""


class Written(NamedTuple):
    """A part of a written message, as the other dialect reads it: what it was before, and the id of its call."""

    origins: tuple[Origin, ...]
    call_id: str


class Piece(NamedTuple):
    """A written message: all that one message of the transcript says, or a piece of that."""

    wire: dict[str, Any]
    parts: tuple[Written, ...]
    is_reply: bool
    holds_results: bool


_Wires = Iterator[tuple[dict[str, Any], list[list[int]]]]
"""Wire messages, and for each of the parts that it is read as, which of the given parts it says."""


def pieces(target: str, message: Message, parts: Sequence[Part], origins: Sequence[Origin]) -> Iterator[Piece]:
    """Yield the messages that say in a dialect what the parts of a message say; `origins` are those of the parts."""
    for wire, said in _WRITERS[target](message, parts):
        held = [parts[place] for places in said for place in places]
        yield Piece(
            wire,
            tuple(Written(tuple(origins[at] for at in places), parts[places[0]].call_id) for places in said),
            message.role == "assistant",
            any(part.kind is PartKind.TOOL_RESULT for part in held),
        )


def _object(arguments: str) -> Any:
    try:
        parsed = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return {"arguments": arguments}
    return parsed if isinstance(parsed, dict) else {"arguments": parsed}


def _openai_chat(message: Message, parts: Sequence[Part]) -> _Wires:
    texts, asked = ([at for at, part in enumerate(parts) if part.kind is kind] for kind in _SAID)
    for at, part in enumerate(parts):
        if part.kind is PartKind.TOOL_RESULT:
            yield {"role": "tool", "tool_call_id": part.call_id, "content": part.text}, [[at]]
    calls = [
        {"id": part.call_id, "type": "function", "function": {"name": part.name, "arguments": part.text}}
        for part in (parts[at] for at in asked)
    ]
    text = "".join(parts[at].text for at in texts)
    if text or calls:
        said = [*([texts] if text else []), *([at] for at in asked)]
        yield {"role": _role(message), "content": text or None} | ({"tool_calls": calls} if calls else {}), said


_SAID = (PartKind.TEXT, PartKind.TOOL_CALL)


def _role(message: Message) -> str:
    return "user" if message.role in ("tool", "other") else message.role


def _anthropic(message: Message, parts: Sequence[Part]) -> _Wires:
    blocks: list[dict[str, Any]] = []
    said: list[list[int]] = []
    for at, part in enumerate(parts):
        if part.kind is PartKind.TEXT and not part.text.strip():
            continue
        said.append([at])
        if part.kind is PartKind.TEXT:
            blocks.append({"type": "text", "text": part.text})
        elif part.kind is PartKind.TOOL_CALL:
            blocks.append({"type": "tool_use", "id": part.call_id, "name": part.name, "input": _object(part.text)})
        else:
            blocks.append({"type": "tool_result", "tool_use_id": part.call_id, "content": part.text})
    if blocks:
        yield {"role": "assistant" if message.role == "assistant" else "user", "content": blocks}, said


def _openai_responses(message: Message, parts: Sequence[Part]) -> _Wires:
    for at, part in enumerate(parts):
        wire: dict[str, Any]
        if part.kind is PartKind.TEXT:
            wire = {"role": _role(message), "content": part.text}
        elif part.kind is PartKind.TOOL_CALL:
            wire = {"type": "function_call", "call_id": part.call_id, "name": part.name, "arguments": part.text}
        else:
            wire = {"type": "function_call_output", "call_id": part.call_id, "output": part.text}
        yield wire, [[at]]


def _id(part: Part) -> dict[str, str]:
    return {"id": part.call_id} if part.call_id else {}


def _gemini(message: Message, parts: Sequence[Part]) -> _Wires:
    made: list[dict[str, Any]] = []
    for part in parts:
        if part.kind is PartKind.TEXT:
            made.append({"text": part.text})
        elif part.kind is PartKind.TOOL_CALL:
            made.append({"functionCall": {**_id(part), "name": part.name, "args": _object(part.text)}})
        else:
            answer = {**_id(part), "name": part.name, "response": {"output": part.text}}
            made.append({"functionResponse": answer})
    if made:
        said = [[at] for at in range(len(parts))]
        yield {"role": "model" if message.role == "assistant" else "user", "parts": made}, said


_WRITERS = {
    "openai_chat": _openai_chat,
    "anthropic": _anthropic,
    "openai_responses": _openai_responses,
    "gemini": _gemini,
}
