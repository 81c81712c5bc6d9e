"""Lines taken verbatim: masking keeps names and removes bodies, and names alone would flatter it.

A line is compared without its indentation, list or diff mark, and without the number or `file:17:` that a listing puts
before it, so that code read with numbers and written without them is one line.
"""

from __future__ import annotations

import re

SHORTEST = 25
"""Characters from which a line is hardly the same by chance."""

_LISTING = re.compile(r"(?:[\w./\\-]{1,200}[:-])?\d{1,7}(?:[:→|]|-|\t| {2,})")
_MARKS = " \t-+>*|"
_LETTERS = re.compile(r"[^\W\d_]{3}")


def lines_of(text: str) -> list[str]:
    """Return the lines of a normal text that are long enough to be told apart, stripped, each once and in order."""
    return list(dict.fromkeys([line for raw in text.splitlines() if len(raw) >= SHORTEST and (line := _bare(raw))]))


def _bare(raw: str) -> str:
    line = raw.strip(_MARKS)
    found = _LISTING.match(line)
    if found is not None:
        line = line[found.end() :].strip(_MARKS)
    line = line.rstrip("\r ")
    return line if len(line) >= SHORTEST and (line[:3].isalpha() or _LETTERS.search(line)) else ""
