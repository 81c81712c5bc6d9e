"""Which calls of a summariser a replay needs: one for each range of messages that a plan has a model's summary for.

A summary is a function of its range and kept under the range's hash, so a range is paid for once, at the first call
whose plan has it, whatever branch or configuration part comes back to it. What is read is the range as it was counted,
what is written the stored summary; where none is stored, the extract that stands in for it tells about how long one
is. The summariser's own instructions are not known and not charged.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .common_prefix import inner
from .decisions import Fate, Replacement, Run
from .log import Log
from .plan import Plan
from .spans import SpanKind
from .summaries import range_hash, unit_digest
from .tokens import Counter
from .wire import digest


@dataclass(frozen=True, slots=True)
class SummaryCall:
    """One call of a summariser, in tokens: the hash of its range, what it reads and writes.

    `stands_in` says that no summary is stored and the output is the length of an extract.
    """

    range: str
    input: int
    output: int
    stands_in: bool


class SummaryCalls:
    """Finds what each plan of a replay newly needs. Plans are given in order; each unit is looked at once."""

    def __init__(self, stored: Mapping[str, str]) -> None:
        self._stored = stored
        self._known: set[str] = set()
        self._logs: dict[int, _Seen] = {}

    def needed(self, plan: Plan, counter: Counter) -> tuple[SummaryCall, ...]:
        """Return the calls of a summariser that a plan needs and none before it did."""
        plan = inner(plan)
        if not plan.changed:
            return ()
        seen = self._logs.setdefault(id(plan.log), _Seen(plan.log))
        found = (*self._replaced(plan, seen), *self._rolled(plan, seen))
        return tuple(self._call(*each, counter) for each in found if self._is_new(each[0]))

    def _is_new(self, hash_: str) -> bool:
        if hash_ in self._known:
            return False
        self._known.add(hash_)
        return True

    def _call(self, hash_: str, tokens: int, extract: int, counter: Counter) -> SummaryCall:
        text = self._stored.get(hash_)
        return SummaryCall(hash_, tokens, extract if text is None else counter.count(text), text is None)

    def _replaced(self, plan: Plan, seen: _Seen) -> Iterator[tuple[str, int, int]]:
        """Yield the units that a summary each stands for, as (hash, tokens, tokens of the extract)."""
        seen.catch_up(plan.count)
        for run in plan.runs:
            for index in seen.taken(run.start, run.stop) if run.fate is Fate.REPLACE else ():
                unit, made = plan.log.units[index], plan.replacements[index]
                if isinstance(made, Replacement) and not unit.stays:
                    yield range_hash(unit_digest(unit)), unit.tokens, sum(tokens for *_, tokens in made.texts)

    def _rolled(self, plan: Plan, seen: _Seen) -> Iterator[tuple[str, int, int]]:
        """Yield the range that one rolling summary stands for, if there is one."""
        texts = [text for text in plan.head.injected if text.kind is SpanKind.SUMMARY] if plan.head else []
        gone = [run for run in plan.runs if run.fate in (Fate.DROP, Fate.FOLD)]
        if not texts or not gone:
            return
        cut, log = _cut(plan), plan.log
        skipped = [index for run in plan.runs if run.stop <= cut and run.fate is Fate.KEEP for index in _indices(run)]
        tokens = sum(log.totals[run.stop] - log.totals[run.start] for run in gone)
        tokens -= sum(log.staying[run.stop] - log.staying[run.start] for run in gone)
        left_out = b"".join(unit_digest(log.units[index]) for index in skipped)
        yield range_hash(seen.chain(cut), left_out), tokens, sum(text.tokens for text in texts)


def _cut(plan: Plan) -> int:
    """Return where the kept part begins; a unit that stays before it is kept for no setting."""
    last = plan.runs[-1]
    return last.start if last.fate is Fate.KEEP and last.setting else plan.count


def _indices(run: Run) -> range:
    return range(run.start, run.stop)


@dataclass(slots=True)
class _Seen:
    """What was seen of a log: the units without a summary so far, and the chained hashes of its units."""

    log: Log
    left: list[int] = field(default_factory=list)
    count: int = 0
    hashes: list[bytes] = field(default_factory=lambda: [b""])

    def catch_up(self, count: int) -> None:
        self.left += range(self.count, count)
        self.count = max(self.count, count)

    def taken(self, start: int, stop: int) -> Sequence[int]:
        """Return the units of a run that were not taken before."""
        places = slice(bisect_left(self.left, start), bisect_left(self.left, stop))
        taken = self.left[places]
        del self.left[places]
        return taken

    def chain(self, cut: int) -> bytes:
        for unit in self.log.units[len(self.hashes) - 1 : cut]:
            self.hashes.append(digest(self.hashes[-1].hex() + unit_digest(unit).hex()))
        return self.hashes[cut]
