"""What makes a request body one that its provider accepts: calls and results paired, roles in order, nothing empty.

The rules look at messages as read by the dialect, so each is written once; what only Anthropic asks of the order of
blocks stands in a file of its own. No dialect here demands that roles alternate (neighbours of one role are joined),
but Gemini takes a call behind what the user said or a function answered only. Recorded prompts are often wrong already;
an engine's output may have no violation that its input had not, and must still hold what its input held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from .dialects import Message, PartKind, dialect
from .validity_blocks import block_violations
from .validity_kept import Held, held, lost
from .violation import Violation

__all__ = ["Checked", "Violation", "new_violations", "validate"]


class Checked(list[Violation]):
    """The violations of one body, in order, with what a body made from it must still hold."""

    held: Held


def validate(body: Mapping[str, Any], dialect_name: str) -> Checked:
    """Return every rule of the dialect that a request body violates. RequestError if it is no body."""
    spoken = dialect(dialect_name)
    head, conversation = spoken.split(body)
    lead = head.get(_LISTS[dialect_name])
    messages = [spoken.message(wire) for wire in [*(lead or ()), *conversation]]
    found = [*_first(messages), *_empty(messages, dialect_name), *_roles(messages, dialect_name)]
    if dialect_name == "openai_responses":
        found += [*_loose_pairs(messages), *_reasoning(messages)]
    else:
        found += [*_pairs(messages, dialect_name), *_orphans(messages, dialect_name)]
    found += [*_owners(messages), *(_turns(messages) if dialect_name == "gemini" else ())]
    if dialect_name == "anthropic":
        found += block_violations(body.get("model"), conversation, messages)
    made = Checked(sorted(found, key=lambda violation: violation.message))
    made.held = held(spoken, head, messages, len(lead or ()))
    return made


_LISTS = {"openai_chat": "messages", "anthropic": "messages", "openai_responses": "input", "gemini": "contents"}


def new_violations(before: Sequence[Violation], after: Sequence[Violation]) -> list[Violation]:
    """Return the violations that were not there before, told by rule and subject.

    Of two whole bodies, as `validate` read them, also what the first held and the second lost: system texts, and the
    thinking that led to a call.
    """
    known = {(violation.rule, violation.subject) for violation in before}
    found = [violation for violation in after if (violation.rule, violation.subject) not in known]
    if isinstance(before, Checked) and isinstance(after, Checked):
        found += lost(before.held, after.held)
    return found


def _first(messages: Sequence[Message]) -> Iterator[Violation]:
    at = next((i for i, message in enumerate(messages) if message.role != "system"), None)
    if at is None:
        yield Violation("no_message", 0, "", "there is no message beside the system's")
    elif messages[at].role != "user" or messages[at].results:
        yield Violation("first_not_user", at, "", f"the first message is {messages[at].role}'s, not the user's")


def _empty(messages: Sequence[Message], dialect_name: str) -> Iterator[Violation]:
    for at, message in enumerate(messages):
        last_reply = at == len(messages) - 1 and message.role == "assistant"
        if not message.parts and message.role != "tool" and not last_reply:
            yield Violation("empty_content", at, "", f"message {at} ({message.role}) is empty")
        blank = any(part.kind is PartKind.TEXT and not part.text.strip() for part in message.parts)
        if blank and dialect_name == "anthropic":
            yield Violation("empty_content", at, "", f"message {at} ({message.role}) has a text of white space")


def _roles(messages: Sequence[Message], dialect_name: str) -> Iterator[Violation]:
    allowed = (
        ("user", "assistant") if dialect_name in ("anthropic", "gemini") else ("system", "user", "assistant", "tool")
    )
    for at, message in enumerate(messages):
        if message.role not in allowed:
            yield Violation("unknown_role", at, message.role, f"message {at} has a role that {dialect_name} lacks")


def _pairs(messages: Sequence[Message], dialect_name: str) -> Iterator[Violation]:
    """Calls are answered by the messages right behind them; those of the provider's own tools within its replies."""
    within = _within_replies(messages)
    for at, message in enumerate(messages):
        answers = [part.call_id for i in _answering(messages, at, dialect_name) for part in messages[i].results]
        calls = [call.call_id for call in message.calls]
        for call_id in calls:
            if call_id not in answers and (at, call_id) not in within:
                yield _unanswered(at, call_id)
        for call_id in dict.fromkeys(calls):
            if calls.count(call_id) > 1 and call_id:
                yield _repeated(at, call_id)


def _within_replies(messages: Sequence[Message]) -> set[tuple[int, str]]:
    """Return the calls, by message and id, that a reply itself answers: the newest one with the result's id."""
    newest: dict[str, int] = {}
    found: set[tuple[int, str]] = set()
    for at, message in enumerate(messages):
        newest |= {call.call_id: at for call in message.calls}
        for part in message.results if message.role == "assistant" else ():
            if part.call_id in newest:
                found.add((newest[part.call_id], part.call_id))
    return found


def _answering(messages: Sequence[Message], at: int, dialect_name: str) -> Iterator[int]:
    """Yield the messages that may hold the results of message `at`."""
    following = at + 1
    while following < len(messages) and messages[following].results and messages[following].role != "assistant":
        yield following
        if dialect_name != "openai_chat":
            return
        following += 1


def _orphans(messages: Sequence[Message], dialect_name: str) -> Iterator[Violation]:
    """A call is answered once: by a message right behind it, or within a reply."""
    waiting: dict[int, Counter[str]] = {}
    for at, message in enumerate(messages):
        made = Counter(call.call_id for call in message.calls)
        for i in _answering(messages, at, dialect_name) if message.role == "assistant" else ():
            waiting[i] = made
    within: Counter[str] = Counter()
    for at, message in enumerate(messages):
        within.update(call.call_id for call in message.calls)
        calls = within if message.role == "assistant" else waiting.get(at, Counter())
        for result in message.results:
            if not calls[result.call_id]:
                yield _orphan(at, result.call_id)
            else:
                calls[result.call_id] -= 1


def _turns(messages: Sequence[Message]) -> Iterator[Violation]:
    """A call follows what the user said or a tool answered, and no other content of the model."""
    for at, (before, message) in enumerate(pairwise(messages), start=1):
        if message.calls and before.role == "assistant":
            call = message.calls[0].call_id
            yield Violation("call_after_reply", at, call, f"the call in {at} follows another content of the model")


def _owners(messages: Sequence[Message]) -> Iterator[Violation]:
    """A call that a program made stands behind the program."""
    made: set[str] = set()
    for at, message in enumerate(messages):
        for call in message.calls:
            if call.owner and call.owner not in made:
                yield Violation("call_without_program", at, call.call_id, f"call {call.call_id!r} lacks its program")
            made.add(call.call_id)


def _loose_pairs(messages: Sequence[Message]) -> Iterator[Violation]:
    """A result answers the newest call with its id, wherever that stands."""
    made: set[str] = set()
    waiting: dict[str, int] = {}
    for at, part in ((at, part) for at, message in enumerate(messages) for part in message.parts):
        if part.kind is PartKind.TOOL_CALL:
            if part.call_id in made:
                yield _repeated(at, part.call_id)
            if part.call_id in waiting:
                yield _unanswered(waiting[part.call_id], part.call_id)
            made.add(part.call_id)
            waiting[part.call_id] = at
        elif part.kind is PartKind.TOOL_RESULT and waiting.pop(part.call_id, None) is None:
            yield _orphan(at, part.call_id)
    yield from (_unanswered(at, call_id) for call_id, at in waiting.items())


def _reasoning(messages: Sequence[Message]) -> Iterator[Violation]:
    """Reasoning is followed by what it led to."""
    for at, message in enumerate(messages):
        thought = all(part.kind is PartKind.THINKING for part in message.parts) and bool(message.parts)
        following = messages[at + 1].role if at + 1 < len(messages) else ""
        if thought and following != "assistant":
            yield Violation("reasoning_alone", at, "", f"reasoning {at} is not followed by what it led to")


def _unanswered(at: int, call_id: str) -> Violation:
    return Violation("call_without_result", at, call_id, f"call {call_id!r} is not answered")


def _repeated(at: int, call_id: str) -> Violation:
    return Violation("duplicate_call", at, call_id, f"call id {call_id!r} stands twice")


def _orphan(at: int, call_id: str) -> Violation:
    return Violation("result_without_call", at, call_id, f"result {call_id!r} answers no open call")
