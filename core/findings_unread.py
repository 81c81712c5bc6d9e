"""Files and sounds whose tokens nothing in a request tells: they count as 0, and this says so.

Providers turn a file into text and pictures on their side, by rules of their own; a figure made up from its bytes
would look like knowledge. Where the recording has reported usage, what they really cost stands in "not recorded".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from .branch import Branch
from .dialects.base import PartKind
from .finding import Finding, Level, calls_by_log
from .replay import Replay
from .wording import counted


class _File(NamedTuple):
    call: int
    """The first call that sends it."""
    span_id: str
    name: str


def uncounted_files(replay: Replay) -> Iterator[Finding]:
    """Find files without text in the prompts of a replay."""
    found = sorted(_files(replay))
    if not found:
        return
    kinds = ", ".join(sorted({file.name or "file" for file in found}))
    yield Finding(
        name="uncounted_files",
        level=Level.NOTICE,
        sentence=f"{counted(len(found), 'file')} ({kinds}) in the prompts from call {found[0].call + 1} on count as 0:"
        " a request does not tell the tokens of a file that only the provider reads, so these prompts are larger than"
        " shown.",
        call=found[0].call,
        span_ids=(found[0].span_id,),
        figures={"files": len(found)},
    )


def _files(replay: Replay) -> Iterator[_File]:
    """Yield each file once, wherever it is sent."""
    branch, seen = Branch(replay.transcript), set()
    for calls in calls_by_log(replay):
        plan = replay.plan(calls[-1])
        branch.to(replay.last_message(calls[-1]))
        counts = [replay.plan(call).count for call in calls]
        for index, unit in enumerate(plan.log.units[: plan.count]):
            for at, message in enumerate(unit.messages, start=unit.first):
                for place, part in enumerate(message.parts):
                    key = (branch.path[at], place)
                    if part.kind is PartKind.FILE and not part.text and key not in seen:
                        seen.add(key)
                        yield _File(calls[bisect_right(counts, index)], f"m{at}.{place}", part.name)
