"""Whether what a strategy sends would be accepted: the rules of the dialect that it breaks and the input did not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .transcript import ROOT
from .validity import new_violations, validate

if TYPE_CHECKING:
    from .replay import Replay

MOST_MESSAGES = 100_000
"""Messages read in one check, about a second; in a longer run calls are spread evenly, and `checked` says how many."""


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
    stride = -(-sum(_messages(replay, call) for call in changed) // MOST_MESSAGES) or 1
    count, first = 0, ""
    for call in changed[::stride]:
        before = validate(replay.prompt(call), dialect)
        found = new_violations(before, validate(replay.request(call), dialect))
        count += len(found)
        if found and not first:
            first = f"Call {call + 1}: {found[0].problem}."
    return Violations(count, len(changed[::stride]), len(changed), first)


def _messages(replay: Replay, call: int) -> int:
    last = replay.transcript.calls[call].history
    return 0 if last == ROOT else replay.transcript.depths[last] + 1
