"""OpenAI Responses: request bodies, responses, streams, pairs of them, bare lists of items and conversation lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript
from .formats import Format, Reading, share
from .responses import is_responses_response
from .runs import read_requests
from .shapes import bodies, has_input, is_item, is_item_list, responses
from .stream_logs import event_kind

CERTAIN = 0.95
LIKELY = 0.6
"""For a request whose input is one text: other services take such too."""


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are OpenAI Responses."""
    certain = share(values, _is_certain)
    return CERTAIN * certain + LIKELY * (share(values, _fits) - certain)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the transcripts of a file."""
    return read_requests(reading, "openai_responses")


def _is_certain(value: Any) -> bool:
    if is_item(value) or is_item_list(value) or event_kind(value) == "openai_responses":
        return True
    if isinstance(value, list):
        return bool(value) and all(map(_is_certain, value))
    if isinstance(value, Mapping) and value.get("object") == "list" and is_item_list(value.get("data")):
        return True
    return any(map(_shows, bodies(value))) or any(map(is_responses_response, responses(value)))


def _shows(body: Any) -> bool:
    return has_input(body) and isinstance(body["input"], list)


def _fits(value: Any) -> bool:
    return _is_certain(value) or any(map(has_input, bodies(value)))


FORMAT = Format("openai_responses", "OpenAI Responses requests, responses and lists of items", sniff, read)
