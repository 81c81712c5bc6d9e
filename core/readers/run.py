"""One run, request by request: which earlier prompt a request goes on from, and what happened beside what was sent.

A request that repeats an earlier prompt and goes on extends its chain, and shows what the call before answered. One
that repeats only a part was rewritten (a compaction, an edit): its history goes on from where its tail meets what
happened before. One that lacks the newest prompt, or holds more than it lacks, is an edit with a history of its own.
A run can be taken up again from a stored transcript, so a captured run and one read from a file are built by the same
rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..transcript import ROOT, Fidelity, Transcript, Usage
from ..wire import Wire, digest, dump
from . import missing
from .builder import Placed, TranscriptBuilder
from .replies import first_reply

__all__ = ["Chain", "Run", "Step"]

COMPARED = 8
"""The newest chains of a run that a rewritten prompt is compared with."""


@dataclass(slots=True)
class Chain:
    """A prompt that later requests may extend: its last node, its call, and what really happened up to it."""

    last: int
    call: int
    history: int


@dataclass(frozen=True, slots=True)
class Step:
    """What a request became: its call and place, and the earlier call whose response it made known."""

    call: int
    placed: Placed
    answered: int | None
    chain: Chain


class Run:
    """The calls of one transcript that still grows."""

    def __init__(self, dialect_name: str) -> None:
        self.builder = TranscriptBuilder(dialect_name)
        self.rewritten: list[int] = []
        """Calls whose prompt repeats an earlier one only in part."""
        self.others: list[int] = []
        """Calls whose prompt has nothing of an earlier one."""
        self._kept: dict[str, None] = {}
        """What is to be said of what the provider keeps."""
        self._chains: dict[int, Chain] = {}

    @classmethod
    def resumed(cls, transcript: Transcript) -> Run:
        """Return the run that led to a transcript, ready for its next call."""
        run = cls(transcript.dialect)
        run._kept = dict.fromkeys(note for note in transcript.notes if note in missing.NOTES)
        for head in transcript.heads:
            run.builder.head(head)
        for parent, wire in zip(transcript.parents, transcript.messages, strict=True):
            run.builder.add(parent, wire)
        for call in transcript.calls:
            run._resume(len(run.builder.calls), call.captured, call.history)
            run.builder.calls.append(call)
        return run

    def is_extended_by(self, wires: Sequence[Wire], exact: Sequence[bytes]) -> bool:
        """Tell whether a conversation repeats one of this run's prompts and goes on."""
        return any(node in self._chains for node in self.builder.walk(wires, exact))

    def add(
        self,
        head: Wire,
        wires: Sequence[Wire],
        exact: Sequence[bytes] = (),
        *,
        response: Wire | None = None,
        usage: Usage | None = None,
        model: str | None = None,
        at: datetime | None = None,
        hints: Mapping[str, Any] | None = None,
        fidelity: Fidelity = Fidelity.CAPTURED,
        completed: bool = False,
    ) -> Step:
        """Add a request, split into head and conversation, as the run's next call.

        Its prompt is partial where the request names what the provider keeps, whatever else is known of it. `completed`
        if what the provider keeps was put before what was sent.
        """
        lacks = missing.missing_of(head, wires)
        rebuilt = completed and fidelity is Fidelity.CAPTURED
        self._kept |= dict.fromkeys((*lacks, missing.COMPLETED) if completed else lacks)
        placed = self.builder.chain(self.builder.head(head), wires, exact)
        chain = next((self._chains[node] for node in reversed(placed.nodes) if node in self._chains), None)
        answered = None
        if chain is None:
            chain, answered = self._branch(placed, wires)
        else:
            answered = self._extend(chain, placed, wires)
        self._chains.pop(chain.last, None)
        chain.last, chain.call = placed.last, len(self.builder.calls)
        self._chains[chain.last] = chain
        self.builder.call(
            placed,
            history=chain.history,
            response=response,
            usage=usage or Usage(),
            model=model,
            at=at,
            hints=hints,
            fidelity=Fidelity.PARTIAL if lacks else Fidelity.RECONSTRUCTED if rebuilt else fidelity,
        )
        return Step(chain.call, placed, answered, chain)

    def notes(self) -> list[str]:
        """Return what a reader of the transcript should know about its calls, in sentences."""
        notes = []
        if self.rewritten:
            notes.append(f"the prompt was rewritten before {_calls(self.rewritten)}")
        if self.others:
            notes.append(f"another conversation of the same session begins with {_calls(self.others)}")
        return [*notes, *self._kept]

    def _extend(self, chain: Chain, placed: Placed, wires: Sequence[Wire]) -> int | None:
        new = wires[placed.nodes.index(chain.last) + 1 :]
        straight = chain.history == chain.last
        chain.history = placed.last if straight else self.builder.extend(chain.history, new)
        return self._answer(chain.call, new)

    def _answer(self, call: int, following: Sequence[Wire]) -> int | None:
        if self.builder.calls[call].response is not None:
            return None
        response = first_reply(self.builder.dialect, following)
        if response is None:
            return None
        self.builder.answer(call, response)
        return call

    def _branch(self, placed: Placed, wires: Sequence[Wire]) -> tuple[Chain, int | None]:
        """Start a chain that extends no other: the run's first one, an edited history or a rewritten one."""
        chain = Chain(placed.last, -1, placed.last)
        newest = list(self._chains.values())[-COMPARED:]
        if not newest:
            return chain, None
        old = max(newest, key=lambda old: self._likeness(old, placed.nodes))
        return chain, self._continue(chain, old, placed, wires)

    def _likeness(self, old: Chain, nodes: Sequence[int]) -> tuple[bool, int, int]:
        """Order the chains that a prompt may go on from: one whose answer it holds comes before all others."""
        return (bool(self._met_response(old, 0, nodes)), self._shared(old.history, nodes), old.call)

    def _continue(self, chain: Chain, old: Chain, placed: Placed, wires: Sequence[Wire]) -> int | None:
        """Where the prompt's tail overlaps with what happened before, the history goes on from there."""
        builder, before = self.builder, self.builder.path(old.history)
        shared = self._shared(old.history, placed.nodes)
        places = {builder.keys[node]: place for place, node in enumerate(before) if place >= shared}
        met = [(places[key], at) for at, node in enumerate(placed.nodes) if (key := builder.keys[node]) in places]
        met = [(place, at) for place, at in met if at >= shared]
        met += self._met_response(old, len(before), placed.nodes, shared)
        (self.rewritten if shared or met else self.others).append(len(builder.calls))
        if not met:
            return None
        place, at = max(met)
        added = [node for node in placed.nodes[shared:at] if builder.keys[node] not in places]
        if place < self._newest_prompt(before) or self._size(added) > self._size(before[shared:]):
            return None  # another conversation about the same things; a compaction keeps or meets the newest prompt
        new = wires[at + (place < len(before)) :]
        chain.history = builder.extend(old.history, new)
        return self._answer(old.call, new) if place == len(before) - 1 else None

    def _newest_prompt(self, nodes: Sequence[int]) -> int:
        """Return the place of the newest message that a user wrote; 0 if there is none."""
        spoken, messages = self.builder.dialect, self.builder.messages
        places = range(len(nodes) - 1, -1, -1)
        return next((place for place in places if spoken.message(messages[nodes[place]]).is_said), 0)

    def _met_response(self, old: Chain, place: int, nodes: Sequence[int], shared: int = 0) -> list[tuple[int, int]]:
        """Return where a prompt holds what the last call before answered, which no prompt held yet."""
        response = self.builder.calls[old.call].response
        if response is None:
            return []
        key = digest(self.builder.dialect.content_key(response))
        return [(place, at) for at, node in enumerate(nodes) if at >= shared and self.builder.keys[node] == key]

    def _size(self, nodes: Sequence[int]) -> int:
        return sum(len(dump(self.builder.messages[node])) for node in nodes)

    def _shared(self, history: int, nodes: Sequence[int]) -> int:
        before = set(self.builder.path(history))
        return sum(node in before for node in nodes)

    def _resume(self, call: int, captured: int, history: int) -> None:
        """Take a stored call up as `add` left it."""
        node = captured
        while node != ROOT and node not in self._chains:
            node = self.builder.parents[node]
        if node == ROOT and self._chains:
            nodes = self.builder.path(captured)
            shared = any(self._shared(chain.history, nodes) for chain in self._chains.values())
            (self.rewritten if shared or history != captured else self.others).append(call)
        self._chains.pop(node, None)
        self._chains[captured] = Chain(captured, call, history)


def _calls(indices: Sequence[int]) -> str:
    """Name calls as people count them, from 1; the first ten of many."""
    names = [str(index + 1) for index in indices[:10]]
    if len(indices) > 10:
        names.append(f"{len(indices) - 10} more")
    return f"call {names[0]}" if len(names) == 1 else f"calls {', '.join(names[:-1])} and {names[-1]}"
