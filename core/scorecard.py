"""Everything that a replay is judged by, in totals: one small value for a transcript and a configuration.

It is the same on every run and holds no text, so it can be kept in a database, written into an export and compared. A
figure is None where the recording or the price list does not tell; None is never 0. Shares are None as well where a
strategy changed nothing or too little was used to say: the counts beside them always stand.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from . import ENGINE_VERSION
from .config import Configuration
from .export import as_json
from .identity import transcript_sha256
from .refetches import made_likelier
from .replay import Replay
from .replay_violations import Violations, new_violations_of
from .retention import retention
from .wire import body_sha256

UPPER_BOUND = "Keyword survival is an upper bound on what a model recalls."
"""What has to stand beside every figure of loss."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a scorecard is kept under: equal keys have equal scorecards."""

    transcript: str
    configuration: str
    engine: str = ENGINE_VERSION


@dataclass(frozen=True, slots=True)
class Scorecard:
    """The totals of one replay. Sizes are tokens, `cost_usd` is US dollars at the prices in `prices`."""

    key: Key
    calls: int
    peak: int
    sum_tokens: int
    entered: int
    over_budget: int
    largest_excess: int
    changed: int
    did_nothing: bool
    violations: int
    violations_checked: int
    """Changed calls in which violations were looked for; a long run is sampled."""
    references_used: int
    references_lost: int
    lost_share: float | None
    unknown_responses: int
    lines_copied: int
    lines_lost: int
    lines_lost_share: float | None
    recoverable: int
    refetches_likelier: int
    activation_recall: float | None
    rules: int
    rules_missing: int
    cached_share: float | None
    prefix_breaks: int
    cost_usd: float | None
    cost_known_usd: float | None
    """The cost of the calls whose cost is known."""
    cost_unknown_calls: int
    prices: str

    def as_json(self) -> dict[str, Any]:
        """Return the scorecard as a JSON value."""
        return asdict(self)


def scorecard_key(replay: Replay) -> Key:
    """Return what the scorecard of a replay is kept under; what a configuration was exported with changes nothing."""
    return Key(transcript_sha256(replay.transcript), configuration_sha256(replay.config))


def configuration_sha256(config: Configuration) -> str:
    """Return the sha256 (hex) of a configuration's JSON form without its provenance."""
    return body_sha256(as_json(config.model_copy(update={"provenance": None})))


def scorecard(replay: Replay, violations: Violations | None = None) -> Scorecard:
    """Return the totals of a replay. `violations` are those of the replay, where somebody has looked for them."""
    calls = replay.calls
    changed = sum(replay.plan(call).changed for call in range(len(replay.transcript.calls)))
    violations = violations or new_violations_of(replay)
    return Scorecard(
        key=scorecard_key(replay),
        calls=len(replay.transcript.calls),
        peak=max(calls["in_window"], default=0),
        sum_tokens=sum(calls["in_window"]),
        entered=sum(calls["entered"]),
        over_budget=sum(excess > 0 for excess in calls["excess"]),
        largest_excess=max(calls["excess"], default=0),
        changed=changed,
        did_nothing=not changed,
        violations=violations.count,
        violations_checked=violations.checked,
        **_losses(replay),
        **_kept(replay),
        **_paid(replay),
    )


def _losses(replay: Replay) -> dict[str, Any]:
    found = replay.loss
    references, lines = found.references, found.lines
    return {
        "references_used": references.used,
        "references_lost": references.lost,
        "lost_share": references.value,
        "unknown_responses": found.unknown,
        "lines_copied": lines.used,
        "lines_lost": lines.lost,
        "lines_lost_share": lines.value,
        "recoverable": found.recoverable,
    }


def _kept(replay: Replay) -> dict[str, Any]:
    found = retention(replay).totals()
    return {
        "refetches_likelier": len(made_likelier(replay)),
        "activation_recall": found["activation_recall"],
        "rules": found["rules"],
        "rules_missing": found["rules_missing"],
    }


def _paid(replay: Replay) -> dict[str, Any]:
    cost = replay.cost
    return {
        "cached_share": replay.cache.share,
        "prefix_breaks": replay.cache.break_count,
        "cost_usd": cost.total,
        "cost_known_usd": cost.totals()["usd_known"],
        "cost_unknown_calls": cost.unknown_calls,
        "prices": f"{cost.prices.currency}, {cost.prices.source}",
    }
