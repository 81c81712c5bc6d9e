"""What a scorecard is kept under: all that its figures and findings come from.

A transcript's sha256 names what it holds and leaves out what is noted beside that. Findings tell of the notes too.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .config import Configuration
from .export import as_json
from .fingerprint import engine_fingerprint
from .identity import transcript_sha256
from .replay import Replay
from .wire import body_sha256

__all__ = ["Key", "configuration_sha256", "scorecard_key"]


@dataclass(frozen=True, slots=True)
class Key:
    """What a scorecard is kept under: equal keys have equal scorecards."""

    transcript: str
    configuration: str
    engine: str = field(default_factory=engine_fingerprint)


def scorecard_key(replay: Replay, transcript: str | None = None) -> Key:
    """Return what the scorecard of a replay is kept under; what a configuration was exported with changes nothing.

    `transcript` is the sha256 of the transcript as it is stored, where that is known already. What is noted of it and
    beside it is no part of that, and findings tell of both.
    """
    original = replay.original
    transcript = transcript or transcript_sha256(original)
    if original.notes or original.meta:
        transcript = body_sha256([transcript, list(original.notes), sorted(original.meta.items())])
    configuration = configuration_sha256(replay.config)
    if replay.summaries:  # what a model wrote before is sent, so it is part of what is judged
        configuration = body_sha256([configuration, sorted(replay.summaries.items())])
    return Key(transcript, configuration)


def configuration_sha256(config: Configuration) -> str:
    """Return the sha256 (hex) of a configuration's JSON form without its provenance."""
    return body_sha256(as_json(config.model_copy(update={"provenance": None})))
