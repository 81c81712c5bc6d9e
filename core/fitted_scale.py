"""A factor for texts of a model whose tokenizer is not public, fitted to reported totals, with its range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEAST_POINTS = 8
LEAST_GROWTH = 1.2
"""Prompts must grow at least so much over the calls, or a factor cannot be told from a fixed part."""
TWO_SIDED_95 = 1.96


@dataclass(frozen=True, slots=True)
class Fit:
    """reported = floor + scale x counted, by least squares; `low` and `high` bound the scale at 95 %."""

    scale: float
    low: float
    high: float
    floor: int
    r2: float


def fitted(points: Sequence[tuple[int, int]]) -> Fit | None:
    """Return the line through (counted, reported) tokens; None where they are too few or too much alike."""
    count = len(points)
    if count < LEAST_POINTS or max(x for x, _ in points) < LEAST_GROWTH * max(1, min(x for x, _ in points)):
        return None
    mean_x, mean_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    total = sum((y - mean_y) ** 2 for _, y in points)
    scale = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    floor = mean_y - scale * mean_x
    rest = sum((y - floor - scale * x) ** 2 for x, y in points)
    margin = TWO_SIDED_95 * math.sqrt(rest / (count - 2) / spread)
    r2 = 1 - rest / total if total else 1.0
    return Fit(round(scale, 4), round(scale - margin, 4), round(scale + margin, 4), round(floor), round(r2, 4))
