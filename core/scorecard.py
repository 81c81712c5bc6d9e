"""Everything that a replay is judged by, in totals: one small value for a transcript and a configuration.

It is the same on every run and holds no text, so it can be kept in a database, written into an export and compared. A
figure is None where the recording or the price list does not tell; None is never 0. Shares are None as well where a
strategy changed nothing or too little was used to say: the counts beside them always stand.

What the engine's fingerprint does not tell is written down beside the figures: the counters and the table of prices,
which come from other packages. A kept scorecard is as good as a new one as long as these are the same (`is_current`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from .bill import bill, cached, counts_of, paid, reported_share
from .errors import PromptInspectorError
from .finding import Level
from .findings import Finding, findings
from .loss import Loss
from .prices import price_table
from .refetches import made_likelier, refetches
from .replay import Replay
from .replay_violations import Violations, new_violations_of
from .retention import retention
from .scorecard_key import Key, scorecard_key
from .sent_sizes import over_as_sent

UPPER_BOUND = "What is kept is an upper bound on what a model recalls."
"""What has to stand beside every figure of loss."""


class ScorecardError(PromptInspectorError):
    """A JSON value is no scorecard of this version."""


@dataclass(frozen=True, slots=True)
class Scorecard:
    """The totals of one replay. Sizes are tokens, costs are US dollars at the prices in `prices`.

    `refetches` and `rereads` are the recording's, `refetches_likelier` those before which the first result was gone.
    Prompts are counted as recorded in `peak`, `sum_tokens` and `entered`, as in the columns of a replay. What is over
    budget, cached, written, uncached and paid includes the tokens that the recording does not hold.
    """

    key: Key
    calls: int
    counters: str
    """The keys of the counters that counted the prompts."""
    peak: int
    peak_sent: int
    sum_tokens: int
    not_recorded_tokens: int | None
    """Tokens reported beyond those counted, over the calls where that is known; None where nothing was reported."""
    corrected_tokens: int | None
    """Tokens counted beyond those reported, 0 or below: the counts of these calls were too high."""
    not_recorded_unknown_calls: int
    sent_tokens: int
    """The sum of the three, which is what cache and cost are about."""
    sent_known_as: Mapping[str, int]
    """How many calls' tokens are reported, calibrated, exact, by formula or an estimate."""
    billed_tokens: int | None
    """What the provider reported for the recording, over `billed_calls`."""
    billed_calls: int
    drift: Mapping[str, Mapping[str, Any]]
    """How far counts were off, by model: bias, spread, a suggested reserve, and the factor for its texts."""
    entered: int
    over_budget: int
    """Calls over the soft budget as sent."""
    over_budget_recorded: int
    """Calls over the soft budget that the strategy was planned for, by what is recorded alone."""
    largest_excess: int
    """By how many tokens the worst call is over it as sent."""
    changed: int
    did_nothing: bool
    violations: int
    violations_checked: int
    """Changed calls in which violations were looked for; a long run is sampled."""
    references_used: int
    references_lost: int
    references_lost_distinct: int
    references_retold: int
    """References that only a stub or a summary still has."""
    lost_share: float | None
    calls_with_loss: int
    first_loss: int | None
    """The first call with a loss, from 0."""
    used_by_class: Mapping[str, int]
    lost_by_class: Mapping[str, int]
    lost_by_span_kind: Mapping[str, int]
    unknown_responses: int
    lines_copied: int
    lines_lost: int
    lines_lost_share: float | None
    recoverable: int
    refetches: int
    rereads: int
    refetches_likelier: int
    tools_called: int
    tools_missing: int
    activation_recall: float | None
    rules: int
    rules_missing: int
    cached_share: float | None
    cached_share_reported: float | None
    """What the provider said of the recording; all other figures of the cache are predicted."""
    cached_tokens: int | None
    """Over the calls where that is known, as the two below; all three add up to what these calls send."""
    cached_not_recorded_tokens: int | None
    """Those of `cached_tokens` that the recording does not hold."""
    cached_corrected_tokens: int | None
    """What counts were too high for what was read, 0 or below. With the sum of the column `cached`, which is of prompts
    as counted, these two add up to `cached_tokens`."""
    written_tokens: int | None
    uncached_tokens: int | None
    cache_unknown_calls: int
    prefix_breaks: int
    break_causes: Mapping[str, int]
    cost_usd: float | None
    cost_known_usd: float | None
    """The cost of the calls whose cost is known."""
    cost_low_usd: float | None
    cost_high_usd: float | None
    """Bounds of `cost_known_usd`, by what the cache may have held."""
    cost_unknown_calls: int
    cost_without_cache_calls: int
    """Calls priced as if nothing was cached, as nothing is known of it."""
    cost_reported_usd: float | None
    """What the recording cost by its own usage, over the calls where that is known; all other costs are predicted."""
    cost_reported_unknown_calls: int
    replies_reported_too_low: int
    """Replies that count far more tokens than were reported, so that the count is paid."""
    replies_not_reported: int
    """Replies that are paid as counted, as nothing was reported."""
    summaries: int
    """Summaries that a model would have been asked for; the cost of a call includes those that it needs first."""
    summaries_estimated: int
    """Those of them that are not stored, so that an extract's length stands for theirs."""
    summaries_usd: float | None
    prices: str
    findings: Mapping[str, int]
    """How many findings there are of each name, the worst first."""
    findings_by_level: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """Return the scorecard as a JSON value."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Scorecard:
        """Return the scorecard of a JSON value. ScorecardError if another version wrote it."""
        _require(cls, value)
        _require(Key, value["key"])
        return cls(**{**value, "key": Key(**value["key"])})


def _require(made: type[Any], value: Any) -> None:
    """Raise ScorecardError unless a value has the fields of a dataclass and no others."""
    wanted = {field.name for field in fields(made)}
    found = value.keys() if isinstance(value, Mapping) else set()
    if found != wanted:
        differ = ", ".join(sorted(wanted ^ found))
        raise ScorecardError(f"This is no scorecard of this version, it differs in {differ}. Make it anew.")


def is_current(card: Scorecard, replay: Replay) -> bool:
    """Return whether a scorecard kept for a replay counts and prices as one that is made now."""
    return card.counters == _counters(replay) and card.prices == _prices()


def scorecard(
    replay: Replay,
    violations: Violations | None = None,
    found: Sequence[Finding] | None = None,
    key: Key | None = None,
) -> Scorecard:
    """Return the totals of a replay.

    `violations` and `found` are those of the replay, where somebody has looked for them; `key` is its own by default.
    """
    calls = replay.calls
    changed = sum(replay.plan(call).changed for call in range(len(replay.transcript.calls)))
    violations = violations or new_violations_of(replay)
    return Scorecard(
        key=key or scorecard_key(replay),
        calls=len(replay.transcript.calls),
        counters=_counters(replay),
        peak=max(calls["in_window"], default=0),
        peak_sent=max(calls["sent"], default=0),
        **bill(replay),
        entered=sum(calls["entered"]),
        **_over_budget(replay),
        changed=changed,
        did_nothing=not changed,
        violations=violations.count,
        violations_checked=violations.checked,
        **_losses(replay.loss),
        **_kept(replay),
        **cached(replay.cache),
        cached_share_reported=reported_share(replay),
        **paid(replay),
        prices=_prices(),
        **_found(findings(replay) if found is None else found),
    )


def held_against_budget(card: Scorecard, replay: Replay, found: Sequence[Finding]) -> Scorecard:
    """Return the scorecard of a replay that is held against another budget than it was planned for (`judged_by`)."""
    return replace(card, **_over_budget(replay), **_found(found))


def _over_budget(replay: Replay) -> dict[str, Any]:
    sent = over_as_sent(replay)
    return {
        "over_budget": sent.calls,
        "over_budget_recorded": sum(excess > 0 for excess in replay.calls["excess"]),
        "largest_excess": sent.largest,
    }


def _counters(replay: Replay) -> str:
    counters = (replay.counter_of(call).key for call in range(len(replay.transcript.calls)))
    return ", ".join(dict.fromkeys(counters))


def _prices() -> str:
    table = price_table()
    return f"{table.currency}, {table.source}"


def _losses(loss: Loss) -> dict[str, Any]:
    references, lines, classes = loss.references, loss.lines, loss.by_class
    return {
        "references_used": references.used,
        "references_lost": references.lost,
        "references_lost_distinct": loss.distinct,
        "references_retold": sum(retold or 0 for retold in loss.retold),
        "lost_share": references.value,
        "calls_with_loss": loss.calls_with_loss,
        "first_loss": loss.first_call,
        "used_by_class": {str(kind): share.used for kind, share in classes.items()},
        "lost_by_class": {str(kind): share.lost for kind, share in classes.items()},
        "lost_by_span_kind": _plain(loss.by_span_kind),
        "unknown_responses": loss.unknown,
        "lines_copied": lines.used,
        "lines_lost": lines.lost,
        "lines_lost_share": lines.value,
        "recoverable": loss.recoverable,
    }


def _kept(replay: Replay) -> dict[str, Any]:
    found, repeated = retention(replay).totals(), refetches(replay.transcript)
    return {
        "refetches": len(repeated),
        "rereads": sum(refetch.is_reread for refetch in repeated),
        "refetches_likelier": len(made_likelier(replay)),
        **{name: found[name] for name in ("tools_called", "tools_missing", "activation_recall")},
        **{name: found[name] for name in ("rules", "rules_missing")},
    }


def _found(found: Sequence[Finding]) -> dict[str, Any]:
    levels = Counter(finding.level for finding in found)
    return {
        "findings": counts_of(finding.name for finding in found),
        "findings_by_level": {str(level): levels[level] for level in Level},
    }


def _plain(counts: Mapping[Any, int]) -> dict[str, int]:
    return {str(kind): count for kind, count in counts.items()}
