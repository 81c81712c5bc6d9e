"""Old tool results become placeholders; calls, answers and order stay (The Complexity Trap, arXiv 2508.21433).

Invariants: every call keeps its result message, so pairs cannot break; the newest `keep` results, the open unit,
excluded tools, and pinned results stay as they are; a placeholder is used only where it is smaller, and is not masked
again; nothing happens below the trigger, nor where less than `min_cleared` tokens would be gained. Over budget after
masking is reported: masking has no deeper form.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from .. import marks
from ..assembler import Context, Held, UnitAssembler, held_by_trigger
from ..boundaries import on_grid
from ..decisions import Edit, Fate, Run, Status
from ..plan import Plan
from .keep_last import too_short
from .masking import Masks

TOO_LITTLE = Held("sent whole, as masking would gain too little", "strategy.min_cleared")
PLACEHOLDER = f"{marks.STUB} {{id}}, {{lines}} lines, {{tokens}} tokens of {{tool}}; {marks.ASK}]"


@dataclass(frozen=True, slots=True)
class MaskToolResults:
    """The strategy `mask_tool_results`. `trigger` is a share of the soft budget: 0 always, None never.

    `min_cleared` and `step` are tokens; the placeholder may name {id}, {lines}, {tokens} and {tool}.
    """

    keep: int = 5
    trigger: float | None = 1.0
    min_cleared: int = 0
    exclude: tuple[str, ...] = ()
    placeholder: str = PLACEHOLDER
    step: int = 0
    min_turns: int = 0
    min_steps: int = 0

    def assembler(self, context: Context) -> UnitAssembler:
        """Return an assembler for a new conversation."""
        return _Assembler(context, self)


class _Assembler(UnitAssembler):
    def __init__(self, context: Context, strategy: MaskToolResults) -> None:
        super().__init__(context)
        self.strategy = strategy
        self.masks = Masks(self.log, context.dialect, context.counter, strategy.placeholder, strategy.exclude)

    def extras(self, cut: int) -> tuple[int, ...]:
        """Return the newest user message alone: no message goes, so none must stay for another's sake."""
        newest = self.log.last_user
        return (newest,) if 0 <= newest < cut and not self.log.units[newest].stays else ()

    def _plan(self) -> Plan:
        if not self._triggered():
            return self.untouched(Status.FITS, held_by_trigger(self.strategy.trigger))
        log, settings = self.log, self.strategy
        if too_short(len(log.turns), len(log.steps), settings.min_turns, settings.min_steps):
            return self.untouched(Status.SKIPPED_SHORT)
        self.masks.catch_up()
        wanted, part = self._wanted()
        cut = on_grid(wanted, wanted, settings.step, log.totals, self._serves)
        part = part if cut == wanted else None
        tokens = self._tokens(cut, part)
        if not self._clears(tokens):
            return self.untouched(Status.FITS, TOO_LITTLE if tokens < self.size else None)
        return self._made(cut, part, tokens)

    def _serves(self, cut: int) -> bool:
        """Return whether masking all before a cut is enough: what is sent fits, and enough is gained.

        An input that fits need gain nothing yet: masking less than a step would break the cached prefix each time.
        """
        tokens = self._tokens(cut, None)
        return not self._over(tokens) and (self._clears(tokens) or not self._over(self.size))

    def _clears(self, tokens: int) -> bool:
        return self.size - tokens >= max(1, self.strategy.min_cleared)

    def _triggered(self) -> bool:
        if self.strategy.trigger == 0:
            return True
        budget = self.context.budget
        return budget is not None and self.strategy.trigger is not None and self.size > budget * self.strategy.trigger

    def _wanted(self) -> tuple[int, Edit | None]:
        """Return the first unit that is not masked whole, and how it is masked if the newest results begin in it."""
        results, keep, deepest = self.masks.results, self.strategy.keep, self.log.deepest
        masked = results[self.count] - keep
        if masked <= 0:
            return 0, None
        cut = bisect_left(results, masked)
        if cut > deepest:
            return deepest, None
        if results[cut] == masked:
            return cut, None
        if cut - 1 == self.log.last_user:
            return cut - 1, None
        return cut - 1, self.masks.oldest(self.log.units[cut - 1], masked - results[cut - 1])

    def _tokens(self, cut: int, part: Edit | None) -> int:
        log, masked = self.log, self.masks.totals
        tokens = self.fixed.tokens + masked[cut] + log.totals[-1] - log.totals[cut]
        if 0 <= log.last_user < cut:
            tokens += log.units[log.last_user].tokens - (masked[log.last_user + 1] - masked[log.last_user])
        return tokens if part is None else tokens + part.tokens - log.units[cut].tokens

    def _made(self, cut: int, part: Edit | None, tokens: int) -> Plan:
        runs = (
            Run(0, cut, Fate.REPLACE, "older than the newest results", "strategy.keep"),
            Run(cut, self.count, Fate.KEEP, "among the newest results", "strategy.keep"),
        )
        edits = {} if part is None else {cut: part}
        return self.made(self.with_extras(runs, cut), tokens, replacements=self.masks, edits=edits)
