"""What a platform recorded as a model's output, as messages that are still of whatever kind they were recorded in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..wire import Wire
from . import langchain_messages
from .chat_wire import assistant, decoded
from .fields import listed, objects, text
from .odd_messages import calls_of_list, speaker_of
from .prompts import Loose, is_message
from .responses import response_facts

REPLY_KEYS = ("content", "tool_calls", "function_call", "reasoning_content", "refusal", "additional_kwargs")
AROUND_REPLY = ("message", "content", "output", "outputs", "response", "result", "data", "value")


def reply_of(value: Any, depth: int = 0) -> Loose | None:
    """Return what a recorded output holds; None if it is no answer of a model."""
    value = decoded(value)
    if isinstance(value, str):
        return Loose([{"role": "assistant", "content": value}]) if value else None
    if calls := calls_of_list(value):
        return Loose([assistant(None, calls)])
    if isinstance(value, list):
        found = [loose for one in value if depth < 6 and (loose := reply_of(one, depth + 1)) is not None]
        return Loose([message for loose in found for message in loose.messages]) if found else None
    if not isinstance(value, Mapping):
        return None
    facts = response_facts(value)
    if facts.message is not None:
        return Loose([*(facts.message.get("output") or [facts.message])])
    if facts.dialect is not None:
        return None
    if listed(value, "generations"):
        return reply_of(value["generations"][0], depth + 1)
    if listed(value, "messages"):
        return reply_of(_answers(value["messages"]), depth + 1)
    return _one_reply(value, depth)


def _one_reply(value: Wire, depth: int) -> Loose | None:
    if is_message(value):
        return Loose([value])
    if isinstance(value.get("message"), Mapping) and is_message(value["message"]):
        return Loose([value["message"]])
    if isinstance(value.get("content"), str | list) and "role" not in value:
        return Loose([{"role": "assistant", **{key: value[key] for key in REPLY_KEYS if key in value}}])
    if objects(value, "parts"):
        return Loose([{"role": "assistant", **value}])
    if isinstance(value.get("text"), str):
        return Loose([{"role": "assistant", "content": value["text"]}])
    found = (reply_of(value[key], depth + 1) for key in AROUND_REPLY if depth < 6 and value.get(key))
    return next((loose for loose in found if loose is not None), None)


def _answers(messages: list[Any]) -> list[Any]:
    """Return the messages behind the last that is not the model's: an output may repeat the whole conversation."""
    roles = [_role(decoded(message)) for message in messages]
    last = max((at for at, role in enumerate(roles) if role != "assistant"), default=-1)
    return messages[last + 1 :] or messages[-1:]


def _role(message: Any) -> str:
    if not isinstance(message, Mapping):
        return ""
    if langchain_messages.is_message(message):
        return langchain_messages.role_of(message)
    role = text(message, "role") or speaker_of(message)
    return {"model": "assistant", "ai": "assistant"}.get(role, role)
