"""What the dialects share: reading a content list, and telling messages apart by content alone.

Real request logs move cache marks from message to message and write one text now as a string, now as a list of
one text. Neither changes what the model reads, so neither may look like another conversation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any

from ..wire import text_of
from .base import Part, PartKind

_SORTED = json.JSONEncoder(sort_keys=True)
_PLAIN = json.JSONEncoder(sort_keys=True, ensure_ascii=False)
CACHE_MARK = "cache_control"
TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
IMAGE_TYPES = frozenset({"image", "image_url", "input_image", "computer_screenshot"})
IN_ORDER = frozenset({"input", "args", "arguments", "response", "output", "content"})
"""What holds an object that the model reads as it is written, so that the order of its keys is content."""
FILE_TYPES = frozenset({"file", "document", "input_audio", "input_file", "audio", "video_url", "container_upload"})


def normal(content: Any) -> Any:
    """Return content without cache marks, a list that holds one text as that text, and nothing as None."""
    if isinstance(content, str):
        return content or None
    if not isinstance(content, list):
        return content
    parts = [_unmarked(part) for part in content]
    if not parts:
        return None
    if len(parts) == 1 and isinstance(parts[0], dict) and parts[0].keys() == {"type", "text"}:
        return parts[0]["text"] or None
    return parts


def _unmarked(part: Any) -> Any:
    if not isinstance(part, Mapping):
        return part
    plain = {key: value for key, value in part.items() if key != CACHE_MARK}
    if "content" in plain:
        plain["content"] = normal(plain["content"])
    return plain


def content_key(wire: Any) -> str:
    """Return a text that is equal for two wire messages with the same content, whatever their cache marks."""
    if not isinstance(wire, Mapping):
        return _SORTED.encode(wire)
    if len(wire) == 2 and (plain_key := _plain_key(wire)):
        return plain_key
    plain = {key: value for key, value in wire.items() if key != CACHE_MARK and value is not None}
    content = normal(plain.pop("content", None))
    if content is not None:
        plain["content"] = content
    return _SORTED.encode(_in_order(plain))


def _plain_key(wire: Mapping[str, Any]) -> str:
    """Return the key of a role and a text, written by hand as it is what most messages are; empty for any other."""
    role, content = wire.get("role"), wire.get("content")
    if type(role) is not str or type(content) is not str or not content:
        return ""
    return f'{{"content": {_quoted(content)}, "role": {_quoted(role)}}}'


def _in_order(value: Any) -> Any:
    """Return a value in which objects whose order counts are JSON texts."""
    if isinstance(value, list):
        return [_in_order(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: [json.dumps(item)] if key in IN_ORDER and isinstance(item, Mapping) else _in_order(item)
        for key, item in value.items()
    }


def joined_text(content: Any) -> str:
    """Return the texts of a content value, joined as a provider joins them: with nothing between."""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "".join(text for part in content if (text := part_text(part)) is not None)
    return ""


def part_text(part: Any) -> str | None:
    """Return the text of a text part (or of a bare string in a list), None for any other part."""
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and type_of(part, "text") in TEXT_TYPES and isinstance(part.get("text"), str):
        return str(part["text"])
    return None


def type_of(part: Any, otherwise: str = "") -> str:
    """Return the type of a content part; empty where it is no text, as anything may stand in a log."""
    kind = part.get("type", otherwise) if isinstance(part, Mapping) else ""
    return kind if isinstance(kind, str) else ""


def is_deferred(tool: Any) -> bool:
    """Return whether a definition waits for a tool search to load it."""
    return isinstance(tool, Mapping) and tool.get("defer_loading") is True


def owner_of(call: Mapping[str, Any]) -> str:
    """Return the id of the call whose program made this call; empty for a call that the model made itself."""
    caller = call.get("caller")
    named = (caller.get("tool_id") or caller.get("caller_id")) if isinstance(caller, Mapping) else None
    return named if isinstance(named, str) else ""


def media_kind(part: Any) -> PartKind | None:
    """Return whether a content part is an image or a file; None if it is neither."""
    kind = type_of(part)
    if kind in IMAGE_TYPES:
        return PartKind.IMAGE
    return PartKind.FILE if kind in FILE_TYPES else None


def document_text(part: Any) -> str:
    """Return the text of a document that is sent as text; empty for one that is sent in bytes or by its address."""
    source = part.get("source")
    if not isinstance(source, Mapping):
        return ""
    return text_of(source.get("data")) if source.get("type") == "text" else joined_text(source.get("content"))


def plain_parts(content: Any) -> list[Part]:
    """Return text, image, file and opaque parts of a content value; an empty text is no part."""
    if isinstance(content, str):
        return [Part(PartKind.TEXT, content)] if content else []
    if content is None:
        return []
    if not isinstance(content, list):
        return [Part(PartKind.OPAQUE, opaque_text(content))]
    return [part for place, value in enumerate(content) if (part := plain_part(value, place)) is not None]


def plain_part(value: Any, place: int) -> Part | None:
    """Return one content part as text, image, file or opaque; None for an empty text."""
    text = part_text(value)
    if text is not None:
        return Part(PartKind.TEXT, text, place=place) if text else None
    kind = media_kind(value)
    if kind is not None:
        return Part(kind, document_text(value), name=str(value.get("type")), place=place)
    return sealed_part(value, place) or Part(PartKind.OPAQUE, opaque_text(value), place=place)


SEALED = {"redacted_thinking": "data", "compaction": "encrypted_content", "compaction_summary": "encrypted_content"}
"""Where parts of these types hold what only the provider can read."""


def sealed_part(value: Any, place: int = 0) -> Part | None:
    """Return an encrypted part as opaque, its payload by length alone; None if it is none."""
    key = SEALED.get(type_of(value))
    payload = value.get(key) if key else None
    if not isinstance(payload, str):
        return None
    rest = {name: item for name, item in value.items() if name != key}
    return Part(PartKind.OPAQUE, opaque_text(rest), place=place, sealed=len(payload))


def opaque_text(value: Any) -> str:
    """Return what is counted for a part that is not understood: equal for equal content, whatever its cache marks."""
    return _PLAIN.encode(_unmarked(value))


def with_text(content: Any, place: int, text: str) -> Any:
    """Return content with another text in the part at `place`; the other parts stay as they are."""
    if not isinstance(content, list):
        return text
    old = content[place]
    new = {**old, "text": text} if isinstance(old, Mapping) else text
    return [*content[:place], new, *content[place + 1 :]]
