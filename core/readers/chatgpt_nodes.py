"""One node of a ChatGPT export as a message of OpenAI chat; its content is of one of a dozen types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..wire import Wire, text_of
from .chat_wire import assistant, call, result, slim, text_part
from .fields import inner, listed, objects, text

SHOWN_ONLY = frozenset({"reasoning_recap"})
"""Content that the interface shows and no model reads."""
CONTEXT = ("user_profile", "user_instructions", "model_set_context", "repo_summary")
"""What the service tells the model of its user: instructions and memory."""
TEXTS = ("text", "result", "content")


def node_wire(message: Wire) -> Wire | None:
    """Return the message of a node; None where it holds nothing or was not sent."""
    role, content = text(inner(message, "author"), "role"), inner(message, "content")
    kind = text(content, "content_type")
    if is_shown_only(message) or role not in ("system", "user", "assistant", "tool"):
        return None
    if kind in ("user_editable_context", "model_editable_context"):
        said = "\n\n".join(content[key] for key in CONTEXT if text(content, key))
        return {"role": "system", "content": said} if said else None
    if kind == "thoughts":
        thoughts = [text(one, "content", "summary") for one in objects(content, "thoughts")]
        return assistant("", reasoning="\n\n".join(filter(None, thoughts))) if any(thoughts) else None
    said = _content(content)
    if role == "system":
        said = said or _instructions(message)
    recipient = text(message, "recipient")
    if role == "assistant" and recipient and recipient != "all":
        return assistant(None, [call(recipient, said if isinstance(said, str) else text_of(said))])
    if not said and role != "tool":
        return None
    return result(said, name=text(inner(message, "author"), "name")) if role == "tool" else _said(role, said)


def is_shown_only(message: Wire) -> bool:
    """Tell whether a node's message was never sent: content of the interface, or of weight 0."""
    weight = message.get("weight")
    none = isinstance(weight, int | float) and weight == 0
    return none or text(inner(message, "content"), "content_type") in SHOWN_ONLY


def _said(role: str, content: Any) -> Wire:
    return assistant(content) if role == "assistant" else {"role": role, "content": content}


def _content(content: Wire) -> Any:
    """Return the content as a text, or as parts where it holds more than text."""
    if isinstance(content.get("parts"), list):
        return slim([part for value in listed(content, "parts") for part in _parts(value)])
    return next((content[key] for key in TEXTS if isinstance(content.get(key), str)), "") or _rest(content)


def _rest(content: Wire) -> str:
    known = {"content_type", "language", "response_format_name", *TEXTS}
    left = {key: value for key, value in content.items() if key not in known and value not in (None, "", [], {})}
    return text_of(left) if left else ""


def _parts(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [text_part(value)] if value else []
    if not isinstance(value, Mapping):
        return []
    kind = text(value, "content_type")
    if kind == "image_asset_pointer" or (not kind and "asset_pointer" in value):
        return [{"type": "image_url", "image_url": {"url": text(value, "asset_pointer")}}]
    if kind == "audio_transcription":
        return [text_part(text(value, "text"))] if text(value, "text") else []
    if "asset_pointer" in kind:
        return [{"type": "file", "file": {"file_id": text(value, "asset_pointer") or kind}}]
    return [text_part(text(value, "text"))] if text(value, "text") else [dict(value)]


def _instructions(message: Wire) -> str:
    """Return what the user wrote for all chats, which old exports keep beside an empty message."""
    told = inner(message, "metadata", "user_context_message_data")
    parts = (text(told, "about_user_message"), text(told, "about_model_message"))
    return "\n\n".join(part for part in parts if part)
