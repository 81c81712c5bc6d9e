"""What pages load and compute, each once: bounded caches, keyed by what a transcript holds and by configuration.

A captured transcript may still grow, and its sha256 changes with every call; its title and what is noted of it may
change after it was opened, and are no part of its sha256. So all of these are part of each key. Cached values are
shared by all sessions and are never changed by a page. Scorecards are kept in the database too, as they take longer
than all the rest of a page: one that is there already is taken, also by another process.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Any, NamedTuple

import streamlit as st

from core.advice import Advised, advised
from core.config import BudgetConfig, Configuration, load_config
from core.export import as_json, pinned
from core.findings import Finding, findings
from core.replay import Replay, replay
from core.replay_violations import Violations, new_violations_of
from core.scorecard import Scorecard, held_against_budget, is_current, scorecard
from core.scorecard_key import scorecard_key
from core.transcript import Transcript
from storage import Library, StorageError, Summary, library

from .figures import Figures, figures
from .presence import Presence, presence

__all__ = ["Opened", "captured_config", "library", "open_transcript"]

log = logging.getLogger(__name__)


class Stored(NamedTuple):
    """What tells a stored transcript from all others, and from what it was before."""

    id: int
    sha256: str
    title: str
    notes: tuple[str, ...]


def _stored(summary: Summary) -> Stored:
    return Stored(summary.id, summary.sha256, summary.title, summary.notes)


@dataclass(frozen=True)
class Opened:
    """A transcript that a page shows: what the list says of it, and what is computed for it when asked for."""

    summary: Summary
    transcript: Transcript

    def replay(self, config: Configuration) -> Replay:
        """Return the transcript's replay under a configuration. ConfigError if it cannot be used for it."""
        return _replay(_stored(self.summary), json.dumps(as_json(config)))

    def captured(self, model: dict[str, Any] | None = None) -> Replay:
        """Return the replay of what was captured, counted for a model (by default the transcript's own)."""
        return self.replay(captured_config(self.transcript, model))

    def figures(self, config: Configuration) -> Figures:
        """Return the figures at the head of the transcript, from its replay as captured."""
        return _figures(_stored(self.summary), json.dumps(as_json(config)))

    def presence(self, config: Configuration) -> Presence:
        """Return when everything came in, and how often it was sent."""
        return _presence(_stored(self.summary), json.dumps(as_json(config)))

    def advice(self, config: Configuration, call: int | None, published: bool, exact: bool) -> Advised | None:
        """Return what to do about a call of the transcript's whole history; None where no limit is known."""
        key = (_stored(self.summary), json.dumps(as_json(config)))
        return _advice(*key, call, published, exact)

    def scorecard(self, config: Configuration, budget: BudgetConfig | None = None) -> Scorecard:
        """Return everything that the transcript's replay under a configuration is judged by.

        `budget` is another one to hold it against, as for `findings`.
        """
        card = _scorecard(_stored(self.summary), json.dumps(as_json(config)))
        if budget is None or budget == config.budget:
            return card
        return held_against_budget(card, self.replay(config).judged_by(budget), self.findings(config, budget))

    def findings(self, config: Configuration, budget: BudgetConfig | None = None) -> list[Finding]:
        """Return what is worth a look in the transcript's replay under a configuration, held against its own budget.

        `budget` is another one to hold it against, where a configuration was planned with less for what is not
        recorded.
        """
        key = (_stored(self.summary), json.dumps(as_json(config)))
        return (
            _findings(*key) if budget is None or budget == config.budget else _findings(*key, budget.model_dump_json())
        )

    def violations(self, config: Configuration) -> Violations:
        """Return the rules of the dialect that a configuration breaks and the recording did not."""
        card = self.scorecard(config)
        if not card.violations:
            return Violations(0, card.violations_checked, card.changed)
        return _violations(_stored(self.summary), json.dumps(as_json(config)))


def captured_config(transcript: Transcript, model: dict[str, Any] | None = None) -> Configuration:
    """Return the configuration that replays what was captured, with all that is known of the model."""
    return pinned(load_config({"model": model or {}, "strategy": {"kind": "as_captured"}}), transcript)


def open_transcript(store: Library, transcript_id: int) -> Opened:
    """Return a transcript by its id. NotFound if there is none."""
    summary = store.summary(transcript_id)
    return Opened(summary, _transcript(_stored(summary)))


@st.cache_resource(max_entries=8, show_spinner="Loading the transcript …")
def _transcript(stored: Stored) -> Transcript:
    return library().get(stored.id)


@st.cache_resource(max_entries=32, show_spinner="Counting tokens and replaying all calls …")
def _replay(stored: Stored, config: str) -> Replay:
    return replay(_transcript(stored), config)


@st.cache_resource(max_entries=64, show_spinner=False)
def _figures(stored: Stored, config: str) -> Figures:
    return figures(_replay(stored, config))


@st.cache_resource(max_entries=8, show_spinner=False)
def _presence(stored: Stored, config: str) -> Presence:
    return presence(_replay(stored, config))


@st.cache_resource(max_entries=64, show_spinner="Checking every request against the provider's rules …")
def _violations(stored: Stored, config: str) -> Violations:
    return new_violations_of(_replay(stored, config))


@st.cache_resource(max_entries=64, show_spinner="Looking for what the responses used …")
def _scorecard(stored: Stored, config: str) -> Scorecard:
    made = _replay(stored, config)
    key = scorecard_key(made, stored.sha256)
    known = library().scorecards.get(key)
    if known is not None and is_current(known, made):
        return known
    _references(stored)
    found = _findings(stored, config)
    card = scorecard(made, _violations(stored, config), found, key)
    _keep(card, stored.id, made)
    return card


def _keep(card: Scorecard, transcript_id: int, made: Replay) -> None:
    """Store a scorecard, unless a captured transcript grew while it was loaded. A database may be read-only."""
    if scorecard_key(made) != card.key:
        return
    try:
        library().scorecards.put(card, transcript_id)
    except StorageError as error:
        log.info("A scorecard was not kept: %s", error)


@st.cache_resource(max_entries=64, show_spinner=False)
def _references(stored: Stored) -> int:
    """Look up what the responses name, once a process: quicker than to take their texts apart again."""
    return library().references.bring(_transcript(stored), stored.id)


@st.cache_resource(max_entries=64, show_spinner="Looking for what is worth a look …")
def _findings(stored: Stored, config: str, budget: str | None = None) -> list[Finding]:
    _references(stored)
    made = _replay(stored, config)
    return findings(made if budget is None else made.judged_by(BudgetConfig.model_validate_json(budget)))


@st.cache_resource(max_entries=32, show_spinner="Measuring what could be given back …")
def _advice(stored: Stored, config: str, call: int | None, published: bool, exact: bool) -> Advised | None:
    _references(stored)
    return advised(
        _replay(stored, config),
        call,
        published=published,
        exact_strings_needed=exact,
        play=lambda chosen: _replay(stored, json.dumps(as_json(chosen))),
    )
