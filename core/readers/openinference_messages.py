"""Attributes of OpenInference and OpenLLMetry, which flatten messages into one key a value, as messages again.

`llm.input_messages.0.message.tool_calls.1.tool_call.function.name` is a path through objects and lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..wire import Wire, text_of
from . import chat_wire
from .fields import inner, objects, text


def nested(attributes: Mapping[str, Any], prefix: str) -> Any:
    """Return the value that the attributes below a prefix make up, numbers in their paths being places in lists."""
    tree: dict[str, Any] = {}
    found = False
    for key, value in attributes.items():
        if isinstance(key, str) and key.startswith(prefix) and key[len(prefix) :][:1] == ".":
            found = True
            _put(tree, key[len(prefix) + 1 :].split("."), value)
    return _listed(tree) if found else chat_wire.decoded(attributes.get(prefix))


def messages(attributes: Mapping[str, Any], prefix: str) -> list[Wire]:
    """Return the messages that stand below a prefix, each as one object without the word `message` around it."""
    value = nested(attributes, prefix)
    found = [unwrapped(one, "message") for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
    return [one for one in found if one]


def to_chat(message: Wire) -> list[Wire]:
    """Return a message as one of OpenAI chat."""
    role = text(message, "role") or "user"
    calls = [_call(unwrapped(one, "tool_call")) for one in objects(message, "tool_calls")]
    if text(message, "function_call_name"):
        calls.append(chat_wire.call(message["function_call_name"], message.get("function_call_arguments_json")))
    if role in ("tool", "function"):
        return [chat_wire.result(_content(message), message.get("tool_call_id"), message.get("name"))]
    if role in ("assistant", "model", "ai") or calls:
        return [chat_wire.assistant(_content(message), calls, _thoughts(message))]
    return [{"role": role, "content": _content(message)}]


def tools(attributes: Mapping[str, Any]) -> list[Any]:
    """Return the tool definitions, as they were given to the model."""
    value = nested(attributes, "llm.tools")
    found = [unwrapped(one, "tool") for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
    return [chat_wire.decoded(one.get("json_schema", one)) for one in found]


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for step in path[:-1]:
        below = tree.get(step)
        if not isinstance(below, dict):
            below = tree[step] = {}
        tree = below
    if not isinstance(tree.get(path[-1]), dict):
        tree[path[-1]] = value


def _listed(tree: Any) -> Any:
    """Return objects whose keys are numbers as lists, in the order of the numbers."""
    if not isinstance(tree, dict):
        return tree
    if tree and all(key.isascii() and key.isdigit() and len(key) < 7 for key in tree):
        return [_listed(tree[key]) for key in sorted(tree, key=int)]
    return {key: _listed(value) for key, value in tree.items()}


def unwrapped(one: Wire, name: str) -> Wire:
    """Return the object inside `{"message": {...}}`, or of `{"message.role": ...}`."""
    if isinstance(one.get(name), Mapping):
        return inner(one, name)
    dotted = {key[len(name) + 1 :]: value for key, value in one.items() if key.startswith(f"{name}.")}
    return _shallow(dotted) if dotted else one


def _shallow(dotted: Mapping[str, Any]) -> Wire:
    tree: dict[str, Any] = {}
    for key, value in dotted.items():
        _put(tree, key.split("."), value)
    found = _listed(tree)
    return found if isinstance(found, Mapping) else {}


def _call(one: Wire) -> Wire:
    function = inner(one, "function")
    name, arguments = function.get("name", one.get("name")), function.get("arguments", one.get("arguments"))
    return chat_wire.call(name, arguments, one.get("id"))


def _content(message: Wire) -> Any:
    parts = [unwrapped(one, "message_content") for one in objects(message, "contents")]
    if not parts:
        content = message.get("content")
        return content if isinstance(content, str | list) else text_of(content)
    return chat_wire.slim([part for block in parts if (part := _part(block)) is not None])


def _part(block: Wire) -> Any:
    if block.get("type") == "reasoning":
        return None
    if isinstance(block.get("text"), str):
        return chat_wire.text_part(block["text"]) if block["text"] else None
    url = _url(block.get("image"))
    return chat_wire.image(url) if url else dict(block)


def _url(image: Any) -> str:
    """Return the address within `{"image": {"url": ...}}`, however deep."""
    while isinstance(image, Mapping):
        image = next(iter(image.values()), None)
    return text_of(image) if isinstance(image, str) else ""


def _thoughts(message: Wire) -> str:
    parts: Iterable[Wire] = (unwrapped(one, "message_content") for one in objects(message, "contents"))
    return "\n".join(text(part, "text") for part in parts if part.get("type") == "reasoning")
