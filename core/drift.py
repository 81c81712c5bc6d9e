"""How far counts are off for a model: bias, spread, the reserve that covers it, and a factor for its texts.

The factor is what belongs into `counter.scale`. Frames, images and other figures by formula are never scaled, so it is
fitted on the texts alone, counted by the plain encoding, with the frames taken off the bill first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .fitted_scale import Fit, fitted

LEAST_CALLS = 3
"""A file with fewer predicted calls is no evidence of a model's drift."""
QUANTILE = 0.99
SPREAD = 0.95
LEAST_FACTOR, LARGEST_FACTOR = 0.7, 2.0
"""No text was measured to need fewer or more tokens than this for one of the plain encoding."""


class Split(NamedTuple):
    """The counted prompts of all calls, in tokens: texts by a plain encoding, and what no factor applies to."""

    encoding: str
    texts: Sequence[int]
    frames: Sequence[int]


@dataclass(frozen=True, slots=True)
class Drift:
    """How far a model's counts were off over `calls` predicted calls, as shares of the prompt.

    `bias` is the mean error, positive where counts fall short; `spread` the 95th percentile of its size;
    `reserve_ratio` covers 99 % of the calls. `scale` is the factor for texts counted by `encoding`.
    """

    calls: int
    bias: float
    spread: float
    reserve_ratio: float
    scale: Fit | None
    encoding: str | None = None

    @property
    def counter(self) -> dict[str, str | float] | None:
        """The section `counter` of a configuration with the factor; None where it is not one of a tokenizer."""
        if self.scale is None or self.encoding is None or not LEAST_FACTOR <= self.scale.scale <= LARGEST_FACTOR:
            return None
        return {"kind": "tiktoken", "encoding": self.encoding, "scale": self.scale.scale}


def drift(errors: Sequence[float], reported: Mapping[int, int], split: Callable[[], Split | None]) -> Drift | None:
    """Return the drift of a model's calls; None where too few were predicted.

    `errors` are shares of the prompt; `reported` are totals in tokens by call; `split` is asked for its texts, and
    answers None where no factor is needed.
    """
    if len(errors) < LEAST_CALLS:
        return None
    reserve, spread = max(0.0, quantile(errors, QUANTILE)), quantile([abs(error) for error in errors], SPREAD)
    parts = split()
    fit = parts and fitted([(parts.texts[call], total - parts.frames[call]) for call, total in reported.items()])
    encoding = parts.encoding if parts else None
    return Drift(len(errors), sum(errors) / len(errors), spread, round(reserve, 4), fit, encoding)


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value that a share of some values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
