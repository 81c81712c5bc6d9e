"""Counts in sentences: a number with its noun and the verb that agrees with it, so that nobody reads of 1 tokens.

Only what people read is worded with it. Texts that stand in a prompt keep the form that their rules give them; in a
stub a noun agrees with its number, which stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["agreeing", "counted", "counted_or_no", "filled", "plural"]

_FIELD = re.compile(r"\{(\w+)\}(?: (line|message|token)s\b)?")


def counted(number: int, noun: str, one: str = "", many: str = "") -> str:
    """Return a number with its noun, and what follows one or many: "1 summary is", "2 summaries are", "1,200 calls"."""
    said = f"{number:,} {noun if abs(number) == 1 else plural(noun)}"
    return f"{said} {agreeing(number, one, many)}".rstrip()


def counted_or_no(number: int, noun: str, one: str = "", many: str = "") -> str:
    """Return what `counted` does, and "no call stands" where there is none: a sentence of zeros reads like a fault."""
    return f"no {noun} {one}".rstrip() if number == 0 else counted(number, noun, one, many)


def plural(noun: str) -> str:
    """Return the plural of a noun; of several words, the last one has it."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def agreeing(number: int, one: str, many: str) -> str:
    """Return the verb that agrees with a number: `agreeing(1, "is", "are")` is "is"."""
    return one if abs(number) == 1 else many


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return a template with the values of its fields in braces: "{lines} lines" is "1 line" where there is one."""

    def value(found: re.Match[str]) -> str:
        number, noun = values.get(found[1]), found[2]
        if number is None:
            return found[0]
        return number if noun is None else f"{number} {noun}" if number == "1" else f"{number} {noun}s"

    return _FIELD.sub(value, template)
