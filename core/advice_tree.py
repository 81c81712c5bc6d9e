"""The five-branch tree: which leaf to try first when a prompt does not fit (rule book 1.4).

The inputs are measured on a prompt; the first branch that covers the overflow wins. The published order stops at
branch 2 as soon as old turns suffice, which takes most tool output problems for history problems; `published` keeps it
for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

SUMMARY_CAP = 200
PROJECTED_SHARE = 0.10


class Leaf(StrEnum):
    """What the tree recommends."""

    FITS = "fits"
    OUT_OF_REACH = "none"  # what is not recorded is over the budget alone
    CHUNK = "1A"  # numbered chunks of one giant pinned span
    SUMMARISE = "2A"  # window plus one capped summary
    PROJECT = "3A"  # project at the tool boundary
    DEDUPLICATE = "4A"  # deduplicate rules, demote examples
    SMALLER_UNIT = "5A"  # a smaller unit of work


@dataclass(frozen=True, slots=True)
class Measured:
    """What the tree asks of a prompt, all in tokens.

    `old_history` is user and assistant text older than the kept turns, without tool output; `tool_output` are tool
    results of any age, `tool_projected` their size after projection; `instruction_duplicates` are exact duplicate
    rules and examples that can be put aside. `soft_budget` is what the budget leaves to these; what is not recorded
    of the prompt may take all of it (`is_hopeless`), and then no branch is asked.
    """

    total: int
    soft_budget: int
    old_history: int
    tool_output: int
    tool_projected: int | None = None
    instruction_duplicates: int = 0
    largest_pinned: int = 0
    summary_cap: int = SUMMARY_CAP
    exact_strings_needed: bool = False
    is_hopeless: bool = False

    @property
    def overflow(self) -> int:
        """Tokens over the soft budget; negative where there is headroom."""
        return self.total - self.soft_budget


class Reclaim(NamedTuple):
    """What each branch could give back, in tokens."""

    history: int
    tool: int
    instruction: int


@dataclass(frozen=True, slots=True)
class Advice:
    """The leaf, those to add after it (`then`), and what they were chosen on."""

    leaf: Leaf
    then: tuple[Leaf, ...]
    overflow: int
    reclaim: Reclaim


def reclaim(measured: Measured) -> Reclaim:
    """Return what summarising, projecting and deduplicating could give back."""
    projected = measured.tool_projected
    if projected is None:
        projected = int(measured.tool_output * PROJECTED_SHARE)
    history = 0 if measured.exact_strings_needed else max(0, measured.old_history - measured.summary_cap)
    return Reclaim(history, max(0, measured.tool_output - projected), measured.instruction_duplicates)


def advise(measured: Measured, published: bool = False) -> Advice:
    """Return the leaf for a prompt: T0 to T6, first match wins."""
    gains, overflow = reclaim(measured), measured.overflow
    leaf, then = _leaf(measured, gains, overflow, published)
    return Advice(leaf, then, overflow, gains)


def _leaf(measured: Measured, gains: Reclaim, overflow: int, published: bool) -> tuple[Leaf, tuple[Leaf, ...]]:
    if overflow <= 0:
        return Leaf.FITS, ()
    if measured.is_hopeless:
        return Leaf.OUT_OF_REACH, ()
    if measured.largest_pinned > measured.soft_budget:
        return (Leaf.SMALLER_UNIT if measured.exact_strings_needed else Leaf.CHUNK), ()
    if gains.history >= overflow and (published or gains.history >= gains.tool):
        return Leaf.SUMMARISE, ()
    if gains.tool >= overflow:
        return Leaf.PROJECT, ()
    if gains.instruction >= overflow:
        return Leaf.DEDUPLICATE, ()
    if sum(gains) >= overflow:
        return _composite(gains, overflow)
    return Leaf.SMALLER_UNIT, ()


def _composite(gains: Reclaim, overflow: int) -> tuple[Leaf, tuple[Leaf, ...]]:
    """Take the largest gain first, then the next ones until the overflow is covered; ties in order 2A, 3A, 4A."""
    leaves = (Leaf.SUMMARISE, Leaf.PROJECT, Leaf.DEDUPLICATE)
    ordered = sorted(zip(leaves, gains, strict=True), key=lambda pair: -pair[1])
    chosen: list[Leaf] = []
    covered = 0
    for leaf, gain in ordered:
        if covered >= overflow:
            break
        chosen.append(leaf)
        covered += gain
    return chosen[0], tuple(chosen[1:])
