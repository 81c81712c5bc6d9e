"""What breaks a rule of a dialect."""

from __future__ import annotations

from typing import NamedTuple


class Violation(NamedTuple):
    """A rule that a body breaks. `subject` is the call id, where one is concerned; `message` counts all messages."""

    rule: str
    message: int
    subject: str
    problem: str
