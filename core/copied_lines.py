"""Lines taken verbatim: masking keeps names and removes bodies, and names alone would flatter it.

A line is compared without its indentation, list or diff mark, and without the number or `file:17:` that a listing puts
before it, so that code read with numbers and written without them is one line.
"""

from __future__ import annotations

import re
from functools import lru_cache

SHORTEST = 25
"""Characters from which a line is hardly the same by chance."""

LONGEST_REMEMBERED = 16_384
"""Characters up to which a text's lines are kept: a response is soon read again, as a message."""

_LISTING = re.compile(r"(?:[\w./\\-]{1,200}[:-])?\d{1,7}(?:[:→|]|-|\t| {2,})")
_MARKS = " \t-+>*|"
_LETTERS = re.compile(r"[^\W\d_]{3}")


def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines of a normal text that are long enough to be told apart, stripped, each once and in order."""
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else _lines_of(text)


def _lines_of(text: str) -> tuple[str, ...]:
    bare = [line for raw in text.splitlines() if len(raw) >= SHORTEST and (line := _bare(raw))]
    return tuple(dict.fromkeys(bare))


_remembered = lru_cache(maxsize=1024)(_lines_of)


def _bare(raw: str) -> str:
    line = raw.strip(_MARKS)
    found = _LISTING.match(line)
    if found is not None:
        line = line[found.end() :].strip(_MARKS)
    line = line.rstrip("\r ")
    return line if len(line) >= SHORTEST and (line[:3].isalpha() or _LETTERS.search(line)) else ""
