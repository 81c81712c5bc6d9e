"""The scorecard of a comparison: measures as rows, configurations as columns, each beside what was captured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.replay import Replay
from core.scorecard import Scorecard
from core.wording import counted


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of the scorecard: its number (None is unknown), how it is written, and whether it is the best."""

    number: float | None
    text: str
    best: bool = False


NONE = Cell(None, "—")
USD_DECIMALS = 4
TOLD_RANGE = 0.01
"""A predicted cost whose bounds are nearer, as a share of the upper one, is told without them."""
DID_NOTHING = "did nothing"


@dataclass(frozen=True, slots=True)
class Measure:
    """A row: the first cell is what was captured, the others are the configurations."""

    name: str
    cells: tuple[Cell, ...]


def measures(captured: Scorecard, cards: Sequence[Scorecard]) -> list[Measure]:
    """Return the measures of a comparison. Rows that say nothing about any configuration are left out."""
    every = [captured, *cards]
    return [
        _tokens("Peak in window, tokens", [card.peak for card in every]),
        *_sums(captured, cards),
        _counts("Calls over budget", [card.over_budget for card in every]),
        _counts("Largest excess, tokens", [card.largest_excess for card in every]),
        Measure("Calls changed", (NONE, *map(_changed, cards))),
        _best_of("References lost", [NONE, *(_lost(card, *_references(card)) for card in cards)]),
        _best_of("Copied lines lost", [NONE, *(_lost(card, *_lines(card)) for card in cards)]),
        _best_of("Refetches made likelier", [_recorded(captured), *map(_likelier, cards)]),
        *_fixed_part(cards),
        *_cache(captured, cards),
        *_costs(captured, cards),
        *_summaries(cards),
        _best_of("Violations of the API's rules", [NONE, *map(_violations, cards)]),
        Measure("Findings", tuple(map(_findings, every))),
    ]


def _sums(captured: Scorecard, cards: Sequence[Scorecard]) -> Iterator[Measure]:
    """Yield the tokens of all calls: as recorded, beyond the recording, in all, and as billed; parts add up."""
    every = [captured, *cards]
    yield _tokens("Sum over calls, tokens", [card.sum_tokens for card in every])
    if any(card.not_recorded_tokens for card in every):
        yield Measure("Not recorded, tokens", tuple(_beyond(card, card.not_recorded_tokens) for card in every))
    if any(card.corrected_tokens for card in every):
        yield Measure("Counted too much, tokens", tuple(_beyond(card, card.corrected_tokens) for card in every))
    if any(card.sent_tokens != card.sum_tokens for card in every):
        yield _tokens("Sent in all, tokens", [card.sent_tokens for card in every])
    if captured.billed_tokens is not None:
        yield Measure("Billed as reported, tokens", (_billed(captured), *(NONE for _ in cards)))


def _beyond(card: Scorecard, tokens: int | None) -> Cell:
    if tokens is None:
        return Cell(None, "unknown")
    return Cell(tokens, f"{tokens:,}{_in_calls(card, card.not_recorded_unknown_calls)}".replace("-", "−"))


def _billed(card: Scorecard) -> Cell:
    return Cell(card.billed_tokens, f"{card.billed_tokens or 0:,}{_in_calls(card, card.calls - card.billed_calls)}")


def _fixed_part(cards: Sequence[Scorecard]) -> Iterator[Measure]:
    """Yield what is left of the instructions and of the tools that were called, where there are any."""
    if any(card.rules for card in cards):
        yield _best_of("Instruction rules left out", [NONE, *(_of(card.rules_missing, card.rules) for card in cards)])
    if any(card.tools_called for card in cards):
        yield _best_of("Called tools that were sent", [NONE, *map(_activated, cards)], most=True)


def _cache(captured: Scorecard, cards: Sequence[Scorecard]) -> Iterator[Measure]:
    """Yield what the prompt cache reads and writes; written tokens only where a provider charges for them."""
    every = [captured, *cards]
    yield _best_of("Cached share, predicted", [_share(card.cached_share) for card in every], most=True)
    if captured.cached_share_reported is not None:
        yield Measure("Cached share, reported", (_believed(captured.cached_share_reported), *(NONE for _ in cards)))
    if all(card.cached_tokens is None for card in every):
        return
    alike = len({card.cache_unknown_calls for card in every}) == 1
    note = _coverage(captured).replace(" in", ",", 1) if alike else ""
    yield Measure(f"Cached tokens{note}", tuple(_part(card, card.cached_tokens, alike) for card in every))
    if any(card.cached_not_recorded_tokens for card in every):
        yield Measure(
            "Of that not recorded", tuple(_part(card, card.cached_not_recorded_tokens, True) for card in every)
        )
    if any(card.written_tokens for card in every):
        written = [_part(card, card.written_tokens, alike) for card in every]
        yield _best_of(f"Written to the cache{note}", written)
    yield _best_of(f"Uncached tokens{note}", [_part(card, card.uncached_tokens, alike) for card in every])


def _costs(captured: Scorecard, cards: Sequence[Scorecard]) -> Iterator[Measure]:
    """Yield what was paid as reported, and what is predicted for all alike, with its range where there is one."""
    every = [captured, *cards]
    if captured.billed_tokens is not None:
        name = _cost_name("Cost as reported", captured, captured.cost_reported_unknown_calls)
        yield Measure(name, (_reported_cost(captured), *(NONE for _ in cards)))
    alike = len({card.cost_unknown_calls for card in every}) == 1
    name = _cost_name("Cost, predicted", captured, captured.cost_unknown_calls if alike else 0)
    yield _best_of(name, [_cost(captured, captured, alike), *(_cost(card, captured, alike) for card in cards)])
    if any(map(_has_range, every)):
        yield Measure("Range of the predicted cost", tuple(map(_range, every)))


def _summaries(cards: Sequence[Scorecard]) -> Iterator[Measure]:
    """Yield what the cost holds for summaries, where a model writes any."""
    if any(card.summaries for card in cards):
        yield Measure("Of that for summaries", (NONE, *map(_summarised, cards)))


def changed_calls(replay: Replay) -> int:
    """Return in how many calls a replay sends anything but its input."""
    return sum(replay.plan(call).changed for call in range(len(replay.transcript.calls)))


def _tokens(name: str, numbers: Sequence[int]) -> Measure:
    first = numbers[0]
    cells = [Cell(first, f"{first:,}"), *(Cell(n, f"{n:,}  {_difference(n, first)}".rstrip()) for n in numbers[1:])]
    return _best_of(name, cells)


def _counts(name: str, numbers: Sequence[int]) -> Measure:
    return _best_of(name, [Cell(number, f"{number:,}") for number in numbers])


def _of(number: int, total: int) -> Cell:
    return Cell(number, f"{number:,} of {total:,}")


def _difference(number: float, first: float) -> str:
    if not first or number == first:
        return ""
    return f"{(number - first) / first:+.0%}".replace("-", "−")


def _changed(card: Scorecard) -> Cell:
    return Cell(card.changed, DID_NOTHING if card.did_nothing else f"{card.changed:,} of {card.calls:,}")


def _references(card: Scorecard) -> tuple[int, int, float | None]:
    return card.references_lost, card.references_used, card.lost_share


def _lines(card: Scorecard) -> tuple[int, int, float | None]:
    return card.lines_lost, card.lines_copied, card.lines_lost_share


def _lost(card: Scorecard, lost: int, used: int, share: float | None) -> Cell:
    """A strategy that changed nothing has no loss to show, and too few uses have no percentage."""
    if card.did_nothing:
        return Cell(None, DID_NOTHING)
    if card.unknown_responses == card.calls:
        return Cell(None, "no responses")
    return Cell(lost, f"{lost:,} of {used:,}" + ("" if share is None else f"  {share:.1%}"))


def _recorded(captured: Scorecard) -> Cell:
    """The calls that repeat an earlier one in the recording, and how many of them had no reason to."""
    reread = f", {captured.rereads:,} for the same result" if captured.rereads else ""
    return Cell(captured.refetches, f"{captured.refetches:,} recorded{reread}")


def _likelier(card: Scorecard) -> Cell:
    if card.did_nothing:
        return Cell(None, DID_NOTHING)
    return _of(card.refetches_likelier, card.refetches)


def _activated(card: Scorecard) -> Cell:
    if card.activation_recall is None:
        return Cell(None, "none called")
    sent = card.tools_called - card.tools_missing
    return Cell(card.activation_recall, f"{sent:,} of {card.tools_called:,}  {card.activation_recall:.0%}")


def _part(card: Scorecard, tokens: int | None, alike: bool) -> Cell:
    """Tokens over the calls where that is known, and how many these are unless the row's name says so for all."""
    if tokens is None:
        return Cell(None, "unknown")
    return Cell(tokens, f"{tokens:,}{'' if alike else _coverage(card)}")


def _coverage(card: Scorecard) -> str:
    """Return in how many calls the cache is known; a first call never tells what was cached before it."""
    return _in_calls(card, card.cache_unknown_calls)


def _in_calls(card: Scorecard, unknown: int) -> str:
    """Return in how many calls a figure is known; nothing where it is known for all."""
    return f" in {card.calls - unknown:,} of {counted(card.calls, 'call')}" if unknown else ""


def _findings(card: Scorecard) -> Cell:
    levels = card.findings_by_level.items()
    said = [counted(number, level) for level, number in levels if number]
    return Cell(None, ", ".join(said) or "none")


def _share(value: float | None) -> Cell:
    """Return a share, as exactly as it is shown, so that what reads the same is the same."""
    percent = None if value is None else round(value * 100)
    return Cell(None, "unknown") if percent is None else Cell(percent / 100, f"{percent}%")


def _believed(value: float) -> Cell:
    """Return a reported share; nobody reads more from a cache than was sent."""
    return _share(value) if 0 <= value <= 1 else Cell(None, "not believable")


def _cost_name(name: str, card: Scorecard, unknown: int) -> str:
    """Return a row's name with its unit, and in how many calls it is known unless it is in all or in none."""
    part = unknown if unknown < card.calls else 0
    return f"{name}, USD{_in_calls(card, part).replace(' in', ',', 1)}" if part else f"{name}, US dollars"


def _reported_cost(card: Scorecard) -> Cell:
    usd = card.cost_reported_usd
    return Cell(None, "unknown") if usd is None else Cell(usd, f"{usd:,.4f}")


def _cost(card: Scorecard, captured: Scorecard, alike: bool) -> Cell:
    """Return a predicted cost, with its difference to that of what was captured where both are of the same calls."""
    usd, first = _shown_usd(card), _shown_usd(captured)
    if usd is None:
        return Cell(None, "unknown")
    comparable = first is not None and card.cost_unknown_calls == captured.cost_unknown_calls
    more = _difference(usd, first or 0) if comparable else ""
    return Cell(usd, f"{usd:,.4f}  {more}".rstrip() + ("" if alike else _in_calls(card, card.cost_unknown_calls)))


def _shown_usd(card: Scorecard) -> float | None:
    """Return the predicted cost as exactly as it is shown, so that what reads the same is the same."""
    return None if card.cost_known_usd is None else round(card.cost_known_usd, USD_DECIMALS)


def _has_range(card: Scorecard) -> bool:
    """Whether the bounds of a predicted cost are far enough apart to be told."""
    low, high = card.cost_low_usd, card.cost_high_usd
    return low is not None and high is not None and high - low > TOLD_RANGE * high


def _range(card: Scorecard) -> Cell:
    return Cell(None, f"{card.cost_low_usd:,.4f} to {card.cost_high_usd:,.4f}") if _has_range(card) else NONE


def _summarised(card: Scorecard) -> Cell:
    if not card.summaries:
        return NONE
    made = counted(card.summaries, "summary")
    about = "about " if card.summaries_estimated else ""
    usd = card.summaries_usd
    return Cell(usd, f"{made}, {'unknown' if usd is None else f'{about}{usd:,.4f}'}")


def _violations(card: Scorecard) -> Cell:
    sample = (
        f" in {card.violations_checked:,} of {card.changed:,} checked" if card.violations_checked < card.changed else ""
    )
    return Cell(card.violations, f"{card.violations:,}{sample}")


def _best_of(name: str, cells: Sequence[Cell], most: bool = False) -> Measure:
    """Mark the best of the configurations' values, the least unless `most`.

    None is marked where all are the same, nor where what was captured is better: then doing nothing is best.
    """
    first, *rest = cells
    numbers = [cell.number for cell in rest if cell.number is not None]
    if len(set(numbers)) < 2:
        return Measure(name, tuple(cells))
    of_all, captured = (max if most else min), [] if first.number is None else [first.number]
    best = of_all([*numbers, *captured])
    return Measure(name, (first, *(Cell(cell.number, cell.text, cell.number == best) for cell in rest)))
