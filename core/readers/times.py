"""Points in time, in the many ways logs write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (0.0, 1.0))
"""A number above the first figure counts in the second's fraction of a second: ns, us, ms, s."""

_DIGITS = re.compile(r"\d+(\.\d+)?")


def parse_time(value: Any) -> datetime | None:
    """Return an aware UTC time from ISO text or an epoch number (its unit told by its size); None if it is neither.

    A text without a zone is taken as UTC.
    """
    if isinstance(value, str):
        text = value.strip()
        return _epoch(float(text)) if _DIGITS.fullmatch(text) and len(text) >= 9 else _iso(text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _epoch(value)
    return None


def _iso(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _epoch(number: float) -> datetime | None:
    try:
        scale = next(scale for above, scale in _UNITS if number > above)
        return datetime.fromtimestamp(number / scale, UTC)
    except (StopIteration, ValueError, OverflowError, OSError):
        return None
