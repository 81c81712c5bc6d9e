"""The calls that leaf 1A makes of one prompt: the giant text with one of its numbered parts in its place.

Beside the part stands only what every such call needs: the fixed part, what is pinned and the newest user message.
Each call is made as a request body and counted as the engine counts that body, so that what is said of it is true of
what would be sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .advice_measures import Prompt
from .edits import edited_wires, is_rewritable
from .engine import Engine
from .hints import Hints
from .shrinkers import ChunkPinned
from .shrinkers.chunk_pinned import LABEL
from .spans import SECTION, Span, SpanKind
from .unit_feed import UnitFeed
from .units import Unit
from .wire import Wire
from .wording import counted

__all__ = ["MOST_PARTS", "ChunkedPrompt", "obstacle"]

MOST_PARTS = 9_999
"""Parts that a label has room for."""
_TEXTS = frozenset({SpanKind.USER, SpanKind.TOOL_RESULT, SpanKind.RETRIEVAL})
"""What `chunk_pinned` numbers beside the sections of the system part."""


def obstacle(prompt: Prompt, giant: Span) -> str:
    """Return why a span cannot be split into numbered parts and what to do instead; "" where it can."""
    if giant.id.startswith(SECTION):
        return ""
    tokens = counted(giant.tokens, "token")
    if giant.kind is SpanKind.TOOL_DEFINITION:
        return f"a tool definition cannot be split: describe {giant.name!r}, {tokens}, in fewer words or leave it out"
    if giant.kind is SpanKind.IMAGE:
        return f"an image cannot be split: send {giant.id}, {tokens}, smaller or cropped, or raise the budget"
    if giant.message >= 0 and giant.kind in _TEXTS and is_rewritable(_unit_of(prompt, giant), giant):
        return ""
    return f"{giant.name} ({giant.id}, {tokens}) is no text that could be split: send less of it, or do not pin it"


def _unit_of(prompt: Prompt, span: Span) -> Unit:
    return prompt.log.units[prompt.log.unit_of_message(span.message)]


class ChunkedPrompt:
    """Makes and counts the calls for the parts of one giant text."""

    def __init__(self, prompt: Prompt, giant: Span) -> None:
        self._prompt, self._giant = prompt, giant
        newest = prompt.log.last_user
        self._units = [unit for index, unit in enumerate(prompt.log.units) if unit.stays or index == newest]
        transcript = prompt.history.transcript
        path = transcript.path(prompt.history.last_message(prompt.call))
        self._wires = [transcript.messages[node] for node in path]
        model = prompt.plan.fixed.head.get("model")
        self._engine = Engine(prompt.history.config, transcript.dialect, model if isinstance(model, str) else None)

    def parts(self, max_tokens: int) -> Iterator[tuple[str, str]]:
        """Yield the label and the text of each numbered part, as `chunk_pinned` makes them."""
        chunks = list(ChunkPinned(max_tokens).chunks(self._giant.text, self._prompt.counter))
        for number, chunk in enumerate(chunks, start=1):
            yield self.label(number, len(chunks)), chunk

    def label(self, number: int, total: int) -> str:
        """Return the line before a part."""
        return f"{LABEL}{number} of {total} of {self._giant.name}]\n"

    def tokens(self, text: str) -> int:
        """Return the tokens of the call that has a text in the giant's place."""
        head, messages = self._prompt.dialect.split(self.body(text))
        step = UnitFeed().read(self._engine, Hints(), head, 0, 0, lambda start: messages[start:])
        fixed = step.fixed.source or step.fixed
        return fixed.tokens + sum((unit.source or unit).tokens for unit in step.units)

    def body(self, text: str) -> dict[str, Any]:
        """Return the request body that has a text in the giant's place."""
        spoken = self._prompt.dialect
        sent: list[Wire] = []
        for unit in self._units:
            kept = self._wires[unit.first : unit.stop]
            sent += (
                edited_wires(unit, kept, {self._giant.id: text}, spoken)
                if self._giant.message in range(unit.first, unit.stop)
                else kept
            )
        head = self._head(text) if self._giant.message < 0 else self._prompt.plan.fixed.head
        return spoken.join(head, spoken.in_turn(sent, self._wires))

    def _head(self, text: str) -> Wire:
        """Return the fixed part's head with a text in the place of the giant section."""
        fixed, spoken = self._prompt.plan.fixed, self._prompt.dialect
        texts = [""] * len(spoken.system_texts(fixed.head))
        for span in fixed.sections:
            texts[span.part] += text if span.id == self._giant.id else span.text
        return spoken.with_system_texts(fixed.head, texts)
