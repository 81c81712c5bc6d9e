"""OpenAI chat: request bodies, responses, pairs of them, message lists, fine-tuning and batch files, captured runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..transcript import Transcript
from .formats import Format, Reading, share
from .responses import is_openai_response
from .runs import read_requests
from .shapes import bodies, has_messages, is_message, is_message_list, is_openai_body, is_response, responses
from .stream_logs import event_kind

CERTAIN = 0.9
"""For what only OpenAI chat has."""
GENERIC = 0.5
"""For messages with roles and nothing else: many formats hold such, and a more special one goes first."""


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are OpenAI chat."""
    certain = share(values, _is_certain)
    return CERTAIN * certain + GENERIC * (share(values, _fits) - certain)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the transcripts of a file."""
    return read_requests(reading, "openai_chat")


def _is_certain(value: Any) -> bool:
    if is_message_list(value):
        return is_openai_body({"messages": value})
    if isinstance(value, list):
        return bool(value) and all(map(_is_certain, value))
    if event_kind(value) == "openai_chat":
        return True
    return is_openai_response(value) or any(has_messages(body) and is_openai_body(body) for body in bodies(value))


def _fits(value: Any) -> bool:
    if isinstance(value, list) and not is_message_list(value):
        return bool(value) and all(map(_fits, value))
    if is_message(value) or is_message_list(value) or any(map(has_messages, bodies(value))):
        return True
    return any(map(is_response, responses(value)))


FORMAT = Format("openai_chat", "OpenAI chat requests, responses and lists of messages", sniff, read)
