"""The first words of everything the engine puts into a prompt, so that it is recognised and left alone later.

A summary is never summarised again, a stub never masked again, a menu never taken for an instruction of the user's.
"""

from __future__ import annotations

SUMMARY = "[summary]"
ROLLING_SUMMARY = "[Earlier conversation]"
TOOL_MENU = "[More tools]"
STUB = "[left out:"
CONTEXT = "[Context of this task]"
ASK = "ask for it by this id"
"""How to get back what a stub stands for (rule S-R3): whoever runs the model answers with the runtime's `restore`."""


def is_summary(text: str) -> bool:
    """Return whether a text was put in by a strategy as a summary."""
    return text.startswith((SUMMARY, ROLLING_SUMMARY))


def is_injected(text: str) -> bool:
    """Return whether a text was put in by a strategy at all."""
    return text.startswith((SUMMARY, ROLLING_SUMMARY, TOOL_MENU, STUB, CONTEXT))
