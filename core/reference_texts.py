"""A reference as a text has it. Dates, numbers and addresses are looked for by a key, which stands in no text.

`--03-10` is the key of `March 10`, `12 kg` that of `12kilograms`: what people are shown is what they can search for.
"""

from __future__ import annotations

from collections.abc import Iterator

from .reference_classes import ReferenceClass
from .reference_dates import dates, day_alone
from .reference_numbers import numbers
from .watched_texts import Use

_FOLDED = frozenset({ReferenceClass.EMAIL, ReferenceClass.UUID, ReferenceClass.ERROR})
"""Classes whose keys are in small letters, or are found whatever the case."""
SPELLED = _FOLDED | {ReferenceClass.DATE, ReferenceClass.NUMBER}
"""Classes whose keys may stand in no text."""


def text_of(use: Use, text: str) -> str:
    """Return a use as a normal text spells it first; its key where the text has it so, or spells it in no known way."""
    if use.form in text:
        return use.form
    return next(_spelled(use, text), use.form)


def _spelled(use: Use, text: str) -> Iterator[str]:
    if use.kind is ReferenceClass.DATE:
        yield from (text[start:stop] for start, stop, key in dates(text) if use.form in (key, day_alone(key)))
    elif use.kind is ReferenceClass.NUMBER:
        yield from (text[start:stop] for start, stop, number in numbers(text) if number.key == use.form)
    elif use.kind in _FOLDED and (at := text.lower().find(use.form.lower())) >= 0:
        yield text[at : at + len(use.form)]
