"""Anthropic Messages: request bodies, responses, pairs of them, message lists and captured runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..dialects import detect
from ..transcript import Transcript
from .formats import Format, Reading, share
from .responses import is_anthropic_response
from .runs import read_requests
from .shapes import bodies, has_messages, is_item, is_message_list, is_openai_body, responses
from .stream_logs import event_kind

CERTAIN = 0.95


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are Anthropic Messages: one that shows it speaks for those that fit both."""
    certain = share(values, _is_certain)
    against = share(values, _is_openai)
    return CERTAIN * (1 - against) if certain > against else 0.0


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the transcripts of a file."""
    return read_requests(reading, "anthropic")


def _is_certain(value: Any) -> bool:
    if is_message_list(value):
        return _shows({"messages": value})
    if isinstance(value, list):
        return any(map(_is_certain, value))
    if event_kind(value) == "anthropic":
        return True
    return any(map(_shows, bodies(value))) or any(map(_is_response, responses(value)))


def _is_response(value: Any) -> bool:
    return is_anthropic_response(value) and not is_item(value)


def _is_openai(value: Any) -> bool:
    if is_message_list(value):
        return is_openai_body({"messages": value})
    return any(has_messages(body) and is_openai_body(body) for body in bodies(value))


def _shows(body: Any) -> bool:
    return has_messages(body) and not is_openai_body(body) and detect(body) == "anthropic"


FORMAT = Format("anthropic", "Anthropic Messages requests and responses", sniff, read)
