"""Numbers that say something by themselves, and under which spellings another text may have them.

A number has no thousands commas and no currency; below three digits, or with one digit and zeros, it says something
only with its unit, so there the unit is part of the key. Line numbers, options and versions are no references: the
first two point into a listing or steer a tool, and versions are not told apart from other numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .reference_classes import Reference, ReferenceClass
from .reference_words import MONEY, UNITS

_ASCII_UNITS = "|".join(sorted((name for name in UNITS if name.isascii() and name != "%"), key=len, reverse=True))
_CJK_UNITS = "|".join(sorted((name for name in UNITS if not name.isascii()), key=len, reverse=True))
_DIGITS = r"[0-9](?<![A-Za-z0-9_.#/\\:@,~第-][0-9])(?:(?<=[0-9])[0-9]{0,2}(?:,[0-9]{3})+|[0-9]{0,14})(?:\.[0-9]{1,12})?"
_UNIT = rf"[ -]?(?:{_ASCII_UNITS})(?![A-Za-z0-9_/])"
_END = r"(?![A-Za-z0-9_]|[.,:/\\-][A-Za-z0-9_]|[\"']?\s?[→])"
_NUMBER = re.compile(rf"{_DIGITS}(?P<unit>{_UNIT}|\s?%)?{_END}")
_WIDE_NUMBER = re.compile(rf"{_DIGITS}(?P<unit>{_UNIT}|\s?(?:%|{_CJK_UNITS}))?{_END}")
_CONTEXT = 24
"""Characters before a number that are looked at."""


def _backwards(words: str) -> str:
    return "|".join(re.escape(word[::-1]) for word in words.split())


_LINE = _backwards("Lines lines Line line ln. ln Goto goto L")
_VERSION = _backwards("Python python Go go Node node Java java PHP Ruby ruby Rust rust Version version")
_POINTER = re.compile(
    rf"\n?(?:(?:(?:[-–,~ ]|ot|dna|hguorht)+\d+)?[ :]{{1,2}}(?:{_LINE})\b"
    r"|[ =][A-Za-z-]{0,20}[A-Za-z]--?(?:\Z|[\s(])|\s第"
    rf"|\s?(?:=[<>=~!]|\^|(?:{_VERSION})\b))"
)
"""What stands before a line, an option or a version, read backwards: so it is tried at one place only."""
_SIGNS = frozenset("$€£¥₹￥")
_SPELLINGS = {
    unit: tuple(sorted((name for name, known in UNITS.items() if known == unit), key=len)[::-1])
    for unit in UNITS.values()
}
_WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_LONGEST_LISTED = 7


def numbers(text: str) -> Iterator[tuple[int, int, Reference]]:
    """Yield start, stop and reference of each number that says something by itself."""
    short = 1 if any(sign in text for sign in _SIGNS) else 2
    for found in (_NUMBER if text.isascii() else _WIDE_NUMBER).finditer(text):
        start, stop = found.span()
        unit_at = found.start("unit")
        if stop - start <= short and unit_at < 0:
            continue  # most numbers have a digit or two and no unit
        digits = text[start : unit_at if unit_at >= 0 else stop].replace(",", "")
        unit = UNITS.get(found["unit"].strip(" -\u3000")) if unit_at >= 0 else None
        figures = len(digits.replace(".", "").lstrip("0"))
        if figures < 2 and unit != "%":
            continue
        before = text[max(0, start - _CONTEXT) : start]
        if _counts(digits, figures, unit, before) and not _points(before, digits, text[stop : stop + 1]):
            bare = figures >= 3 and (not _is_round(digits) or unit in MONEY)
            key = digits if bare or not unit else f"{digits} {unit}"
            kind = ReferenceClass.ID if figures >= 6 and "." not in digits and not unit else ReferenceClass.NUMBER
            yield start, stop, Reference(kind, (key,))


def _counts(digits: str, figures: int, unit: str | None, before: str) -> bool:
    if unit is not None:
        return figures > 0
    if figures < 3 or _is_round(digits):
        return before.rstrip()[-1:] in _SIGNS and figures + len(digits) > 2
    if len(digits) == 4 and digits[:2] in ("19", "20"):
        return before.rstrip(" \"'")[-1:] in ("=", ":", *_SIGNS)
    return digits[0] != "0" or "." in digits


def _points(before: str, digits: str, after: str) -> bool:
    """Whether a number points into a listing, sets an option or is a version."""
    if after and after in "\t|:→" and len(digits) <= _LONGEST_LISTED and not before.rpartition("\n")[2].strip(" \t"):
        return True
    return _POINTER.match(before[::-1]) is not None


def _is_round(digits: str) -> bool:
    """Whether a number is one digit and zeros, as any text may have it."""
    return not digits[1:].strip("0.")


def number_words(key: str) -> list[str]:
    """Return words of which a text with this number has at least one."""
    digits, _, unit = key.partition(" ")
    whole = digits.partition(".")[0]
    words = [whole] if len(whole) < 4 else [whole, whole[-3:]]
    return [*words, *(f"{whole}{name}" for name in _SPELLINGS.get(unit, ()) if name.isascii())]


def holds_number(text: str, key: str) -> bool:
    """Return whether a text has a number, with or without commas, and with its unit where the key has one."""
    digits, _, unit = key.partition(" ")
    names = _SPELLINGS[unit] if unit else ()
    return any(_stands(text, spelled, names) for spelled in _spellings(digits))


def _spellings(digits: str) -> list[str]:
    whole, dot, rest = digits.partition(".")
    if len(whole) < 4 or whole[0] == "0":
        return [digits]
    return [digits, f"{int(whole):,}{dot}{rest}"]


def _stands(text: str, spelled: str, units: tuple[str, ...]) -> bool:
    at = text.find(spelled)
    while at >= 0:
        if (
            text[at - 1 : at] not in _WORD
            and _begins(text, at)
            and _ends(text, at + len(spelled), "." in spelled, units)
        ):
            return True
        at = text.find(spelled, at + 1)
    return False


def _begins(text: str, at: int) -> bool:
    if at == 0:
        return True
    before = text[at - 1]
    if before in _WORD or before == ".":
        return False
    return before not in ",-" or at == 1 or text[at - 2] not in _WORD


def _ends(text: str, stop: int, has_fraction: bool, units: tuple[str, ...]) -> bool:
    if not has_fraction and text.startswith(".0", stop):
        while stop < len(text) and text[stop] in ".0":
            stop += 1
    if units:
        stop += text[stop : stop + 1] in (" ", "-", "\u3000")
        if not text.startswith(units, stop):
            return False
        unit = next(name for name in units if text.startswith(name, stop))
        stop += len(unit)
        return unit[-1] not in _WORD or text[stop : stop + 1] not in _WORD
    if stop >= len(text):
        return True
    if text[stop] in _WORD:
        return False
    return text[stop] not in ".,-" or not text[stop + 1 : stop + 2].isdigit()
