"""Gemini generateContent: `{"systemInstruction", "contents", "tools", "generationConfig"}`.

Roles are user and model; calls and results mostly carry no ids, so results belong to the calls right before them. The
tokenizer is not public: counts are an estimate, and no frame was measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..errors import RequestError
from ..tokens import Counter
from ..wire import Wire, text_of
from . import gemini_head
from .base import Cost, Message, Part, PartKind, ToolDefinition
from .content import content_key
from .openai_tokens import raw_part, text_costs

ROLES = {"model": "assistant", "user": "user", "function": "user", "system": "system"}
RESULT_KEYS = ("output", "result", "content")
IMAGE_TOKENS = 258  # a picture of up to 384 x 384 pixels, or one tile of a larger one


class Gemini:
    """The dialect `gemini`."""

    name = "gemini"

    def split(self, body: Wire) -> tuple[Wire, list[Wire]]:
        """Return the head, whose `contents` is empty, and the contents. A text alone leaves `contents` null."""
        contents = body.get("contents") if isinstance(body, Mapping) else None
        if isinstance(contents, str):
            return {**body, "contents": None}, [{"role": "user", "parts": [{"text": contents}]}]
        if not isinstance(contents, list):
            raise RequestError("A Gemini request needs `contents`, a text or a list; this body has none.")
        return {**body, "contents": []}, list(contents)

    def join(self, head: Wire, messages: Sequence[Wire]) -> dict[str, Any]:
        """Return the body with the contents in their place."""
        if head.get("contents") is None and len(messages) == 1:
            texts = [part.get("text") for part in messages[0].get("parts", ())]
            if len(texts) == 1 and isinstance(texts[0], str):
                return {**head, "contents": texts[0]}
        return {**head, "contents": list(messages)}

    def message(self, wire: Wire) -> Message:
        """Read one content. Never raises: what is not understood is an opaque part."""
        if not isinstance(wire, Mapping):
            return Message("other", (Part(PartKind.OPAQUE, text_of(wire)),))
        parts = wire.get("parts")
        found = [
            read for place, part in enumerate(parts if isinstance(parts, list) else []) for read in _parts(part, place)
        ]
        role = wire.get("role") or "user"
        return Message(ROLES.get(role, "other") if isinstance(role, str) else "other", tuple(found))

    def continues(self, before: Message, message: Message) -> bool:
        """Return whether a content belongs to the reply of the one before it: consecutive model contents do."""
        return before.role == message.role == "assistant"

    def content_key(self, wire: Wire) -> str:
        """Return the content as a comparable text."""
        return content_key(wire)

    def system_texts(self, head: Wire) -> list[str]:
        """Return the texts of the system instruction; its pictures and files are no texts."""
        return gemini_head.system_texts(head)

    def head_parts(self, head: Wire) -> list[Part]:
        """Return the parts of the system instruction that are no text."""
        parts = enumerate(gemini_head.system_parts(head))
        read = (_part(part, place) for place, part in parts if not _is_text(part))
        return [part for part in read if part is not None]

    def with_system_text(self, head: Wire, text: str) -> Wire:
        """Return the head with one more part at the end of the system instruction."""
        return gemini_head.with_system_text(head, text)

    def with_system_texts(self, head: Wire, texts: Sequence[str]) -> Wire:
        """Return the head with other system texts, one for each that it has; an empty one goes with its part."""
        return gemini_head.with_system_texts(head, texts)

    def tools(self, head: Wire) -> list[ToolDefinition]:
        """Return the function declarations of all tools, and the other tools by their key."""
        return [
            ToolDefinition(name, text_of(definition), place)
            for place, (name, definition) in enumerate(gemini_head.declarations(head))
        ]

    def with_tools(self, head: Wire, places: Iterable[int]) -> Wire:
        """Return the head with only these declarations; what else a tool holds stays, settings without tools go."""
        return gemini_head.with_declarations(head, frozenset(places))

    def text_message(self, role: str, text: str) -> dict[str, Any]:
        """Return a content of role and text."""
        return {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}

    def in_turn(self, sent: Sequence[Wire], given: Sequence[Wire]) -> list[Wire]:
        """Return the conversation with new texts right before a function call as the user's: none may follow a model's.

        A request in which a function call follows another content of the model is refused. One that holds more than
        text, such as the thinking that led to the call, stays the model's where the given request has one there too.
        """
        known = set(map(id, given))
        after_models = {id(wire) for before, wire in pairwise(given) if _is_models(before)}

        def is_users(wire: Wire, after: Wire | None) -> bool:
            if id(wire) in known or not _is_models(wire) or not _calls(after):
                return False
            return _is_text_alone(wire) or id(after) not in after_models

        following = (*sent[1:], None)  # one too many where nothing is sent
        return [
            {**wire, "role": "user"} if is_users(wire, after) else wire
            for wire, after in zip(sent, following, strict=False)
        ]

    def with_result_text(self, wire: Wire, part: Part, text: str) -> dict[str, Any]:
        """Return the content with another text in one part; name and id stay."""
        old = wire["parts"][part.place]
        if part.kind is PartKind.TOOL_RESULT:
            new = {**old, "functionResponse": {**old["functionResponse"], "response": {RESULT_KEYS[0]: text}}}
        else:
            new = {**old, "text": text}
        return {**wire, "parts": [*wire["parts"][: part.place], new, *wire["parts"][part.place + 1 :]]}

    def cost_of_messages(self, messages: Sequence[Message], counter: Counter) -> Cost:
        """Return the cost of a unit; an estimate without frames."""
        rows = []
        for message in messages:
            texts = text_costs(message, counter)
            rows.append(
                tuple(
                    texts[i] if i in texts else raw_part(part, counter, IMAGE_TOKENS)
                    for i, part in enumerate(message.parts)
                )
            )
        return Cost(tuple(rows), 0 if counter.frames else counter.message_overhead * len(messages))

    def cost_of_tools(self, tools: Sequence[ToolDefinition], counter: Counter) -> Cost:
        """Return the cost of tool definitions as compact JSON; an estimate."""
        return Cost((tuple(counter.count(tool.text) for tool in tools),), 0)

    def cost_of_system(self, head: Wire, counter: Counter, texts: Sequence[Sequence[str]]) -> Cost:
        """Return the cost of the system texts, section by section."""
        frame = 0 if counter.frames else counter.message_overhead * len(texts)
        return Cost(tuple(tuple(counter.pieces(sections)) for sections in texts), frame)

    def request_overhead(self, model: str | None, counter: Counter) -> int:
        """Return nothing: no frame was measured."""
        return 0


def _is_text(part: Any) -> bool:
    text = part.get("text") if isinstance(part, Mapping) else part
    return isinstance(text, str) and text != ""


def _is_models(wire: Any) -> bool:
    return isinstance(wire, Mapping) and wire.get("role") == "model" and not _calls(wire)


def _is_text_alone(wire: Wire) -> bool:
    return all(isinstance(part, Mapping) and part.keys() == {"text"} for part in wire.get("parts") or ())


def _calls(wire: Any) -> bool:
    parts = wire.get("parts") if isinstance(wire, Mapping) else None
    return isinstance(parts, list) and any(isinstance(part, Mapping) and "functionCall" in part for part in parts)


def _parts(part: Any, place: int) -> list[Part]:
    """Read one part; the pictures and files that a function answers with stand behind its result."""
    read = _part(part, place)
    held = part["functionResponse"].get("parts") if read is not None and read.kind is PartKind.TOOL_RESULT else None
    media = [_media(item, place) for item in held if isinstance(item, Mapping)] if isinstance(held, list) else []
    return [] if read is None else [read, *media]


def _part(part: Any, place: int) -> Part | None:
    if not isinstance(part, Mapping):
        return Part(PartKind.OPAQUE, text_of(part), place=place)
    if isinstance(part.get("functionCall"), Mapping):
        call = part["functionCall"]
        name, call_id = str(call.get("name") or ""), str(call.get("id") or "")
        return Part(PartKind.TOOL_CALL, text_of(call.get("args") or {}), name, call_id, place)
    if isinstance(part.get("functionResponse"), Mapping):
        answer = part["functionResponse"]
        name, call_id = str(answer.get("name") or ""), str(answer.get("id") or "")
        return Part(PartKind.TOOL_RESULT, _result_text(answer.get("response")), name, call_id, place)
    if isinstance(part.get("text"), str):
        kind = PartKind.THINKING if part.get("thought") is True else PartKind.TEXT
        return Part(kind, part["text"], place=place) if part["text"] else None
    return _media(part, place)


def _media(part: Wire, place: int) -> Part:
    for key in ("inlineData", "inline_data", "fileData", "file_data"):
        data = part.get(key)
        if isinstance(data, Mapping):
            mime = str(data.get("mimeType") or data.get("mime_type") or "")
            return Part(PartKind.IMAGE if mime.startswith("image/") else PartKind.FILE, name=mime or key, place=place)
    return Part(PartKind.OPAQUE, json.dumps(part, ensure_ascii=False), place=place)


def _result_text(response: Any) -> str:
    """Return the text of a response that holds one text, else the whole response as JSON."""
    if isinstance(response, Mapping) and len(response) == 1:
        for key in RESULT_KEYS:
            if isinstance(response.get(key), str):
                return str(response[key])
    return text_of(response)
