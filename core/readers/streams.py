"""Streamed responses put together: events become the object that the provider would have given without streaming.

A log holds a stream as the text of a server-sent event body, as a list of events, or as one event a line. A stream
that broke off gives what had arrived. Each provider's events are joined in a way of their own; everything that is
not known about a delta is kept: texts are joined, lists are extended, other values replace what was there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..wire import Wire
from .packed import frames

__all__ = ["body_value", "is_event", "join_stream", "sse_events"]

MOST_INDEX = 10_000
"""Choices, blocks or items of one response: an index above this is damage."""


def body_value(body: Any) -> Any:
    """Return what the body of an HTTP response says: a JSON value, a stream joined to one, or the text itself."""
    if isinstance(body, list) and body and all(map(is_event, body)):
        return join_stream(body)
    if not isinstance(body, str):
        return body
    text = body.strip().removeprefix("\ufeff")
    value = _parsed(text)
    if value is not None:
        return value if isinstance(value, str) else body_value(value)
    events = sse_events(text) or _json_lines(text) or [_parsed(frame) for frame in frames(text)]
    joined = join_stream(events) if events else None
    return body if joined is None else joined


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
            return dict(_settled(join([event for event in events if isinstance(event, Mapping)])))
    return None


def _events(data: list[str]) -> list[Any]:
    """Several data lines are one value by the standard; some recorders write one value a line all the same."""
    whole = _parsed("\n".join(data))
    found = [whole] if whole is not None else [_parsed(line) for line in data]
    return [event for event in found if event is not None]


def _json_lines(text: str) -> list[Any]:
    values = [_parsed(line) for line in text.split("\n") if line.strip()]
    return [value for value in values if value is not None] if any(map(is_event, values)) else []


def _joiner(event: Any) -> Callable[[Sequence[Wire]], dict[str, Any]] | None:
    if not isinstance(event, Mapping):
        return None
    kind = event.get("type")
    if isinstance(kind, str):
        if kind.startswith("response."):
            return _responses
        return _anthropic if kind.startswith(("message_", "content_block_")) else None
    if isinstance(event.get("choices"), list):
        return _chat if _is_chunk(event) else None
    if "candidates" in event or "usageMetadata" in event:
        return _gemini
    return _ollama if "done" in event and ("message" in event or "response" in event) else None


def _is_chunk(event: Wire) -> bool:
    choices = event["choices"]
    return event.get("object") == "chat.completion.chunk" or any(
        isinstance(choice, Mapping) and isinstance(choice.get("delta"), Mapping) for choice in choices
    )


def _anthropic(events: Sequence[Wire]) -> dict[str, Any]:
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    partial: dict[int, _Text] = {}
    for event in events:
        kind, index = event.get("type"), _index(event.get("index"))
        if kind == "message_start":
            message = {**message, **_object(event, "message")}
        elif kind == "content_block_start":
            blocks[index] = dict(_object(event, "content_block"))
        elif kind == "content_block_delta":
            _anthropic_delta(blocks.setdefault(index, {"type": "text"}), _object(event, "delta"), partial, index)
        elif kind == "message_delta":
            usage = {**_object(message, "usage"), **_filled(_object(event, "usage"))}
            message = {**message, **_object(event, "delta"), **({"usage": usage} if usage else {})}
        elif kind == "error":
            message["error"] = event.get("error")
    for index, pieces in partial.items():
        text = "".join(pieces)
        blocks[index]["input"] = text if (value := _parsed(text)) is None else value
    content = [blocks[index] for index in sorted(blocks)]
    return {"type": "message", "role": "assistant", **message, "content": content or message.get("content") or []}


def _anthropic_delta(block: dict[str, Any], delta: Wire, partial: dict[int, _Text], index: int) -> None:
    kind = delta.get("type")
    if kind == "input_json_delta":
        if isinstance(delta.get("partial_json"), str) and delta["partial_json"]:
            partial.setdefault(index, _Text()).append(delta["partial_json"])
    elif kind == "citations_delta":
        block["citations"] = [*(block.get("citations") or ()), delta.get("citation")]
    else:
        _grow(block, {key: value for key, value in delta.items() if key != "type"})


def _chat(events: Sequence[Wire]) -> dict[str, Any]:
    response: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for event in events:
        response |= {key: value for key, value in event.items() if key != "choices" and value is not None}
        found = event.get("choices")
        for choice in found if isinstance(found, list) else []:
            if isinstance(choice, Mapping):
                joined = choices.setdefault(_index(choice.get("index")), {"message": {"role": "assistant"}})
                joined |= {key: value for key, value in choice.items() if key != "delta" and value is not None}
                _chat_delta(joined["message"], _object(choice, "delta"))
    listed = [choices[index] for index in sorted(choices)]
    return {**response, "object": "chat.completion", "choices": listed}


def _chat_delta(message: dict[str, Any], delta: Wire) -> None:
    calls = delta.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, Mapping):
            _chat_call(message.setdefault("tool_calls", []), call)
    _grow(message, {key: value for key, value in delta.items() if key not in ("tool_calls", "role")})
    if isinstance(delta.get("role"), str):
        message["role"] = delta["role"] or "assistant"


def _chat_call(calls: list[dict[str, Any]], delta: Wire) -> None:
    """Calls are told apart by their index; where a provider sends none, a new id begins a new call."""
    index = delta.get("index")
    known = [call for call in calls if call["index"] == index] if isinstance(index, int) else calls[-1:]
    if not known or (index is None and delta.get("id") and delta["id"] != known[0].get("id")):
        calls.append({"index": index, "id": delta.get("id"), "type": delta.get("type") or "function"})
        known = calls[-1:]
    call = known[-1]
    call["id"] = call["id"] or delta.get("id")
    for part in ("function", "custom"):
        if isinstance(delta.get(part), Mapping):
            named = _filled(delta[part])
            if call.get(part, {}).get("name") == named.get("name"):
                named.pop("name", None)
            _grow(call.setdefault(part, {}), named)


def _responses(events: Sequence[Wire]) -> dict[str, Any]:
    response: dict[str, Any] = {}
    items: dict[int, Wire] = {}
    texts: dict[tuple[int, str], _Text] = {}
    for event in events:
        kind, index = str(event.get("type")), _index(event.get("output_index"))
        if isinstance(event.get("response"), Mapping):
            response = {**response, **event["response"]}
        elif kind.startswith("response.output_item.") and isinstance(event.get("item"), Mapping):
            items[index] = event["item"]
            texts = {key: text for key, text in texts.items() if key[0] != index or not kind.endswith(".done")}
        elif kind.endswith(".delta") and isinstance(event.get("delta"), str):
            texts.setdefault((index, kind), _Text()).append(event["delta"])
    if not response.get("output"):
        response["output"] = [_responses_item(items[index], index, texts) for index in sorted(items)]
    return {"object": "response", **response}


def _responses_item(item: Wire, index: int, texts: Mapping[tuple[int, str], _Text]) -> Wire:
    """Return an item with the deltas of one that was not finished when the stream broke off."""
    if text := texts.get((index, "response.output_text.delta")):
        item = {**item, "content": [{"type": "output_text", "text": text}]}
    if arguments := texts.get((index, "response.function_call_arguments.delta")):
        item = {**item, "arguments": arguments}
    return item


def _gemini(events: Sequence[Wire]) -> dict[str, Any]:
    response: dict[str, Any] = {}
    candidates: dict[int, dict[str, Any]] = {}
    for event in events:
        response |= {key: value for key, value in event.items() if key != "candidates" and value is not None}
        found = event.get("candidates")
        for candidate in found if isinstance(found, list) else []:
            if isinstance(candidate, Mapping):
                content = _object(candidate, "content")
                joined = candidates.setdefault(_index(candidate.get("index")), {"content": {"parts": []}})
                joined |= {key: value for key, value in candidate.items() if key != "content" and value is not None}
                joined["content"] |= {key: value for key, value in content.items() if key != "parts"}
                for part in content["parts"] if isinstance(content.get("parts"), list) else []:
                    _gemini_part(joined["content"]["parts"], part)
    return {**response, "candidates": [candidates[index] for index in sorted(candidates)]}


def _gemini_part(parts: list[Any], part: Any) -> None:
    last = parts[-1] if parts else {}
    if _is_text(part) and _is_text(last) and last.get("thought") == part.get("thought"):
        _grow(last, {"text": part["text"]})
        last |= {key: value for key, value in part.items() if key != "text"}
    else:
        parts.append(dict(part) if isinstance(part, Mapping) else part)


def _is_text(part: Any) -> bool:
    plain = isinstance(part, Mapping) and isinstance(part.get("text"), str | _Text)
    return plain and part.keys() <= {"text", "thought", "thoughtSignature"}


def _ollama(events: Sequence[Wire]) -> dict[str, Any]:
    response: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant"}
    for event in events:
        response |= {key: value for key, value in event.items() if key not in ("message", "response")}
        answered = event.get("response")
        delta = {"content": answered} if isinstance(answered, str) else _object(event, "message")
        _grow(message, {key: value for key, value in delta.items() if key != "role"})
    return {**response, "message": message}


class _Text(list[str]):
    """A text that grows with each delta, in pieces: adding to a string would copy it each time."""


def _grow(owner: dict[str, Any], delta: Wire) -> None:
    """Join texts and lists to what is there; nothing never replaces something."""
    for key, value in delta.items():
        there = owner.get(key)
        if isinstance(value, str) and isinstance(there, _Text):
            there.append(value)
        elif isinstance(value, str) and isinstance(there, str):
            owner[key] = _Text((there, value))
        elif isinstance(value, list) and isinstance(there, list):
            owner[key] = [*there, *value]
        elif isinstance(value, Mapping) and isinstance(there, Mapping):
            owner[key] = dict(there)
            _grow(owner[key], value)
        elif value is not None or key not in owner:
            owner[key] = value


def _settled(value: Any) -> Any:
    """Return a value whose grown texts are whole."""
    if isinstance(value, _Text):
        return "".join(value)
    if isinstance(value, dict):
        return {key: _settled(inner) for key, inner in value.items()}
    return [_settled(inner) for inner in value] if isinstance(value, list) else value


def _filled(owner: Wire) -> dict[str, Any]:
    return {key: value for key, value in owner.items() if value is not None}


def _object(owner: Wire, key: str) -> Wire:
    value = owner.get(key)
    return value if isinstance(value, Mapping) else {}


def _index(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < MOST_INDEX else 0


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
