"""A transcript read into units call by call, once for all strategies and budgets.

Each conversation in it has a feed of its own, so one that goes on after another took its turn is not read anew. A call
goes on in a conversation where its prompt begins with all that was read there, and is made to the same model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .engine import Engine, Step
from .entered import Entered
from .hints import Hints
from .newest import Newest
from .transcript import ROOT, Call, Transcript
from .unit_feed import Heads, UnitFeed
from .wire import Wire

MOST_READINGS = 8
MOST_CONVERSATIONS = 256
"""Conversations that are kept open; one that was left longest ago is read anew if it goes on after all.

Where more than these take turns, each call is.
"""


class Read(NamedTuple):
    """A call as a step of its conversation, and the tokens that enter with it."""

    conversation: int
    step: Step
    entered: int


def reading(transcript: Transcript, engines: Mapping[str | None, Engine], captured: bool) -> list[Read]:
    """Return the calls of a transcript as read, of captured prompts or of whole histories.

    `engines` are those of the models that its heads name.
    """
    same = all(call.captured == call.history for call in transcript.calls)
    key = (captured and not same, tuple((model, engine.reader) for model, engine in engines.items()))
    return readings_of(transcript).get(
        key, lambda: list(map(_Reader(transcript, engines, captured).read, transcript.calls))
    )


def readings_of(transcript: Transcript) -> Newest[Any, list[Read]]:
    """Return the newest readings of a transcript."""
    known: Newest[Any, list[Read]] = transcript.memo.setdefault("readings", Newest(MOST_READINGS))
    return known


def models_of(transcript: Transcript) -> list[str | None]:
    """Return the models that the heads of a transcript name, None where one names none."""
    return list(dict.fromkeys(map(model_named, transcript.heads))) or [None]


def model_named(head: Wire) -> str | None:
    """Return the model that a head names."""
    model = head.get("model")
    return model if isinstance(model, str) else None


class _Conversation(NamedTuple):
    number: int
    feed: UnitFeed


class _Reader:
    """Reads call after call, each in the conversation that it goes on in."""

    def __init__(self, transcript: Transcript, engines: Mapping[str | None, Engine], captured: bool) -> None:
        self._transcript, self._engines, self._captured = transcript, engines, captured
        self._entered, self._heads = Entered(transcript), Heads()
        self._open: dict[tuple[str | None, int], _Conversation] = {}
        """The conversations by model and last message, those that went on last at the end."""
        self._count = 0

    def read(self, call: Call) -> Read:
        """Read what a call adds to its conversation."""
        head = self._transcript.heads[call.head]
        model, last = model_named(head), call.captured if self._captured else call.history
        nodes = self._new(model, last)
        conversation, shared = self._conversation(model, last, nodes)

        def messages_from(start: int) -> list[Wire]:
            wanted = nodes[start - shared :] if start >= shared else self._transcript.path(last)[start:]
            return [self._transcript.messages[node] for node in wanted]

        engine, hints = self._engines[model], Hints.recorded(call.hints)[0]
        step = conversation.feed.read(engine, hints, head, call.head, shared, messages_from)
        entered = self._entered.tokens(engine, step.units, step.fixed, last)
        return Read(conversation.number, step, entered)

    def _new(self, model: str | None, last: int) -> list[int]:
        """Return the nodes of a prompt, in order, that no open conversation has before it."""
        nodes, node = [], last
        while node != ROOT and (model, node) not in self._open:
            nodes.append(node)
            node = self._transcript.parents[node]
        return nodes[::-1]

    def _conversation(self, model: str | None, last: int, new: list[int]) -> tuple[_Conversation, int]:
        """Return the conversation that a prompt goes on in, opened anew if there is none, and its messages so far."""
        tip = self._transcript.parents[new[0]] if new else last
        found = self._open.pop((model, tip), None)
        if found is None:
            found = _Conversation(self._count, UnitFeed(self._heads))
            self._count += 1
        self._open[model, last] = found
        while len(self._open) > MOST_CONVERSATIONS:
            self._open.pop(next(iter(self._open)))
        return found, 0 if tip == ROOT else self._transcript.depths[tip] + 1
