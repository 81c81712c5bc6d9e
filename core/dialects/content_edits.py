"""Putting other texts into a content list: part by part, so that what stands beside the texts survives.

A text that is joined from several parts is shared out among them again, line by line. A part that loses all its text
goes; its cache mark goes to the last part left before it, else to the first one left, so that a prefix that was to be
cached still is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from ..wire import Wire
from .content import CACHE_MARK, part_text

GONE = object()
"""What stands in a list for a part that goes; None may be a part."""


def with_only_text(content: Any, text: str, kind: str = "text") -> Any:
    """Return content whose first text is this one and that has no other; images and other parts stay in their places.

    `kind` is the type of the text part that a list without any gets.
    """
    if not isinstance(content, list):
        return text
    places = [place for place, part in enumerate(content) if part_text(part) is not None]
    if not places:
        return [{"type": kind, "text": text}, *content]
    changed = dict.fromkeys(places, GONE) | {places[0]: _with_own_text(content[places[0]], text)}
    return left(content, [changed.get(place, part) for place, part in enumerate(content)])


def with_joined_text(content: Any, text: str) -> Any:
    """Return content whose texts, joined, are this one, each part with what it has of it; None if nothing is left."""
    if not isinstance(content, list):
        return text or None
    places = [place for place, part in enumerate(content) if part_text(part)]
    shares = shared_out([part_text(content[place]) or "" for place in places], text)
    changed = {
        place: _with_own_text(content[place], share) if share else GONE
        for place, share in zip(places, shares, strict=True)
    }
    return left(content, [changed.get(place, part) for place, part in enumerate(content)]) or None


def with_joined_texts(
    messages: Sequence[Wire], before: Sequence[str], texts: Sequence[str], kind: str = "text"
) -> list[Wire]:
    """Return messages with other texts than `before`; one of which nothing is left goes, and its cache mark moves."""
    kept: list[Wire] = []
    waiting: Any = None
    for message, own, text in zip(messages, before, texts, strict=True):
        content = with_joined_text(message.get("content"), text) if text != own else None
        if text == own or content is not None:
            kept.append(_marked_message(message if text == own else {**message, "content": content}, waiting, kind))
            waiting = None
        elif kept:
            kept[-1] = _marked_message(kept[-1], _mark_of(message), kind)
        else:
            waiting = waiting or _mark_of(message)
    return kept


def left(before: Sequence[Any], after: Sequence[Any]) -> list[Any]:
    """Return the parts of a list that are left, without those that are GONE, whose cache marks others bear."""
    kept: list[Any] = []
    waiting: Any = None
    for old, new in zip(before, after, strict=True):
        if new is not GONE:
            kept.append(_marked(new, waiting))
            waiting = None
        elif kept:
            kept[-1] = _marked(kept[-1], _own_mark(old))
        else:
            waiting = waiting or _own_mark(old)
    return kept


def shared_out(parts: Sequence[str], text: str) -> list[str]:
    """Return a text in as many pieces as there are parts, each with the lines it had; joined they are the text.

    A line that no part had, or only one before, goes where the line before it went.
    """
    ends = list(accumulate(map(len, parts)))
    starts = _line_starts("".join(parts))
    shares: list[list[str]] = [[] for _ in parts]
    at = 0
    for line in text.splitlines(keepends=True):
        known = starts.get(line, [])
        found = bisect_left(known, at)
        if found == len(known):
            shares[min(bisect_right(ends, at), len(parts) - 1)].append(line)
            continue
        at = known[found] + len(line)
        for place, piece in _across(line, known[found], ends):
            shares[place].append(piece)
    return ["".join(pieces) for pieces in shares]


def _line_starts(text: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    at = 0
    for line in text.splitlines(keepends=True):
        found.setdefault(line, []).append(at)
        at += len(line)
    return found


def _across(line: str, start: int, ends: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield a line that begins at `start` in the pieces that stand in each part, with the place of the part."""
    place, at, stop = bisect_right(ends, start), start, start + len(line)
    while at < stop:
        end = min(ends[place], stop)
        yield place, line[at - start : end - start]
        place, at = place + 1, end


def _with_own_text(part: Any, text: str) -> Any:
    return {**part, "text": text} if isinstance(part, Mapping) else text


def _own_mark(part: Any) -> Any:
    return part.get(CACHE_MARK) if isinstance(part, Mapping) else None


def _marked(part: Any, mark: Any) -> Any:
    """Return a part with a cache mark, unless it has its own."""
    if mark is None or not isinstance(part, Mapping) or part.get(CACHE_MARK) is not None:
        return part
    return {**part, CACHE_MARK: mark}


def _mark_of(message: Wire) -> Any:
    """Return the cache mark of a message or of one of its parts; None if there is none."""
    content = message.get("content")
    marks = [_own_mark(message), *map(_own_mark, content if isinstance(content, list) else ())]
    return next((mark for mark in marks if mark is not None), None)


def _marked_message(message: Wire, mark: Any, kind: str) -> Wire:
    """Return a message with a cache mark on its last part, where one may be marked."""
    content = message.get("content")
    if mark is None or _own_mark(message) is not None:
        return message
    if isinstance(content, str) and content:
        content = [{"type": kind, "text": content}]
    if not isinstance(content, list) or not content:
        return message
    return {**message, "content": [*content[:-1], _marked(content[-1], mark)]}
