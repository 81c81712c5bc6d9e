"""What stands as the response beside a recorded request: a provider's object, its stream, or the answer's text alone.

A stream is joined first, whether it was recorded as text or as a list of events, so that every way into the product
reads the same response.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dialects import dialect
from ..wire import Wire
from .responses import ResponseFacts, response_facts
from .shapes import unwrapped
from .stream_parts import error_of
from .streams import body_value

__all__ = ["facts_in", "whole_response"]


def whole_response(response: Any) -> Any:
    """Return a response or an error as one object, whatever way it was recorded; anything else as it is.

    A text that is JSON of no provider is an answer's text, also where it tells of an error.
    """
    found = unwrapped(response)
    value = body_value(found)
    is_known = response_facts(value).dialect is not None or _is_error(value, response)
    return value if is_known else found


def _is_error(value: Any, recorded: Any) -> bool:
    """Tell whether a value is an error in the place of a response.

    A model may have written JSON with an error in it, so a JSON text says so only by its type, as Anthropic's does.
    """
    if error_of(value) is None:
        return False
    is_json = isinstance(recorded, str) and recorded.lstrip("\ufeff \t\r\n").startswith(("{", "["))
    return not is_json or value.get("type") == "error"


def facts_in(spoken: str, response: Any) -> ResponseFacts:
    """Return what a whole response says. A text, or a message of the assistant, is the answer as the dialect has it."""
    facts = response_facts(response)
    if facts.dialect is not None:
        return facts
    if isinstance(response, str):
        return ResponseFacts(dialect(spoken).text_message("assistant", response))
    return ResponseFacts(_message(spoken, response) if isinstance(response, Mapping) else None)


def _message(spoken: str, response: Wire) -> Wire | None:
    """Return a message of the assistant in the dialect; None for what is none."""
    if response.get("role") not in ("assistant", "model"):
        return None
    if dialect(spoken).message(response).role == "assistant":
        return response
    text = response.get("content")
    return dialect(spoken).text_message("assistant", text) if isinstance(text, str) else None
