"""Dates: one key however they are written, `2024-05-21`, `2024-05` or, without a year, `--05-21`.

The date inside a file name or a version is none. A whole date in a prompt also stands for its day and month alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
_YEAR = r"(?:,?\s(?P<{}>[12][0-9]{{3}}))"
_END = r"(?![A-Za-z0-9_]|:[0-9])"
_NUMERIC = re.compile(
    r"[0-9](?<![A-Za-z0-9_./-][0-9])(?:"
    r"(?P<iso>(?<=[12])[0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"(?:[T ][0-2][0-9]:[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
    r"(?![A-Za-z0-9_/-]|\.[A-Za-z]))"
    rf"|(?P<slashed>(?<=[12])[0-9]{{3}}/(?:0?[1-9]|1[0-2])/{_DAY}(?![A-Za-z0-9_/-]))"
    rf"|(?P<cjk>(?<=[12])[0-9]{{3}}\s?年\s?(?:0?[1-9]|1[0-2])\s?月(?:\s?{_DAY}\s?[日号號])?)"
    rf"|(?P<cjk_day>[0-9]?\s?月\s?{_DAY}\s?[日号號])"
    rf"|(?P<named>[0-9]?(?:st|nd|rd|th)?\s(?:of\s)?(?:{_MONTH})\b\.?{_YEAR.format('year')}?{_END})"
    r")"
)
_NAMED = re.compile(
    rf"(?P<month>{_MONTH})(?:\.?\s(?P<day>{_DAY})(?:st|nd|rd|th)?{_YEAR.format('year')}?|\.?{_YEAR.format('alone')}){_END}"
)
_DIGITS = re.compile(r"[0-9]+")
_LETTERS = re.compile(r"[A-Z][a-z]+")


def dates(text: str) -> list[tuple[int, int, str]]:
    """Return start, stop and key of each date, in order."""
    found = [(match.start(), match.end(), key) for match in _NUMERIC.finditer(text) if (key := _numeric_key(match))]
    taken = {start for start, _, _ in found}
    for match in _NAMED.finditer(text):
        start = match.start()
        if not text[start - 1 : start].isalnum() and not any(a in taken for a in range(start - 7, start)):
            year = match["year"] or match["alone"]
            found.append((start, match.end(), _key(year, _MONTHS[match["month"]], match["day"])))
    return sorted(found)


def _numeric_key(match: re.Match[str]) -> str | None:
    numbers = _DIGITS.findall(match[0])
    if match.lastgroup == "cjk_day":
        month, day = int(numbers[0]), numbers[1]
        return _key(None, month, day) if 1 <= month <= 12 else None
    if match["named"] is not None:
        month = next(_MONTHS[word] for word in _LETTERS.findall(match[0]) if word in _MONTHS)
        return _key(match["year"], month, numbers[0]) if 1 <= int(numbers[0]) <= 31 else None
    return _key(numbers[0], int(numbers[1]), numbers[2] if len(numbers) > 2 else None)


def _key(year: str | None, month: int, day: str | None) -> str:
    return (year or "-") + f"-{month:02}" + (f"-{int(day):02}" if day else "")


def date_keys(text: str) -> Iterator[str]:
    """Yield the keys of all dates in a text; a whole date also stands for its day and month alone."""
    for _, _, key in dates(text):
        yield key
        if len(key) == len("2024-05-21"):
            yield f"-{key[4:]}"


def date_words(key: str) -> list[str]:
    """Return words of which a text with this date has at least one."""
    if not key.startswith("--"):
        return [key[:4]]
    month = int(key[2:4])
    return [*_NAMES[month - 1].split(), str(month), f"{month:02}"]
