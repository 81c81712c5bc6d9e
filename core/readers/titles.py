"""A transcript's title where the recording has none: the first thing that the user wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..dialects import Dialect, PartKind
from ..wire import Wire

LONGEST = 80
CUT = "…"
"""The end of a title that was shortened."""
_UNSHOWABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]+")


def title_of(dialect: Dialect, messages: Iterable[Wire], otherwise: str) -> str:
    """Return the beginning of the first user text in one line; `otherwise` if there is none."""
    for wire in messages:
        message = dialect.message(wire)
        if message.role == "user":
            text = " ".join(part.text for part in message.parts if part.kind is PartKind.TEXT)
            if title := shortened(text):
                return title
    return otherwise


def shortened(text: str) -> str:
    """Return a text in one line of at most 80 characters, without what cannot be shown."""
    line = " ".join(_UNSHOWABLE.sub(" ", text[:2000]).split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + CUT
