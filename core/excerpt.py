"""Extractive summaries of single messages: the first words, without the numbers of results.

A number that was true when it was said is the most dangerous thing to keep out of its context, and half a number is
worse (63 for 6384). So results' numbers go, and a cut never splits one; ordinals and identifiers stay.
"""

from __future__ import annotations

import re

from . import marks

EXCERPT_LENGTH = 40
_LOOK_AHEAD = 40
"""A long text is read whole only where its beginning is nearly all white space."""

_MEASURES = "条项个次件份张页行台只位人名天日周月年时分秒点度元块万亿倍路层处家篇封"
_UNITS = r"[KMGTkmgt]i?[Bb]|ms|[µun]s|min|sec|hours?|days?|[kcm]?m|kg|[hgs]"
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_#./\\:@-])(?<!第)(?<!第\s)"
    r"[$¥€£]?\d+(?:,\d{3})*(?:\.\d+)?(?![-_./:@\\][A-Za-z0-9_]|[A-Za-z_]*\d)"
    rf"(?:\s?(?:[%％‰]|毫秒|微秒|分钟|小时|[{_MEASURES}]|(?:{_UNITS})(?![A-Za-z0-9_])))?"
)
_NUMBER_CHARACTERS = frozenset("0123456789.,")


def head(text: str, length: int = EXCERPT_LENGTH) -> str:
    """Return the first characters of a text, white-space runs as one space. The plain form (rule B-P4)."""
    words = text[: length * _LOOK_AHEAD].split()
    if sum(map(len, words)) < length < len(text):
        words = text.split()
    return " ".join(words)[:length]


def excerpt(text: str, length: int = EXCERPT_LENGTH) -> str:
    """Return the first characters of a text without the numbers of results (rule B-R3)."""
    words = head(text, length + 24)
    first = words[:length]
    if len(words) > length and words[length] in _NUMBER_CHARACTERS and first[-1] in _NUMBER_CHARACTERS:
        first = first.rstrip("0123456789.,")
    return _NUMBER.sub("", first)


def summary_text(words: str, tokens: int) -> str:
    """Return the summary of a message: marker, its words, and what it counted in tokens (rule B-P4)."""
    return f"{marks.SUMMARY} {words}… (was ~{tokens} tokens)"
