"""One recorded conversation or agent run, as pure values.

Messages stay in the wire form of the transcript's own dialect, because what is replayed and exported must be the
bytes that were sent. They form a tree (`parents`), so that an agent which resends its whole history with each call
costs what is new and no more, and so that an edited or compacted history is a branch beside the first one.

A request body is a *head* (everything fixed: model, settings, tools, and the leading system messages) and the
conversation that follows. Heads are stored once; a system prompt that changes with every call leaves the
conversation's branch untouched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from .dialects import dialect
from .wire import Wire

ROOT = -1
"""The parent of a first message, and the last message of an empty prompt."""


class Fidelity(StrEnum):
    """How far a call's prompt can be trusted to be what was sent."""

    CAPTURED = "captured"  # the body as sent
    RECONSTRUCTED = "reconstructed"  # rebuilt from an event log
    PARTIAL = "partial"  # system prompt, tools or server state known to be missing


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the provider reported; None where it reported nothing. `input` includes cached tokens."""

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a model and its response.

    `history` and `captured` name the last message of two prompts: everything that happened on the branch, and what
    was really in the window. They differ after a compaction. `variants` holds the messages whose bytes in this call
    differ from those first seen (moved cache marks, a string against a one-text list), by position in the prompt.
    """

    head: int
    history: int
    captured: int
    response: Wire | None = None
    usage: Usage = Usage()
    model: str | None = None
    at: datetime | None = None
    fidelity: Fidelity = Fidelity.CAPTURED
    variants: tuple[tuple[int, Wire], ...] = ()
    hints: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Transcript:
    """A recorded run. `messages[i]` follows `messages[parents[i]]`; heads and messages are wire values."""

    dialect: str
    messages: tuple[Wire, ...]
    parents: tuple[int, ...]
    heads: tuple[Wire, ...]
    calls: tuple[Call, ...]
    title: str = ""
    format: str = ""
    source: str = ""
    session: str = ""
    notes: tuple[str, ...] = ()
    started: datetime | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """What engines found out by reading the transcript; no part of its value."""
        return {}

    @cached_property
    def analyses(self) -> dict[str, Any]:
        """What was found out about its texts, whatever the strategy; no part of its value."""
        return {}

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """How many messages stand before each message on its branch. Parents come before their children."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(0 if parent == ROOT else depths[parent] + 1)
        return tuple(depths)

    @cached_property
    def forks(self) -> bool:
        """Whether any message follows another one than the message before it."""
        return any(parent != place - 1 for place, parent in enumerate(self.parents))

    def path(self, last: int, after: int = ROOT) -> list[int]:
        """Return the indices of the messages from below `after` to `last`, in order of the conversation."""
        found = []
        while last not in (after, ROOT):
            found.append(last)
            last = self.parents[last]
        return found[::-1]

    def captured(self, call: int) -> dict[str, Any]:
        """Return the request body as it was sent, as far as the recording tells."""
        return self._body(call, self.calls[call].captured)

    def history(self, call: int) -> dict[str, Any]:
        """Return the request body with everything that happened up to this call, compacted parts included."""
        return self._body(call, self.calls[call].history)

    def _body(self, call: int, last: int) -> dict[str, Any]:
        made = self.calls[call]
        messages = [self.messages[i] for i in self.path(last)]
        if last == made.captured:
            for position, wire in made.variants:
                messages[position] = wire
        return dialect(self.dialect).join(self.heads[made.head], messages)

    def model_of(self, call: int) -> str | None:
        """Return the model that answered a call (0-based), or the one that its request names."""
        made = self.calls[call]
        named = made.model or self.heads[made.head].get("model")
        return named if isinstance(named, str) else None

    @property
    def models(self) -> tuple[str, ...]:
        """The models that answered, in order of first use."""
        return tuple(dict.fromkeys(call.model for call in self.calls if call.model))
