"""Records of Kimi CLI's wire log before protocol 1.4, as the events of later versions.

Each holds `{"timestamp", "message": {"type", "payload"}}`. The arguments of a call may arrive in pieces, and the usage
of a step comes before its results. A sub-agent's events name the call that started it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..wire import Wire
from .fields import inner, text

_USAGE = {
    "inputOther": "input_other",
    "output": "output",
    "inputCacheRead": "input_cache_read",
    "inputCacheCreation": "input_cache_creation",
}


class OldWire:
    """Turns records into events, one log after another."""

    def __init__(self) -> None:
        self._call: dict[str, Any] | None = None

    def events(self, value: Wire) -> Iterator[Wire]:
        """Yield the events that a record stands for; none for one that says nothing of the context."""
        message = inner(value, "message")
        kind, payload = text(message, "type"), inner(message, "payload")
        if kind == "ToolCallPart":
            if self._call is not None:
                self._call["args"] += text(payload, "arguments_part")
            return
        at = {"time": value.get("timestamp")}
        if self._call is not None:
            call, self._call = self._call, None
            yield {**at, "type": "context.append_loop_event", "event": call}
        yield from ({**at, **event} for event in self._events(kind, payload))

    def _events(self, kind: str, payload: Wire) -> Iterator[Wire]:
        if kind in ("TurnBegin", "SteerInput"):
            said = {"role": "user", "content": payload.get("user_input"), "origin": {"kind": "user"}}
            yield {"type": "context.append_message", "message": said}
        elif kind == "ToolCall":
            function = inner(payload, "function")
            named = {"toolCallId": text(payload, "id"), "name": text(function, "name")}
            self._call = {"type": "tool.call", **named, "args": text(function, "arguments")}
        elif kind == "CompactionEnd":
            yield {"type": "context.compacted_unseen"}
        else:
            event = _loop_event(kind, payload)
            if event is not None:
                yield {"type": "context.append_loop_event", "event": event}


def _loop_event(kind: str, payload: Wire) -> Wire | None:
    if kind == "StepBegin":
        return {"type": "step.begin"}
    if kind == "TurnEnd":
        return {"type": "step.end"}
    if kind in ("ContentPart", "TextPart", "ThinkPart"):
        return {"type": "content.part", "part": payload}
    if kind == "ToolResult":
        answer = inner(payload, "return_value") or inner(payload, "result")
        return {"type": "tool.result", "toolCallId": text(payload, "tool_call_id"), "result": answer}
    usage = inner(payload, "token_usage")
    if kind == "StatusUpdate" and usage:
        return {"type": "step.usage", "usage": {key: usage.get(old) for key, old in _USAGE.items()}}
    return None


def is_old(value: Any) -> bool:
    """Tell whether a record is of the older protocol."""
    return "timestamp" in value and bool(text(inner(value, "message"), "type")) if isinstance(value, dict) else False
