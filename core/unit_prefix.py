"""How much of a unit two prompts share that send it with other texts: whole messages, then parts of the next one.

Masking changes the results of a reply and leaves the reply itself, so the prefix ends inside the unit. What is
repeated is counted as if it were sent alone, because what frames and joined texts cost depends on what stands beside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from .decisions import Edit
from .dialects.base import Message
from .edits import edited_messages
from .units import Unit

Count = Callable[[Sequence[Message]], int]
"""Returns the tokens of messages that make a unit or its beginning."""
BEGINNING = "tokens of the beginning"


class Rendered(NamedTuple):
    """A unit as it is sent: its own texts, or other ones in some spans."""

    unit: Unit
    edit: Edit | None

    @property
    def texts(self) -> Mapping[str, str]:
        """The other texts, by span id."""
        return self.edit.texts if self.edit is not None else OWN


OWN: Mapping[str, str] = {}


class _Place(NamedTuple):
    """So many whole messages of a unit, and so many parts of the next."""

    messages: int
    parts: int


def shared_tokens(before: Rendered, after: Rendered, count: Count) -> int:
    """Return the tokens of what a unit repeats of another from its beginning, where both are sent otherwise."""
    if before.unit is not after.unit:
        return _counted(after, _same_messages(before, after), count)
    known: dict[tuple[int, int], _Known] = after.unit.memo.setdefault(BEGINNING, {})
    key = (id(before.edit), id(after.edit))
    if key not in known:
        tokens = _counted(after, _same_unit(before, after), count)
        known[key] = _Known(before.edit, after.edit, tokens)
    return known[key].tokens


class _Known(NamedTuple):
    """What two renderings of one unit share. Edits are held, so that nothing else gets their identities."""

    before: Edit | None
    after: Edit | None
    tokens: int


def _counted(made: Rendered, place: _Place, count: Count) -> int:
    return count(_beginning(made, place)) if place != (0, 0) else 0


def _beginning(made: Rendered, place: _Place) -> list[Message]:
    messages = edited_messages(made.unit, made.texts)
    if not place.parts:
        return messages[: place.messages]
    cut = messages[place.messages]
    return [*messages[: place.messages], replace(cut, parts=cut.parts[: place.parts])]


def _same_unit(before: Rendered, after: Rendered) -> _Place:
    old, new = before.texts, after.texts
    for span in after.unit.spans:
        if old.get(span.id) != new.get(span.id):
            return _Place(span.message - after.unit.first, span.part)
    return _Place(len(after.unit.messages), 0)


def _same_messages(before: Rendered, after: Rendered) -> _Place:
    old, new = (edited_messages(made.unit, made.texts) for made in (before, after))
    same = _common(old, new)
    if same == min(len(old), len(new)) or old[same].role != new[same].role or old[same].name != new[same].name:
        return _Place(same, 0)
    return _Place(same, _common(old[same].parts, new[same].parts))


def _common(old: Sequence[object], new: Sequence[object]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(old), len(new)))
