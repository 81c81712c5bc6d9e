"""Halves of surrogate pairs in JSON: an escape such as `\\ud800` alone spells no character, and no encoding holds it.

The values are kept as they are and told of, as bytes are that are no UTF-8. To look at every text of a large log takes
long, so its lines are asked first whether they may hold any.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

MOST_NAMED = 2
_PAIR = 12
"""Bytes of the escapes of a pair."""
_HALF = re.compile("[\ud800-\udfff]")
_ALONE = re.compile(
    rb"(?<!\\)(?:\\\\)*(?:\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)


def may_hold_halves(text: str) -> bool:
    """Tell whether JSON text spells surrogates, in pairs or not, or holds any as they are."""
    if "\\ud" in text or "\\uD" in text:
        return True
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def half_pairs(value: Any) -> Iterator[tuple[str, str]]:
    """Yield in a sentence which texts of a record hold half a pair, and what became of it; nothing if none does."""
    found = list(islice(_halves(value, ""), MOST_NAMED + 1))
    if not found:
        return
    named = " and ".join(f"{path or 'it'} holds {sign}" for path, sign in found[:MOST_NAMED])
    each = "half a surrogate pair" if len(found) == 1 else "each half a surrogate pair"
    more = ", and there are more" if len(found) > MOST_NAMED else ""
    yield f"{named}, {each} and no character{more}", "It was kept as it is, and is shown as a question mark."


class HalvesInBytes:
    """Looks for half a pair in JSON whose bytes come in chunks. `found` is true from the first one on."""

    def __init__(self) -> None:
        self.found = False
        self._before = b""

    def look(self, chunk: bytes) -> None:
        """Look at the next chunk, an empty one at the end. What stands at its end is judged with what follows."""
        piece, start = self._before + chunk, max(0, len(self._before) - _PAIR)
        stop = len(piece) - _PAIR if chunk else len(piece)
        self._before = piece[-2 * _PAIR :]
        if not self.found and (b"\\ud" in piece or b"\\uD" in piece):
            self.found = any(start < found.end() <= stop for found in _ALONE.finditer(piece))


def _halves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the path of each text with half a pair and the first one as JSON spells it; also of JSON in a text."""
    if isinstance(value, str):
        if found := _HALF.search(value):
            yield path, json.dumps(found[0])[1:-1]
        elif value.startswith(("{", "[")) and may_hold_halves(value):
            yield from _halves(_parsed(value), path)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _halves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _halves(inner, f"{path}[{place}]")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
