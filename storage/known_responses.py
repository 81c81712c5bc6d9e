"""Captured requests of OpenAI Responses that name the response before them instead of sending what led to it.

The provider keeps what stands before such a request. Where the call of that response was captured too, its prompt and
reply are put before what was sent, as a reader does with a log. Only the places of responses are remembered, and only
by this process: a request that names an older one stays as it was sent, and its call is partial.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from core.readers.builder import TranscriptBuilder, exact_keys
from core.readers.responses import ResponseFacts
from core.readers.server_state import MOST_RESPONSES, answered_items, response_before, sent_items, with_earlier
from core.wire import Wire

from .continuation import Prompt

__all__ = ["Completion", "KnownResponses", "Place"]


class Place(NamedTuple):
    """Where a call is stored: the id of a captured transcript, which never comes again, and the call's index in it."""

    transcript: int
    call: int


class KnownResponses:
    """Where the newest responses are stored, by their names."""

    def __init__(self) -> None:
        self._places: OrderedDict[str, Place] = OrderedDict()

    def remember(self, facts: ResponseFacts, place: Place) -> None:
        """Remember the call of a response; the oldest of very many is forgotten."""
        if facts.id:
            self._places[facts.id] = place
            if len(self._places) > MOST_RESPONSES:
                self._places.popitem(last=False)

    def before(self, prompt: Prompt) -> Place | None:
        """Return the call of the response that a request names; None if it names none or that is not known."""
        return self._places.get(response_before(prompt.head))


class Completion:
    """Puts before the prompts of one run what the provider keeps. Keys of the run's messages are made once each."""

    def __init__(self, builder: TranscriptBuilder) -> None:
        self._builder = builder
        self._keys: dict[int, bytes] = {}

    def prompt(self, prompt: Prompt, call: int) -> Prompt:
        """Return a prompt with what stands before it: what a call sent, and what was answered.

        What that call itself only named is still missing, and named.
        """
        builder, made = self._builder, self._builder.calls[call]
        path = builder.path(made.captured)
        wires = [builder.messages[node] for node in path]
        for position, wire in made.variants:
            wires[position] = wire
        before = builder.dialect.join(builder.heads[made.head], wires)
        body = with_earlier(
            prompt.dialect.join(prompt.head, prompt.wires), [*sent_items(before), *answered_items(made.response)]
        )
        if name := response_before(before):
            body["previous_response_id"] = name
        head, wires = prompt.dialect.split(body)
        return replace(prompt, head=head, wires=wires, keys=self._keys_of(wires, path))

    def _keys_of(self, wires: Sequence[Wire], path: Sequence[int]) -> list[bytes]:
        """Return the exact keys of messages, most of which are those of a path of the run."""
        known: dict[int, bytes] = {}
        for node in path:
            wire = self._builder.messages[node]
            if node not in self._keys:
                (self._keys[node],) = exact_keys([wire])
            known[id(wire)] = self._keys[node]
        return [known.get(id(wire)) or exact_keys([wire])[0] for wire in wires]
