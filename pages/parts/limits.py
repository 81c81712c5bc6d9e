"""The model and its budget, as a person may change them: what is known of the model stands as a placeholder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from core.advice_sizes import Sizes
from core.config import BudgetConfig, Configuration, load_config
from core.engine import soft_budget
from core.errors import ConfigError
from core.export import as_json, model_name, pinned
from core.models import ModelProfile, limits_date, profile
from core.transcript import Transcript

from .charts import Limit
from .dates import day

SHARED = ("model", "window", "max_output", "reserve")
"""Keys of the settings that all pages of a transcript share, and their names in the address."""
BESIDE = "beside"
"""The key of what is left beside a soft limit, and its name in the address."""
RESERVE = 10
"""Percent of the window that a configuration keeps free unless it says otherwise."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The sections `model` and `budget` of a configuration, as set on the page."""

    model: dict[str, Any]
    budget: dict[str, Any]
    beside: int = 0
    """Tokens beside the soft limit that are left for what is not recorded, which no strategy sees."""

    def config(self, transcript: Transcript, strategy: dict[str, Any], **sections: Any) -> Configuration:
        """Return a configuration with these limits, pinned to a transcript. ConfigError if it cannot be used."""
        said = {**sections, "model": self.model, "budget": self.budget, "strategy": strategy}
        return pinned(load_config(said), transcript)

    def captured(self, transcript: Transcript) -> tuple[Configuration, ConfigError | None]:
        """Return the configuration of what was captured, and why it has no limits where those that are set leave none.

        What was captured needs no budget to be shown; it is still counted for the model that is set.
        """
        as_captured = {"kind": "as_captured"}
        try:
            config = self.config(transcript, as_captured)
            soft_budget(config)
        except ConfigError as error:
            named = {key: value for key, value in self.model.items() if key == "name"}
            counted_for = replace(self, model=named, budget={}).config(transcript, as_captured)
            free = counted_for.model.model_copy(update={"window": None, "max_output": None})
            return counted_for.model_copy(update={"model": free}), error
        return config, None

    def whole_budget(self, config: Configuration) -> BudgetConfig:
        """Return the budget of all that is sent: a soft limit with what is left beside it."""
        soft = config.budget.soft_limit
        if soft is None or not self.beside:
            return config.budget
        return config.budget.model_copy(update={"soft_limit": soft + self.beside})

    def for_strategies(self, sizes: Sizes) -> Limits:
        """Return the limits of what strategies are given: less where some of what is sent is not recorded."""
        if not sizes.hidden or sizes.allowed <= 0:
            return self
        return replace(self, budget={**self.budget, "soft_limit": sizes.allowed}, beside=sizes.hidden)

    def lines(self, config: Configuration) -> list[Limit]:
        """Return the lines of a chart: the soft budget and the hard window, where they are known."""
        soft, window = soft_budget(config), config.model.window
        lines = [] if soft is None else [Limit("soft budget", soft)]
        return lines if window is None else [*lines, Limit("hard window", window, config.model.max_output or 0)]


def limit_controls(transcript: Transcript, soft_key: str, beside: bool = False) -> Limits:
    """Show the soft limit and, in a popover, what it comes from; return what is set.

    `beside` says that the limit is one of what strategies are given, and what is left beside it can be set.
    """
    soft = _tokens("Soft limit", soft_key, "by window", width=165)
    with st.popover("Model and window", icon=":material/tune:", key=f"{soft_key}_limits"):
        name = st.text_input(
            "Model", key="model", bind="query-params", placeholder=model_name(transcript) or "not recorded"
        )
        known = profile(name or model_name(transcript))
        window = _tokens("Window", "window", _stands(known.window), least=1)
        output = _tokens("Set aside for the answer", "max_output", _stands(known.max_output))
        reserve = st.number_input("Kept free, % of the window", 0, 99, RESERVE, key="reserve", bind="query-params")
        left = _beside() if beside else 0
        st.caption(_source(known))
    model = {"name": name or None, "window": window, "max_output": output}
    return Limits(
        {key: value for key, value in model.items() if value is not None},
        {"reserve_ratio": reserve / 100, "soft_limit": soft},
        left,
    )


def _beside() -> int:
    label = "Left beside the soft limit for what is not recorded, tokens"
    return st.number_input(
        label, 0, None, 0, step=1, key=BESIDE, bind="query-params",
        help="No strategy sees what is not recorded, yet it is sent: the whole budget is the soft limit and this.",
    )  # fmt: skip


def _tokens(label: str, key: str, placeholder: str, *, least: int = 0, width: Any = "stretch") -> int | None:
    return st.number_input(
        f"{label}, tokens",
        least,
        None,
        None,
        step=1,
        key=key,
        bind="query-params",
        placeholder=placeholder,
        width=width,
    )


def _stands(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"


def _source(known: ModelProfile) -> str:
    if known.window is None:
        return "The window of this model is not documented here. Type a soft limit to draw a line."
    return (
        f"The soft budget is the window less what is kept free and what is set aside, or the soft limit if one is"
        f" typed. Windows and output limits as documented on {day(limits_date())}."
    )


def as_shown(config: Configuration) -> dict[str, Any]:
    """Return a configuration as JSON without model and budget, which all configurations on a page share."""
    return {key: value for key, value in as_json(config).items() if key not in ("model", "budget")}
