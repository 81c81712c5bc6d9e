"""Results of tools that an agent was told as text: a user message after a reply, of which the format says what it is.

Many agents call tools in plain text and get the results as the user's next message. Such a message is none of the
user's: it goes with the reply that asked for it, it opens no turn, and it may be masked like any other result. Without
a hint it is known by the words of formats that no person types; a hint gives an agent's own ones. A message that does
not follow a reply is never taken for a result, so the task is safe, and what a person says inside one stays theirs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from .dialects.base import Message, Part, PartKind
from .rules import is_in

__all__ = ["as_result"]

_HEAD = re.compile(
    r"""(?xs) \s* (?:
        \[ (?P<used> [A-Za-z_]\w* ) (?: [ ]for[ ] .{0,4000}? )? \] [ ]Result:  # Cline and Roo Code
        | EXECUTION[ ]RESULT[ ]of[ ]\[ (?P<ran> [\w.-]+ ) \]:  # OpenHands
        | OBSERVATION:\s  # SWE-agent
        | <returncode>-?\d+</returncode>  # mini-swe-agent
        | <(?:tool_response|function_results?)>\s  # chat templates
    )"""
)
_TAIL = re.compile(r"\(Current directory: [^\n]*\)\s*bash-\$\s*\Z")
"""How the shell of SWE-agent ends what it shows."""
_TAIL_LENGTH = 1_000
_SAID = re.compile(r"^<(?:feedback|user_message|answer)>\s*$", re.MULTILINE)
"""What a person answered to a tool's question, inside the tool's result (Cline and Roo Code)."""


def as_result(message: Message, patterns: Sequence[str] | None = None) -> Message:
    """Return a user message with its texts marked as told results, the message itself where they are none.

    `patterns` are regular expressions of results; None goes by the formats known here.
    """
    texts = [part.text for part in message.parts if part.kind is PartKind.TEXT]
    if message.role != "user" or not texts or message.results:
        return message
    known = _HEAD.match(texts[0])
    if not (_is_known(texts[0]) if patterns is None else any(is_in(pattern, texts[0]) for pattern in patterns)):
        return message
    tool = (known["used"] or known["ran"] or "") if known else ""
    return replace(message, parts=tuple(_told(part, tool) for part in message.parts))


def _is_known(text: str) -> bool:
    return _HEAD.match(text) is not None or _TAIL.search(text[-_TAIL_LENGTH:]) is not None


def _told(part: Part, tool: str) -> Part:
    if part.kind is not PartKind.TEXT or _SAID.search(part.text):
        return part
    return replace(part, name=tool, told=True)
