"""The exported configuration: what the inspector writes and production loads.

Only `strategy.kind` is required. Unknown keys are errors with a suggestion, because a misspelt setting that is
silently ignored changes what a model sees. 0 means none, null means no limit, negative numbers are errors.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from .boundaries import Keep
from .errors import ConfigError
from .rules import Eviction, Match, Rule, Tier, Treatment
from .strategies import AsCaptured, FullHistory, KeepLast, SummarizeAndKeep, TieredInjection, ToolGroup

SCHEMA_VERSION = 1

Count = Annotated[int, Field(ge=0, strict=True)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelConfig(_Model):
    """The model the prompts are for. A window of null is unknown."""

    name: str | None = None
    window: Annotated[int, Field(gt=0, strict=True, description="hard window in tokens, from documentation")] | None = (
        None
    )
    max_output: Annotated[Count, Field(description="tokens set aside for the answer")] | None = None
    dialect: Literal["openai_chat", "anthropic"] | None = None


class CounterConfig(_Model):
    """How tokens are counted. A kind of null goes by the model's name."""

    kind: Literal["tiktoken", "cjk_estimate", "chars4"] | None = None
    encoding: str | None = None
    scale: Annotated[float, Field(gt=0, le=10, description="factor on counts; 1 is exact")] | None = None


class BudgetConfig(_Model):
    """The soft budget: a number of tokens, or what the window leaves."""

    reserve_ratio: Annotated[float, Field(ge=0, lt=1, description="share of the window kept free")] = 0.10
    soft_limit: Annotated[Count, Field(description="tokens; 0 is zero tokens, null goes by the window")] | None = None


class MatchConfig(_Model):
    """What a rule looks for; what is left out matches everything."""

    kind: str | None = None
    role: Literal["system", "user", "assistant", "tool"] | None = None
    tool: Annotated[str, Field(description="glob of a tool name")] | None = None
    section: Annotated[str, Field(description="glob of a section name")] | None = None
    pattern: Annotated[str, Field(description="regular expression")] | None = None

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        try:
            re.compile(value or "")
        except re.error as error:
            raise ValueError(f"is not a regular expression: {error}") from None
        return value


class RuleConfig(_Model):
    """One rule; of two that set the same thing the later one wins."""

    match: MatchConfig = MatchConfig()
    evict: Eviction | None = None
    priority: int | None = None
    required: bool | None = None
    tier: Tier | None = None
    group: str | None = None
    keywords: tuple[str, ...] | None = None

    def rule(self) -> Rule:
        """Return the rule as the engine uses it."""
        said = {name: getattr(self, name) for name in type(self).model_fields if name != "match"}
        return Rule(Match(**self.match.model_dump()), Treatment(**said))


class _Baseline(_Model):
    exact_recall: bool = False


class _Keeping(_Model):
    keep_turns: Annotated[Count, Field(description="newest turns kept verbatim")] | None = None
    keep_steps: Annotated[Count, Field(description="newest steps kept verbatim")] | None = None
    keep_messages: Annotated[Count, Field(description="newest messages kept verbatim, widened to whole units")] | None = (
        None
    )
    keep_tokens: Annotated[Count, Field(description="newest tokens kept verbatim, in whole units")] | None = None
    step: Annotated[Count, Field(description="tokens by which the cut moves; 0 cuts as near as possible")] = 0
    min_turns: Annotated[Count, Field(description="a task with no more turns is left alone")] = 0
    min_steps: Annotated[Count, Field(description="and with no more steps")] = 0
    exact_recall: Annotated[bool, Field(description="leave everything untouched and report")] = False

    @model_validator(mode="after")
    def _one_keep(self) -> _Keeping:
        given = [name for name in KEEP_UNITS if getattr(self, f"keep_{name}") is not None]
        if len(given) > 1:
            names = " and ".join(f"keep_{name}" for name in given)
            raise ValueError(f"{names} are both given; give exactly one of keep_turns, keep_steps, keep_messages,"
                             " keep_tokens.")
        return self

    def keep(self, unit: str, number: int) -> Keep:
        """Return how much is kept: what is given, else the default."""
        for name in KEEP_UNITS:
            given = getattr(self, f"keep_{name}")
            if given is not None:
                return Keep(name, given)
        return Keep(unit, number)


KEEP_UNITS = ("turns", "steps", "messages", "tokens")


class FullHistoryConfig(_Baseline):
    """Everything that happened."""

    kind: Literal["full_history"]

    def strategy(self) -> FullHistory:
        """Return the strategy."""
        return FullHistory()


class AsCapturedConfig(_Baseline):
    """What was really sent, as far as the recording tells."""

    kind: Literal["as_captured"]

    def strategy(self) -> AsCaptured:
        """Return the strategy."""
        return AsCaptured()


class KeepLastConfig(_Keeping):
    """The newest turns; older ones are dropped. 4 turns unless said otherwise."""

    kind: Literal["keep_last"]

    def strategy(self) -> KeepLast:
        """Return the strategy."""
        return KeepLast(self.keep("turns", 4), self.step, self.min_turns, self.min_steps)


class SummarizeAndKeepConfig(_Keeping):
    """The newest turns verbatim, older messages as extracts, then the oldest dropped. 4 turns unless said otherwise."""

    kind: Literal["summarize_and_keep"]
    mode: Annotated[Literal["right", "published"], Field(description="published: as the original program works")] = (
        "right"
    )
    min_turns: Annotated[Count, Field(description="a task with no more turns is left alone")] = 15
    min_steps: Annotated[Count, Field(description="and with no more steps")] = 15

    @model_validator(mode="after")
    def _published_keeps_messages(self) -> SummarizeAndKeepConfig:
        others = [name for name in ("turns", "steps", "tokens") if getattr(self, f"keep_{name}") is not None]
        if self.mode == "published" and others:
            raise ValueError(f"mode published counts messages; write keep_messages instead of keep_{others[0]}.")
        return self

    def strategy(self) -> SummarizeAndKeep:
        """Return the strategy."""
        published = self.mode == "published"
        keep = self.keep("messages" if published else "turns", 4)
        return SummarizeAndKeep(keep, self.step, self.min_turns, self.min_steps, published)


class GroupConfig(_Model):
    """Tools that are injected together once one of their keywords is said."""

    name: str
    keywords: tuple[str, ...] = ()
    tools: Annotated[tuple[str, ...], Field(description="globs of tool names")] = ()


class TieredInjectionConfig(_Keeping):
    """Core always, tools by keyword, retrieval up to 40%, older history as one summary. 3 messages unless said."""

    kind: Literal["tiered_injection"]
    trigger: Annotated[float, Field(ge=0, description="share of the soft budget; 0 always, null never")] | None = 1.0
    summary_chars: Annotated[Count, Field(description="characters of the rolling summary at most")] = 800
    summary_tokens: Annotated[Count, Field(description="tokens of the rolling summary at most")] = 800
    overhead: Annotated[Count, Field(description="tokens allowed for beside what is counted")] = 0
    groups: tuple[GroupConfig, ...] = ()

    def strategy(self) -> TieredInjection:
        """Return the strategy."""
        groups = tuple(ToolGroup(group.name, group.keywords, group.tools) for group in self.groups)
        return TieredInjection(
            keep=self.keep("messages", 3),
            trigger=self.trigger,
            summary_chars=self.summary_chars,
            summary_tokens=self.summary_tokens,
            overhead=self.overhead,
            step=self.step,
            min_turns=self.min_turns,
            min_steps=self.min_steps,
            groups=groups,
        )


StrategyConfig = Annotated[
    FullHistoryConfig | AsCapturedConfig | KeepLastConfig | SummarizeAndKeepConfig | TieredInjectionConfig,
    Field(discriminator="kind"),
]


class Configuration(_Model):
    """A whole configuration. `provenance` says what it was chosen on, and changes nothing."""

    schema_version: Literal[1] = SCHEMA_VERSION
    name: str = ""
    model: ModelConfig = ModelConfig()
    counter: CounterConfig = CounterConfig()
    budget: BudgetConfig = BudgetConfig()
    rules: tuple[RuleConfig, ...] = ()
    shrink: Annotated[tuple[dict[str, Any], ...], Field(max_length=0, description="shrinkers, in order")] = ()
    strategy: StrategyConfig
    provenance: dict[str, Any] | None = None


def load_config(source: str | Path | Mapping[str, Any] | Configuration) -> Configuration:
    """Return a configuration from a path, a JSON text or a dictionary. ConfigError if it cannot be used."""
    if isinstance(source, Configuration):
        return source
    data = source if isinstance(source, Mapping) else _parsed(source)
    try:
        return Configuration.model_validate(data)
    except ValidationError as error:
        raise _config_error(error, data) from None


def _parsed(source: str | Path) -> Any:
    text = source if isinstance(source, str) and source.lstrip().startswith("{") else _file_text(Path(source))
    try:
        return json.loads(text)
    except ValueError as error:
        raise ConfigError("configuration", f"this is not JSON: {error}.", "Export it again.") from None


def _file_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ConfigError("configuration", f"the file {path.name!r} cannot be read: {error}.") from None


def _config_error(error: ValidationError, data: Any) -> ConfigError:
    """Return the first fault as key, problem and suggestion."""
    first = error.errors()[0]
    place = [str(part) for part in first["loc"]]
    kind = data.get("strategy", {}).get("kind") if isinstance(data, Mapping) and isinstance(data.get("strategy"), Mapping) else None
    if len(place) > 1 and place[0] == "strategy" and place[1] == kind:
        del place[1]
    key = ".".join(place) or "configuration"
    if first["type"] == "extra_forbidden":
        return ConfigError(key, "there is no such setting.", _nearest(place, kind))
    if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return ConfigError("strategy.kind", f"{kind!r} is no strategy." if kind else "is missing.",
                           f"Use one of {', '.join(strategy_kinds())}.")
    message = first["msg"].removeprefix("Value error, ")
    return ConfigError(key, message[0].lower() + message[1:] + ("" if message.endswith(".") else "."))


def strategy_models() -> dict[str, type[_Model]]:
    """Return the configuration model of each strategy kind."""
    models = (FullHistoryConfig, AsCapturedConfig, KeepLastConfig, SummarizeAndKeepConfig, TieredInjectionConfig)
    return {model.model_fields["kind"].annotation.__args__[0]: model for model in models}  # type: ignore[union-attr]


def strategy_kinds() -> tuple[str, ...]:
    """Return the kinds of strategies that can be configured."""
    return tuple(strategy_models())


_SECTIONS: dict[str, type[_Model]] = {
    "model": ModelConfig, "counter": CounterConfig, "budget": BudgetConfig, "rules": RuleConfig,
}


def _nearest(place: list[str], kind: str | None) -> str:
    """Return a suggestion with the nearest known setting beside an unknown one."""
    owner: type[_Model] = Configuration
    if len(place) > 1:
        owner = strategy_models().get(kind or "", Configuration) if place[0] == "strategy" else _SECTIONS.get(
            place[0], Configuration)
        if "match" in place[:-1]:
            owner = MatchConfig
        elif "groups" in place[:-1]:
            owner = GroupConfig
    known = list(owner.model_fields)
    near = difflib.get_close_matches(place[-1], known, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Known here: {', '.join(known)}."
