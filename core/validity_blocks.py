"""What Anthropic asks of the blocks of a message: thinking stands before what it led to, results stand first.

Each rule is an answer of the API: "The final block in an assistant message cannot be `thinking`", "Messages following
tool_use blocks must begin with a matching number of tool_result blocks", and thinking of a turn with calls is checked
against its signature. Neighbouring replies are read as one, as the API joins them. Other providers that take such
bodies sign nothing, so signatures are asked for where the model is Claude or not named. An empty one is what recorders
leave of a signature that they blank out: what was sent is not known then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .dialects import Message
from .dialects.content import type_of
from .violation import Violation
from .wire import Wire

THINKING = frozenset({"thinking", "redacted_thinking"})


def block_violations(model: Any, wires: Sequence[Wire], messages: Sequence[Message]) -> list[Violation]:
    """Return the rules on blocks that an Anthropic conversation breaks. `messages` are the wires as read."""
    contents = [_blocks(wire) for wire in wires]
    found = [*_results_first(contents, messages), *_thinking_order(contents, messages)]
    if not isinstance(model, str) or "claude" in model:
        found += _unsigned(contents, messages)
    return found


def _blocks(wire: Any) -> list[Any]:
    content = wire.get("content") if isinstance(wire, Mapping) else None
    return content if isinstance(content, list) else []


def _results_first(contents: Sequence[list[Any]], messages: Sequence[Message]) -> Iterator[Violation]:
    for at in range(1, len(messages)):
        if len(contents[at]) < 2 or messages[at].role != "user" or not messages[at - 1].calls:
            continue
        other = False
        for block in contents[at]:
            is_result = type_of(block) == "tool_result"
            if is_result and other:
                call_id = str(block.get("tool_use_id") or "")
                yield Violation("text_before_result", at, call_id, f"result {call_id!r} stands behind other content")
            other |= not is_result


def _thinking_order(contents: Sequence[list[Any]], messages: Sequence[Message]) -> Iterator[Violation]:
    """Look at each reply from its end: what stands behind its last call, and what stands last of all."""
    behind: list[tuple[int, str]] = []
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].role != "assistant":
            yield from _separated(behind)
            behind = []
            continue
        if behind and behind[-1][1] == _CALL:
            continue
        for block in reversed(contents[at]):
            kind = type_of(block)
            behind.append((at, kind))
            if kind == _CALL:
                yield from _after_call(behind, str(block.get("id") or ""))
                break
    yield from _separated(behind)


_CALL = "tool_use"


def _after_call(behind: Sequence[tuple[int, str]], call_id: str) -> Iterator[Violation]:
    at = next((at for at, kind in reversed(behind) if kind in THINKING), None)
    if at is not None:
        yield Violation("thinking_after_call", at, call_id, f"message {at} has thinking behind its last call")


def _separated(behind: Sequence[tuple[int, str]]) -> Iterator[Violation]:
    if behind and behind[0][1] in THINKING and behind[-1][1] != _CALL:
        at = behind[0][0]
        yield Violation("thinking_separated", at, "", f"the thinking in message {at} led to nothing")


def _unsigned(contents: Sequence[list[Any]], messages: Sequence[Message]) -> Iterator[Violation]:
    """A turn is what follows a message in which the user says something."""
    call_id: str | None = None
    unsigned: list[int] = []
    for at, message in enumerate(messages):
        if message.role != "assistant":
            if message.is_said:
                yield from _in_turn(unsigned, call_id)
                call_id, unsigned = None, []
            continue
        if call_id is None:
            call_id = next((call.call_id for call in message.calls), None)
        if any(type_of(block) == "thinking" and not isinstance(block.get("signature"), str) for block in contents[at]):
            unsigned.append(at)
    yield from _in_turn(unsigned, call_id)


def _in_turn(unsigned: Sequence[int], call_id: str | None) -> Iterator[Violation]:
    for at in unsigned if call_id is not None else ():
        yield Violation("thinking_unsigned", at, call_id or "", f"message {at} has thinking without a signature")
