"""What stands for a value that was said: of the same size and shape, and without a word of it.

Texts become fillers of as many o200k tokens. Arguments and results that are objects keep how many values they hold and
how many tokens each has, because providers count them by both; their keys, numbers and truth values become others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from string import ascii_lowercase
from typing import Any

from .tokens import TiktokenCounter
from .wire import dump, text_of

__all__ = ["anonymous", "anonymous_json", "filler", "fitted"]

DEEPEST = 40
"""Levels of a value whose shape is kept; what lies deeper is one text."""
DIGITS_PER_TOKEN = 3
MOST_TOKENS = 1000
"""Of one number; longer ones are no numbers for Python."""

_counter = TiktokenCounter("o200k_base")


def filler(tokens: int, word: str = "a") -> str:
    """Return a text of so many o200k tokens: each repeated short word is one."""
    return " ".join([word] * tokens)


def anonymous(value: Any, depth: int = 0) -> Any:
    """Return a JSON value of the same shape that says nothing."""
    if value is None or isinstance(value, bool):
        return None if value is None else True
    if isinstance(value, int | float):
        return int("1" * DIGITS_PER_TOKEN * min(_counter.count(text_of(value)), MOST_TOKENS))
    if isinstance(value, str) or depth >= DEEPEST:
        return _text(text_of(value))
    if isinstance(value, Mapping):
        return dict(zip(_keys(value), (anonymous(item, depth + 1) for item in value.values()), strict=True))
    return [anonymous(item, depth + 1) for item in value]


def anonymous_json(text: str) -> str:
    """Return what stands for a text that is mostly JSON: JSON of the same shape, a filler where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict | list):
        return _text(text)
    made = fitted(anonymous(value), dump(value))
    return dump(made) if text == dump(value) else json.dumps(made, ensure_ascii=False)


def fitted(made: Any, text: str) -> Any:
    """Return a value whose longest filler is longer or shorter, so that it has the tokens of a text when written.

    What JSON escapes in the text, a filler does not hold.
    """
    missing = _counter.count(text) - _counter.count(dump(made))
    longest = max(_fillers(made), key=len, default="")
    if not missing or not longest:
        return made
    word = longest[0]
    return _replaced(made, longest, filler(max(1, len(longest.split()) + missing), word))


def _fillers(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value and set(value[::2]) == {value[0]} and set(value[1::2]) <= {" "}:
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _fillers(item)


def _replaced(value: Any, old: str, new: str) -> Any:
    """Return the value with the first of the texts that are `old` replaced."""
    if isinstance(value, dict | list):
        for place, item in value.items() if isinstance(value, dict) else enumerate(value):
            changed = new if item == old else _replaced(item, old, new)
            if changed is not item:
                copied: Any = value.copy()
                copied[place] = changed
                return copied
    return value


def _text(text: str) -> str:
    return filler(_counter.count(text)) if text else ""


def _keys(names: Iterable[str]) -> list[str]:
    """Return a key for each name: different ones, of as many tokens as far as there are letters for them."""
    made = []
    for index, name in enumerate(names):
        more, letter = divmod(index, len(ascii_lowercase))
        made.append(filler(max(1, _counter.count(str(name))) + more * 50, ascii_lowercase[letter]))
    return made
