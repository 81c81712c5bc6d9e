"""The messages of a converted transcript: what must stand in one message is written once, where it ends.

Some dialects want all results of a reply in one message, or all items of a reply. A run collects such pieces and
becomes a message where the next piece does not join it, where a call's prompt ends, or where nothing follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .conversion_writers import Piece, Written
from .transcript import ROOT


@dataclass(slots=True)
class Run:
    """Pieces of one message. `above` is the message before it, `depth` how many messages stand before it."""

    above: int
    depth: int
    pieces: list[Piece]
    node: int = ROOT
    """The message that it was written as; ROOT as long as it was not."""
    shared: bool = False
    """Whether something else than what joins it next needs it as it is now."""


class MessageTree:
    """Messages in the other dialect, parents first. `pieces` are those that each was made of."""

    def __init__(self, target: str, joins_replies: bool) -> None:
        self._target, self._joins_replies = target, joins_replies
        self.messages: list[dict[str, Any]] = []
        self.parents: list[int] = []
        self.pieces: list[list[Piece]] = []

    def node(self, run: Run | None) -> int:
        """Return the message that a run is, written if it was not yet; ROOT where nothing was said."""
        if run is None:
            return ROOT
        if run.node == ROOT:
            run.node = len(self.messages)
            self.messages.append(_joined(run.pieces))
            self.parents.append(run.above)
            self.pieces.append(run.pieces)
        return run.node

    def after(self, run: Run | None, piece: Piece, apart: bool) -> Run:
        """Return the run that ends with a piece; `apart` where something stood between that is no message here."""
        if run is None or not self._joins(run.pieces[0], piece, apart):
            return Run(self.node(run), 0 if run is None else run.depth + 1, [piece])
        if run.shared:
            return Run(run.above, run.depth, [*run.pieces, piece])
        run.pieces.append(piece)
        return run

    def _joins(self, first: Piece, piece: Piece, apart: bool) -> bool:
        if first.is_reply and piece.is_reply:
            return self._joins_replies and (not apart or self._target == "gemini")
        return self._target in ("anthropic", "gemini") and first.holds_results and piece.holds_results

    def parts(self, node: int) -> Iterator[Written]:
        """Yield the parts of a message, as they are read."""
        made = self.pieces[node]
        parts = [part for piece in made for part in piece.parts]
        if self._target != "openai_chat" or len(made) == 1:
            yield from parts
            return
        texts = [origin for part in parts if not part.call_id for origin in part.origins]
        if texts:  # all texts of a reply are one there, before its calls
            yield Written(tuple(texts), "")
        yield from (part for part in parts if part.call_id)


def _joined(pieces: Sequence[Piece]) -> dict[str, Any]:
    """Return pieces as one message; texts that stood apart stay so."""
    if len(pieces) == 1:
        return pieces[0].wire
    made: dict[str, Any] = {}
    for key in dict.fromkeys(key for piece in pieces for key in piece.wire):
        values = [piece.wire[key] for piece in pieces if piece.wire.get(key)]
        if key == "role":
            made[key] = values[0]
        elif any(isinstance(value, list) for value in values):
            made[key] = [item for value in values for item in value]
        else:
            made[key] = "\n".join(values) or None
    return made
