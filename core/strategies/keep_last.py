"""Keep the newest N: the common practice, with the faults of the common practice mended.

Invariants: nothing changes while the prompt fits; N is an upper bound, and if it does not fit, fewer are kept, down to
the open unit and the newest user message; units stay whole; what is kept keeps its order and its bytes; the first
message kept is a user message wherever the input's was.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..assembler import Context, UnitAssembler
from ..boundaries import Keep, first_true, keep_boundary, on_grid
from ..decisions import Fate, Run, Status
from ..plan import Plan
from ..wording import counted

NONE_KEPT = "history, of which nothing is kept"


@dataclass(frozen=True, slots=True)
class KeepLast:
    """The strategy `keep_last`. `step` and a number of kept tokens are tokens; 0 minimums switch them off."""

    keep: Keep = Keep("turns", 4)
    step: int = 0
    min_turns: int = 0
    min_steps: int = 0

    def assembler(self, context: Context) -> UnitAssembler:
        """Return an assembler for a new conversation."""
        return _Assembler(context, self)


def too_short(turns: int, steps: int, min_turns: int, min_steps: int) -> bool:
    """Return whether a task is too short to touch: no more turns and no more steps than the minimums."""
    return turns <= min_turns and steps <= min_steps and bool(min_turns or min_steps)


class _Assembler(UnitAssembler):
    def __init__(self, context: Context, strategy: KeepLast) -> None:
        super().__init__(context)
        self.strategy = strategy
        self._near = 0

    def _plan(self) -> Plan:
        if not self._over(self.size):
            return self.untouched(Status.FITS)
        log, settings = self.log, self.strategy
        if too_short(len(log.turns), len(log.steps), settings.min_turns, settings.min_steps):
            return self.untouched(Status.SKIPPED_SHORT)
        wanted, setting = keep_boundary(log, settings.keep)
        fitting = first_true(wanted, log.deepest, self._fits, self._near)
        self._near = fitting
        cut = fitting
        if self._fits(fitting):
            cut = on_grid(fitting, log.deepest, settings.step, log.totals, self._fits)
        return self._cut(cut, wanted, fitting, setting)

    def _fits(self, cut: int) -> bool:
        return not self._over(self.kept_tokens(cut))

    def _cut(self, cut: int, wanted: int, fitting: int, setting: str) -> Plan:
        keep = self.strategy.keep
        kept = counted(keep.number, _unit(setting, keep.unit))
        first, second = min(wanted, cut), min(fitting, cut)
        runs = (
            Run(0, first, Fate.DROP, f"older than the newest {kept}" if keep.number else NONE_KEPT, setting),
            Run(first, second, Fate.DROP, "no room for it behind the budget", "budget"),
            Run(second, cut, Fate.DROP, "the cut moves in steps", "strategy.step"),
            Run(cut, self.count, Fate.KEEP, "in the kept part", setting),
        )
        return self.made(self.with_extras(runs, cut), self.kept_tokens(cut))


def _unit(setting: str, unit: str) -> str:
    return "step" if "as steps" in setting else unit.removesuffix("s")
