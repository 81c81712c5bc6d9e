"""What a comparison costs: as reported, predicted with its range, and what of that is for summaries.

All amounts of a comparison have as many decimals as tell the least of them to three digits, and a difference is that
of the amounts as shown: with four decimals 0.00086 and 0.00084 would read as 0.0009 and 0.0008, 11% apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.scorecard import Scorecard
from core.wording import counted

from .measure import NONE, Cell, Measure, best_of, difference, in_calls

FEWEST_DOLLAR_DECIMALS, MOST_DOLLAR_DECIMALS = 4, 8
DIGITS = 3
TOLD_RANGE = 0.01
"""A predicted cost whose bounds are nearer, as a share of the upper one, is told without them."""


def cost_rows(captured: Scorecard, cards: Sequence[Scorecard]) -> Iterator[Measure]:
    """Yield what was paid as reported, and what is predicted for all alike, with its range where there is one."""
    every = [captured, *cards]
    dollars = Dollars(decimals_of(every))
    if captured.billed_tokens is not None:
        name = _name("Cost as reported", captured, captured.cost_reported_unknown_calls)
        yield Measure(name, (dollars.cell(captured.cost_reported_usd), *(NONE for _ in cards)))
    alike = len({card.cost_unknown_calls for card in every}) == 1
    predicted = "Cost, predicted at most" if _are_the_most(every, dollars) else "Cost, predicted"
    name = _name(predicted, captured, captured.cost_unknown_calls if alike else 0)
    yield best_of(name, [dollars.predicted(card, captured, alike) for card in every])
    if any(map(_has_range, every)):
        yield Measure("Range of the predicted cost", tuple(map(dollars.range, every)))
    if any(card.summaries for card in cards):
        yield Measure("Of that for summaries", (NONE, *map(dollars.summaries, cards)))


def decimals_of(cards: Sequence[Scorecard]) -> int:
    """Return the decimals that tell the least cost of a comparison to three digits; four at least."""
    costs = [usd for card in cards for usd in (card.cost_known_usd, card.cost_reported_usd) if usd]
    wanted = range(FEWEST_DOLLAR_DECIMALS, MOST_DOLLAR_DECIMALS)
    return next((n for n in wanted if min(costs, default=1.0) * 10**n >= 10 ** (DIGITS - 1)), MOST_DOLLAR_DECIMALS)


@dataclass(frozen=True, slots=True)
class Dollars:
    """Writes amounts in US dollars with the same number of decimals."""

    decimals: int

    def text(self, usd: float) -> str:
        """Return an amount as it is shown."""
        return f"{usd:,.{self.decimals}f}"

    def cell(self, usd: float | None) -> Cell:
        """Return an amount, as exactly as it is shown, so that what reads the same is the same."""
        return Cell(None, "unknown") if usd is None else Cell(round(usd, self.decimals), self.text(usd))

    def predicted(self, card: Scorecard, captured: Scorecard, alike: bool) -> Cell:
        """Return a predicted cost, with its difference to that of what was captured if both are of the same calls."""
        made, first = self.cell(card.cost_known_usd), self.cell(captured.cost_known_usd)
        if made.number is None:
            return made
        comparable = first.number is not None and card.cost_unknown_calls == captured.cost_unknown_calls
        more = difference(made.number, first.number or 0) if comparable else ""
        part = "" if alike else in_calls(card, card.cost_unknown_calls)
        return Cell(made.number, f"{made.text}  {more}".rstrip() + part)

    def range(self, card: Scorecard) -> Cell:
        """Return the bounds of a predicted cost where they are far apart."""
        if not _has_range(card):
            return NONE
        return Cell(None, f"{self.text(card.cost_low_usd or 0)} to {self.text(card.cost_high_usd or 0)}")

    def summaries(self, card: Scorecard) -> Cell:
        """Return what summaries cost, where a model writes any."""
        if not card.summaries:
            return NONE
        made, about = counted(card.summaries, "summary"), "about " if card.summaries_estimated else ""
        usd = card.summaries_usd
        return Cell(usd, f"{made}, {'unknown' if usd is None else f'{about}{self.text(usd)}'}")


def _name(name: str, card: Scorecard, unknown: int) -> str:
    """Return a row's name with its unit, and in how many calls it is known unless it is in all or in none."""
    part = unknown if unknown < card.calls else 0
    return f"{name}, USD{in_calls(card, part).replace(' in', ',', 1)}" if part else f"{name}, US dollars"


def _are_the_most(cards: Sequence[Scorecard], dollars: Dollars) -> bool:
    """Whether a range is told and all costs are the upper end of theirs: nothing that is uncertain was read."""
    known = [card for card in cards if card.cost_known_usd is not None and card.cost_high_usd is not None]
    ends = [dollars.text(card.cost_known_usd or 0) == dollars.text(card.cost_high_usd or 0) for card in known]
    return any(map(_has_range, cards)) and bool(ends) and all(ends)


def _has_range(card: Scorecard) -> bool:
    """Whether the bounds of a predicted cost are far enough apart to be told."""
    return is_wide(card.cost_low_usd, card.cost_high_usd)


def is_wide(low: float | None, high: float | None) -> bool:
    """Whether bounds of a cost are far enough apart to be told."""
    return low is not None and high is not None and high - low > TOLD_RANGE * high
