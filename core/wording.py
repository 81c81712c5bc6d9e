"""Counts in sentences: a number with its noun and the verb that agrees with it, so that nobody reads of 1 tokens.

Only what people read is worded with it. Texts that stand in a prompt keep the form that their rules give them.
"""

from __future__ import annotations

__all__ = ["agreeing", "counted", "plural"]


def counted(number: int, noun: str, one: str = "", many: str = "") -> str:
    """Return a number with its noun, and what follows one or many: "1 summary is", "2 summaries are", "1,200 calls"."""
    said = f"{number:,} {noun if abs(number) == 1 else plural(noun)}"
    return f"{said} {agreeing(number, one, many)}".rstrip()


def plural(noun: str) -> str:
    """Return the plural of a noun; of several words, the last one has it."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def agreeing(number: int, one: str, many: str) -> str:
    """Return the verb that agrees with a number: `agreeing(1, "is", "are")` is "is"."""
    return one if abs(number) == 1 else many
