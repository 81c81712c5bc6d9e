"""Tells an exported configuration from a recording: people keep both in one folder, and import the folder."""

from __future__ import annotations

from collections.abc import Mapping

from .json_text import Unreadable, parse
from .source import Source

LARGEST = 1_000_000
"""Characters of a file that is looked at; no configuration has as many."""


def is_configuration(source: Source) -> bool:
    """Tell whether a source that was read already is an object with a strategy, as no recording is."""
    text = source.again().start(LARGEST + 1)
    if len(text) > LARGEST or not text.lstrip().startswith("{"):
        return False
    try:
        value = parse(text)
    except Unreadable:
        return False
    return isinstance(value, Mapping) and isinstance(value.get("strategy"), Mapping)
