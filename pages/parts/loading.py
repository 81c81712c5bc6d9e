"""What pages load and compute, each once: bounded caches, keyed by what a transcript holds and by configuration.

A captured transcript may still grow; its sha256 changes with every call, so it is part of each key. Cached values are
shared by all sessions and are never changed by a page. Scorecards are kept in the database too, as they take longer
than all the rest of a page: one that is there already is taken, also by another process.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.advice import Advised, advised
from core.config import BudgetConfig, Configuration, load_config
from core.export import as_json, pinned
from core.findings import Finding, findings
from core.identity import transcript_sha256
from core.replay import Replay, replay
from core.replay_violations import Violations, new_violations_of
from core.scorecard import Scorecard, held_against_budget, is_current, scorecard, scorecard_key
from core.transcript import Transcript
from storage import Library, StorageError, Summary, library

from .figures import Figures, figures
from .presence import Presence, presence

__all__ = ["Opened", "captured_config", "library", "open_transcript"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Opened:
    """A transcript that a page shows: what the list says of it, and what is computed for it when asked for."""

    summary: Summary
    transcript: Transcript

    def replay(self, config: Configuration) -> Replay:
        """Return the transcript's replay under a configuration. ConfigError if it cannot be used for it."""
        return _replay(self.summary.id, self.summary.sha256, json.dumps(as_json(config)))

    def captured(self, model: dict[str, Any] | None = None) -> Replay:
        """Return the replay of what was captured, counted for a model (by default the transcript's own)."""
        return self.replay(captured_config(self.transcript, model))

    def figures(self, config: Configuration) -> Figures:
        """Return the figures at the head of the transcript, from its replay as captured."""
        return _figures(self.summary.id, self.summary.sha256, json.dumps(as_json(config)))

    def presence(self, config: Configuration) -> Presence:
        """Return when everything came in, and how often it was sent."""
        return _presence(self.summary.id, self.summary.sha256, json.dumps(as_json(config)))

    def advice(self, config: Configuration, call: int | None, published: bool, exact: bool) -> Advised | None:
        """Return what to do about a call of the transcript's whole history; None where no limit is known."""
        key = (self.summary.id, self.summary.sha256, json.dumps(as_json(config)))
        return _advice(*key, call, published, exact)

    def scorecard(self, config: Configuration, budget: BudgetConfig | None = None) -> Scorecard:
        """Return everything that the transcript's replay under a configuration is judged by.

        `budget` is another one to hold it against, as for `findings`.
        """
        card = _scorecard(self.summary.id, self.summary.sha256, json.dumps(as_json(config)))
        if budget is None or budget == config.budget:
            return card
        return held_against_budget(card, self.replay(config).judged_by(budget), self.findings(config, budget))

    def findings(self, config: Configuration, budget: BudgetConfig | None = None) -> list[Finding]:
        """Return what is worth a look in the transcript's replay under a configuration, held against its own budget.

        `budget` is another one to hold it against, where a configuration was planned with less for what is not
        recorded.
        """
        key = (self.summary.id, self.summary.sha256, json.dumps(as_json(config)))
        return (
            _findings(*key) if budget is None or budget == config.budget else _findings(*key, budget.model_dump_json())
        )

    def violations(self, config: Configuration) -> Violations:
        """Return the rules of the dialect that a configuration breaks and the recording did not."""
        card = self.scorecard(config)
        if not card.violations:
            return Violations(0, card.violations_checked, card.changed)
        return _violations(self.summary.id, self.summary.sha256, json.dumps(as_json(config)))


def captured_config(transcript: Transcript, model: dict[str, Any] | None = None) -> Configuration:
    """Return the configuration that replays what was captured, with all that is known of the model."""
    return pinned(load_config({"model": model or {}, "strategy": {"kind": "as_captured"}}), transcript)


def open_transcript(store: Library, transcript_id: int) -> Opened:
    """Return a transcript by its id. NotFound if there is none."""
    summary = store.summary(transcript_id)
    return Opened(summary, _transcript(transcript_id, summary.sha256))


@st.cache_resource(max_entries=8, show_spinner="Loading the transcript …")
def _transcript(transcript_id: int, sha256: str) -> Transcript:
    return library().get(transcript_id)


@st.cache_resource(max_entries=32, show_spinner="Counting tokens and replaying all calls …")
def _replay(transcript_id: int, sha256: str, config: str) -> Replay:
    return replay(_transcript(transcript_id, sha256), config)


@st.cache_resource(max_entries=64, show_spinner=False)
def _figures(transcript_id: int, sha256: str, config: str) -> Figures:
    return figures(_replay(transcript_id, sha256, config))


@st.cache_resource(max_entries=8, show_spinner=False)
def _presence(transcript_id: int, sha256: str, config: str) -> Presence:
    return presence(_replay(transcript_id, sha256, config))


@st.cache_resource(max_entries=64, show_spinner="Checking every request against the provider's rules …")
def _violations(transcript_id: int, sha256: str, config: str) -> Violations:
    return new_violations_of(_replay(transcript_id, sha256, config))


@st.cache_resource(max_entries=64, show_spinner="Looking for what the responses used …")
def _scorecard(transcript_id: int, sha256: str, config: str) -> Scorecard:
    made = _replay(transcript_id, sha256, config)
    key = scorecard_key(made, sha256)
    known = library().scorecards.get(key)
    if known is not None and is_current(known, made):
        return known
    _references(transcript_id, sha256)
    found = _findings(transcript_id, sha256, config)
    card = scorecard(made, _violations(transcript_id, sha256, config), found, key)
    _keep(card, transcript_id, _transcript(transcript_id, sha256))
    return card


def _keep(card: Scorecard, transcript_id: int, transcript: Transcript) -> None:
    """Store a scorecard, unless a captured transcript grew while it was loaded. A database may be read-only."""
    if transcript_sha256(transcript) != card.key.transcript:
        return
    try:
        library().scorecards.put(card, transcript_id)
    except StorageError as error:
        log.info("A scorecard was not kept: %s", error)


@st.cache_resource(max_entries=64, show_spinner=False)
def _references(transcript_id: int, sha256: str) -> int:
    """Look up what the responses name, once a process: quicker than to take their texts apart again."""
    return library().references.bring(_transcript(transcript_id, sha256), transcript_id)


@st.cache_resource(max_entries=64, show_spinner="Looking for what is worth a look …")
def _findings(transcript_id: int, sha256: str, config: str, budget: str | None = None) -> list[Finding]:
    _references(transcript_id, sha256)
    made = _replay(transcript_id, sha256, config)
    return findings(made if budget is None else made.judged_by(BudgetConfig.model_validate_json(budget)))


@st.cache_resource(max_entries=32, show_spinner="Measuring what could be given back …")
def _advice(
    transcript_id: int, sha256: str, config: str, call: int | None, published: bool, exact: bool
) -> Advised | None:
    _references(transcript_id, sha256)
    return advised(
        _replay(transcript_id, sha256, config),
        call,
        published=published,
        exact_strings_needed=exact,
        play=lambda chosen: _replay(transcript_id, sha256, json.dumps(as_json(chosen))),
    )
