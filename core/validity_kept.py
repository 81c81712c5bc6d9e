"""What a body made from another must still hold: its system texts, and the thinking before each call that it keeps.

Only two bodies together show a loss. A system text may be edited where something of it remains: rules said twice and
examples are left out on request. A call whose thinking is gone or changed is refused by those who sign it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .dialects import Dialect, Message, Part, PartKind
from .sections import sections
from .violation import Violation
from .wire import Wire

SHORTEST_LINE = 12
"""Characters; a shorter line is found anywhere and proves nothing, unless a text has no longer one."""

Thought = tuple[str, int]


class Held(NamedTuple):
    """The system texts of a body with their messages (-1: the head), and the thinking before each call, by id."""

    systems: list[tuple[int, str]]
    thoughts: Mapping[str, tuple[int, tuple[Thought, ...]]]


def held(spoken: Dialect, head: Wire, messages: Sequence[Message], lead: int) -> Held:
    """Return what a body holds; its first `lead` messages belong to the head."""
    systems = [(-1, text) for text in spoken.system_texts(head) if text]
    for at, message in enumerate(messages):
        if message.role == "system" and at >= lead:
            text = "".join(part.text for part in message.parts if part.kind is PartKind.TEXT)
            systems += [(at, text)] if text else []
    return Held(systems, _thoughts(spoken, messages))


def _thoughts(spoken: Dialect, messages: Sequence[Message]) -> dict[str, tuple[int, tuple[Thought, ...]]]:
    found: dict[str, tuple[int, tuple[Thought, ...]]] = {}
    repeated = {""}
    thoughts: tuple[Thought, ...] = ()
    for at, message in enumerate(messages):
        if message.role != "assistant":
            continue
        if thoughts and not spoken.continues(messages[at - 1], message):
            thoughts = ()
        for part in message.parts:
            if part.kind is PartKind.TOOL_CALL:
                if part.call_id in found:
                    repeated.add(part.call_id)
                found[part.call_id] = at, thoughts
            elif _is_thought(part):
                thoughts = (*thoughts, (part.text, part.sealed))
    return {call_id: led for call_id, led in found.items() if call_id not in repeated}


def _is_thought(part: Part) -> bool:
    return part.kind is PartKind.THINKING or (part.kind is PartKind.OPAQUE and part.sealed > 0)


def lost(before: Held, after: Held) -> Iterator[Violation]:
    """Yield what the first body held and the second, made from it, does not."""
    yield from _lost_systems(before, after)
    for call_id, (_, thoughts) in before.thoughts.items():
        at, now = after.thoughts.get(call_id, (0, thoughts))
        gone = Counter(thoughts) - Counter(now) if now != thoughts else None
        if gone and len(now) < len(thoughts):
            yield Violation("thinking_separated", at, call_id, f"call {call_id!r} lost the thinking that led to it")
        elif gone:
            yield Violation("thinking_edited", at, call_id, f"the thinking before call {call_id!r} is changed")


def _lost_systems(before: Held, after: Held) -> Iterator[Violation]:
    now = Counter(text for _, text in after.systems)
    missing = []
    for at, text in before.systems:
        if now[text]:
            now[text] -= 1
        else:
            missing.append((at, text))
    edited = "\n".join(now.elements()) if missing else ""
    whole = "\n".join(text for _, text in after.systems) if missing else ""
    for at, text in missing:
        lines = _lines(text)
        if lines and not any(line in (whole if at < 0 else edited) for line in lines):
            yield Violation("system_lost", max(at, 0), "", f"a system text is gone: {text.strip()[:40]!r}")


def _lines(text: str) -> list[str]:
    """Return the lines that tell a system text, examples apart."""
    rules = "".join(section.text for section in sections(text) if not section.is_examples)
    lines = [line.strip() for line in rules.splitlines() if line.strip()]
    return [line for line in lines if len(line) >= SHORTEST_LINE] or lines
