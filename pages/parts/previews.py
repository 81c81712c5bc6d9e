"""Bounded texts: 100 lines or 10,000 characters at once, and never base64, which says nothing and stops a browser."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from core.wording import counted

MOST_LINES, MOST_CHARACTERS = 100, 10_000
ONE_LINE = 120
MOST_READ = 1_000_000
"""Characters that are looked through for base64; behind them stands nothing that a preview shows."""

_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{256,}|(?:[A-Za-z0-9+/]{60,76}\r?\n){4,}[A-Za-z0-9+/]*)={0,2}"
)
_LONG_WORD = re.compile(r"[A-Za-z]{256,}")


@dataclass(frozen=True, slots=True)
class Preview:
    """The beginning of a text, and what is not shown of it: 0 lines and 0 characters if it is all there."""

    text: str
    lines_left: int
    characters_left: int

    @property
    def cut(self) -> bool:
        """Whether something is not shown."""
        return bool(self.characters_left)


def preview(text: str) -> Preview:
    """Return the beginning of a text, base64 in it replaced by its length."""
    shown, rest = without_base64(text[:MOST_READ]), text[MOST_READ:]
    lines = shown[:MOST_CHARACTERS].splitlines(keepends=True)
    head = "".join(lines[:MOST_LINES])
    left = shown[len(head) :]
    lines_left = left.count("\n") + rest.count("\n") + (not (rest or left).endswith("\n")) if left or rest else 0
    return Preview(printable(head), lines_left, len(left) + len(rest))


def one_line(text: str, most: int = ONE_LINE) -> str:
    """Return the beginning of a text in one line."""
    line = " ".join(without_base64(text[: 8 * most]).split())
    return printable(line if len(line) <= most else line[: most - 1].rstrip() + "…")


def without_base64(text: str) -> str:
    """Return a text in which long base64 is replaced by a note of its length."""
    return _BASE64.sub(_note, text)


def printable(text: str) -> str:
    """Return a text that every browser takes: lone surrogates and NUL replaced."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def as_text(body: Any) -> str:
    """Return a JSON value as indented text."""
    return json.dumps(body, ensure_ascii=False, indent=2, default=dict)


def _note(found: re.Match[str]) -> str:
    run = found[0]
    plain = _LONG_WORD.fullmatch(run) or not re.search(r"\d", run) or len(set(run[:256])) < 16
    return run if plain else f"[base64, {counted(len(run), 'character')}, not shown]"
