"""Dates in texts, written as the columns of tables write them."""

from __future__ import annotations

from datetime import date


def day(moment: date) -> str:
    """Return the day of a date or a moment: "1 Dec 2026"."""
    return f"{moment.day} {moment:%b %Y}"
