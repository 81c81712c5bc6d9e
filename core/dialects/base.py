"""What every provider's dialect must say about its request bodies.

A dialect knows where things stand in a body and what they cost in frames. It decides nothing: which parts are sent
is the strategies' business, so a rule is written once for all dialects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from ..marks import is_injected
from ..tokens import Counter
from ..wire import Wire


class PartKind(StrEnum):
    """What a message part is."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    IMAGE = "image"
    FILE = "file"
    OPAQUE = "opaque"  # carried but not readable, for instance encrypted reasoning


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a message. `text` is what a model would read: for a call its arguments as JSON."""

    kind: PartKind
    text: str = ""
    name: str = ""
    call_id: str = ""
    place: int = 0
    """Index in the message's content list; a dialect may use negative values for parts that stand elsewhere."""
    owner: str = ""
    """For a call that a running program made: the id of the call that is the program."""
    sealed: int = 0
    """Characters of an encrypted payload, which is carried but no text: reasoning that only the provider reads."""
    within: int = 0
    """The place inside the item at `place`, for a message that holds items with content lists of their own."""
    fixed: bool = False
    """Whether no other text may stand in its place: its text renders a structure that the provider asks for."""
    told: bool = False
    """Whether it is a text that tells a tool's result, in a user message after the reply which asked for it."""


@dataclass(frozen=True, slots=True)
class Message:
    """A wire message, read. `role` is system, user, assistant or tool, whatever the dialect calls it."""

    role: str
    parts: tuple[Part, ...]
    name: str = ""

    @property
    def calls(self) -> list[Part]:
        """The tool calls in this message."""
        return [part for part in self.parts if part.kind is PartKind.TOOL_CALL]

    @property
    def results(self) -> list[Part]:
        """The tool results in this message, those told as text included."""
        return [part for part in self.parts if part.kind is PartKind.TOOL_RESULT or part.told]

    @property
    def is_stand_in(self) -> bool:
        """Whether it is a text that a strategy put in the place of another, which no reply says."""
        return len(self.parts) == 1 and self.parts[0].kind is PartKind.TEXT and is_injected(self.parts[0].text)

    @property
    def is_said(self) -> bool:
        """Whether the user says something in it, be it nothing or an image, beside results and what they hold."""
        if any(part.told for part in self.parts):
            return any(part.kind is PartKind.TEXT and not part.told for part in self.parts)
        places = {part.place for part in self.results}
        return self.role == "user" and (not self.parts or any(part.place not in places for part in self.parts))


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as the request defines it. `place` is its index in the request's list."""

    name: str
    text: str
    place: int


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens of some messages: one figure a part (message by message, part by part), and what frames add."""

    parts: tuple[tuple[int, ...], ...]
    overhead: int

    @property
    def spans(self) -> tuple[int, ...]:
        """Tokens of all parts in order; a message without parts is one of no tokens."""
        return tuple(tokens for row in self.parts for tokens in row or (0,))

    @property
    def total(self) -> int:
        """Tokens of all parts and frames."""
        return sum(map(sum, self.parts)) + self.overhead


class Dialect(Protocol):
    """A provider's request body: where its parts stand, how to put others in, what its frames cost."""

    name: str

    def split(self, body: Wire) -> tuple[Wire, list[Wire]]:
        """Return the head (leading system messages included) and the conversation. RequestError if it is no body."""

    def join(self, head: Wire, messages: Sequence[Wire]) -> dict[str, Any]:
        """Return the request body of a head and a conversation: the inverse of `split`, key order kept."""

    def message(self, wire: Wire) -> Message:
        """Read one wire message. Never raises: what is not understood is an opaque part."""

    def continues(self, before: Message, message: Message) -> bool:
        """Return whether a message belongs to the reply of the message before it, as where a reply is several items."""

    def content_key(self, wire: Wire) -> str:
        """Return what makes two wire messages the same: content, without cache marks or spelling differences."""

    def system_texts(self, head: Wire) -> list[str]:
        """Return the texts of the system part, in order."""

    def head_parts(self, head: Wire) -> list[Part]:
        """Return the parts of the system part that are no text, in order: pictures, files, what is not readable."""

    def with_system_text(self, head: Wire, text: str) -> Wire:
        """Return the head with one more text at the end of its system part."""

    def with_system_texts(self, head: Wire, texts: Sequence[str]) -> Wire:
        """Return the head with other system texts, one for each that it has; what loses all its text goes.

        All else stays as it is, and so do cache marks: that of a part that goes stands on one beside it.
        """

    def tools(self, head: Wire) -> list[ToolDefinition]:
        """Return the tool definitions of the head, in order."""

    def with_tools(self, head: Wire, places: Iterable[int]) -> Wire:
        """Return the head with only the tools at these places, and with the cache marks of the others."""

    def text_message(self, role: str, text: str) -> dict[str, Any]:
        """Return a wire message that holds one text. `role` is user or assistant."""

    def in_turn(self, sent: Sequence[Wire], given: Sequence[Wire]) -> list[Wire]:
        """Return a conversation in which what is not among the messages given has a role that may stand there."""

    def with_result_text(self, wire: Wire, part: Part, text: str) -> dict[str, Any]:
        """Return the message with another text in the place of one tool result or text part."""

    def cost_of_messages(self, messages: Sequence[Message], counter: Counter) -> Cost:
        """Return what a unit (a plain message, or a reply with its results) costs in tokens."""

    def cost_of_tools(self, tools: Sequence[ToolDefinition], counter: Counter) -> Cost:
        """Return what tool definitions cost: `parts[0]` has one figure a tool."""

    def cost_of_system(self, head: Wire, counter: Counter, texts: Sequence[Sequence[str]]) -> Cost:
        """Return what system texts cost, each given as sections at exact cut points: `parts[i]` for text i.

        There is one text for each of the head's own, then any others. What is no text of it is not counted.
        """

    def request_overhead(self, model: str | None, counter: Counter) -> int:
        """Return the tokens that a request costs beside its messages and tools (reply priming)."""
