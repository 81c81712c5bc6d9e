"""What tools gave back, with the images and files that stand in it: they fill a prompt as results, and have no text.

An image stands in a result where it is a part of it, or beside it in a message in which the user says nothing: several
clients put what a tool returns as an image behind the result.
"""

from __future__ import annotations

from .dialects.base import Message, PartKind
from .spans import Span, SpanKind
from .units import Unit

__all__ = ["RESULTS", "carried_by_results", "result_tokens"]

RESULTS = frozenset({SpanKind.TOOL_RESULT, SpanKind.RETRIEVAL})
"""The kinds of texts that tools gave back."""
_CARRIED = {SpanKind.IMAGE: PartKind.IMAGE, SpanKind.OTHER: PartKind.FILE}


def carried_by_results(unit: Unit) -> list[Span]:
    """Return the images and files of a unit that stand in tool results."""
    return [span for span in unit.spans if span.kind in _CARRIED and _is_carried(unit, span)]


def result_tokens(unit: Unit) -> int:
    """Return the tokens of a unit's tool results, and of the images and files in them."""
    texts = sum(span.tokens for span in unit.spans if span.kind in RESULTS)
    return texts + sum(span.tokens for span in carried_by_results(unit))


def _is_carried(unit: Unit, span: Span) -> bool:
    message = unit.messages[span.message - unit.first]
    part = message.parts[span.part] if span.part < len(message.parts) else None
    if part is None or part.kind is not _CARRIED[span.kind]:
        return False
    return any(part.place == result.place for result in message.results) or _says_nothing(message)


def _says_nothing(message: Message) -> bool:
    """Whether a message with results has no word of the user."""
    return bool(message.results) and not any(one.kind is PartKind.TEXT and not one.told for one in message.parts)
