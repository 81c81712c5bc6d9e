"""Sourcegraph's completion API, which Cody speaks: speakers in place of roles, and a stream of its own.

Its requests are written here as those of OpenAI chat. What the server adds before it asks a model is not known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..wire import Wire
from .responses import ResponseFacts
from .streams import sse_events

ROLES = {"human": "user", "assistant": "assistant", "system": "system"}


def is_body(body: Wire) -> bool:
    """Tell whether a request body is one of Sourcegraph's."""
    messages = body.get("messages")
    return isinstance(messages, list) and any(isinstance(m, Mapping) and "speaker" in m for m in messages)


def request(body: Wire) -> dict[str, Any]:
    """Return a request as OpenAI chat."""
    messages = [_message(message) for message in body["messages"] if isinstance(message, Mapping)]
    if messages and messages[-1] == {"role": "assistant", "content": ""}:
        messages.pop()
    rest = {key: value for key, value in body.items() if key not in ("messages", "maxTokensToSample")}
    limit = {"max_tokens": body["maxTokensToSample"]} if "maxTokensToSample" in body else {}
    return {**rest, "messages": messages, **limit}


def facts(response: Any) -> ResponseFacts | None:
    """Return what a response says: the last `completion`, which holds all, or all `deltaText` joined."""
    events = (
        [event for event in sse_events(response) if isinstance(event, Mapping)] if isinstance(response, str) else []
    )
    if not events:
        value = _parsed(response) if isinstance(response, str) else response
        events = [value] if isinstance(value, Mapping) else []
    whole = [event["completion"] for event in events if isinstance(event.get("completion"), str)]
    pieces = [event["deltaText"] for event in events if isinstance(event.get("deltaText"), str)]
    if not whole and not pieces:
        return None
    return ResponseFacts({"role": "assistant", "content": whole[-1] if whole else "".join(pieces)})


def _message(message: Wire) -> dict[str, Any]:
    speaker = message.get("speaker")
    role = ROLES.get(speaker, speaker) if isinstance(speaker, str) else "user"
    content = message.get("text", message.get("content"))
    return {"role": role, "content": "" if content is None else content}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
