"""Baseline: what was really sent at each call, as far as the recording tells.

A replay gives it the captured prompt instead of the full history; in a live runtime it sends the request as it is,
just as `full_history` does.
"""

from __future__ import annotations

from dataclasses import dataclass

from .full_history import FullHistory


@dataclass(frozen=True, slots=True)
class AsCaptured(FullHistory):
    """The strategy `as_captured`."""
