"""Chunks of Gemini, joined to their response.

The arguments of a function call may come in pieces, each with the JSON path of what it belongs to; `willContinue`
tells that more of the call, or of a text in its arguments, is to follow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..wire import Wire
from .stream_parts import Text, grow, index_of, not_read, object_of, settled

__all__ = ["join"]

PIECES = "partialArgs"
CONTINUES = "willContinue"
VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")
_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")
_ESCAPED = re.compile(r"\\(.)")


def join(events: Sequence[Wire]) -> dict[str, Any]:
    """Return the response that the chunks of one stream make up."""
    response: dict[str, Any] = {}
    candidates: dict[int, dict[str, Any]] = {}
    lost: list[str] = []
    for event in events:
        response |= {key: value for key, value in event.items() if key != "candidates" and value is not None}
        found = event.get("candidates")
        for candidate in found if isinstance(found, list) else []:
            if isinstance(candidate, Mapping):
                content = object_of(candidate, "content")
                joined = candidates.setdefault(index_of(candidate.get("index")), {"content": {"parts": []}})
                joined |= {key: value for key, value in candidate.items() if key != "content" and value is not None}
                joined["content"] |= {key: value for key, value in content.items() if key != "parts"}
                for part in content["parts"] if isinstance(content.get("parts"), list) else []:
                    lost += _add(joined["content"]["parts"], part)
    listed = [candidates[index] for index in sorted(candidates)]
    for candidate in listed:
        candidate["content"]["parts"] = list(map(_closed, candidate["content"]["parts"]))
    return {**response, "candidates": listed, **not_read(lost)}


def _add(parts: list[Any], part: Any) -> list[str]:
    """Add a part; return what of it could not be taken in."""
    last = parts[-1] if parts else {}
    if _is_text(part) and _is_text(last) and last.get("thought") == part.get("thought"):
        grow(last, {"text": part["text"]})
        last |= {key: value for key, value in part.items() if key != "text"}
    elif _goes_on(last, part):
        return _extend(last, part)
    elif _is_piece(part):
        parts.append({"functionCall": {}})
        return _extend(parts[-1], part)
    else:
        parts.append(dict(part) if isinstance(part, Mapping) else part)
    return []


def _is_text(part: Any) -> bool:
    plain = isinstance(part, Mapping) and isinstance(part.get("text"), str | Text)
    return plain and part.keys() <= {"text", "thought", "thoughtSignature"}


def _call(part: Any) -> Wire | None:
    found = part.get("functionCall") if isinstance(part, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _is_piece(part: Any) -> bool:
    call = _call(part)
    return call is not None and (PIECES in call or call.get(CONTINUES) is True)


def _goes_on(last: Any, part: Any) -> bool:
    """Tell whether a part is the next piece of a call that is open; one of another name or id is another call."""
    begun, piece = _call(last), _call(part)
    if begun is None or piece is None or begun.get(CONTINUES) is not True:
        return False
    return all(begun.get(key, piece.get(key)) == (piece.get(key) or begun.get(key)) for key in ("name", "id"))


def _extend(last: dict[str, Any], part: Wire) -> list[str]:
    """Add a piece of a call to what there is of it; the one without `willContinue` is the last."""
    begun, piece = last["functionCall"], part["functionCall"]
    last |= {key: value for key, value in part.items() if key != "functionCall"}
    named = {key: value for key, value in piece.items() if key not in (PIECES, CONTINUES, "args") and value is not None}
    args = {**object_of(begun, "args"), **settled(object_of(piece, "args"))}
    listed = piece.get(PIECES)
    lost = [PIECES for one in (listed if isinstance(listed, list) else []) if not _put(args, one)]
    last["functionCall"] = {**begun, **named, "args": args, CONTINUES: piece.get(CONTINUES) is True}
    return lost


def _closed(part: Any) -> Any:
    """Return a part without the mark of a call that came in pieces."""
    call = _call(part)
    if call is None or CONTINUES not in call:
        return part
    return {**part, "functionCall": {key: value for key, value in call.items() if key != CONTINUES}}


def _put(args: dict[str, Any], piece: Any) -> bool:
    """Put a value at its path, a text after the text that is there; tell whether that could be done."""
    steps = _steps(piece.get("jsonPath")) if isinstance(piece, Mapping) else []
    key = next((name for name in VALUES if name in piece), None) if steps else None
    if key is None:
        return bool(steps) and piece.keys() <= {"jsonPath", CONTINUES}
    if not _has_place(args, steps):
        return False
    owner: Any = args
    for step, following in pairwise(steps):
        owner = _within(owner, step, [] if isinstance(following, int) else {})
    value = None if key == "nullValue" else piece[key]
    there = _within(owner, steps[-1], Text() if isinstance(value, str) else value)
    if isinstance(value, str) and isinstance(there, Text):
        there.append(value)
    elif isinstance(value, str) and isinstance(there, str):
        owner[steps[-1]] = Text((there, value))
    return True


def _has_place(owner: Any, steps: Sequence[str | int]) -> bool:
    """Tell whether a path leads to what is there or to what may come next, which of a list is the one after its last.

    A path that leads elsewhere is damage: what it skips would have to be made up.
    """
    for step in steps:
        if owner is None:
            owner = {} if isinstance(step, str) else []
        if isinstance(owner, dict) and isinstance(step, str):
            owner = owner.get(step)
        elif type(owner) is list and isinstance(step, int) and step <= len(owner):
            owner = owner[step] if step < len(owner) else None
        else:
            return False
    return True


def _within(owner: Any, step: str | int, otherwise: Any) -> Any:
    """Return what stands at a step that has its place; what is to stand there if nothing does."""
    if isinstance(step, int) and step == len(owner):
        owner.append(None)
    there = owner.get(step) if isinstance(owner, dict) else owner[step]
    if there is None:
        owner[step] = there = otherwise
    return there


def _steps(path: Any) -> list[str | int]:
    """Return the names and numbers of a JSON path; none if it is none of this simple kind."""
    if not isinstance(path, str) or not path.startswith("$"):
        return []
    steps: list[str | int] = []
    at = 1
    while at < len(path) and (found := _STEP.match(path, at)) is not None:
        name, number, *quoted = found.groups()
        text = next((_ESCAPED.sub(r"\1", one) for one in quoted if one is not None), name)
        steps.append(int(number) if number is not None else text)
        at = found.end()
    return steps if at == len(path) else []
