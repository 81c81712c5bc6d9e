"""Messages of OpenAI chat, built from what formats without a dialect of their own record.

Such formats write calls and results in their own ways, at times without ids. A call without one is given one by its
place, and a result goes to the oldest call that waits for one, of the same name if it has a name: so the same
conversation is always written alike, and one that goes on still begins with what was there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..wire import Wire, text_of


def call(name: Any, arguments: Any, call_id: Any = None) -> dict[str, Any]:
    """Return a tool call. Arguments that are no text are written as JSON; without an id there is none yet."""
    function = {"name": text_of(name), "arguments": "{}" if arguments is None else text_of(arguments)}
    return {"id": text_of(call_id) or None, "type": "function", "function": function}


def assistant(content: Any, calls: Sequence[Wire] = (), reasoning: str = "") -> dict[str, Any]:
    """Return an assistant message; a text beside calls may be missing."""
    message: dict[str, Any] = {"role": "assistant", "content": content if content or not calls else None}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = list(calls)
    return message


def result(content: Any, call_id: Any = None, name: Any = None) -> dict[str, Any]:
    """Return a tool message. Content that is neither a text nor a list of parts is written as JSON."""
    kept = content if isinstance(content, list) and _are_parts(content) else text_of(content)
    message: dict[str, Any] = {"role": "tool", "tool_call_id": text_of(call_id) or None, "content": kept}
    return {**message, "name": name} if isinstance(name, str) and name else message


def image(url: str) -> dict[str, Any]:
    """Return an image part."""
    return {"type": "image_url", "image_url": {"url": url}}


def data_url(mime: Any, data: Any) -> str:
    """Return data as a URL; what is a URL already stays one."""
    text = text_of(data)
    return text if "://" in text[:12] or text.startswith("data:") else f"data:{text_of(mime) or 'image'};base64,{text}"


def text_part(text: str) -> dict[str, str]:
    """Return a text part."""
    return {"type": "text", "text": text}


def slim(parts: Sequence[Any]) -> Any:
    """Return content parts as one text where they are texts only, else as they are."""
    texts = [part["text"] for part in parts if isinstance(part, Mapping) and part.keys() == {"type", "text"}]
    if len(texts) != len(parts):
        return list(parts)
    return texts[0] if len(texts) == 1 else list(parts) if texts else ""


def paired(messages: Iterable[Wire]) -> list[Wire]:
    """Return messages whose calls and results have ids; neither of those that have one is changed."""
    found: list[Wire] = []
    waiting: list[tuple[str, str]] = []
    given = 0
    for message in messages:
        if isinstance(message.get("tool_calls"), list):
            calls = []
            for one in message["tool_calls"]:
                if isinstance(one, Mapping) and not one.get("id"):
                    one = {**one, "id": f"call_{given}"}
                    given += 1
                calls.append(one)
            message = {**message, "tool_calls": calls}
            waiting = [(text_of(one.get("id")), _name(one)) for one in calls if isinstance(one, Mapping)]
        elif message.get("role") == "tool":
            message = _answering(message, waiting)
        found.append(message)
    return found


def _answering(message: Wire, waiting: list[tuple[str, str]]) -> Wire:
    call_id = message.get("tool_call_id")
    if not call_id:
        named = [one for one in waiting if one[1] and one[1] == message.get("name")]
        chosen = (named or waiting or [("", "")])[0]
        if not chosen[0]:
            return {key: value for key, value in message.items() if key != "tool_call_id"}
        call_id = chosen[0]
        message = {**message, "tool_call_id": call_id}
    waiting[:] = [one for one in waiting if one[0] != call_id]
    return message


def merged(replies: Sequence[Wire]) -> Wire | None:
    """Return what a model answered as one message where it was recorded as several; None if there is nothing."""
    if len(replies) <= 1:
        return replies[0] if replies else None
    parts: list[Any] = []
    calls: list[Any] = []
    thoughts: list[Any] = []
    for reply in replies:
        content = reply.get("content")
        parts += content if isinstance(content, list) else [text_part(content)] if content else []
        calls += reply["tool_calls"] if isinstance(reply.get("tool_calls"), list) else []
        thoughts += [reply["reasoning_content"]] if reply.get("reasoning_content") else []
    return assistant(slim(parts), calls, "\n".join(map(text_of, thoughts)))


def decoded(value: Any, most: int = 4) -> Any:
    """Return the value that a JSON text holds, encoded once or several times; any other value as it is."""
    for _ in range(most):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            break
        try:
            value = json.loads(value, strict=False)
        except (ValueError, RecursionError):
            break
    return value


def _name(one: Wire) -> str:
    function = one.get("function")
    return text_of(function.get("name")) if isinstance(function, Mapping) else ""


def _are_parts(content: list[Any]) -> bool:
    return bool(content) and all(isinstance(part, Mapping) and isinstance(part.get("type"), str) for part in content)
