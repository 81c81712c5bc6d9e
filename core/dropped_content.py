"""Keep the counts of a transcript and drop what it says.

Every text becomes a filler of as many o200k tokens, so that windows, budgets and replays keep their sizes. Roles,
types, ids, names of tools and models stay, because calls must still find their results. The filler is no summary:
loss, sections and findings about words mean nothing on such a transcript.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .tokens import TiktokenCounter
from .transcript import Call, Transcript
from .wire import Wire

__all__ = ["NOTE", "drop_content", "drop_transcript", "filler"]

STRUCTURE = frozenset(
    {
        *("role", "type", "id", "name", "call_id", "tool_call_id", "tool_use_id", "previous_response_id"),
        *("model", "object", "status", "finish_reason", "stop_reason", "service_tier", "conversation"),
        *("detail", "format", "mimeType", "mime_type", "media_type"),
    }
)
"""Keys whose texts say how things hang together, not what was said."""
LINKS = frozenset({"parent_session", "agent", "session"})
NOTE = "the content was dropped when it was imported; token counts were kept"

_counter = TiktokenCounter("o200k_base")


def filler(tokens: int) -> str:
    """Return a text of so many o200k tokens: each repeated short word is one."""
    return " ".join(["a"] * tokens)


def drop_content(value: Any) -> Any:
    """Return a JSON value with fillers for its texts. The input is not changed."""
    return _dropped("", value)


def _dropped(key: str, value: Any) -> Any:
    if isinstance(value, str):
        return value if key in STRUCTURE else filler(_counter.count(value) if value else 0)
    if isinstance(value, Mapping):
        return {name: _dropped(str(name), item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_dropped(key if isinstance(item, str) else "", item) for item in value]
    return value


def drop_transcript(transcript: Transcript) -> Transcript:
    """Return a transcript whose texts are fillers; times, usage, models and the tree of messages stay."""
    return replace(
        transcript,
        messages=tuple(map(drop_content, transcript.messages)),
        heads=tuple(map(drop_content, transcript.heads)),
        calls=tuple(map(_dropped_call, transcript.calls)),
        title=f"{transcript.format} without content",
        notes=(*transcript.notes, NOTE),
        meta={key: value for key, value in transcript.meta.items() if key in LINKS},
    )


def _dropped_call(call: Call) -> Call:
    response: Wire | None = None if call.response is None else drop_content(call.response)
    variants = tuple((place, drop_content(wire)) for place, wire in call.variants)
    return replace(call, response=response, variants=variants, hints=None)
