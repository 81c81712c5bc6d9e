"""The fixed part of a request in another dialect: model, system texts and tools.

A system message that stands later in the conversation has no place there with every provider: Gemini has no such role,
Anthropic takes it from its newest models alone and at some places. It goes to the end of the system part of each call
that has it before it, so that it is never taken for what the user says, and stays. Where each turn brings another such
text, each call has a system part of its own, which is read as a whole: then work grows with the length of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .conversion_losses import Losses
from .conversion_tools import plain_tool, written_tools
from .dialects import Dialect
from .transcript import ROOT
from .wire import Wire


class Heads:
    """The heads of a converted transcript: those of the transcript, then those with system texts of conversations."""

    def __init__(self, source: Dialect, target: str, heads: Sequence[Wire], losses: Losses) -> None:
        self._target = target
        self._blocks: dict[str, Wire] = {}
        self._models = [head.get("model") for head in heads]
        self._texts: list[Sequence[str]] = [source.system_texts(head) for head in heads]
        self._tools = [_tools(source, target, head) for head in heads]
        self.made = [self._head(place, texts) for place, texts in enumerate(self._texts)]
        self._known: dict[tuple[int, int, int], int] = {}
        self._places = {(place, tuple(texts)): place for place, texts in enumerate(self._texts)}
        self._moved: list[tuple[int, str]] = []
        for head in heads:
            losses.head(head, source)

    def move(self, above: int, text: str) -> int:
        """Take a system text that follows the one at a place, ROOT for none, and return its own place.

        A reminder that is said again and again is one text.
        """
        if above != ROOT and self._moved[above][1] == text:
            return above
        self._moved.append((above, text))
        return len(self._moved) - 1

    def text(self, place: int) -> str:
        """Return the system text that was taken at a place."""
        return self._moved[place][1]

    def head(self, given: int, history: int, captured: int) -> int:
        """Return the place of a head with the texts taken up to two places; a text that stands there stays alone."""
        if history == captured == ROOT:
            return given
        ends = (given, history, captured)
        if ends not in self._known:
            self._known[ends] = self._with(given, [*self._up_to(history), *self._up_to(captured)])
        return self._known[ends]

    def _with(self, given: int, moved: Sequence[str]) -> int:
        """Return the place of a head with more system texts: the same one for the same texts."""
        own = self._texts[given]
        texts = (*own, *dict.fromkeys(text for text in moved if text not in own))
        if (given, texts) not in self._places:
            self._texts.append(texts)
            self.made.append(self._head(given, texts))
            self._places[given, texts] = len(self.made) - 1
        return self._places[given, texts]

    def place_of(self, head: int, text: str) -> int:
        """Return which of the system texts of a head a text is."""
        return self._texts[head].index(text)

    def _up_to(self, place: int) -> list[str]:
        found = []
        while place != ROOT:
            place, text = self._moved[place]
            found.append(text)
        return found[::-1]

    def _head(self, given: int, texts: Sequence[str]) -> Wire:
        made = {"model": self._models[given], **self._system([self._block(text) for text in texts])}
        return {**made, "tools": self._tools[given]} if self._tools[given] else made

    def _block(self, text: str) -> Wire:
        """Return what a system text is written as; heads share it, as each may have all texts of the one before."""
        if text not in self._blocks:
            written = {"anthropic": {"type": "text", "text": text}, "gemini": {"text": text}}
            self._blocks[text] = written.get(self._target, {"role": "system", "content": text})
        return self._blocks[text]

    def _system(self, blocks: list[Wire]) -> dict[str, Any]:
        if self._target == "anthropic":
            return {"messages": [], **({"system": blocks} if blocks else {})}
        if self._target == "gemini":
            return {"contents": [], **({"systemInstruction": {"parts": blocks}} if blocks else {})}
        return {"input" if self._target == "openai_responses" else "messages": blocks}


def _tools(source: Dialect, target: str, head: Wire) -> list[Any]:
    tools = [plain_tool(tool) for tool in source.tools(head)]
    return written_tools(target, tools) if tools else []
