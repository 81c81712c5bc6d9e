"""What stands for a value that was said: of the same size and shape, and without a word of it.

Texts become fillers of as many o200k tokens. Arguments and results that are objects keep how many values they hold and
how many tokens each has, because providers count them by both; their keys, numbers and truth values become others.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_letters
from typing import Any

from .tokens import TiktokenCounter
from .wire import dump, text_of

__all__ = ["anonymous", "anonymous_json", "filler", "fitted"]

DEEPEST = 40
"""Levels of a value whose shape is kept; what lies deeper is one text."""
DIGITS_PER_TOKEN = 3
MOST_TOKENS = 1000
"""Of one number; longer ones are no numbers for Python."""

FIRST_WORDS = (*ascii_letters, *map(str, range(1000)))
"""Of keys: each is one token. So is a letter after a space, and a number is not."""

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
    """Return a value whose fillers are longer or shorter, so that it has the tokens of a text when written.

    What JSON escapes in the text, a filler does not hold.
    """
    missing = _counter.count(text) - _counter.count(dump(made))
    sizes = [len(found.split()) for found in _fillers(made)]
    if not missing or not sizes:
        return made
    return _resized(made, iter(_spread(sizes, missing)))


def _spread(sizes: Sequence[int], missing: int) -> list[int]:
    """Return sizes that together have so many tokens more. The longest change first; none is left without a token."""
    spread = list(sizes)
    for place in sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True):
        spread[place] = max(1, sizes[place] + missing)
        missing -= spread[place] - sizes[place]
    return spread


def _is_filler(value: Any) -> bool:
    return isinstance(value, str) and set(value[::2]) == {value[:1]} and set(value[1::2]) <= {" "}


def _fillers(value: Any) -> Iterator[str]:
    if _is_filler(value):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _fillers(item)


def _resized(value: Any, sizes: Iterator[int]) -> Any:
    """Return the value with each of its fillers in the next of the sizes."""
    if _is_filler(value):
        return filler(next(sizes), value[0])
    if isinstance(value, dict):
        return {key: _resized(item, sizes) for key, item in value.items()}
    return [_resized(item, sizes) for item in value] if isinstance(value, list) else value


def _text(text: str) -> str:
    return filler(_counter.count(text)) if text else ""


def _keys(names: Iterable[str]) -> Iterator[str]:
    """Yield a key for each name: different ones, of as many tokens as far as there are words for them."""
    used: Counter[int] = Counter()
    for name in names:
        tokens = max(1, _counter.count(str(name)))
        while used[tokens] >= len(FIRST_WORDS) * len(ascii_letters) ** (tokens - 1):
            tokens += 1
        yield _numbered(used[tokens], tokens)
        used[tokens] += 1


def _numbered(number: int, tokens: int) -> str:
    """Return one of the texts of so many tokens: its words are the digits of a number."""
    words = []
    for _ in range(tokens - 1):
        number, letter = divmod(number, len(ascii_letters))
        words.append(ascii_letters[letter])
    return " ".join((FIRST_WORDS[number], *reversed(words)))
