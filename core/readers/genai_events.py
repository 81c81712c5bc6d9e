"""Content that spans carry in events: the older form of OpenTelemetry's conventions for generative AI.

One event a message (`gen_ai.user.message`, `gen_ai.choice`), or one event that holds the attributes of the newer form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..wire import Wire
from .chat_wire import decoded
from .fields import text
from .otel_spans import Event, Span
from .prompts import Loose, prompt_of
from .recorded_replies import reply_of

ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
CHOICES = ("gen_ai.choice", "gen_ai.assistant.choice")
DETAILS = ("gen_ai.client.inference.operation.details", "gen_ai.content.prompt", "gen_ai.content.completion")
FIELDS = ("role", "content", "tool_calls", "id", "name", "tool_call_id")


def has_content(span: Span) -> bool:
    """Tell whether a span's events hold messages."""
    return any(event.name in ROLES or event.name in CHOICES for event in span.events)


def with_details(span: Span) -> Span:
    """Return a span with the attributes that events of it hold, where it has them not itself."""
    span = _with_listed(span)
    told = [event for event in span.events if event.name in DETAILS]
    if not told:
        return span
    found: dict[str, Any] = {}
    for event in told:
        found |= event.attributes
    return replace(span, attributes={**found, **span.attributes})


def _with_listed(span: Span) -> Span:
    """Return a span with the events that an attribute of it lists, as Logfire writes them."""
    listed = decoded(span.attributes.get("events"))
    named = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    found = [Event(text(one, "event.name"), one) for one in named if text(one, "event.name")]
    return replace(span, events=(*span.events, *found)) if found else span


def prompt(span: Span) -> Loose | None:
    """Return the messages that a model was given; None if the events hold none."""
    found = [_message(event, ROLES[event.name]) for event in span.events if event.name in ROLES]
    return Loose(found) if found else None


def reply(span: Span) -> Loose | None:
    """Return what a model answered; None if the events do not hold it."""
    found = [_choice(event) for event in span.events if event.name in CHOICES]
    return reply_of(found[0]) if found else None


def _told(event: Event) -> Wire:
    content = decoded(event.attributes.get("gen_ai.event.content", event.attributes.get("body")))
    return content if isinstance(content, Mapping) else event.attributes


def _message(event: Event, role: str) -> dict[str, Any]:
    told = _told(event)
    message: dict[str, Any] = {"role": role, "content": None}
    message |= {
        key: decoded(told[key]) if key == "tool_calls" else told[key] for key in FIELDS if told.get(key) is not None
    }
    if role == "tool" and "tool_call_id" not in message and "id" in message:
        message["tool_call_id"] = message["id"]
    if role == "assistant" and "tool_calls" not in message and message["content"] is None:
        message["content"] = ""
    message.pop("id", None)
    loose = prompt_of(message)
    return message if loose is None else dict(loose.messages[0])


def _choice(event: Event) -> Any:
    told = _told(event)
    message = decoded(told.get("message", told.get("content")))
    if isinstance(message, Mapping):
        calls = decoded(message.get("tool_calls", told.get("tool_calls")))
        return {"role": "assistant", "content": None, **message, **({"tool_calls": calls} if calls else {})}
    calls = decoded(told.get("tool_calls"))
    return {"role": "assistant", "content": message, **({"tool_calls": calls} if calls else {})}
