"""Core always; tools when they are needed; retrieval up to a share; older history as one rolling summary.

Invariants (rule book 4, M-R1 to M-R10): everything that is sent is in the plan, and the plan is checked; the summary
has one place at the end of the system part, one heading, is counted once and is no longer than the budget has room
for; core, the newest user message and the open unit are never touched; over the target, retrieval goes first, then
history, then tools; nothing is replaced by something that is not smaller.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..assembler import Context, UnitAssembler, held_by_trigger
from ..boundaries import Keep, keep_boundary, on_grid
from ..decisions import Edit, Fate, HeadEdit, Run, Status
from ..hints import Hints
from ..plan import Plan
from ..spans import FixedPart
from .activation import Activation
from .head_edits import HeadEdits
from .keep_last import too_short
from .retrieval import Retrieval
from .rolling import RollingSummaries, RollingSummary
from .tiers import ToolGroup, retrieval_limit


@dataclass(frozen=True, slots=True)
class TieredInjection:
    """The strategy `tiered_injection`. `trigger` is a share of the soft budget: 0 always, None never.

    `step`, `summary_tokens` and `overhead` (an allowance beside what is counted) are in tokens.
    """

    keep: Keep = Keep("messages", 3)
    trigger: float | None = 1.0
    summary_chars: int = 800
    summary_tokens: int = 800
    summary: str = "extractive"
    overhead: int = 0
    step: int = 0
    min_turns: int = 0
    min_steps: int = 0
    groups: tuple[ToolGroup, ...] = ()

    def assembler(self, context: Context) -> UnitAssembler:
        """Return an assembler for a new conversation."""
        return _Assembler(context, self)


class _Draft(NamedTuple):
    """A prompt with a given cut, all its retrieved results left out: what they may have is decided last."""

    cut: int
    summary: RollingSummary | None
    head: HeadEdit
    tokens: int
    bare: int
    """Tokens without the summary."""


class _Assembler(UnitAssembler):
    def __init__(self, context: Context, strategy: TieredInjection) -> None:
        budget = context.budget
        self.limit = None if budget is None else retrieval_limit(budget)
        self.target = None if budget is None or strategy.trigger is None else int(budget * strategy.trigger)
        if budget is not None:
            context = replace(context, budget=budget - strategy.overhead)
        super().__init__(context)
        self.strategy = strategy
        self._setting = strategy.keep.setting
        """The setting that the kept part of the plan in the making goes by."""
        self.retrieval = Retrieval(self.log, context)
        self.summaries = RollingSummaries(
            self.log,
            context.counter,
            strategy.summary_chars,
            strategy.summary_tokens,
            context.summaries if strategy.summary == "model" else None,
        )

    def fix(self, fixed: FixedPart) -> None:
        """Take the fixed part; other tools are read anew against everything that was said."""
        super().fix(fixed)
        self.activation = Activation(self.log, fixed, self.strategy.groups, self.context.hints.active_tools)
        self.head_edits = HeadEdits(fixed, self.context)

    def hint(self, hints: Hints) -> None:
        """Take the hints of the coming plans; which groups users and calls activated stays known."""
        super().hint(hints)
        self.activation.hint(hints.active_tools)

    def _plan(self) -> Plan:
        log, settings = self.log, self.strategy
        if too_short(len(log.turns), len(log.steps), settings.min_turns, settings.min_steps):
            asked = self._triggered(self.size) or self._over(self.size)
            return self.untouched(Status.SKIPPED_SHORT if asked else Status.FITS)
        self.activation.catch_up()
        self.retrieval.catch_up()
        self._setting = settings.keep.setting
        draft = self._compressed(self._draft(0))
        if self._over(draft.tokens):
            fewer_tools = self._draft(draft.cut, summarised=draft.summary is not None, only_newest=True)
            draft = min(draft, fewer_tools, key=lambda made: made.tokens)
        edits = self.retrieval.edits(draft.cut, self._room(draft))
        tokens = self._recounted(draft, edits)
        unchanged = draft.cut == 0 and not edits and not draft.head.deferred
        if unchanged or tokens >= self.size:
            held = None if self._triggered(self.size) else held_by_trigger(settings.trigger)
            return self.untouched(Status.FITS, held)
        return self._made(draft, edits, tokens)

    def _compressed(self, whole: _Draft) -> _Draft:
        """Return the draft whose older part is one summary, where the whole is above the trigger and that helps."""
        if not self._triggered(whole.tokens):
            return whole
        wanted, self._setting = keep_boundary(self.log, self.strategy.keep)
        drafts: dict[int, _Draft] = {}

        def fits(cut: int) -> bool:
            # A summary takes the room that is there, so it says nothing about whether the rest fits.
            drafts[cut] = self._draft(cut)
            return self._is_small_enough(drafts[cut].bare)

        cut = on_grid(wanted, wanted, self.strategy.step, self.log.totals, fits)
        if cut not in drafts:
            drafts[cut] = self._draft(cut)
            cut = min(reversed(drafts), key=lambda made: drafts[made].tokens)
        return drafts[cut] if drafts[cut].tokens < whole.tokens else whole

    def _triggered(self, tokens: int) -> bool:
        if self.strategy.trigger == 0:
            return True
        return self.target is not None and tokens + self.strategy.overhead > self.target

    def _is_small_enough(self, tokens: int) -> bool:
        return not self._triggered(tokens) if self.strategy.trigger else not self._over(tokens)

    def _draft(self, cut: int, summarised: bool = True, only_newest: bool = False) -> _Draft:
        groups = self.activation.tools
        inactive = list(self.activation.inactive(cut, self.extras(cut), only_newest)) if groups else []
        head = self.head_edits.without(inactive, self.activation, None)
        kept = self.kept_tokens(cut) - self.fixed.tokens - self.retrieval.weight(cut)
        bare = kept + self.head_edits.tokens(head)
        summary = self._summary(cut, head, bare) if cut and summarised else None
        if summary is not None:
            head = self.head_edits.without(inactive, self.activation, summary)
        return _Draft(cut, summary, head, kept + self.head_edits.tokens(head), bare)

    def _summary(self, cut: int, head: HeadEdit, bare: int) -> RollingSummary | None:
        """Return the summary of what stands before a cut, in the room that everything else leaves in the budget.

        Where that is over the budget by itself, no summary could help, and it has the length that it may have.
        """
        budget = self.context.budget
        if budget is None or bare > budget:
            return self.summaries.before(cut, self.extras(cut))
        return self.summaries.before(cut, self.extras(cut), budget - bare - self.head_edits.next_frame(head))

    def _room(self, draft: _Draft) -> int | None:
        """Return how many tokens of retrieved results may be shown: their share, and what the rest leaves."""
        if self.limit is None or self.context.budget is None:
            return None
        target = self.context.budget
        if self.target and self.strategy.trigger:
            target = min(target, self.target - self.strategy.overhead)
        return min(self.limit, target - draft.tokens)

    def _recounted(self, draft: _Draft, edits: Mapping[int, Edit]) -> int:
        tokens = self.head_edits.tokens(draft.head) - self.fixed.tokens + self.kept_tokens(draft.cut)
        return tokens + sum(edit.tokens - self.log.units[index].tokens for index, edit in edits.items())

    def _made(self, draft: _Draft, edits: Mapping[int, Edit], tokens: int) -> Plan:
        folded = draft.summary.first if draft.summary else draft.cut
        runs = (
            Run(0, folded, Fate.DROP, "older than the rolling summary has room for", "strategy.summary_chars"),
            Run(folded, draft.cut, Fate.FOLD, "in the rolling summary", "strategy.trigger"),
            Run(draft.cut, self.count, Fate.KEEP, "in the kept part", self._setting),
        )
        head = draft.head if draft.head.deferred or draft.head.injected else None
        return self.made(self.with_extras(runs, draft.cut), tokens, edits=edits, head=head)
