"""OpenAI Responses: `{"model", "instructions", "input", "tools", ...}`; every item of `input` is a message here.

One reply is several items (reasoning, calls, text) and its results are items too, so neighbouring items of the
assistant continue one reply. With `previous_response_id` or `conversation` the provider holds earlier items that the
body does not show. Frames of calls were measured 1 to 13 tokens above the chat formula, by model: an estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import RequestError
from ..tokens import Counter
from ..wire import Wire, text_of
from . import openai_tokens
from .base import Cost, Message, Part, PartKind, ToolDefinition
from .content import (
    content_key,
    joined_text,
    media_kind,
    owner_of,
    part_text,
    plain_part,
    plain_parts,
    sealed_part,
    with_text,
)
from .content_edits import GONE, left, with_joined_texts, with_only_text
from .openai_chat import ROLES

KNOWN_ROLES = frozenset({"system", "user", "assistant"})
CALLS_WITHIN = frozenset(
    {"mcp_call", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"}
)
"""Items that hold a call of the provider's own tools together with its result."""
PROGRAM = "program"
"""A call that makes calls: code that the provider runs, and that may ask for functions of the client."""
NOBODYS = frozenset({"reasoning", PROGRAM})
"""Items whose role does not count, beside calls and outputs."""
FREE_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
"""Outputs that may be a text whatever they were; others that are no text have a shape that is asked for."""
ARGUMENTS = ("arguments", "input", "action", "code")


class OpenAIResponses:
    """The dialect `openai_responses`."""

    name = "openai_responses"

    def split(self, body: Wire) -> tuple[Wire, list[Wire]]:
        """Return the head, whose `input` are the leading system items, and the other items.

        An input that is one text has the head's `input` null, so that it can be put together again as it was.
        """
        given = body.get("input") if isinstance(body, Mapping) else None
        if isinstance(given, str):
            return {**body, "input": None}, [{"role": "user", "content": given}]
        if not isinstance(given, list):
            raise RequestError("An OpenAI Responses request needs `input`, a text or a list; this body has none.")
        lead = 0
        while lead < len(given) and _is_systems(given[lead]):
            lead += 1
        return {**body, "input": given[:lead]}, given[lead:]

    def join(self, head: Wire, messages: Sequence[Wire]) -> dict[str, Any]:
        """Return the body: the head's own items, then the others."""
        lead = head.get("input")
        if lead is None and len(messages) == 1 and isinstance(messages[0].get("content"), str):
            return {**head, "input": messages[0]["content"]}
        return {**head, "input": [*(lead or ()), *messages]}

    def message(self, wire: Wire) -> Message:
        """Read one item. Never raises: what is not understood is an opaque part."""
        if not isinstance(wire, Mapping):
            return Message("other", (Part(PartKind.OPAQUE, text_of(wire)),))
        if _is_reply(wire):
            return self._reply(wire["output"])
        kind = str(wire.get("type") or "message")
        if kind == "message":
            role = str(wire.get("role") or "")
            role = ROLES.get(role, role)
            return Message(role if role in KNOWN_ROLES else "other", tuple(plain_parts(wire.get("content"))))
        if kind == "reasoning":
            sealed = wire.get("encrypted_content")
            length = len(sealed) if isinstance(sealed, str) else 0
            return Message("assistant", (Part(PartKind.THINKING, _summary(wire), sealed=length),))
        if kind in CALLS_WITHIN:
            return Message("assistant", _call_within(wire, kind))
        if kind.endswith("_output"):
            return Message("tool", tuple(_outputs(wire)))
        if kind.endswith("_call") or kind == PROGRAM:
            return Message("assistant", (_call(wire, kind),))
        role = str(wire.get("role") or "assistant")
        role = ROLES.get(role, role)
        part = sealed_part(wire) or Part(PartKind.OPAQUE, text_of(wire))
        return Message(role if role in KNOWN_ROLES else "assistant", (part,))

    def _reply(self, items: Sequence[Any]) -> Message:
        """Read a recorded reply, `{"role": "assistant", "output": items}`, as one message."""
        parts = [
            replace(part, place=place, within=part.place, fixed=part.fixed or _is_reply(item))
            for place, item in enumerate(items)
            for part in self.message(item).parts
        ]
        return Message("assistant", tuple(parts))

    def continues(self, before: Message, message: Message) -> bool:
        """Return whether an item belongs to the reply of the item before it."""
        return before.role == message.role == "assistant"

    def content_key(self, wire: Wire) -> str:
        """Return the item's content as a comparable text."""
        return content_key(wire)

    def system_texts(self, head: Wire) -> list[str]:
        """Return the instructions, then the text of each leading system item."""
        instructions = head.get("instructions")
        lead = [_said(self.message(item)) for item in head.get("input") or ()]
        return [instructions, *lead] if isinstance(instructions, str) and instructions else lead

    def head_parts(self, head: Wire) -> list[Part]:
        """Return what the leading system items hold beside their texts, and those that are none."""
        parts = (part for item in head.get("input") or () for part in self.message(item).parts)
        return [part for part in parts if part.kind is not PartKind.TEXT]

    def with_system_text(self, head: Wire, text: str) -> Wire:
        """Return the head with one more system item, in the role that the last one has."""
        lead = head.get("input") or []
        role = lead[-1].get("role", "system") if lead else "system"
        return {**head, "input": [*lead, {"role": role, "content": text}]}

    def with_system_texts(self, head: Wire, texts: Sequence[str]) -> Wire:
        """Return the head with other system texts, one for each that it has; what loses all its text goes."""
        lead = head.get("input") or ()
        own = 1 if len(texts) > len(lead) else 0
        changed = dict(head)
        if lead:
            before = self.system_texts(head)[own:]
            changed["input"] = with_joined_texts(lead, before, texts[own:], "input_text")
        if own and texts[0]:
            changed["instructions"] = texts[0]
        elif own:
            del changed["instructions"]
        return changed

    def tools(self, head: Wire) -> list[ToolDefinition]:
        """Return the definitions in `tools`; those of the provider's own tools have their type as name."""
        tools = head.get("tools")
        return [
            ToolDefinition(_tool_name(tool), text_of(tool), place)
            for place, tool in enumerate(tools if isinstance(tools, list) else [])
        ]

    def with_tools(self, head: Wire, places: Iterable[int]) -> Wire:
        """Return the head with only these tools; `tools` and `tool_choice` go when none is left."""
        wanted = frozenset(places)
        tools = head.get("tools") or ()
        kept = left(tools, [tool if place in wanted else GONE for place, tool in enumerate(tools)])
        if kept:
            return {**head, "tools": kept}
        gone = ("tools", "tool_choice", "parallel_tool_calls")
        return {name: value for name, value in head.items() if name not in gone}

    def text_message(self, role: str, text: str) -> dict[str, Any]:
        """Return a message item of role and text."""
        return {"role": role, "content": text}

    def in_turn(self, sent: Sequence[Wire], given: Sequence[Wire]) -> list[Wire]:
        """Return the conversation as it is: neighbours may have the same role."""
        return list(sent)

    def with_result_text(self, wire: Wire, part: Part, text: str) -> dict[str, Any]:
        """Return the item with another text; ids and images stay."""
        if _is_reply(wire):
            items = wire["output"]
            changed = self.with_result_text(items[part.place], replace(part, place=part.within), text)
            return {**wire, "output": [*items[: part.place], changed, *items[part.place + 1 :]]}
        if part.kind is PartKind.TOOL_RESULT:
            key, output = _output(wire)
            return {**wire, key: with_only_text(output, text, "input_text") if _is_content(output) else text}
        return {**wire, "content": with_text(wire.get("content"), part.place, text)}

    def cost_of_messages(self, messages: Sequence[Message], counter: Counter) -> Cost:
        """Return the cost of a unit by the chat formula."""
        return openai_tokens.cost_of_messages(messages, counter)

    def cost_of_tools(self, tools: Sequence[ToolDefinition], counter: Counter) -> Cost:
        """Return the cost of tool definitions by the chat rendering."""
        return openai_tokens.cost_of_tools(tools, counter)

    def cost_of_system(self, head: Wire, counter: Counter, texts: Sequence[Sequence[str]]) -> Cost:
        """Return the cost of the instructions and the leading system items, section by section."""
        return openai_tokens.cost_of_system(texts, counter, [self.message(item) for item in head.get("input") or ()])

    def request_overhead(self, model: str | None, counter: Counter) -> int:
        """Return the reply priming."""
        return openai_tokens.priming(model) if counter.frames else 0


def _is_systems(item: Any) -> bool:
    """Return whether an item is the system's, by type and role alone: contents may hold what is not JSON yet."""
    if not isinstance(item, Mapping) or _is_reply(item):
        return False
    kind, role = item.get("type"), item.get("role")
    speaks = not isinstance(kind, str) or not (kind in NOBODYS or kind.endswith(("_call", "_output")))
    return speaks and isinstance(role, str) and ROLES.get(role, role) == "system"


def _said(message: Message) -> str:
    return "".join(part.text for part in message.parts if part.kind is PartKind.TEXT)


def _call_id(wire: Wire) -> str:
    return str(wire.get("call_id") or wire.get("id") or "")


def _call(wire: Wire, kind: str) -> Part:
    arguments = next((wire[key] for key in ARGUMENTS if key in wire), None)
    name = str(wire.get("name") or kind)
    return Part(PartKind.TOOL_CALL, text_of(arguments), name, _call_id(wire), owner=owner_of(wire))


def _call_within(wire: Wire, kind: str) -> tuple[Part, ...]:
    call = _call(wire, kind)
    if kind == "image_generation_call":
        drawn = (Part(PartKind.IMAGE, name=kind),) if wire.get("result") else ()
        return (call, Part(PartKind.TOOL_RESULT, "", call.name, call.call_id), *drawn)
    output = next((wire[key] for key in ("output", "results", "outputs") if wire.get(key) is not None), None)
    return (call, Part(PartKind.TOOL_RESULT, text_of(output), call.name, call.call_id))


def _summary(wire: Wire) -> str:
    """Return the readable summary; encrypted reasoning is carried but not readable."""
    lists = [found for key in ("summary", "content") if isinstance(found := wire.get(key), list)]
    parts = [part for found in lists for part in found]
    return "\n".join(str(part["text"]) for part in parts if isinstance(part, Mapping) and part.get("text"))


def _is_reply(wire: Any) -> bool:
    """Return whether an item is a recorded reply, which holds items."""
    return isinstance(wire, Mapping) and "type" not in wire and isinstance(wire.get("output"), list)


def _output(wire: Wire) -> tuple[str, Any]:
    """Return what a call came to, and the key that holds it."""
    key = "output" if "output" in wire or "result" not in wire else "result"
    return key, wire.get(key)


def _is_content(output: Any) -> bool:
    """Return whether an output is a text or holds texts, pictures or files."""
    held = output if isinstance(output, list) else [output]
    return any(part_text(part) is not None or media_kind(part) is not None for part in held)


def _outputs(wire: Wire) -> Iterator[Part]:
    """Yield the result of a call and the pictures and files in it, which are no text of it."""
    _, output = _output(wire)
    if isinstance(output, str) or not _is_content(output):
        shaped = not isinstance(output, str) and wire.get("type") not in FREE_OUTPUTS
        yield Part(PartKind.TOOL_RESULT, text_of(output), call_id=_call_id(wire), fixed=shaped)
        return
    held = output if isinstance(output, list) else [output]
    yield Part(PartKind.TOOL_RESULT, joined_text(held), call_id=_call_id(wire))
    read = [plain_part(part, place) for place, part in enumerate(held)]
    yield from (part for part in read if part is not None and part.kind is not PartKind.TEXT)


def _tool_name(tool: Any) -> str:
    return str(tool.get("name") or tool.get("type") or "") if isinstance(tool, Mapping) else ""
