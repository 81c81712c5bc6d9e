"""Where a text may be cut so that its tokens are counted exactly part by part.

The split patterns of cl100k_base and o200k_base let no piece span (a) a point after a line break when the next
character is neither white space nor a slash, or (b) a point before a space whose previous character is not white
space. So the counts on both sides of such a point add up. Python's white space holds four control characters that
tiktoken's does not; that only hides a few cuts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["cut_points", "is_cut", "parts"]

# A cut is the end of a match. Each alternative takes exactly the one character before the cut, so none is skipped.
_CUT = re.compile(r"[\r\n](?=[^\s/])|\S(?= )")


def cut_points(text: str) -> Iterator[int]:
    """Yield the exact cut points inside a text, ascending, as character positions."""
    return (match.end() for match in _CUT.finditer(text))


def is_cut(before: str, after: str) -> bool:
    """Tell whether the point between two texts, neither of them empty, is an exact cut point."""
    last, first = before[-1], after[0]
    if last in "\r\n":
        return not first.isspace() and first != "/"
    return first == " " and not last.isspace()


def parts(text: str, size: int) -> Iterator[str]:
    """Yield consecutive parts of a text, cut at the first exact cut point after at least `size` characters each."""
    start = 0
    while cut := _CUT.search(text, start + size - 1):
        yield text[start : cut.end()]
        start = cut.end()
    yield text[start:]
