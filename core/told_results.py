"""Results of tools that an agent was told as text: a user message after a reply, of which the format says what it is.

Many agents call tools in plain text and get the results as the user's next message. Such a message is none of the
user's: it goes with the reply that asked for it, it opens no turn, and it may be masked like any other result. Without
a hint it is known by the first line of formats that no person types; a hint gives an agent's own ones. A message that
follows neither a reply nor its results is never taken for a result, so the task is safe, and what a person says beside
or inside one stays theirs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from .dialects.base import Message, Part, PartKind
from .marks import is_injected
from .rules import is_in

__all__ = ["as_result"]

_HEAD = re.compile(
    r"""(?xs) \s* (?:
        \[ (?P<used> [a-z]+ (?: _[a-z]+ )+ ) (?: [ ]for[ ] .{0,4000}? )? \] [ ]Result:  # Cline and Roo Code
        | EXECUTION[ ]RESULT[ ]of[ ]\[ (?P<ran> [\w.-]+ ) \]:  # OpenHands
        | OBSERVATION:  # SWE-agent
        | <returncode>-?\d+</returncode>  # mini-swe-agent
        | <(?:tool_response|function_results?)>  # chat templates
    ) [ ]* (?: \r?\n | \Z )"""
)
"""What a result begins with, alone on its line: a person who writes about one goes on behind it."""
_TAIL = re.compile(r"\(Open file: [^\n]*\)\s*\(Current directory: [^\n]*\)\s*bash-\$\s*\Z")
"""How the shell of SWE-agent ends what it shows."""
_TAIL_LENGTH = 1_000
_SAID = re.compile(r"^<(?:feedback|user_message|answer)>\s*$", re.MULTILINE)
"""What a person answered to a tool's question, inside the tool's result (Cline and Roo Code)."""


def as_result(message: Message, patterns: Sequence[str] | None = None) -> Message:
    """Return a user message with its texts marked as told results, the message itself where none is one.

    `patterns` are regular expressions of results; None goes by the formats known here.
    """
    texts = [part.text for part in message.parts if part.kind is PartKind.TEXT]
    if message.role != "user" or not texts or message.results or is_injected(texts[0]):
        return message
    head = _HEAD.match(texts[0]) if patterns is None else None
    # Cline and Roo Code have the head as a text of its own, and what it tells in the next ones.
    all_told = head is not None and head.end() == len(texts[0]) and len(texts) > 1

    def marked(part: Part) -> Part:
        if part.kind is not PartKind.TEXT or _SAID.search(part.text):
            return part
        if not all_told and not _is_result(part.text, patterns):
            return part
        return replace(part, name=_tool(part.text) or (_tool(texts[0]) if all_told else ""), told=True)

    parts = tuple(map(marked, message.parts))
    return replace(message, parts=parts) if any(part.told for part in parts) else message


def _is_result(text: str, patterns: Sequence[str] | None) -> bool:
    """Whether a text is a result by itself."""
    if patterns is not None:
        return any(is_in(pattern, text) for pattern in patterns)
    return _HEAD.match(text) is not None or _TAIL.search(text[-_TAIL_LENGTH:]) is not None


def _tool(text: str) -> str:
    """Return the tool that a head names; "" if it names none."""
    found = _HEAD.match(text)
    return (found["used"] or found["ran"] or "") if found else ""
