"""Streamed responses put together: events become the object that the provider would have given without streaming.

A log holds a stream as the text of a server-sent event body, as a list of events, or as one event a line. A stream
that broke off gives what had arrived. Each provider's events are joined in a way of their own; everything that is
not known about a delta is kept: texts are joined, lists are extended, other values replace what was there. What could
not be kept, and errors that a stream reported, the joined response names for `stream_parts.remarks`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..wire import Wire
from . import gemini_stream, responses_stream
from .packed import frames
from .stream_parts import Text, error_of, extend, filled, grow, index_of, not_read, object_of, settled, with_errors

__all__ = ["body_value", "is_event", "join_stream", "sse_events"]

DONE = "[DONE]"
WITHIN = ("ping", "error")
"""Events that say nothing outside a stream."""
SSE_FIELDS = ("data", "event", "id", "retry", "")
"""What the lines of a server-sent event stream begin with; a comment begins with the colon."""
WHOLE = ("message", "delta")
"""What a choice of a chat says of its message: all of it, or what comes next."""
ANTHROPIC_DELTAS = frozenset(
    [*("text_delta", "thinking_delta", "signature_delta"), "input_json_delta", "citations_delta", "compaction_delta"]
)
"""The deltas whose place in a block is known; what others hold is kept in the block under its own name."""


def body_value(body: Any) -> Any:
    """Return what the body of an HTTP response says: a JSON value, a stream joined to one, or the text itself.

    A text that only quotes a stream is no stream: each of its lines must belong to one.
    """
    if isinstance(body, list):
        return (_joined(body) if all(map(_is_of_stream, body)) else None) or body
    if not isinstance(body, str):
        return body
    text = body.strip().removeprefix("\ufeff")
    value = _parsed(text)
    if value is not None:
        return value if isinstance(value, str) else body_value(value)
    return _joined(_events_in(text)) or body


def _joined(events: Sequence[Any]) -> Wire | None:
    """Return the response of a stream, or the error that came in its place; None if they are no stream."""
    try:
        return join_stream(events) or next((event for event in events if error_of(event) is not None), None)
    except RecursionError:
        return None  # nested more deeply than any response


def _events_in(text: str) -> list[Any]:
    """Return the events of a text that is a stream from its first line to its last; none if it is no stream."""
    if "\x00" in text:
        return [_parsed(frame) for frame in frames(text)]  # binary: each frame begins with its length
    lines = [line for line in text.split("\n") if line.strip()]
    return sse_events(text) if _are_sse(lines) else _json_lines(lines)


def _are_sse(lines: Sequence[str]) -> bool:
    """Tell whether all lines are of a server-sent event stream. The last may be cut off, also within its name."""
    *before, last = lines or [""]
    is_cut = bool(before) and any(field.startswith(last) for field in SSE_FIELDS)
    return all(map(_is_sse, before)) and (is_cut or _is_sse(last))


def _is_sse(line: str) -> bool:
    field, colon, _ = line.partition(":")
    return bool(colon) and field in SSE_FIELDS


def _is_of_stream(event: Any) -> bool:
    within = event == DONE or (isinstance(event, Mapping) and event.get("type") in WITHIN)
    return within or is_event(event) or error_of(event) is not None


def sse_events(text: str) -> list[Any]:
    """Return the JSON values of a server-sent event stream; data that is no JSON, as `[DONE]`, is left out."""
    events, data = [], []
    for line in [*text.replace("\r\n", "\n").split("\n"), ""]:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif data and not line.strip():
            events += _events(data)
            data = []
    return events


def is_event(value: Any) -> bool:
    """Tell whether a value is an event of a stream that can be joined."""
    return _joiner(value) is not None


def join_stream(events: Sequence[Any]) -> dict[str, Any] | None:
    """Return the response that the events of one stream make up; None if none of them is known."""
    for event in events:
        join = _joiner(event)
        if join is not None:
            return with_errors(dict(settled(join([event for event in events if isinstance(event, Mapping)]))), events)
    return None


def _events(data: list[str]) -> list[Any]:
    """Several data lines are one value by the standard; some recorders write one value a line all the same."""
    whole = _parsed("\n".join(data))
    found = [whole] if whole is not None else [_parsed(line) for line in data]
    return [event for event in found if event is not None]


def _json_lines(lines: Sequence[str]) -> list[Any]:
    """Return the events that stand one a line; none if a line is another thing. The last may be cut off."""
    values: list[Any] = []
    for number, line in enumerate(lines, 1):
        value = DONE if line.strip() == DONE else _parsed(line)
        if value is None and number == len(lines) and line.startswith("{"):
            break
        if not _is_of_stream(value):
            return []
        values.append(value)
    return values if any(map(is_event, values)) else []


def _joiner(event: Any) -> Callable[[Sequence[Wire]], dict[str, Any]] | None:
    if not isinstance(event, Mapping):
        return None
    kind = event.get("type")
    if isinstance(kind, str):
        if kind.startswith("response."):
            return responses_stream.join
        return _anthropic if kind.startswith(("message_", "content_block_")) else None
    if isinstance(event.get("choices"), list):
        return _chat if _is_chunk(event) else None
    if "candidates" in event or "usageMetadata" in event:
        return gemini_stream.join
    return _ollama if "done" in event and ("message" in event or "response" in event) else None


def _is_chunk(event: Wire) -> bool:
    choices = event["choices"]
    return event.get("object") == "chat.completion.chunk" or any(
        isinstance(choice, Mapping) and isinstance(choice.get("delta"), Mapping) for choice in choices
    )


def _anthropic(events: Sequence[Wire]) -> dict[str, Any]:
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    partial: dict[int, Text] = {}
    lost: list[Any] = []
    for event in events:
        kind, index = event.get("type"), index_of(event.get("index"))
        if kind == "message_start":
            message = {**message, **object_of(event, "message")}
        elif kind == "content_block_start":
            blocks[index] = dict(object_of(event, "content_block"))
        elif kind == "content_block_delta":
            named = object_of(event, "delta").get("type")
            lost += [] if isinstance(named, str) and named in ANTHROPIC_DELTAS else [named]
            _anthropic_delta(blocks.setdefault(index, {"type": "text"}), object_of(event, "delta"), partial, index)
        elif kind == "message_delta":
            usage = {**object_of(message, "usage"), **filled(object_of(event, "usage"))}
            message = {**message, **object_of(event, "delta"), **({"usage": usage} if usage else {})}
        elif kind == "error":
            message["error"] = event.get("error")
        elif "delta" in event:
            lost.append(kind)
    for index, pieces in partial.items():
        text = "".join(pieces)
        blocks[index]["input"] = text if (value := _parsed(text)) is None else value
    content = [blocks[index] for index in sorted(blocks)]
    content = content or message.get("content") or []
    return {"type": "message", "role": "assistant", **message, "content": content, **not_read(lost)}


def _anthropic_delta(block: dict[str, Any], delta: Wire, partial: dict[int, Text], index: int) -> None:
    kind = delta.get("type")
    if kind == "input_json_delta":
        if isinstance(delta.get("partial_json"), str) and delta["partial_json"]:
            partial.setdefault(index, Text()).append(delta["partial_json"])
    elif kind == "citations_delta":
        extend(block, "citations", [delta.get("citation")])
    else:
        grow(block, {key: value for key, value in delta.items() if key != "type"})


def _chat(events: Sequence[Wire]) -> dict[str, Any]:
    response: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for event in events:
        response |= {key: value for key, value in event.items() if key != "choices" and value is not None}
        found = event.get("choices")
        for choice in found if isinstance(found, list) else []:
            if isinstance(choice, Mapping):
                joined = choices.setdefault(index_of(choice.get("index")), {"message": {"role": "assistant"}})
                joined |= {key: value for key, value in choice.items() if key not in WHOLE and value is not None}
                joined["message"] = _whole_message(choice) or joined["message"]
                _chat_delta(joined["message"], object_of(choice, "delta"))
    listed = [choices[index] for index in sorted(choices)]
    return {**response, "object": "chat.completion", "choices": listed}


def _whole_message(choice: Wire) -> dict[str, Any]:
    """Return the message that a choice holds whole, as one whose parts may grow; nothing where it holds none."""
    message = object_of(choice, "message")
    return {"role": "assistant", **settled(dict(message))} if message else {}


def _chat_delta(message: dict[str, Any], delta: Wire) -> None:
    given = delta.get("tool_calls")
    calls = [call for call in given if isinstance(call, Mapping)] if isinstance(given, list) else []
    if calls and not isinstance(message.get("tool_calls"), list):
        message["tool_calls"] = []
    for call in calls:
        _chat_call(message["tool_calls"], call)
    grow(message, {key: value for key, value in delta.items() if key not in ("tool_calls", "role")})
    if isinstance(delta.get("role"), str):
        message["role"] = delta["role"] or "assistant"


def _chat_call(calls: list[Any], delta: Wire) -> None:
    """Calls are told apart by their index; where a provider sends none, a new id begins a new call."""
    index = delta.get("index")
    begun = [call for call in calls if isinstance(call, dict)]
    known = [call for call in begun if call.get("index") == index] if isinstance(index, int) else begun[-1:]
    if not known or (index is None and delta.get("id") and delta["id"] != known[0].get("id")):
        calls.append({"index": index, "id": delta.get("id"), "type": delta.get("type") or "function"})
        known = calls[-1:]
    call = known[-1]
    call["id"] = call.get("id") or delta.get("id")
    for part in ("function", "custom"):
        if isinstance(delta.get(part), Mapping):
            named = filled(delta[part])
            there = call[part] = dict(object_of(call, part))
            if there.get("name") == named.get("name"):
                named.pop("name", None)
            grow(there, named)


def _ollama(events: Sequence[Wire]) -> dict[str, Any]:
    response: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant"}
    for event in events:
        response |= {key: value for key, value in event.items() if key not in ("message", "response")}
        answered = event.get("response")
        delta = {"content": answered} if isinstance(answered, str) else object_of(event, "message")
        grow(message, {key: value for key, value in delta.items() if key != "role"})
    return {**response, "message": message}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
