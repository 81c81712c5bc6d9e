"""A leaf tried on a prompt, and what a check says of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .advice_measures import Prompt
from .boundaries import Keep
from .config import Configuration
from .decisions import Decision
from .dialects.base import Message
from .loss_details import LostUse
from .plan import Plan
from .replay import Replay
from .result_spans import RESULTS
from .work_units import Work


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name, whether it passed (None: cannot be told), and why."""

    name: str
    passed: bool | None
    why: str


@dataclass(frozen=True)
class Trial:
    """A leaf tried on a prompt: the replay of its configuration, or the work in units where there is none."""

    prompt: Prompt
    played: Replay | None
    work: Work | None

    @cached_property
    def plan(self) -> Plan:
        """The plan of the prompt's call under the configuration."""
        return self.replayed.plan(self.prompt.call)

    @cached_property
    def request(self) -> dict[str, Any]:
        """The body as it would be sent."""
        return self.replayed.request(self.prompt.call)

    @property
    def config(self) -> Configuration:
        """The configuration that was tried."""
        return self.replayed.config

    @property
    def replayed(self) -> Replay:
        """The replay; only asked for where there is one."""
        assert self.played is not None
        return self.played

    @cached_property
    def sent(self) -> list[Message]:
        """The messages as they would be sent."""
        _, messages = self.prompt.dialect.split(self.request)
        return [self.prompt.dialect.message(wire) for wire in messages]

    @cached_property
    def decisions(self) -> dict[str, Decision]:
        """The decisions by span id."""
        return {made.span_id: made for made in self.plan.decisions}

    @cached_property
    def lost(self) -> list[LostUse]:
        """The references of responses up to this call that are no longer sent, whatever removed them."""
        return [item for item in self.replayed.loss.items if item.call <= self.prompt.call]

    @cached_property
    def lost_from_results(self) -> list[LostUse]:
        """Those of them that stood in tool results; the others stood in other text."""
        return [item for item in self.lost if item.span_kind in RESULTS]

    @property
    def is_answered(self) -> bool:
        """Whether a response up to this call is in the recording: without one nothing tells what was used."""
        return any(used is not None for used in self.replayed.loss.used[: self.prompt.call + 1])


def kept_by(config: Configuration) -> Keep | None:
    """Return how much a configuration keeps word for word; None for a strategy that does not go by age."""
    keep = getattr(config.strategy.strategy(), "keep", None)
    return keep if isinstance(keep, Keep) else None
