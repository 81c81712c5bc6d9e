"""Named starting configurations: what suits a kind of work before anything was measured (rule book 4.4).

The directions are the rule book's: support keeps a longer raw history, chit-chat compresses early, writing keeps every
word and reports when it no longer fits. A coding agent lives on its tool results: old ones are masked, and the cut
moves in deep steps, so that the provider's prompt cache holds between two of them. Each is a start to compare and
change, not a recommendation; that is what advice is for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .config import Configuration, load_config
from .errors import ConfigError

__all__ = ["PRESETS", "Preset", "preset"]


@dataclass(frozen=True, slots=True)
class Preset:
    """A named start: its title, what it is for, and the configuration as JSON."""

    name: str
    title: str
    purpose: str
    said: Mapping[str, Any]

    def config(self) -> Configuration:
        """Return the configuration, loaded as production loads it."""
        return load_config(self.said)


def _tiered(name: str, title: str, purpose: str, **settings: Any) -> Preset:
    return Preset(name, title, purpose, {"name": title, "strategy": {"kind": "tiered_injection", **settings}})


_ALL = (
    _tiered(
        "support",
        "Support",
        "Keeps a longer raw history: the newest 12 messages word for word, the rest as one summary once it is full.",
        trigger=1.0,
        keep_messages=12,
        summary_chars=1200,
    ),
    _tiered(
        "chit_chat",
        "Chit-chat",
        "Compresses early: from 60% of the budget on, the newest 4 messages and a short summary.",
        trigger=0.6,
        keep_messages=4,
        summary_chars=400,
    ),
    _tiered(
        "writing",
        "Writing",
        "Keeps every word and never summarises; a prompt that no longer fits is reported.",
        trigger=None,
        summary_chars=0,
    ),
    Preset(
        "coding_agent",
        "Coding agent",
        "Masks all but the newest 10 tool results, in steps of 10,000 tokens, so that the cached prefix stays long.",
        {
            "name": "Coding agent",
            "strategy": {"kind": "mask_tool_results", "keep": 10, "trigger": 0, "step": 10_000},
        },
    ),
)

PRESETS: Mapping[str, Preset] = {made.name: made for made in _ALL}


def preset(name: str) -> Preset:
    """Return a preset by its name. ConfigError if there is none."""
    if name not in PRESETS:
        raise ConfigError("preset", f"there is no {name!r}.", f"Use one of {', '.join(PRESETS)}.")
    return PRESETS[name]
