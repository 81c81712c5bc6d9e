"""Whether what a strategy sends would be accepted: the rules of the dialect that it breaks and the input did not."""

from __future__ import annotations

from dataclasses import dataclass

from core.replay import Replay
from core.validity import new_violations, validate

MOST_CHECKED = 400
"""Calls checked in one replay; in a longer one they are spread evenly, and the page says how many were looked at."""


@dataclass(frozen=True, slots=True)
class Violations:
    """How many violations are new, in how many changed calls they were looked for, and the first as a sentence."""

    count: int
    checked: int
    changed: int
    first: str = ""


def new_violations_of(replay: Replay) -> Violations:
    """Return what is wrong in the requests that a replay changed, and was not wrong before."""
    dialect = replay.transcript.dialect
    changed = [call for call in range(len(replay.transcript.calls)) if replay.plan(call).changed]
    stride = -(-len(changed) // MOST_CHECKED) or 1
    count, first = 0, ""
    for call in changed[::stride]:
        before = validate(replay.prompt(call), dialect)
        found = new_violations(before, validate(replay.request(call), dialect))
        count += len(found)
        if found and not first:
            first = f"Call {call + 1}: {found[0].problem}."
    return Violations(count, len(changed[::stride]), len(changed), first)
