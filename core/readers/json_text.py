"""JSON as logs hold it: NaN and raw control signs pass, a text that breaks off is read as far as it goes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from ..json_faults import said_by_parser

DEEPEST = 200
"""Nesting beyond this is refused: no transcript needs it, and recursive code further on would fail on it."""

_DECODER = json.JSONDecoder(strict=False)
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\]]', re.DOTALL)
CLOSERS = {"{": "}", "[": "]"}


class Unreadable(ValueError):
    """Text that is not JSON. `at` is the offset where it stops being so."""

    def __init__(self, reason: str, at: int) -> None:
        self.at = at
        super().__init__(reason)


def parse(text: str) -> Any:
    """Return the JSON value that a text holds; NaN and raw control characters pass. Unreadable if it is none."""
    value, end = decode(text, _skip_space(text))
    end = _skip_space(text, end)
    if end != len(text):
        raise Unreadable("more text follows the JSON value", end)
    return value


def decode(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value that begins at `start`, and where it ends. Unreadable if there is none."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise Unreadable(f"it is nested more than {DEEPEST} levels deep", start) from None
    except json.JSONDecodeError as error:
        raise Unreadable(f"{said_by_parser(error).lower()}, column {error.colno}", error.pos) from None
    except ValueError as error:  # a number of thousands of digits
        raise Unreadable(str(error).lower(), start) from None
    if too_deep(value):
        raise Unreadable(f"it is nested more than {DEEPEST} levels deep", start)
    return value, end


def too_deep(value: Any) -> bool:
    """Tell whether a value is nested more than DEEPEST levels deep."""
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _children(outer) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def salvage(text: str) -> Any:
    """Return what a broken-off document holds up to its last whole object or list; None if there is none."""
    stack: list[str] = []
    cut, open_there = 0, ""
    for token in _TOKEN.finditer(text):
        sign = token.group()
        if sign in CLOSERS:
            stack.append(sign)
            if len(stack) > DEEPEST:
                break
        elif sign in ("}", "]"):
            if not stack or CLOSERS[stack.pop()] != sign:
                break
            cut, open_there = token.end(), "".join(CLOSERS[opened] for opened in reversed(stack))
    try:
        return parse(text[:cut] + open_there) if cut else None
    except Unreadable:
        return None


def _children(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _skip_space(text: str, position: int = 0) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position
