"""Whether a text holds a reference, as a whole and not as a part of something else.

A text is asked about a few hundred references, so it is not taken apart into its own: a first look at its words says
which references may stand in it (`words_of`), and only for those is the text searched, each hit with a look at its
neighbours. `17` is not in `1174` or `1.17`; `foo` is not in `foo_bar` but in `obj.foo`; `foo.py` is in `/a/foo.py`.
Neighbours are compared by ASCII classes: a CJK character beside a word is its end.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import NamedTuple

from .normal_text import one_line
from .reference_classes import ReferenceClass
from .reference_dates import date_keys, date_words
from .reference_numbers import holds_number, number_words

_NOT_WORD = bytes.maketrans(
    bytes(range(256)),
    bytes(byte if (chr(byte).isalnum() and byte < 128) or byte == ord("_") else 32 for byte in range(256)),
)
_ASCII_WORD = re.compile(r"[A-Za-z0-9_]+")
_BLOCK = 1 << 20
"""Bytes looked at in one go, so that the words of a huge text are never all there at once."""

_NAMES = (ReferenceClass.IDENTIFIER, ReferenceClass.HASH)
WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_ALPHANUMERIC = WORD - {"_"}
_DOT_OR_HYPHEN = frozenset(".-")
_PATH_BEFORE = WORD | frozenset(".-")
_PATH_AFTER = WORD | frozenset("-")
_URL_AFTER = WORD | frozenset("-%")
_ID_BESIDE = WORD | frozenset("-")


def words_of(text: str, wanted: frozenset[bytes]) -> set[bytes]:
    """Return which of the wanted words (ASCII letters, digits, `_`) stand in a text as whole words."""
    plain = _bare_words(text)
    if len(plain) <= _BLOCK:
        return set(wanted.intersection(plain.split()))
    found: set[bytes] = set()
    start = 0
    while start < len(plain):
        stop = plain.find(b" ", start + _BLOCK)
        stop = len(plain) if stop < 0 else stop
        found |= wanted.intersection(plain[start:stop].split())
        start = stop
    return found


def _bare_words(text: str) -> bytes:
    """Return a text's ASCII words with a space for all that stands between."""
    return text.encode("ascii", "replace").translate(_NOT_WORD)


class Words(NamedTuple):
    """Words by which texts that may hold a form are found: all of `needed`, and one of `either` if there is any."""

    needed: tuple[bytes, ...]
    either: tuple[bytes, ...] = ()
    tell: bool = False
    """Whether having the words is holding the form."""


@lru_cache(maxsize=200_000)
def watch_words(kind: ReferenceClass, form: str) -> Words:
    """Return the words by which a text that may hold a form is found; none where words cannot tell."""
    if kind in _NAMES and _ASCII_WORD.fullmatch(form):
        return Words((form.encode(),), (), True)
    if kind is ReferenceClass.DATE:
        return Words((), tuple(word.encode() for word in date_words(form)))
    if kind is ReferenceClass.NUMBER:
        return Words((), tuple(word.encode() for word in number_words(form)))
    if kind in (ReferenceClass.EMAIL, ReferenceClass.UUID):
        return Words(())
    words = dict.fromkeys(_bare_words(form).split())
    if kind is ReferenceClass.ERROR and len(words) > 1:
        return Words(tuple(words)[1:])  # `exit code 1` may begin a sentence
    return Words(tuple(words))


@lru_cache(maxsize=200_000)
def longest_word(form: str) -> str:
    """Return the longest ASCII word of a form, which every text that has the form has; "" if it has none.

    One letter is none: it may be a drive, which a path is found without.
    """
    words = (word for word in _bare_words(form).split() if len(word) > 1)
    return max(words, key=len, default=b"").decode()


class TextIndex:
    """One normal text, with the spellings in which it is searched made when they are first needed."""

    def __init__(self, text: str) -> None:
        self.text = text

    def holds(self, kind: ReferenceClass, form: str) -> bool:
        """Return whether a form of a reference stands in the text as a whole."""
        if kind is ReferenceClass.DATE:
            return form in self._dates
        if kind is ReferenceClass.NUMBER:
            return holds_number(self.text, form)
        if kind is ReferenceClass.PATH:
            return self._holds_path(form)
        if kind is ReferenceClass.UUID:
            return _found(self._folded, form, _ALPHANUMERIC, _ALPHANUMERIC)
        if kind is ReferenceClass.EMAIL:
            return _found(self._folded, form, _ID_BESIDE, _ID_BESIDE)
        if kind is ReferenceClass.URL:
            return _found(self.text, form, WORD, _URL_AFTER)
        if kind is ReferenceClass.ERROR and " " in form:
            return _found(self._folded, form, WORD, WORD)
        if kind in (ReferenceClass.QUOTED, ReferenceClass.CJK):
            return self._holds_quotation(form)
        if kind is ReferenceClass.ID:
            return _holds_id(self.text, form)
        return _found(self.text, form, WORD, WORD)

    @cached_property
    def _dates(self) -> set[str]:
        return set(date_keys(self.text))

    @cached_property
    def _folded(self) -> str:
        return self.text.lower()

    @cached_property
    def line(self) -> str:
        """The text with every run of white space as one space."""
        return one_line(self.text)

    @cached_property
    def _slashed(self) -> str:
        text = self.text.replace("\\", "/")
        while "//" in text:
            text = text.replace("//", "/")
        return text

    def _holds_quotation(self, form: str) -> bool:
        if "line" not in self.__dict__ and _found(self.text, form, WORD, WORD):
            return True  # most stand on one line, and need no other spelling of the text
        return _found(self.line if " " in form else self.text, form, WORD, WORD)

    def _holds_path(self, form: str) -> bool:
        if form[1:3] == ":/" and "a" <= form[0] <= "z":
            form = form[2:]
        return _found(self._slashed, form, _PATH_BEFORE, _PATH_AFTER, path=True)


def _holds_id(text: str, form: str) -> bool:
    if form.startswith("#"):
        number = form[1:]
        links = (f"{way}/{number}" for way in ("issues", "pull", "pulls", "merge_requests", "discussions"))
        return _found(text, form, WORD, WORD) or any(_found(text, link, WORD, WORD) for link in links)
    return _found(text, form, _ID_BESIDE, _ID_BESIDE) or _found(text, form, WORD, WORD)


def _found(text: str, form: str, before: frozenset[str], after: frozenset[str], path: bool = False) -> bool:
    """Search a form that has no character of `before` at its left and none of `after` at its right.

    A side of the form that is no word itself needs no boundary. A path may go on after a slash, and a full stop or
    hyphen ends it only where no further word follows.
    """
    left, right = form[0] in WORD or path, form[-1] in WORD
    at = text.find(form)
    while at >= 0:
        stop = at + len(form)
        if not (left and _joined_left(text, at, form, before)) and not (
            right and _joined_right(text, stop, after, path)
        ):
            return True
        at = text.find(form, at + 1)
    return False


def _joined_left(text: str, at: int, form: str, before: frozenset[str]) -> bool:
    if at == 0:
        return False
    beside, earlier = text[at - 1], text[max(0, at - 2) : at - 1]
    if beside == "-" and before is _PATH_BEFORE:
        return earlier in WORD  # else it is an option's
    if form[0] == "/":
        # `/a/b` goes on to the left in `x/a/b`, but not in `c:/a/b` or `file:/a/b`.
        return beside in WORD or beside in ".~"
    if beside == "." and before is _PATH_BEFORE:
        return earlier not in _DOT_OR_HYPHEN  # `.env` is no `env`, but `...env` is one
    return beside in before


def _joined_right(text: str, stop: int, after: frozenset[str], path: bool) -> bool:
    if stop >= len(text):
        return False
    if path and text[stop] in ".-":
        return text[stop + 1 : stop + 2] in WORD
    return text[stop] in after
