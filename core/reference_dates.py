"""Dates: one key however they are written, `2024-05-21`, `2024-05` or, without a year, `--05-21`.

The date inside a file name or a version is none. A whole date in a prompt also stands for its day and month alone.
No date is cut: `10-12 March 2026` is two whole dates, and in `Tue Mar 10 09:12:44 2026` the year belongs to the day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_NAMES = (
    "January Jan",
    "February Feb",
    "March Mar",
    "April Apr",
    "May",
    "June Jun",
    "July Jul",
    "August Aug",
    "September Sept Sep",
    "October Oct",
    "November Nov",
    "December Dec",
)
_MONTHS = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY = r"(?:3[01]|[12][0-9]|0?[1-9])"
_ORDINAL = "(?:st|nd|rd|th)?"
_RANGE = r"\s?(?:-|–|to|and|&)\s?"
_YEAR = "[12][0-9]{3}"
_END = r"(?![A-Za-z0-9_]|:[0-9])"
_ISO = (
    r"[0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"(?:[T ][0-2][0-9]:[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
    r"(?![A-Za-z0-9_/-]|\.[A-Za-z])"
)
_SLASHED = rf"[0-9]{{3}}/(?:0?[1-9]|1[0-2])/{_DAY}(?![A-Za-z0-9_/-])"
_CJK = rf"[0-9]{{3}}\s?年\s?(?:0?[1-9]|1[0-2])\s?月(?:\s?{_DAY}\s?[日号號])?"
_APART = "(?<![A-Za-z0-9_./-][0-9])"
_NUMERIC = re.compile(rf"[12]{_APART}(?:{_ISO}|{_SLASHED})")
_WIDE_NUMERIC = re.compile(
    rf"[0-9]{_APART}(?:(?<=[12])(?:{_ISO}|{_SLASHED}|{_CJK})|(?P<cjk_day>[0-9]?\s?月\s?{_DAY}\s?[日号號]))"
)
_MONTH_MARKS = tuple(name[:3] for name in _NAMES)
_NAMED = re.compile(rf"(?P<month>{_MONTH})\b\.?")
_BEFORE = re.compile(
    rf"(?<![A-Za-z0-9_./-])(?:(?P<first>{_DAY}){_ORDINAL}{_RANGE})?(?P<day>{_DAY}){_ORDINAL}\s(?:of\s)?$"
)
_LONGEST_BEFORE = 24
_YEAR_AFTER = re.compile(rf",?\s(?P<year>{_YEAR}){_END}")
_DAY_AFTER = re.compile(
    rf"\s{{1,2}}(?P<first>{_DAY}){_ORDINAL}(?:{_RANGE}(?P<day>{_DAY}){_ORDINAL}(?![A-Za-z0-9_:]))?"
    rf"(?:(?:\s[0-9]{{1,2}}:[0-5][0-9](?::[0-5][0-9])?(?:\s[A-Z]{{2,5}})?|,)?\s(?P<year>{_YEAR}))?{_END}"
)
_DIGITS = re.compile(r"[0-9]+")


def dates(text: str) -> list[tuple[int, int, str]]:
    """Return start, stop and key of each date, in order and apart from each other."""
    pattern = _NUMERIC if text.isascii() else _WIDE_NUMERIC
    numeric = [(match.start(), match.end(), key) for match in pattern.finditer(text) if (key := _numeric_key(match))]
    named = list(_named(text)) if any(mark in text for mark in _MONTH_MARKS) else []
    if not numeric or not named:
        return numeric or named
    found: list[tuple[int, int, str]] = []
    for date in sorted(numeric + named):
        if not found or found[-1][1] <= date[0]:
            found.append(date)
    return found


def _numeric_key(match: re.Match[str]) -> str | None:
    numbers = _DIGITS.findall(match[0])
    if match.lastgroup == "cjk_day":
        month, day = int(numbers[0]), numbers[1]
        return _key(None, month, day) if 1 <= month <= 12 else None
    return _key(numbers[0], int(numbers[1]), numbers[2] if len(numbers) > 2 else None)


def _named(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the dates that name their month, those of `10 to 12 March` apart."""
    end = 0
    for found in _NAMED.finditer(text):
        start, stop = found.span()
        before = _BEFORE.search(text[max(end, start - _LONGEST_BEFORE) : start])
        if before is not None:
            after = _YEAR_AFTER.match(text, stop)
            begin = start - len(before[0])
        elif text[start - 1 : start].isalnum():
            continue
        else:
            before = after = _DAY_AFTER.match(text, stop) or _YEAR_AFTER.match(text, stop)
            begin = start
        if before is None:
            continue
        end = stop if after is None else after.end()
        yield from _apart(begin, end, _MONTHS[found["month"]], before.groupdict(), after["year"] if after else None)


def _apart(begin: int, end: int, month: int, days: dict[str, str | None], year: str | None) -> Iterator[Any]:
    """Yield one date, or the two of a range side by side."""
    first, day = days.get("first"), days.get("day")
    if first and day:
        yield begin, begin + 1, _key(year, month, first)
        begin += 1
    yield begin, end, _key(year, month, day or first)


def _key(year: str | None, month: int, day: str | None) -> str:
    return (year or "-") + f"-{month:02}" + (f"-{int(day):02}" if day else "")


def date_keys(text: str) -> Iterator[str]:
    """Yield the keys of all dates in a text; a whole date also stands for its day and month alone."""
    for _, _, key in dates(text):
        yield key
        if (day := day_alone(key)) is not None:
            yield day


def day_alone(key: str) -> str | None:
    """Return the key of a whole date's day and month without the year."""
    return f"-{key[4:]}" if len(key) == len("2024-05-21") else None


def date_words(key: str) -> list[str]:
    """Return words of which a text with this date has at least one."""
    if not key.startswith("--"):
        return [key[:4]]
    month = int(key[2:4])
    return [*_NAMES[month - 1].split(), str(month), f"{month:02}"]
