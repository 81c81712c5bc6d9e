"""A step of Kimi CLI: one request, what the model answered and what its tools returned, as OpenAI chat takes them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..transcript import Usage
from ..wire import Wire, dump
from .fields import inner, text
from .figures import figure


class Step:
    """One request and what came of it."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.at: datetime | None = None
        self.said: list[str] = []
        self.thought: list[str] = []
        self.calls: list[Wire] = []
        self.results: list[Wire] = []
        self.usage = Usage()

    def take(self, kind: str, event: Wire) -> bool:
        """Take an event of the step in; tell whether it was of use."""
        part = inner(event, "part")
        if kind == "content.part" and text(part, "think"):
            self.thought.append(text(part, "think"))
        elif kind == "content.part" and text(part, "text"):
            self.said.append(text(part, "text"))
        elif kind == "tool.call":
            self.calls.append(call_of(event))
        elif kind == "tool.result":
            output = inner(event, "result").get("output", event.get("result"))
            content = output if isinstance(output, str) else content_of(output)
            self.results.append({"role": "tool", "tool_call_id": text(event, "toolCallId"), "content": content})
        elif kind in ("step.end", "step.usage"):
            self.usage = usage_of(event.get("usage")) if "usage" in event else self.usage
        else:
            return False
        return True

    def reply(self) -> Wire:
        """Return what the model answered as one message."""
        wire: dict[str, Any] = {"role": "assistant", "content": "".join(self.said) or (None if self.calls else "")}
        if self.thought:
            wire["reasoning_content"] = "\n".join(self.thought)
        if self.calls:
            wire["tool_calls"] = self.calls
        return wire


def call_of(call: Wire) -> Wire:
    """Return a tool call; its arguments as a text."""
    function = inner(call, "function") or call
    given = function.get("args", function.get("arguments"))
    arguments = given if isinstance(given, str) else dump(given or {})
    named = {"name": text(function, "name"), "arguments": arguments}
    return {"id": text(call, "toolCallId", "id", "uuid"), "type": "function", "function": named}


def content_of(content: Any) -> Any:
    """Return content as OpenAI chat takes it: one text as a text, other parts as they are."""
    parts = content if isinstance(content, list) else [content]
    if isinstance(content, str) or content is None:
        return content or ""
    if len(parts) == 1 and text(parts[0], "type") == "text":
        return text(parts[0], "text")
    return content if isinstance(content, list) else dump(content)


def usage_of(usage: Any) -> Usage:
    """Return the usage of a step: its `inputOther` leaves out what came from the cache or went into it."""
    if not isinstance(usage, Mapping):
        return Usage()
    other, read = figure(usage.get("inputOther")), figure(usage.get("inputCacheRead"))
    write = figure(usage.get("inputCacheCreation"))
    return Usage(
        input=None if other is None else other + (read or 0) + (write or 0),
        cache_read=read,
        cache_write=write,
        output=figure(usage.get("output")),
    )
