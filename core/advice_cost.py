"""Whether what is advised costs more than what was recorded: fewer tokens may, where a cut breaks the cached prefix."""

from __future__ import annotations

from .replay import Replay
from .wording import counted

__all__ = ["dearer"]

DIGITS = 3
"""Significant digits; figures that are alike to these are no difference that anybody can rely on."""


def dearer(advised: Replay, recorded: Replay) -> str:
    """Return a sentence where all calls cost more with the advice than as recorded; "" if not, or if unknown."""
    new, old = advised.cost.total, recorded.cost.total
    if new is None or old is None or new <= old or _dollars(new) == _dollars(old):
        return ""
    calls = counted(len(recorded.transcript.calls), "call")
    return (
        f"It costs more than the recorded prompts: about {_dollars(new)} instead of {_dollars(old)} US dollars for"
        f" {calls}, as far as the prompt cache can be foretold."
    )


def _dollars(usd: float) -> str:
    """Return an amount with cents, and with as many more decimals as a small one needs."""
    decimals = 2
    while decimals < 8 and usd * 10**decimals < 10 ** (DIGITS - 1):
        decimals += 1
    return f"{usd:,.{decimals}f}"
