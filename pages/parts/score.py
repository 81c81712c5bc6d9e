"""The scorecard of a comparison: measures as rows, configurations as columns, each beside what was captured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.replay import Replay
from core.scorecard import Scorecard
from core.wording import counted

from .measure import NONE, Cell, Measure, best_of, count_row, in_calls, part_of, token_row
from .score_costs import cost_rows

DID_NOTHING = "did nothing"


def measures(
    captured: Scorecard, cards: Sequence[Scorecard], whole: int | None = None, given: int | None = None
) -> list[Measure]:
    """Return the measures of a comparison. Rows that say nothing about any configuration are left out.

    `whole` is the budget of what is sent, in tokens, and `given` what the strategies have of it.
    """
    every = [captured, *cards]
    return [
        *_peaks(every),
        *_sums(captured, cards),
        *_over_budget(every, whole, given),
        Measure("Calls changed", (NONE, *map(_changed, cards))),
        *_losses(captured, cards),
        *_fixed_part(cards),
        *_cache(captured, cards),
        *cost_rows(captured, cards),
        best_of("Violations of the API's rules", [NONE, *map(_violations, cards)]),
        Measure("Findings", tuple(map(_findings, every))),
    ]


def _peaks(every: Sequence[Scorecard]) -> Iterator[Measure]:
    """Yield the largest prompt, as recorded and as sent where these differ."""
    recorded = [card.peak for card in every]
    if not _sends_other(every):
        yield token_row("Peak in window, tokens", recorded)
        return
    yield token_row("Peak as recorded, tokens", recorded)
    yield token_row("Peak as sent, tokens", [card.peak_sent for card in every])


def _over_budget(every: Sequence[Scorecard], whole: int | None, given: int | None) -> Iterator[Measure]:
    """Yield what is over the budget as sent, and by what is recorded alone where that is not the same.

    What is recorded is held against the limit that strategies have, so a call may be over that and within the budget.
    Both are named, so that the excess can be worked out.
    """
    sent, recorded = [card.over_budget for card in every], [card.over_budget_recorded for card in every]
    other = _sends_other(every)
    yield count_row(f"Calls over budget, as sent{_named(whole)}" if other else "Calls over budget", sent)
    if sent != recorded:
        limit = "budget" if whole == given else "soft limit"
        yield count_row(f"Calls over {limit}, as recorded{_named(given)}", recorded)
    name = "Largest excess as sent, tokens" if other else "Largest excess, tokens"
    yield count_row(name, [card.largest_excess for card in every])


def _named(tokens: int | None) -> str:
    return "" if tokens is None else f" ({tokens:,})"


def _sends_other(every: Sequence[Scorecard]) -> bool:
    """Whether anything is sent that is not recorded, or less than was counted."""
    return any(card.sent_tokens != card.sum_tokens for card in every)


def _sums(captured: Scorecard, cards: Sequence[Scorecard]) -> Iterator[Measure]:
    """Yield the tokens of all calls: as recorded, beyond the recording, in all, and as billed; parts add up."""
    every = [captured, *cards]
    yield token_row("Sum over calls, tokens", [card.sum_tokens for card in every])
    if any(card.not_recorded_tokens for card in every):
        yield Measure("Not recorded, tokens", tuple(_beyond(card, card.not_recorded_tokens) for card in every))
    if any(card.corrected_tokens for card in every):
        yield Measure("Counted too much, tokens", tuple(_beyond(card, card.corrected_tokens) for card in every))
    if _sends_other(every):
        yield token_row("Sent in all, tokens", [card.sent_tokens for card in every])
    if captured.billed_tokens is not None:
        yield Measure("Billed as reported, tokens", (_billed(captured), *(NONE for _ in cards)))


def _beyond(card: Scorecard, tokens: int | None) -> Cell:
    if tokens is None:
        return Cell(None, "unknown")
    return Cell(tokens, f"{tokens:,}{in_calls(card, card.not_recorded_unknown_calls)}".replace("-", "−"))


def _billed(card: Scorecard) -> Cell:
    return Cell(card.billed_tokens, f"{card.billed_tokens or 0:,}{in_calls(card, card.calls - card.billed_calls)}")


def _fixed_part(cards: Sequence[Scorecard]) -> Iterator[Measure]:
    """Yield what is left of the instructions and of the tools that were called, where there are any."""
    if any(card.rules for card in cards):
        yield best_of(
            "Instruction rules left out", [NONE, *(part_of(card.rules_missing, card.rules) for card in cards)]
        )
    if any(card.tools_called for card in cards):
        yield best_of("Called tools that were sent", [NONE, *map(_activated, cards)], most=True)


def _cache(captured: Scorecard, cards: Sequence[Scorecard]) -> Iterator[Measure]:
    """Yield what the prompt cache reads and writes; written tokens only where a provider charges for them."""
    every = [captured, *cards]
    yield best_of("Cached share, predicted", [_share(card.cached_share) for card in every], most=True)
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
        yield best_of(f"Written to the cache{note}", written)
    yield best_of(f"Uncached tokens{note}", [_part(card, card.uncached_tokens, alike) for card in every])


def _losses(captured: Scorecard, cards: Sequence[Scorecard]) -> Iterator[Measure]:
    """Yield what responses used and was gone; refetches only where the recording has any."""
    yield best_of("References lost", [NONE, *(_lost(card, *_references(card), "none used") for card in cards)])
    yield best_of("Copied lines lost", [NONE, *(_lost(card, *_lines(card), "none copied") for card in cards)])
    if captured.refetches:
        yield best_of("Refetches made likelier", [_recorded(captured), *map(_likelier, cards)])


def changed_calls(replay: Replay) -> int:
    """Return in how many calls a replay sends anything but its input."""
    return sum(replay.plan(call).changed for call in range(len(replay.transcript.calls)))


def _changed(card: Scorecard) -> Cell:
    return Cell(card.changed, DID_NOTHING if card.did_nothing else f"{card.changed:,} of {card.calls:,}")


def _references(card: Scorecard) -> tuple[int, int, float | None]:
    return card.references_lost, card.references_used, card.lost_share


def _lines(card: Scorecard) -> tuple[int, int, float | None]:
    return card.lines_lost, card.lines_copied, card.lines_lost_share


def _lost(card: Scorecard, lost: int, used: int, share: float | None, none: str) -> Cell:
    """A strategy that changed nothing has no loss to show, nor has one without any use; few have no percentage."""
    if card.did_nothing:
        return Cell(None, DID_NOTHING)
    if card.unknown_responses == card.calls:
        return Cell(None, "no responses")
    if not used:
        return Cell(None, none)
    return Cell(lost, f"{lost:,} of {used:,}" + ("" if share is None else f"  {share:.1%}"))


def _recorded(captured: Scorecard) -> Cell:
    """The calls that repeat an earlier one in the recording, and how many of them had no reason to."""
    reread = f", {captured.rereads:,} for the same result" if captured.rereads else ""
    return Cell(captured.refetches, f"{captured.refetches:,} recorded{reread}")


def _likelier(card: Scorecard) -> Cell:
    if card.did_nothing:
        return Cell(None, DID_NOTHING)
    return part_of(card.refetches_likelier, card.refetches)


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
    return in_calls(card, card.cache_unknown_calls)


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


def _violations(card: Scorecard) -> Cell:
    sample = (
        f" ({card.violations_checked:,} of {counted(card.changed, 'call')} checked)"
        if card.violations_checked < card.changed
        else ""
    )
    return Cell(card.violations, f"{card.violations:,}{sample}")
