"""How long names may be that people give: a longer one is refused with a sentence, never cut."""

from __future__ import annotations

from core.wording import counted

from .errors import StorageError

__all__ = ["LONGEST_NAME", "checked_name", "too_long"]

LONGEST_NAME = 200
"""Characters of a title, a tag, or the name of a configuration."""


def too_long(text: str) -> str:
    """Return how far a name is too long, as what is said of it; empty where it is not."""
    size = len(text.strip())
    if size <= LONGEST_NAME:
        return ""
    return f"has {counted(size, 'character')}, {size - LONGEST_NAME:,} more than the {LONGEST_NAME} that fit"


def checked_name(what: str, text: str) -> str:
    """Return a name without blanks around it. StorageError, which begins with `what`, if it is too long."""
    if problem := too_long(text):
        raise StorageError(f"{what} {problem}. Shorten it and save again.")
    return text.strip()
