"""A transcript in another provider's dialect, so that a configuration made for it can be replayed.

Messages are rewritten part by part. What the other dialect has no place for (thinking, files, opaque items, settings of
the request) is left out and counted, never silently. A call of the provider's own tools stands with its result inside a
reply, which no other provider takes: both become text. What is one reply in several items becomes one message.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from .conversion_heads import Heads
from .conversion_hints import HintNames, Went
from .conversion_ids import CallIds
from .conversion_losses import Losses
from .conversion_runs import MessageTree, Run
from .conversion_writers import Piece, pieces
from .dialects import Message, Part, PartKind, dialect
from .transcript import ROOT, Call, Transcript
from .wire import Wire


class Converted(NamedTuple):
    """The transcript in the other dialect, and phrases about what the conversion lost."""

    transcript: Transcript
    dropped: tuple[str, ...]


def converted(transcript: Transcript, target: str) -> Converted:
    """Return a transcript in another dialect."""
    work = _Conversion(transcript, target)
    for node in range(len(transcript.messages)):
        work.take(node)
    calls = tuple(map(work.call, transcript.calls))
    written = replace(
        transcript,
        dialect=target,
        messages=tuple(work.tree.messages),
        parents=tuple(work.tree.parents),
        heads=tuple(work.heads.made),
        calls=calls,
    )
    if any(call.hints for call in calls):
        names = HintNames(work.read, work.went, work.tree, work.heads)
        written = replace(written, calls=names.calls(transcript, written, work.losses))
    return Converted(written, tuple(work.losses.phrases()))


class _Behind(NamedTuple):
    """What stands behind a message: the run that it ends with, and the last system text that was moved out."""

    run: Run | None = None
    moved: int = ROOT
    apart: bool = False
    """Whether a system message stood behind the run."""


class _Conversion:
    """The work on one transcript: its messages are taken in order, parents first."""

    def __init__(self, transcript: Transcript, target: str) -> None:
        self._given, self._target = transcript, target
        self._source = dialect(transcript.dialect)
        self.losses = Losses()
        self.losses.variants(transcript)
        self.heads = Heads(self._source, target, transcript.heads, self.losses)
        self.read = [self._source.message(wire) for wire in transcript.messages]
        self.went: list[Went] = []
        self._names: dict[str, str] = {}
        self._ids = CallIds(self.read, transcript.parents, transcript.depths, target)
        self._moves = target in _ONE_SYSTEM
        served = {part.call_id for message in self.read if _is_reply(message) for part in message.results} - {""}
        self._loose = served | _late(self.read, transcript.parents, self._moves)
        continues = self._source.continues(_REPLY, _REPLY) and not dialect(target).continues(_REPLY, _REPLY)
        self.tree = MessageTree(target, continues or target == "gemini")
        self._behind = {ROOT: _Behind()}
        self._children = Tally(transcript.parents)
        self._ends = {end for call in transcript.calls for end in (call.history, call.captured)}

    def take(self, node: int) -> None:
        """Write what one message says, behind what its parent says."""
        behind = self._behind[self._given.parents[node]]
        self.losses.beside(self._given.messages[node])
        message, origins = self._carried(node, self.read[node])
        if message.role == "system" and (self._moves or behind.run is None):
            behind = self._moved(message, behind)
        else:
            behind = self._said(list(self._written(self._ids.message(node, message), origins)), behind)
        ends = node in self._ends
        if behind.run is not None and (ends or self._children[node] > 1):
            behind.run.shared = True
        if ends or not self._children[node]:
            self.tree.node(behind.run)
        self._behind[node] = behind

    def _moved(self, message: Message, behind: _Behind) -> _Behind:
        """Take a system message into the system part."""
        text = "".join(_told(part).text for part in message.parts)
        if not text.strip():
            self.went.append(Went(()))
            return behind
        self.losses.moved += behind.run is not None
        place = self.heads.move(behind.moved, text)
        self.went.append(Went((), place))
        return _Behind(behind.run, place, apart=True)

    def _said(self, said: Sequence[Piece], behind: _Behind) -> _Behind:
        run, apart, depths = behind.run, behind.apart, []
        for piece in said:
            run, apart = self.tree.after(run, piece, apart), False
            depths.append(run.depth)
        self.went.append(Went(tuple(dict.fromkeys(depths))))
        return _Behind(run, behind.moved, apart)

    def _carried(self, node: int, message: Message) -> tuple[Message, list[tuple[int, int]]]:
        """Return what the other dialect has a place for, with where it stood; a pair that it has none for is text."""
        self._names.update((part.call_id, part.name) for part in message.calls if part.call_id)
        within = {part.call_id for part in message.results} if _is_reply(message) else set()
        parts, origins = [], []
        for place, part in enumerate(message.parts):
            if part.kind not in _CARRIED:
                self.losses.part(part)
                continue
            is_text = part.call_id in within or part.call_id in self._loose
            parts.append(self._as_text(self._named(part)) if is_text else self._named(part))
            origins.append((node, place))
        return replace(message, parts=tuple(parts)), origins

    def _as_text(self, part: Part) -> Part:
        self.losses.told(part)
        return _told(part)

    def _written(self, message: Message, origins: Sequence[tuple[int, int]]) -> Iterator[Piece]:
        nameless = self._target != "gemini"
        parts = [self._as_text(part) if nameless and _is_nameless(part) else part for part in message.parts]
        return pieces(self._target, message, parts, origins)

    def _named(self, part: Part) -> Part:
        """Results mostly know only their call's id; some dialects want the tool's name too."""
        named = part.name or self._names.get(part.call_id, "")
        return replace(part, name=named) if part.kind is PartKind.TOOL_RESULT else part

    def call(self, call: Call) -> Call:
        """Return a call whose prompt stands elsewhere."""
        history, captured = self._behind[call.history], self._behind[call.captured]
        return replace(
            call,
            head=self.heads.head(call.head, history.moved, captured.moved),
            history=self.tree.node(history.run),
            captured=self.tree.node(captured.run),
            response=self._response(call),
            variants=(),
        )

    def _response(self, call: Call) -> Wire | None:
        """Return a response; what it loses counts where no message of the transcript says the same."""
        if call.response is None:
            return None
        losses = self.losses
        if call.history != ROOT and self._children[call.history]:
            self.losses = Losses()
        else:
            losses.beside(call.response)
        message, origins = self._carried(ROOT, self._source.message(call.response))
        said = [piece.wire for piece in self._written(message, origins)]
        self.losses = losses
        return {"role": "assistant", "output": said} if len(said) > 1 else next(iter(said), None)


def _is_reply(message: Message) -> bool:
    return message.role == "assistant"


def _late(messages: Sequence[Message], parents: Sequence[int], moves: bool) -> set[str]:
    """Return the ids of calls whose results do not follow their reply at once, as only OpenAI Responses takes them.

    System messages that are moved away stand between nothing.
    """
    replies: dict[int, int] = {ROOT: ROOT}
    asked: dict[str, set[int]] = {}
    late: set[str] = set()
    for node, (message, parent) in enumerate(zip(messages, parents, strict=True)):
        goes_on = (message.results and not _is_reply(message)) or (moves and message.role == "system")
        if _is_reply(message):
            goes_on = parent != ROOT and _is_reply(messages[parent])
        replies[node] = replies[parent] if goes_on else node
        for call in message.calls:
            asked.setdefault(call.call_id, set()).add(replies[node])
        late |= {
            part.call_id for part in message.results if replies[node] not in asked.get(part.call_id, (replies[node],))
        }
    return late - {""}


def _is_nameless(part: Part) -> bool:
    return part.kind is PartKind.TOOL_RESULT and not part.call_id


def _told(part: Part) -> Part:
    """Return a call or a result as a text."""
    if part.kind is PartKind.TEXT:
        return part
    said = (
        f"[{part.name} {part.text}]"
        if part.kind is PartKind.TOOL_CALL
        else f"[{part.name or 'tool'} answered] {part.text}"
    )
    return Part(PartKind.TEXT, f"{said.rstrip()}\n", place=part.place)


_REPLY = Message("assistant", ())
_CARRIED = frozenset({PartKind.TEXT, PartKind.TOOL_CALL, PartKind.TOOL_RESULT})
_ONE_SYSTEM = ("anthropic", "gemini")
"""Dialects whose conversation has no system messages."""
