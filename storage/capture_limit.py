"""How large a capture may be: `PROMPT_INSPECTOR_CAPTURE_MB`, or the usual limit where that cannot be used."""

from __future__ import annotations

import os

__all__ = ["LIMIT", "capture_limit", "limit_fault"]

LIMIT = "PROMPT_INSPECTOR_CAPTURE_MB"
DEFAULT = 64
"""Megabytes of one capture; requests with images are large."""


def capture_limit() -> int:
    """Return how many bytes a capture may have."""
    return _given() or DEFAULT * 1_000_000


def limit_fault() -> str:
    """Return what is wrong with the setting and what holds instead; an empty text if nothing is."""
    text = os.environ.get(LIMIT, "").strip()
    if not text or _given():
        return ""
    return f"{LIMIT} is {text!r}; a number of megabytes above 0 was expected. Captures of up to {DEFAULT} MB are taken."


def _given() -> int:
    """Return the bytes that the setting gives; 0 where it is not set, or is no number that could be a limit."""
    try:
        return max(int(float(os.environ.get(LIMIT, "")) * 1_000_000), 0)
    except (ValueError, OverflowError):  # no number, or an endless one
        return 0
