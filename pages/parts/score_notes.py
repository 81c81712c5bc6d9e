"""What has to be said of a scorecard's figures in sentences: which calls are not in them and why, which replies count.

A row says "in 19 of 20 calls"; the sentence below the table names the twentieth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from core.config import BudgetConfig
from core.engine import soft_budget
from core.replay import Replay
from core.reported_cost import reported_cost
from core.scorecard import Scorecard
from core.sent_sizes import fits_as_recorded
from core.unknown_calls import Unknown, unknown_costs, unknown_reads, unreported
from core.wording import agreeing, counted

from .score_costs import is_wide

MOST_NAMED = 3
"""Calls that a sentence names; of more, it says how many there are."""


def notes(card: Scorecard, captured: Replay, replays: Mapping[str, Replay]) -> list[str]:
    """Return the sentences on a comparison: its card as captured, and the configurations by name."""
    reads = _of_each("What is read from the cache", lambda made: unknown_reads(made.cache), captured, replays)
    costs = _of_each("Predicted cost", lambda made: unknown_costs(made.cost), captured, replays)
    most = _of_bounds([captured, *replays.values()])
    said = [replies(card), *(_of_reports(captured) if card.billed_calls else ()), *reads, most, *costs]
    return [sentence for sentence in said if sentence]


def within_as_given(replays: Mapping[str, Replay], budget: BudgetConfig) -> Iterator[str]:
    """Yield which configurations keep to their limit where calls are over the budget as sent: they see no more."""
    found: dict[int, list[str]] = {}
    for name, made in replays.items():
        if calls := len(fits_as_recorded(made.judged_by(budget))):
            found.setdefault(calls, []).append(name)
    for calls, names in found.items():
        made = replays[names[0]]
        limit, whole = soft_budget(made.config), soft_budget(made.judged_by(budget).config)
        keep, given = agreeing(len(names), "keeps", "keep"), agreeing(len(names), "it is", "they are")
        other = "" if limit == whole else f"to {whole:,} "
        yield (
            f"In {calls:,} of {counted(len(made.transcript.calls), 'call')}, {', '.join(names)} {keep} to the soft"
            f" budget of {limit:,} by what {given} given, but not {other}by what is sent: what is not recorded comes on"
            " top."
        )


def _of_reports(captured: Replay) -> Iterator[str]:
    """Yield which calls of a recording with reports have none, and which reports are not enough for a cost."""
    silent, total = unreported(captured.transcript), len(captured.transcript.calls)
    if silent:
        yield f"Nothing was reported of {_calls(silent, total)}."
    rest = {why: calls for why, calls in reported_cost(captured).unknown.items() if why not in silent}
    if rest:
        yield f"Cost as reported is unknown in {_calls(rest, total)}."


def replies(card: Scorecard) -> str:
    """Return how many replies are paid as counted and not as reported; "" if none is."""
    too_low, missing = card.replies_reported_too_low, card.replies_not_reported
    why = [
        f"{too_low:,} {agreeing(too_low, 'was', 'were')} reported far too short" if too_low else "",
        f"{missing:,} {agreeing(missing, 'was', 'were')} not reported" if missing else "",
    ]
    if not too_low + missing:
        return ""
    paid = counted(too_low + missing, "reply", "is", "are")
    return f"In all costs, {paid} taken as counted and not from usage: {', '.join(filter(None, why))}."


def _of_bounds(replays: Sequence[Replay]) -> str:
    """Return what a predicted cost takes for read where nobody knows it, if a range is told for it; "" if not."""
    calls = [call for made in replays for call in made.cost.calls if call.without_cache and call.low != call.high]
    totals = [made.cost.totals() for made in replays]
    if not any(is_wide(total["low"], total["high"]) for total in totals) or any(c.usd != c.high for c in calls):
        return ""
    if not calls:
        return ""
    told = "Where that is unknown, a predicted cost counts the least as read"
    is_most = all(abs((total["usd_known"] or 0) - (total["high"] or 0)) < 1e-9 for total in totals)
    return f"{told}, and is the most that it may be." if is_most else f"{told}, which is the most for such a call."


def _of_each(
    what: str, unknown: Callable[[Replay], Unknown], captured: Replay, replays: Mapping[str, Replay]
) -> Iterator[str]:
    """Yield what is unknown as captured, and for each configuration of which other calls are."""
    usual, total = unknown(captured), len(captured.transcript.calls)
    if usual:
        yield f"{what} is unknown in {_calls(usual, total)}."
    others: dict[str, list[str]] = {}
    for name, made in replays.items():
        if (found := unknown(made)) != usual:
            others.setdefault(_calls(found, total), []).append(name)
    yield from (f"{what} is unknown in {calls} under {', '.join(names)}." for calls, names in others.items())


def _calls(unknown: Unknown, total: int) -> str:
    """Return how many of all calls there are, and for each reason which; none is named where it is every call."""
    number = sum(map(len, unknown.values()))
    if not number:
        return "no call"
    every = number == total > 1
    whole = f"all {counted(number, 'call')}" if every else counted(number, "call")
    if every and len(unknown) == 1:
        return f"{whole} ({next(iter(unknown))})"
    return f"{whole}: {'; '.join(f'{_named(calls)} ({why})' for why, calls in unknown.items())}"


def _named(calls: Sequence[int]) -> str:
    """Return which calls there are: the first ones, or from which to which where none between them is left out."""
    first, last, number = calls[0], calls[-1], len(calls)
    if number > MOST_NAMED and last - first + 1 == number:
        return f"calls {first + 1:,} to {last + 1:,}"
    more = number - MOST_NAMED
    numbers = ", ".join(f"{call + 1:,}" for call in calls[:MOST_NAMED])
    return f"{agreeing(number, 'call', 'calls')} {numbers}" + (f" and {more:,} more" if more > 0 else "")
