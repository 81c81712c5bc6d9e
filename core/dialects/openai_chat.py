"""OpenAI Chat Completions: `{"model", "messages", "tools", ...}`, also as many other providers take it.

Leading system and developer messages belong to the head. A tool result is a message of its own (role `tool`, or
`function` before November 2023), so a reply and its results are several messages that live or go together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import RequestError
from ..tokens import Counter
from ..wire import Wire, text_of
from . import openai_tokens
from .base import Cost, Message, Part, PartKind, ToolDefinition
from .content import content_key, joined_text, plain_part, plain_parts, with_text
from .content_edits import GONE, left, with_joined_texts, with_only_text

ROLES = {"developer": "system", "function": "tool", "model": "assistant"}
KNOWN_ROLES = frozenset({"system", "user", "assistant", "tool"})
ABOUT_TOOLS = ("tool_choice", "parallel_tool_calls", "function_call")
"""Settings that are refused without tools."""
REASONING_KEYS = ("reasoning_content", "reasoning")
ELSEWHERE = -1
"""The place of a text that is not in the content."""


class OpenAIChat:
    """The dialect `openai_chat`."""

    name = "openai_chat"

    def split(self, body: Wire) -> tuple[Wire, list[Wire]]:
        """Return the head, whose `messages` are the leading system messages, and the conversation."""
        messages = body.get("messages") if isinstance(body, Mapping) else None
        if not isinstance(messages, list):
            raise RequestError("An OpenAI chat request needs a list `messages`; this body has none.")
        lead = 0
        while lead < len(messages) and _role(messages[lead]) == "system":
            lead += 1
        return {**body, "messages": messages[:lead]}, messages[lead:]

    def join(self, head: Wire, messages: Sequence[Wire]) -> dict[str, Any]:
        """Return the body: the head's own messages, then the conversation."""
        return {**head, "messages": [*head["messages"], *messages]}

    def message(self, wire: Wire) -> Message:
        """Read one message; reasoning, text, images and calls become parts in this order."""
        if not isinstance(wire, Mapping):
            return Message("other", (Part(PartKind.OPAQUE, text_of(wire)),))
        role = _role(wire)
        if len(wire) == 2 and role in KNOWN_ROLES and role != "tool" and isinstance(wire.get("content"), str):
            return Message(role, tuple(plain_parts(wire["content"])))  # most messages are a role and a text
        name = wire.get("name") if isinstance(wire.get("name"), str) else ""
        if role == "tool":
            return Message(role, tuple(_result_parts(wire, str(name))))
        parts = [*_thinking(wire), *plain_parts(wire.get("content")), *_refusal(wire), *_calls(wire)]
        return Message(role if role in KNOWN_ROLES else "other", tuple(parts), str(name))

    def continues(self, before: Message, message: Message) -> bool:
        """Return that a message never belongs to the reply of the one before it."""
        return False

    def content_key(self, wire: Wire) -> str:
        """Return the message's content as a comparable text."""
        return content_key(wire)

    def system_texts(self, head: Wire) -> list[str]:
        """Return the text of each leading system message."""
        return [joined_text(message.get("content")) for message in head["messages"]]

    def head_parts(self, head: Wire) -> list[Part]:
        """Return what the leading system messages hold beside their texts."""
        parts = (part for message in head["messages"] for part in self.message(message).parts)
        return [part for part in parts if part.kind is not PartKind.TEXT]

    def with_system_text(self, head: Wire, text: str) -> Wire:
        """Return the head with one more system message, in the role that the last one has."""
        messages = head["messages"]
        role = messages[-1].get("role", "system") if messages else "system"
        return {**head, "messages": [*messages, {"role": role, "content": text}]}

    def with_system_texts(self, head: Wire, texts: Sequence[str]) -> Wire:
        """Return the head with other system texts, one for each that it has; what loses all its text goes."""
        return {**head, "messages": with_joined_texts(head["messages"], self.system_texts(head), texts)}

    def tools(self, head: Wire) -> list[ToolDefinition]:
        """Return the functions of `tools`, or of the older `functions`."""
        return [
            ToolDefinition(_tool_name(tool), text_of(tool), place) for place, tool in enumerate(_tool_list(head)[1])
        ]

    def with_tools(self, head: Wire, places: Iterable[int]) -> Wire:
        """Return the head with only these tools; the key goes when none is left, as an empty list is refused."""
        key, tools = _tool_list(head)
        wanted = frozenset(places)
        kept = left(tools, [tool if place in wanted else GONE for place, tool in enumerate(tools)])
        if kept:
            return {**head, key: kept}
        return {name: value for name, value in head.items() if name not in (key, *ABOUT_TOOLS)}

    def text_message(self, role: str, text: str) -> dict[str, Any]:
        """Return a message of role and text."""
        return {"role": role, "content": text}

    def in_turn(self, sent: Sequence[Wire], given: Sequence[Wire]) -> list[Wire]:
        """Return the conversation as it is: neighbours may have the same role."""
        return list(sent)

    def with_result_text(self, wire: Wire, part: Part, text: str) -> dict[str, Any]:
        """Return the message with another text; role, id and images stay."""
        content = wire.get("content")
        if part.place == ELSEWHERE:
            return {**wire, "refusal": text}
        if part.kind is PartKind.TOOL_RESULT:
            return {**wire, "content": with_only_text(content, text)}
        return {**wire, "content": with_text(content, part.place, text)}

    def cost_of_messages(self, messages: Sequence[Message], counter: Counter) -> Cost:
        """Return the cost of a unit by the measured formula."""
        return openai_tokens.cost_of_messages(messages, counter)

    def cost_of_tools(self, tools: Sequence[ToolDefinition], counter: Counter) -> Cost:
        """Return the cost of tool definitions by the measured rendering."""
        return openai_tokens.cost_of_tools(tools, counter)

    def cost_of_system(self, head: Wire, counter: Counter, texts: Sequence[Sequence[str]]) -> Cost:
        """Return the cost of the leading system messages, section by section."""
        return openai_tokens.cost_of_system(texts, counter, [self.message(wire) for wire in head["messages"]])

    def request_overhead(self, model: str | None, counter: Counter) -> int:
        """Return the reply priming."""
        return openai_tokens.priming(model) if counter.frames else 0


def _role(wire: Any) -> str:
    role = wire.get("role") if isinstance(wire, Mapping) else None
    return ROLES.get(role, role) if isinstance(role, str) else "other"


def _thinking(wire: Wire) -> list[Part]:
    for key in REASONING_KEYS:
        if isinstance(wire.get(key), str) and wire[key]:
            return [Part(PartKind.THINKING, wire[key])]
    return []


def _refusal(wire: Wire) -> list[Part]:
    """Return the words of a reply that declines: they stand beside the content and are sent back with it."""
    refusal = wire.get("refusal")
    return [Part(PartKind.TEXT, refusal, place=ELSEWHERE)] if isinstance(refusal, str) and refusal else []


def _calls(wire: Wire) -> list[Part]:
    calls = wire.get("tool_calls")
    parts = [_call(call, place) for place, call in enumerate(calls if isinstance(calls, list) else [])]
    legacy = wire.get("function_call")
    if isinstance(legacy, Mapping):
        parts.append(Part(PartKind.TOOL_CALL, text_of(legacy.get("arguments")), str(legacy.get("name") or "")))
    return parts


def _call(call: Any, place: int) -> Part:
    if not isinstance(call, Mapping):
        return Part(PartKind.OPAQUE, text_of(call), place=place)
    body = call.get("function") or call.get("custom") or {}
    body = body if isinstance(body, Mapping) else {}
    arguments = body.get("arguments", body.get("input"))
    return Part(PartKind.TOOL_CALL, text_of(arguments), str(body.get("name") or ""), str(call.get("id") or ""), place)


def _result_parts(wire: Wire, name: str) -> list[Part]:
    content = wire.get("content")
    text = joined_text(content) if isinstance(content, str | list) else text_of(content)
    result = Part(PartKind.TOOL_RESULT, text, name, str(wire.get("tool_call_id") or ""))
    others = [plain_part(value, place) for place, value in enumerate(content if isinstance(content, list) else [])]
    return [result, *(part for part in others if part is not None and part.kind is not PartKind.TEXT)]


def _tool_list(head: Wire) -> tuple[str, list[Any]]:
    for key in ("tools", "functions"):
        if isinstance(head.get(key), list):
            return key, head[key]
    return "tools", []


def _tool_name(tool: Any) -> str:
    body = (tool.get("function") or tool.get("custom") or tool) if isinstance(tool, Mapping) else {}
    body = body if isinstance(body, Mapping) else {}
    return str(body.get("name") or (tool.get("type") if isinstance(tool, Mapping) else "") or "")
