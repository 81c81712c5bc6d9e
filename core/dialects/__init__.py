"""The request bodies of the providers, one file a dialect; adding one is a file and a line in `_DIALECTS`."""

from __future__ import annotations

from ..errors import ConfigError
from .anthropic import Anthropic
from .base import Cost, Dialect, Message, Part, PartKind, ToolDefinition
from .detection import Seen, detect, other_dialect
from .gemini import Gemini
from .openai_chat import OpenAIChat
from .openai_responses import OpenAIResponses

__all__ = [
    "Cost",
    "Dialect",
    "Message",
    "Part",
    "PartKind",
    "Seen",
    "ToolDefinition",
    "detect",
    "dialect",
    "dialect_names",
    "other_dialect",
]

_DIALECTS: dict[str, Dialect] = {
    known.name: known for known in (OpenAIChat(), OpenAIResponses(), Anthropic(), Gemini())
}


def dialect_names() -> tuple[str, ...]:
    """Return the names of the dialects that can be read and written."""
    return tuple(_DIALECTS)


def dialect(name: str) -> Dialect:
    """Return a dialect by its name. ConfigError if there is none."""
    try:
        return _DIALECTS[name]
    except KeyError:
        raise ConfigError(
            "model.dialect", f"there is no dialect {name!r}.", f"Use one of {', '.join(_DIALECTS)}."
        ) from None
