"""The exported configuration: what the inspector writes and production loads.

Only `strategy.kind` is required. Unknown keys are errors with a suggestion, because a misspelt setting that is
silently ignored changes what a model sees. 0 means none, null means no limit, negative numbers are errors.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from .config_faults import type_fault
from .errors import ConfigError
from .json_faults import json_fault
from .rule_config import MatchConfig, RuleConfig
from .settings import Refused, Settings, nearest
from .shrinker_config import ShrinkerConfig, shrinker_models
from .strategy_config import (
    MOST,
    CapsConfig,
    Count,
    GroupConfig,
    Share,
    StrategyConfig,
    strategy_kinds,
    strategy_models,
)

__all__ = [
    "BudgetConfig",
    "Configuration",
    "CounterConfig",
    "MatchConfig",
    "ModelConfig",
    "RuleConfig",
    "load_config",
    "strategy_kinds",
    "strategy_models",
]

MOST_NAMED = 3
"""How many keys of a file that is no configuration are named."""


class ModelConfig(Settings):
    """The model the prompts are for. A window of null is unknown."""

    name: str | None = None
    window: (
        Annotated[int, Field(gt=0, le=MOST, strict=True, description="hard window in tokens, from documentation")]
        | None
    ) = None
    max_output: Annotated[Count, Field(description="tokens set aside for the answer")] | None = None
    dialect: Literal["openai_chat", "openai_responses", "anthropic", "gemini"] | None = None


class CounterConfig(Settings):
    """How tokens are counted. A kind of null goes by the model's name."""

    kind: Literal["tiktoken", "cjk_estimate", "chars4"] | None = None
    encoding: str | None = None
    scale: Annotated[Share, Field(gt=0, le=10, description="factor on counts; 1 is exact")] | None = None

    @model_validator(mode="after")
    def _estimates_have_no_encoding(self) -> CounterConfig:
        if self.kind in ("chars4", "cjk_estimate"):
            for name in ("encoding", "scale"):
                if getattr(self, name) is not None:
                    raise Refused(
                        f"the counter {self.kind} has no {name}.", "Leave it out, or take kind tiktoken.", name
                    )
        return self


class BudgetConfig(Settings):
    """The soft budget: a number of tokens, or what the window leaves."""

    reserve_ratio: Annotated[Share, Field(ge=0, lt=1, description="share of the window kept free")] = 0.10
    soft_limit: Annotated[Count, Field(description="tokens; 0 is zero tokens, null goes by the window")] | None = None


class Configuration(Settings):
    """A whole configuration. `provenance` says what it was chosen on, and changes nothing."""

    schema_version: Literal[1] = 1
    name: str = ""
    model: ModelConfig = ModelConfig()
    counter: CounterConfig = CounterConfig()
    budget: BudgetConfig = BudgetConfig()
    rules: tuple[RuleConfig, ...] = ()
    shrink: Annotated[tuple[ShrinkerConfig, ...], Field(description="shrinkers, in order")] = ()
    strategy: StrategyConfig
    provenance: dict[str, Any] | None = Field(
        None,
        description="what it was chosen on: exported_at, inspector, settings_sha256, transcripts, measured, and golden"
        " calls, each with the transcript's sha256, prompt_sha256 and call, which is counted from 0",
    )

    @model_validator(mode="after")
    def _groups_have_tools(self) -> Configuration:
        named = {rule.group for rule in self.rules}
        for place, group in enumerate(getattr(self.strategy, "groups", ())):
            if not group.tools and group.name not in named:
                raise Refused(
                    f"the group {group.name!r} has no tools, and no rule names it.",
                    'Give globs of tool names, for example ["search_*"].',
                    f"strategy.groups.{place}.tools",
                )
        return self


def load_config(source: str | Path | Mapping[str, Any] | Configuration) -> Configuration:
    """Return a configuration from a path, a JSON text or a dictionary. ConfigError if it cannot be used."""
    if isinstance(source, Configuration):
        return source
    data = source if isinstance(source, Mapping) else _parsed(source)
    if isinstance(data, Mapping):
        _check_kind_of_file(data)
    try:
        return Configuration.model_validate(data)
    except ValidationError as error:
        raise _config_error(error) from None


def _check_kind_of_file(data: Mapping[Any, Any]) -> None:
    """Refuse what is something else altogether in one sentence, not in one a key."""
    unknown = [str(key) for key in data if key not in Configuration.model_fields]
    if unknown and "strategy" not in data and not difflib.get_close_matches("strategy", unknown, n=1):
        named = ", ".join(map(repr, unknown[:MOST_NAMED])) + (" and more" if len(unknown) > MOST_NAMED else "")
        problem = f"this is no configuration: it has no 'strategy', but {named}, which no configuration has."
        raise ConfigError("configuration", problem, "Take a file that “Export JSON” on Compare wrote.")


def _parsed(source: str | Path) -> Any:
    if not isinstance(source, str | Path):
        raise ConfigError("configuration", f"{type(source).__name__} is no path, JSON text or dictionary.")
    text = source if isinstance(source, str) and source.lstrip()[:1] in ("{", "[") else _file_text(Path(source))
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError("configuration", f"this is not JSON: {json_fault(error)}.", "Export it again.") from None


def _file_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ConfigError("configuration", f"the file {path.name!r} cannot be read: {why}.") from None


def _config_error(error: ValidationError) -> ConfigError:
    """Return the first fault, with the others. What is to be done is said once where it is the same for several."""
    first, *more = _said_once(dict.fromkeys(map(_fault, error.errors())))
    key, problem, suggestion = first
    return ConfigError(key, problem, suggestion, tuple(ConfigError(*other) for other in more))


def _said_once(faults: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    said: set[str] = set()
    for key, problem, suggestion in faults:
        yield key, problem, "" if suggestion in said else suggestion
        said.add(suggestion)


def _fault(first: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return a fault as key, problem and suggestion."""
    place = [str(part) for part in first["loc"]]
    kind = _without_kind(place)
    context = first.get("ctx", {})
    refused = context.get("error")
    if isinstance(refused, Refused):
        key = ".".join([*place, refused.under] if refused.under else place)
        return key, refused.problem, refused.suggestion
    key = ".".join(place) or "configuration"
    if first["type"] == "missing":
        return key, "it is missing.", ""
    if first["type"] == "extra_forbidden":
        return key, "there is no such setting.", _nearest(place, kind)
    if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
        known = ", ".join(shrinker_models() if place[0] == "shrink" else strategy_kinds())
        given = context.get("tag")
        problem = f"there is no {given!r}." if given else "it is missing."
        return f"{key}.kind", problem, f"Use one of {known}."
    wrong = type_fault(first["type"], first["input"])
    if wrong is not None:
        return key, *wrong
    if first["type"] == "less_than_equal":
        return key, f"this is more than {context['le']:,}, the most that is taken.", ""
    message = first["msg"].removeprefix("Value error, ")
    return key, message[0].lower() + message[1:] + ("" if message.endswith(".") else "."), ""


def _without_kind(place: list[str]) -> str | None:
    """Take the kind of a strategy or shrinker out of the place of its setting, and return it: it is no key."""
    at = {"strategy": 1, "shrink": 2}.get(place[0] if place else "", len(place))
    known = at < len(place) and place[at] in (*strategy_models(), *shrinker_models())
    return place.pop(at) if known else None


_SECTIONS: dict[str, type[Settings]] = {
    "model": ModelConfig,
    "counter": CounterConfig,
    "budget": BudgetConfig,
    "rules": RuleConfig,
}


def _nearest(place: list[str], kind: str | None) -> str:
    """Return a suggestion with the nearest known setting beside an unknown one."""
    owner: type[Settings] = _SECTIONS.get(place[0], Configuration) if len(place) > 1 else Configuration
    if kind is not None:
        owner = {**strategy_models(), **shrinker_models()}[kind]
    for name, inner in (("match", MatchConfig), ("groups", GroupConfig), ("caps", CapsConfig)):
        if name in place[:-1]:
            owner = inner
    return nearest(place[-1], owner.model_fields)
