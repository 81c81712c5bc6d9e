"""A leaf tried on a prompt, and what a check says of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .advice_measures import Prompt
from .config import Configuration
from .decisions import Decision
from .dialects.base import Message
from .loss_details import LostUse
from .plan import Plan
from .replay import Replay
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
        """The references lost in calls up to this one."""
        return [item for item in self.replayed.loss.items if item.call <= self.prompt.call]
