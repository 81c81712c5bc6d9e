"""Anthropic Messages: `{"model", "system", "messages", "tools", "max_tokens", ...}`.

The system prompt stands outside the conversation. Tool results are blocks of the next user message, which may also
hold what the user said, so one message can belong to a reply and to the user at once. Server tools (`server_tool_use`
with its result) stand as a pair inside one assistant message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import RequestError
from ..tokens import Counter
from ..wire import Wire, text_of
from . import anthropic_tokens
from .base import Cost, Message, Part, PartKind, ToolDefinition
from .content import (
    content_key,
    document_text,
    joined_text,
    media_kind,
    opaque_text,
    owner_of,
    part_text,
    plain_part,
    plain_parts,
    type_of,
    with_text,
)
from .content_edits import GONE, left, with_only_text

CALL_TYPES = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
ROLES = frozenset({"system", "user", "assistant"})


class Anthropic:
    """The dialect `anthropic`."""

    name = "anthropic"

    def split(self, body: Wire) -> tuple[Wire, list[Wire]]:
        """Return the head, whose `messages` is empty, and the conversation."""
        messages = body.get("messages") if isinstance(body, Mapping) else None
        if not isinstance(messages, list):
            raise RequestError("An Anthropic request needs a list `messages`; this body has none.")
        return {**body, "messages": []}, list(messages)

    def join(self, head: Wire, messages: Sequence[Wire]) -> dict[str, Any]:
        """Return the body with the conversation in its place."""
        return {**head, "messages": list(messages)}

    def message(self, wire: Wire) -> Message:
        """Read one message; blocks keep their order."""
        if not isinstance(wire, Mapping):
            return Message("other", (Part(PartKind.OPAQUE, text_of(wire)),))
        content = wire.get("content")
        if isinstance(content, list):
            parts = [part for place, block in enumerate(content) for part in _block(block, place)]
        else:
            parts = plain_parts(content)
        role = wire.get("role")
        return Message(role if isinstance(role, str) and role in ROLES else "other", tuple(parts))

    def continues(self, before: Message, message: Message) -> bool:
        """Return that a message never belongs to the reply of the one before it."""
        return False

    def content_key(self, wire: Wire) -> str:
        """Return the message's content as a comparable text."""
        return content_key(wire)

    def system_texts(self, head: Wire) -> list[str]:
        """Return the texts of `system`: one for a string, one a block for a list."""
        system = head.get("system")
        if isinstance(system, list):
            return [part_text(block) or "" for block in system]
        return [text_of(system)] if system else []

    def head_parts(self, head: Wire) -> list[Part]:
        """Return the blocks of `system` that are no text."""
        system = head.get("system")
        blocks = enumerate(system if isinstance(system, list) else [])
        return [part for place, block in blocks if part_text(block) is None for part in _block(block, place)]

    def with_system_text(self, head: Wire, text: str) -> Wire:
        """Return the head with one more text block at the end of `system`."""
        system = head.get("system")
        blocks = system if isinstance(system, list) else [_text(text_of(system))] if system else []
        return {**head, "system": [*blocks, _text(text)]}

    def with_system_texts(self, head: Wire, texts: Sequence[str]) -> Wire:
        """Return the head with other system texts, one for each that it has; what loses all its text goes."""
        system = head.get("system")
        if isinstance(system, list):
            blocks = zip(system, texts, strict=True)
            changed: Any = left(system, [_with_own_text(block, text) for block, text in blocks])
        else:
            changed = texts[0] if texts else None
        if not changed:
            return {key: value for key, value in head.items() if key != "system"}
        return {**head, "system": changed}

    def tools(self, head: Wire) -> list[ToolDefinition]:
        """Return the definitions in `tools`."""
        tools = head.get("tools")
        return [
            ToolDefinition(_tool_name(tool), text_of(_without_mark(tool)), place)
            for place, tool in enumerate(tools if isinstance(tools, list) else [])
        ]

    def with_tools(self, head: Wire, places: Iterable[int]) -> Wire:
        """Return the head with only these tools; `tools` and `tool_choice` go when none is left."""
        wanted = frozenset(places)
        tools = head.get("tools") or ()
        kept = left(tools, [tool if place in wanted else GONE for place, tool in enumerate(tools)])
        if kept:
            return {**head, "tools": kept}
        return {name: value for name, value in head.items() if name not in ("tools", "tool_choice")}

    def text_message(self, role: str, text: str) -> dict[str, Any]:
        """Return a message of role and text."""
        return {"role": role, "content": text}

    def in_turn(self, sent: Sequence[Wire], given: Sequence[Wire]) -> list[Wire]:
        """Return the conversation as it is: neighbours may have the same role."""
        return list(sent)

    def with_result_text(self, wire: Wire, part: Part, text: str) -> dict[str, Any]:
        """Return the message with another text in one block; its id, error flag and images stay."""
        content = wire.get("content")
        if part.kind is not PartKind.TOOL_RESULT:
            return {**wire, "content": with_text(content, part.place, text)}
        assert isinstance(content, list)
        block = content[part.place]
        changed = {**block, "content": with_only_text(block.get("content"), text)}
        return {**wire, "content": [*content[: part.place], changed, *content[part.place + 1 :]]}

    def cost_of_messages(self, messages: Sequence[Message], counter: Counter) -> Cost:
        """Return the cost of a unit; an estimate, as the tokenizer is not public."""
        return anthropic_tokens.cost_of_messages(messages, counter)

    def cost_of_tools(self, tools: Sequence[ToolDefinition], counter: Counter) -> Cost:
        """Return the cost of tool definitions; an estimate."""
        return anthropic_tokens.cost_of_tools(tools, counter)

    def cost_of_system(self, head: Wire, counter: Counter, texts: Sequence[Sequence[str]]) -> Cost:
        """Return the cost of the system texts, section by section; a block has no frame of its own."""
        frame = 0 if counter.frames else counter.message_overhead * len(texts)
        return Cost(tuple(tuple(counter.pieces(sections)) for sections in texts), frame)

    def request_overhead(self, model: str | None, counter: Counter) -> int:
        """Return what a request costs beside the frames of its messages."""
        return anthropic_tokens.REQUEST_FRAME if counter.frames else 0


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _with_own_text(block: Any, text: str) -> Any:
    """Return a system block with another text; GONE if it has lost its own, itself if it never had one."""
    own = part_text(block)
    if not own or own == text:
        return block
    if not text:
        return GONE
    return {**block, "text": text} if isinstance(block, Mapping) else text


def _without_mark(tool: Any) -> Any:
    return {k: v for k, v in tool.items() if k != "cache_control"} if isinstance(tool, Mapping) else tool


def _tool_name(tool: Any) -> str:
    return str(tool.get("name") or tool.get("type") or "") if isinstance(tool, Mapping) else ""


def _block(block: Any, place: int) -> list[Part]:
    kind = type_of(block)
    if kind == "thinking":
        return [Part(PartKind.THINKING, text_of(block.get("thinking")), place=place)]
    if kind in CALL_TYPES:
        return [
            Part(
                PartKind.TOOL_CALL,
                text_of(block.get("input")),
                str(block.get("name") or ""),
                str(block.get("id") or ""),
                place,
                owner=owner_of(block),
            )
        ]
    if kind.endswith("tool_result"):
        return _result(block, place)
    part = plain_part(block, place)
    return [part] if part is not None else []


def _result(block: Wire, place: int) -> list[Part]:
    content = block.get("content")
    text = joined_text(content) if isinstance(content, str | list) else text_of(content)
    call_id, own = str(block.get("tool_use_id") or ""), type_of(block) != "tool_result"
    parts = [Part(PartKind.TOOL_RESULT, text, call_id=call_id, place=place, fixed=own)]
    for value in content if isinstance(content, list) else []:
        kind = media_kind(value)
        if kind is not None:
            parts.append(Part(kind, document_text(value), name=str(value.get("type")), place=place))
        elif part_text(value) is None:
            parts.append(Part(PartKind.OPAQUE, opaque_text(value), place=place))
    return parts
