"""What all sections of a configuration share: unknown keys are refused, and so is what would have no effect.

A setting that is accepted and then does nothing looks like a setting that works. So it is told where it is written,
with the key that it stands under and what to write instead.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """Settings that refuse unknown keys and cannot be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Refused(ValueError):
    """A setting that would have no effect; `under` is its key within what is checked."""

    def __init__(self, problem: str, suggestion: str = "", under: str = "") -> None:
        super().__init__(problem)
        self.problem, self.suggestion, self.under = problem, suggestion, under


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a suggestion with the nearest known name, else with all."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Known here: {', '.join(names)}."


def check_fields(text: str, known: tuple[str, ...]) -> str:
    """Return a text if it names only known fields in braces: any other would be sent to the model as it stands.

    A blank one is refused: providers refuse messages that say nothing, and what went would go without a word.
    """
    if not text.strip():
        raise Refused("it is blank, so nothing would say what was left out.", "Leave it out for the default text.")
    for name in re.findall(r"\{(\w+)\}", text):
        if name not in known:
            raise Refused(f"it names {{{name}}}, which nothing fills in.", nearest(name, known))
    return text
