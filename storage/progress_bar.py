"""A bar on one line of a terminal that shows how much of a file was read."""

from __future__ import annotations

import time
from typing import TextIO

WIDTH = 30
LONGEST_NAME = 40
INTERVAL = 0.1
"""Seconds between two updates."""


class ProgressBar:
    """Shows bytes read of all. Draws nothing unless `shown`."""

    def __init__(self, name: str, stream: TextIO, shown: bool) -> None:
        self.name = name if len(name) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}"
        self._stream = stream
        self._shown = shown
        self._next = 0.0
        self._drawn = 0

    def show(self, done: int, size: int, told: str = "") -> None:
        """Draw the bar, at most ten times a second and when all is read."""
        now = time.monotonic()
        if not self._shown or (now < self._next and done < size):
            return
        self._next = now + INTERVAL
        self._draw(line(self.name, done, size, told))

    def close(self) -> None:
        """Take the bar away."""
        if self._drawn:
            self._draw("")
            self._stream.write("\r")
            self._drawn = 0

    def _draw(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._drawn))
        self._stream.flush()
        self._drawn = max(len(text), self._drawn)


def line(name: str, done: int, size: int, told: str) -> str:
    """Return the bar as text: what was read of all, in megabytes."""
    share = min(done / size, 1.0) if size else 1.0
    filled = round(share * WIDTH)
    bar = "#" * filled + "." * (WIDTH - filled)
    amount = f"{done / 1e6:,.1f} of {size / 1e6:,.1f} MB"
    return "  ".join(part for part in (name, f"[{bar}]", f"{share:4.0%}", amount, told) if part)
