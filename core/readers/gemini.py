"""Gemini generateContent: request bodies, responses and their chunks, pairs of them, bare lists of contents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript
from .formats import Format, Reading, share
from .responses import is_gemini_response
from .runs import read_requests
from .shapes import bodies, has_contents, is_content, is_content_list, responses

CERTAIN = 0.9


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are Gemini requests, responses or contents."""
    return CERTAIN * share(values, _is_certain)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the transcripts of a file."""
    return read_requests(reading, "gemini")


def _is_certain(value: Any) -> bool:
    if is_content(value) or is_content_list(value):
        return True
    if isinstance(value, list):
        return bool(value) and all(map(_is_certain, value))
    if isinstance(value, Mapping) and ("sessionId" in value or "uuid" in value):
        return False
    if isinstance(value, Mapping) and is_content_list(value.get("history")):
        return True
    return any(map(has_contents, bodies(value))) or any(map(is_gemini_response, responses(value)))


FORMAT = Format("gemini", "Gemini requests, responses and lists of contents", sniff, read)
