"""Units: what must live or go together (rule X3).

A step is one model reply with all results of its calls; every other message is a unit of its own. A result that
arrives late, with other messages between it and its call, joins everything from the call to the result into one
unit: providers refuse a call without its result, and moving messages would not be the transcript any more. So does a
call that a running program made: it goes with the program. A result that was told as text goes with its reply too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .dialects.base import Dialect, Message, PartKind
from .rules import Rule
from .spans import Span, SpanKind, unit_spans
from .tokens import Counter
from .told_results import as_result
from .wire import Wire


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """Messages `first` to `stop` (exclusive) of a conversation, with their spans and tokens."""

    first: int
    stop: int
    messages: tuple[Message, ...]
    spans: tuple[Span, ...]
    overhead: int
    tokens: int
    is_step: bool
    opens_turn: bool
    """Whether the unit is a plain user message, so that a prompt may begin with it."""
    has_user_text: bool
    stays: bool
    """Whether it is sent whatever the budget: a system message, or a span that a rule pins or requires."""
    source: Unit | None = None
    """The unit before shrinkers, where they changed it."""
    shrunk: Mapping[str, Any] = field(default_factory=dict)
    """What shrinkers put into its spans, by span id."""
    memo: dict[Any, Any] = field(default_factory=dict)
    """What strategies found out about the unit, so that it is worked out once; no part of its value."""

    def kinds(self) -> dict[SpanKind, int]:
        """Return the tokens of the unit by span kind; they add up to `tokens`. Not to be changed."""
        if KINDS not in self.memo:
            found: dict[SpanKind, int] = {SpanKind.OVERHEAD: self.overhead}
            for span in self.spans:
                found[span.kind] = found.get(span.kind, 0) + span.tokens
            self.memo[KINDS] = found
        kinds: dict[SpanKind, int] = self.memo[KINDS]
        return kinds


KINDS = "kinds"


@dataclass(slots=True)
class _Group:
    first: int
    messages: list[Message]
    is_step: bool


class Grouper:
    """Groups a growing list of messages into units. A group that was taken is final.

    `results` are regular expressions of results told as text; None goes by the known formats.
    """

    def __init__(self, dialect: Dialect, results: Sequence[str] | None = None) -> None:
        self._continues = dialect.continues
        self._results = results
        self._groups: list[_Group] = []
        self._open_calls: dict[str, int] = {}
        self._taken = 0
        self.count = 0
        """Messages pushed so far."""

    def push(self, messages: Sequence[Message]) -> list[_Group] | None:
        """Return the groups of the new messages, or None if one of them belongs to a group already taken."""
        for message in messages:
            if self._groups and self._groups[-1].is_step:
                message = as_result(message, self._results)
            at = self._home(message)
            if at is not None and at < self._taken:
                return None
            if at is None:
                self._groups.append(_Group(self.count, [message], message.role == "assistant"))
            else:
                self._join(at, message)
            self._remember(message)
            self.count += 1
        new = self._groups[self._taken :]
        self._taken = len(self._groups)
        return new

    def _home(self, message: Message) -> int | None:
        """Return the group that a message belongs to: its reply's, that of the calls it answers, or its program's."""
        last = self._groups[-1] if self._groups else None
        homes = [self._open_calls[call_id] for call_id in _goes_with(message) if call_id in self._open_calls]
        answers = bool(message.results) and message.role != "assistant"
        if last is not None and last.is_step and (answers or self._continues(last.messages[-1], message)):
            homes.append(len(self._groups) - 1)
        return min(homes, default=None)

    def _join(self, at: int, message: Message) -> None:
        joined, swallowed = self._groups[at], self._groups[at + 1 :]
        for later in swallowed:
            joined.messages += later.messages
        joined.messages.append(message)
        joined.is_step = True
        if swallowed:
            del self._groups[at + 1 :]
            self._open_calls = {call: min(home, at) for call, home in self._open_calls.items()}

    def _remember(self, message: Message) -> None:
        at = len(self._groups) - 1
        for part in message.parts:
            if part.kind is PartKind.TOOL_CALL and part.call_id:
                self._open_calls[part.call_id] = at
            elif part.kind is PartKind.TOOL_RESULT:
                self._open_calls.pop(part.call_id, None)


def is_turn(messages: Sequence[Message]) -> bool:
    """Return whether a group of messages opens a turn: it begins with a message that is the user's alone."""
    return messages[0].role == "user" and not messages[0].results


def _goes_with(message: Message) -> Iterator[str]:
    """Yield the ids of the earlier calls that a message answers, and of those whose program made its calls."""
    own = {part.call_id for part in message.calls}
    yield from (part.call_id for part in message.results if part.call_id not in own)
    yield from (part.owner for part in message.calls if part.owner and part.owner not in own)


def make_unit(group: Any, dialect: Dialect, counter: Counter, rules: Sequence[Rule]) -> Unit:
    """Return the unit of a group of messages, counted."""
    messages = group.messages
    cost = dialect.cost_of_messages(messages, counter)
    spans = unit_spans(messages, group.first, cost.spans, rules)
    opens_turn = is_turn(messages)
    return Unit(
        first=group.first,
        stop=group.first + len(messages),
        messages=tuple(messages),
        spans=tuple(spans),
        overhead=cost.overhead,
        tokens=cost.total,
        is_step=group.is_step,
        opens_turn=opens_turn,
        has_user_text=any(message.is_said for message in messages),
        stays=any(message.role == "system" for message in messages) or any(span.rule.stays for span in spans),
    )


def units(messages: Sequence[Wire], dialect: Dialect, counter: Counter, rules: Sequence[Rule] = ()) -> list[Unit]:
    """Return the units of a whole conversation."""
    groups = Grouper(dialect).push([dialect.message(wire) for wire in messages])
    assert groups is not None
    return [make_unit(group, dialect, counter, rules) for group in groups]
