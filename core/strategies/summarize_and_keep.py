"""Keep the newest turns verbatim, put short extracts in the place of older messages, then drop the oldest.

Invariants (rule book 3, B-R1 to B-R9): nothing changes while the prompt fits or the task is short; summaries count;
a reply is folded with all its results into one message without call ids; results' numbers stay out of summaries; a
summary is used only where it is smaller and is never summarised again; whole turns are dropped, oldest first, and
only the turn that the kept part cuts into loses single steps; the kept part never shrinks, so that over budget means
over budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..assembler import Context, UnitAssembler
from ..boundaries import Keep, first_true, keep_boundary, on_grid
from ..decisions import Fate, Run, Status
from ..plan import Plan
from ..wording import counted
from .folding import Folds
from .keep_last import too_short
from .published import PublishedAssembler


@dataclass(frozen=True, slots=True)
class SummarizeAndKeep:
    """The strategy `summarize_and_keep`. `step` is in tokens; `published` reproduces the published program."""

    keep: Keep = Keep("turns", 4)
    step: int = 0
    min_turns: int = 15
    min_steps: int = 15
    published: bool = False
    summary: str = "extractive"

    def assembler(self, context: Context) -> UnitAssembler:
        """Return an assembler for a new conversation."""
        if self.published:
            return PublishedAssembler(context, self.keep.number)
        return _Assembler(context, self)


class _Assembler(UnitAssembler):
    def __init__(self, context: Context, strategy: SummarizeAndKeep) -> None:
        super().__init__(context)
        self.strategy = strategy
        summaries = context.summaries if strategy.summary == "model" else None
        self.folds = Folds(self.log, context.dialect, context.counter, summaries)
        self._near = 0

    def _plan(self) -> Plan:
        if not self._over(self.size):
            return self.untouched(Status.FITS)
        log, settings = self.log, self.strategy
        if too_short(len(log.turns), len(log.steps), settings.min_turns, settings.min_steps):
            return self.untouched(Status.SKIPPED_SHORT)
        wanted, setting = keep_boundary(log, settings.keep)
        self.folds.catch_up(wanted)
        kept = self._stepped(wanted)
        cuts = _Cuts(log.turns, log.openers, kept)
        dropped = cuts[self._first_fitting(cuts, kept)]
        tokens = self._tokens(dropped, kept)
        if tokens >= self.size:
            return self.untouched(Status.FITS)
        return self._made(dropped, kept, tokens, setting)

    def _stepped(self, wanted: int) -> int:
        """Move the kept part's beginning back to the grid if that fits at all; it never begins later than wanted."""
        return on_grid(
            wanted,
            wanted,
            self.strategy.step,
            self.log.totals,
            lambda cut: not self._over(self._tokens(cut, cut)),
        )

    def _first_fitting(self, cuts: _Cuts, kept: int) -> int:
        last = len(cuts) - 1

        def fits(position: int) -> bool:
            return not self._over(self._tokens(cuts[position], kept))

        position = first_true(0, last, fits, self._near)
        self._near = position
        if position == 0 or not fits(position):
            return position
        return on_grid(position, last, self.strategy.step, _Sums(cuts, self.log.totals), fits)

    def _tokens(self, dropped: int, kept: int) -> int:
        """Return what is sent with everything before `dropped` gone and everything before `kept` summarised."""
        log, folds = self.log, self.folds
        tokens = self.fixed.tokens + log.staying[dropped]
        tokens += folds.totals[kept] - folds.totals[dropped] + log.totals[-1] - log.totals[kept]
        for index in self.extras(dropped):
            tokens += log.units[index].tokens if index == log.last_user else folds.cost(index)
        if dropped <= log.last_user < kept:
            tokens += log.units[log.last_user].tokens - folds.cost(log.last_user)
        return tokens

    def _made(self, dropped: int, kept: int, tokens: int, setting: str) -> Plan:
        unit = "step" if "as steps" in setting else self.strategy.keep.unit.removesuffix("s")
        older = f"older than the kept part ({counted(self.strategy.keep.number, unit)})"
        runs = [
            Run(0, dropped, Fate.DROP, "oldest first, until the rest fits", "budget"),
            Run(dropped, kept, Fate.REPLACE, older, setting),
            Run(kept, self.count, Fate.KEEP, "in the kept part", setting),
        ]
        plan_runs = self.with_extras(runs, kept)
        plan_runs = tuple(self._opener_summarised(run, kept, older, setting) for run in plan_runs)
        return self.made(plan_runs, tokens, replacements=self.folds)

    def _opener_summarised(self, run: Run, kept: int, older: str, setting: str) -> Run:
        """The message that opens a turn kept in part stays as its summary, unless it is the newest user message."""
        is_extra = run.stop <= kept and run.fate is Fate.KEEP and run.start != self.log.last_user
        return run._replace(fate=Fate.REPLACE, reason=older, setting=setting) if is_extra else run


class _Cuts(Sequence[int]):
    """The legal cuts up to the kept part, oldest first: whole turns, then single units of the turn cut into."""

    def __init__(self, turns: Sequence[int], openers: Sequence[int], kept: int) -> None:
        opener = openers[kept - 1] if kept > 0 else -1
        self._turns = turns
        self._whole = first_true(0, len(turns), lambda k: turns[k] > kept)
        self._first_inside = opener + 1
        self._inside = max(0, kept - opener) if self._whole == 0 or turns[self._whole - 1] != kept else 0

    def __len__(self) -> int:
        """Return how many cuts there are; the first is 0."""
        return 1 + self._whole + self._inside

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        """Return a cut as the index of a unit."""
        if index == 0:
            return 0
        if index <= self._whole:
            return self._turns[index - 1]
        return self._first_inside + index - 1 - self._whole


class _Sums(Sequence[int]):
    """The tokens before each cut."""

    def __init__(self, cuts: _Cuts, totals: Sequence[int]) -> None:
        self._cuts, self._totals = cuts, totals

    def __len__(self) -> int:
        """Return how many cuts there are."""
        return len(self._cuts)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        """Return the tokens before a cut."""
        return self._totals[self._cuts[index]]
